"""Ray: a real cluster of two nodes on this machine."""

import json

import numpy as np
import pytest
from conftest import make_graphs

from pace_dag import Dataset, PaceEncoder

ray = pytest.importorskip("ray")
pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def cluster():
    """Two nodes, each with room for a reader beside an encoder."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    cluster.add_node(num_cpus=2)
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def test_two_nodes_encode_to_the_vectors_of_one_process(cluster, tmp_path):
    from pace_dag.ray import encode

    graphs = make_graphs(500)
    encoder = PaceEncoder(epochs=1, path=tmp_path / "model").fit(graphs)
    lines = [json.dumps({"id": row, "ops": dag.ops, "edges": dag.edges}) for row, dag in enumerate(graphs)]
    folder = tmp_path / "graphs"
    folder.mkdir()
    for part in range(4):
        (folder / f"{part}.jsonl").write_text("\n".join(lines[part::4]))
    rows = ray.data.read_json(str(folder), file_extensions=["jsonl"], lines=True)
    assert len({node["NodeID"] for node in ray.nodes() if node["Alive"]}) == 2
    encoded = encode(rows, tmp_path / "model", workers=2, batch=64).take_all()
    assert len(encoded) == 500 and "ops" not in encoded[0]
    found = np.array([row["vector"] for row in sorted(encoded, key=lambda row: row["id"])], dtype=np.float32)
    np.testing.assert_array_equal(found, encoder.transform(Dataset(graphs)))


def test_tune_searches(cluster, graphs):
    from ray import tune

    from pace_dag.ray import DagSearcher, dag_of

    # The workers cannot import the modules of the tests.
    def train(config):
        return {"value": len(dag_of(config).edges) - 0.1 * len(config["ops"])}

    searcher = DagSearcher(graphs, metric="value", mode="max", known=False, seed=1)
    tuner = tune.Tuner(train, tune_config=tune.TuneConfig(search_alg=searcher, num_samples=12, max_concurrent_trials=2))
    results = tuner.fit()
    assert results.num_errors == 0
    asked = [dag_of(result.config) for result in results]
    assert [result.metrics["value"] for result in results] == pytest.approx([len(dag.edges) - 0.1 * len(dag) for dag in asked])
    assert len(set(Dataset(asked).classes())) == 12, "no graph is asked twice"


def test_a_searcher_keeps_its_settings_when_it_is_copied(graphs):
    import pickle

    from pace_dag.ray import DagSearcher

    searcher = DagSearcher(graphs, metric="value", strategy="random", known=False, seed=5)
    copy = pickle.loads(pickle.dumps(searcher))
    assert copy.suggest("a") == searcher.suggest("a")
    searcher.on_trial_complete("a", {"value": 1.0})
    searcher.suggest("b"), searcher.suggest("c")
    searcher.on_trial_complete("b", error=True)
    assert [told for _, _, told in searcher._search.history()] == [1.0, None, None]
    assert len(searcher._search.history()) == 3
