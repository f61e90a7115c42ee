"""Encoders and predictors."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from conftest import make_graphs, shuffled

import pace_dag
from pace_dag import Dataset, Dngo, Model, PaceEncoder, PacePredictor, SparseGP, dataset


def test_isomorphic_graphs_have_one_vector(graphs):
    encoder = PaceEncoder(epochs=1).fit(graphs)
    vectors = encoder.transform(graphs)
    assert vectors.shape == (200, encoder.n_features_out_) and vectors.dtype == np.float32
    np.testing.assert_array_equal(encoder.transform([shuffled(graph) for graph in graphs]), vectors)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(encoder)).transform(graphs), vectors)
    # The same seed gives the same bits, another one other bits.
    np.testing.assert_array_equal(PaceEncoder(epochs=1).fit(graphs).transform(graphs), vectors)
    assert (PaceEncoder(epochs=1, seed=2).fit(graphs).transform(graphs) != vectors).any()


def test_an_autoencoder_decodes(graphs):
    encoder = PaceEncoder("vae", epochs=2, latent=8).fit(graphs)
    back = encoder.inverse_transform(encoder.transform(graphs))
    assert isinstance(back, Dataset) and len(back) == 200 and all(encoder.spec_.is_valid(graph) for graph in back)
    assert 0 <= encoder.score(graphs[:20]) <= 1
    with pytest.raises(ValueError, match="trained for mlm"):
        PaceEncoder(epochs=1).fit(graphs).inverse_transform(np.zeros((1, 4)))


@pytest.mark.parametrize("name", [name for name in pace_dag.ENCODERS if name != "pace"])
def test_every_encoder(name, graphs):
    assert PaceEncoder(encoder=name, epochs=1).fit(graphs[:64]).transform(graphs[:5]).shape[0] == 5


def test_unfitted_and_unknown(graphs):
    with pytest.raises(ValueError, match="not fitted yet"):
        PaceEncoder().transform(graphs)
    with pytest.raises(ValueError, match="choose 'mlm' or 'vae'"):
        PaceEncoder("supervised").fit(graphs)
    with pytest.raises(ValueError, match="no encoder is called bert"):
        PaceEncoder(encoder="bert").fit(graphs)
    with pytest.raises(ValueError, match="no graphs"):
        PaceEncoder().fit([])
    encoder = PaceEncoder(epochs=1).fit(graphs)
    with pytest.raises(ValueError, match="row 1.*'conv'"):
        encoder.transform([pace_dag.Dag(["conv"], [])])


def test_a_model_is_the_folder_of_the_command(tmp_path, graphs):
    vectors = PaceEncoder(epochs=1, path=tmp_path / "model").fit(graphs).transform(graphs)
    assert {"encoder.safetensors", "spec.json", "results.json"} <= {path.name for path in (tmp_path / "model").iterdir()}
    np.testing.assert_array_equal(PaceEncoder.load(tmp_path / "model").transform(graphs), vectors)
    np.testing.assert_array_equal(Model.load(tmp_path / "model").encode(dataset(graphs)), vectors)
    # Fitted again, it has nothing to do; other settings are another run.
    np.testing.assert_array_equal(PaceEncoder(epochs=1, path=tmp_path / "model").fit(graphs).transform(graphs), vectors)
    with pytest.raises(ValueError, match="another run"):
        PaceEncoder(epochs=2, path=tmp_path / "model").fit(graphs)


def test_a_predictor_beats_the_mean(graphs):
    train, test = graphs[:150], graphs[150:]
    truth = np.array([graph.target for graph in test])
    for features in ["both", "vectors", "counts", "plain"]:
        predictor = PacePredictor(PaceEncoder(epochs=3), features=features)
        mean, std = predictor.fit(train).predict(test, return_std=True)
        assert mean.shape == std.shape == (50,) and (std >= 0).all()
        assert predictor.score(test, truth) > (0.0 if features == "vectors" else 0.1), features
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(predictor)).predict(test), mean)
    with pytest.raises(ValueError, match="choose 'both'"):
        PacePredictor(features="colour").fit(train)
    with pytest.raises(ValueError, match="no finite score"):
        PacePredictor(features="counts").fit([pace_dag.Dag(["a"], [])] * 3)


def test_regressors_on_vectors():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] * 2 + np.sin(X[:, 1])
    for regressor in [SparseGP(n_inducing=50), Dngo()]:
        regressor.fit(X[:150], y[:150])
        mean, std = regressor.predict(X[150:], return_std=True)
        assert np.corrcoef(mean, y[150:])[0, 1] > 0.9 and (std >= 0).all()
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(regressor)).predict(X[150:]), mean)
        with pytest.raises(ValueError, match="not fitted yet"):
            type(regressor)().predict(X)


def test_scikit_learn_pipelines_and_grids(graphs):
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline

    y = np.array([graph.target for graph in graphs])
    pipeline = make_pipeline(PaceEncoder(epochs=1), Ridge())
    assert cross_val_score(pipeline, graphs, y, cv=2).shape == (2,)
    grid = GridSearchCV(pipeline, {"paceencoder__epochs": [1, 2]}, cv=2).fit(graphs, y)
    assert grid.best_params_["paceencoder__epochs"] in (1, 2)
    copy = clone(PaceEncoder(epochs=3))
    assert copy.get_params()["epochs"] == 3 and not hasattr(copy, "model_")


def test_scikit_learns_own_checks():
    pytest.importorskip("sklearn")
    from sklearn.utils.estimator_checks import check_estimator

    for estimator in [SparseGP(n_inducing=20, max_iterations=10), Dngo()]:
        check_estimator(estimator)


def test_forks_and_spawns(graphs):
    encoder = PaceEncoder(epochs=1).fit(graphs)
    vectors = encoder.transform(graphs)
    import multiprocessing

    for method in ["fork", "spawn"]:
        with multiprocessing.get_context(method).Pool(2) as pool:
            parts = pool.map(encoder.transform, [graphs[:100], graphs[100:]])
        np.testing.assert_array_equal(np.concatenate(parts), vectors)


def test_ctrl_c_ends_a_training_and_leaves_a_checkpoint(tmp_path):
    program = textwrap.dedent(
        f"""
        import sys
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        from conftest import make_graphs
        from pace_dag import PaceEncoder
        graphs = make_graphs(2000)
        print("ready", flush=True)
        PaceEncoder(epochs=1000, path={str(tmp_path / "model")!r}).fit(graphs)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(4)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert time.monotonic() - start < 5 and "KeyboardInterrupt" in said, said
    assert any(path.name.startswith("checkpoint") for path in (tmp_path / "model").iterdir())


def test_nothing_is_left_behind_by_many_models():
    resource = pytest.importorskip("resource")
    graphs = make_graphs(10)
    used, n = [], int(os.environ.get("PACE_CYCLES", "60"))
    for row in range(n):
        PaceEncoder(epochs=1).fit(graphs).transform(graphs)
        if row in (19, n - 1):
            used.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert used[1] < used[0] * 1.2, used
