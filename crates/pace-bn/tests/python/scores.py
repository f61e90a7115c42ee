"""Scores structures with pgmpy: reads {"csv", "structures"} as JSON, prints a list of scores per kind. Ends with 3 without pgmpy."""
import io, json, sys

try:
    import pandas as pd
    from pgmpy.base import DAG
    from pgmpy.structure_score import AIC, BDeu, BIC, LogLikelihood
except ImportError:
    sys.exit(3)

given = json.load(sys.stdin)
data = pd.read_csv(io.StringIO(given['csv']), dtype=str, keep_default_na=False).astype('category')
scores = {'loglik': LogLikelihood(data), 'aic': AIC(data), 'bic': BIC(data), 'bdeu:1': BDeu(data, equivalent_sample_size=1),
          'bdeu:10': BDeu(data, equivalent_sample_size=10)}


def dag(arcs):
    found = DAG()
    found.add_nodes_from(data.columns)
    found.add_edges_from(arcs)
    return found


dags = [dag(arcs) for arcs in given['structures']]
print(json.dumps({name: [float(score.score(found)) for found in dags] for name, score in scores.items()}))
