#!/usr/bin/env python3
"""pgmpy's hill climbing with BIC as a peer of ours: reads a CSV, learns, prints one line of JSON.

  seconds        the search, the score's set-up included; neither importing nor reading
  score          BIC of what it found, by its own formula
"""
import argparse, json, logging, time, warnings

warnings.filterwarnings('ignore')
logging.disable(logging.WARNING)
ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument('csv')
a = ap.parse_args()
import pandas as pd
import pgmpy
from pgmpy.estimators import HillClimbSearch
from pgmpy.structure_score import BIC

data = pd.read_csv(a.csv, dtype=str, keep_default_na=False).astype('category')
start, cpu = time.perf_counter(), time.process_time()
found = HillClimbSearch(data).estimate(scoring_method='bic-d', show_progress=False)
seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
found.add_nodes_from(data.columns)
print(json.dumps({'version': pgmpy.__version__, 'seconds': seconds, 'cpu_seconds': cpu, 'score': float(BIC(data).score(found)),
                  'arcs': found.number_of_edges()}))
