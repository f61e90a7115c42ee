"""Searches: ask and tell, Optuna, BoTorch."""

import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import make_graphs, score

from pace_dag import Dataset, PaceEncoder, Search


def run(search, n, batch=5):
    """Asks and tells `n` queries."""
    for _ in range(0, n, batch):
        for query, graph in search.ask(batch):
            search.tell(query, score(graph.ops, graph.edges))
    return search.best(1)[0][0]


def test_ask_and_tell(graphs):
    for strategy in ["bayes", "evolution", "local", "random"]:
        search = Search(Dataset(graphs), strategy=strategy, known=False)
        best = run(search, 40)
        history = search.history()
        assert len(history) == 40 and best == max(told for _, _, told in history)
        assert len(set(Dataset([graph for _, graph, _ in history]).classes())) == 40, "no graph is asked twice"
        assert all(search.spec.is_valid(graph) for _, graph, _ in history)
    with pytest.raises(ValueError, match="choose bayes"):
        Search(Dataset(graphs), strategy="tabu")


def test_a_search_learns(graphs):
    learnt = [run(Search(Dataset(graphs), seed=seed), 40) for seed in range(3)]
    drawn = [run(Search(Dataset(graphs), strategy="random", seed=seed), 40) for seed in range(3)]
    assert np.mean(learnt) > np.mean(drawn)


def test_failures_and_late_answers(graphs):
    search = Search(Dataset(graphs), strategy="random")
    (first, _), (second, _) = search.ask(2)
    assert search.ask(2)[0][0] == first, "what nobody has answered is asked again"
    assert search.tell(first, None) and search.tell(second, 1.0)
    assert not search.tell(second, 2.0), "the first answer holds"
    assert [told for _, _, told in search.history()] == [None, 1.0]
    with pytest.raises(ValueError):
        search.tell(99, 1.0)


def test_a_killed_search_resumes(tmp_path, graphs):
    options = dict(path=tmp_path / "journal.jsonl", strategy="bayes", seed=3)
    run(Search(Dataset(graphs), **options), 20)
    again = Search(Dataset(graphs), **options)
    assert len(again.history()) == 20
    run(again, 20)
    with pytest.raises(ValueError, match="still running"):
        Search(Dataset(graphs), **options)
    del again
    assert len(Search(Dataset(graphs), **options).history()) == 40


def test_rules_and_candidates(graphs):
    search = Search(Dataset(graphs), strategy="random", allow=lambda graph: "pool" not in graph.ops)
    assert all("pool" not in graph.ops for _, graph in search.ask(10))

    def broken(graph):
        raise RuntimeError("no licence")

    with pytest.raises(RuntimeError, match="no licence"):
        Search(Dataset(graphs), strategy="random", allow=broken).ask(1)
    listed = Search(Dataset(graphs), candidates=Dataset(graphs[:30]), known=False, strategy="random")
    found = {tuple(graph.canonical().ops) for _, graph in listed.ask(30)}
    assert found <= {tuple(graph.canonical().ops) for graph in graphs[:30]}


def test_a_model_guides(graphs):
    encoder = PaceEncoder(epochs=1).fit(graphs)
    assert run(Search(Dataset(graphs), model=encoder.model_), 10) is not None


def test_optuna(tmp_path, graphs):
    optuna = pytest.importorskip("optuna")
    from pace_dag.optuna import DagSampler, dag_of, suggest_dag

    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def objective(trial):
        graph = suggest_dag(trial)
        rate = trial.suggest_float("rate", 0, 1)
        if trial.number == 3:
            raise optuna.TrialPruned
        return score(graph.ops, graph.edges) + 0 * rate

    storage = f"sqlite:///{tmp_path / 'study.db'}"
    study = optuna.create_study(storage=storage, study_name="s", sampler=DagSampler(graphs, known=False), direction="maximize")
    study.optimize(objective, n_trials=20)
    again = optuna.load_study(storage=storage, study_name="s", sampler=DagSampler(graphs, known=False))
    again.optimize(objective, n_trials=10)
    asked = [dag_of(trial) for trial in again.trials]
    assert len(asked) == 30 and len(set(Dataset(asked).classes())) == 30
    plain = optuna.create_study()
    with pytest.raises(ValueError, match="has no graph"):
        suggest_dag(plain.ask())


WORKER = """
import sys
import optuna
from pace_dag import DagSpec
from pace_dag.optuna import DagSampler, suggest_dag
storage, seed, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
optuna.logging.set_verbosity(optuna.logging.WARNING)
space = DagSpec.named("nas101")
study = optuna.load_study(storage=storage, study_name="cells", sampler=DagSampler(space.sample(50), spec=space, seed=seed))
study.optimize(lambda trial: float(len(suggest_dag(trial).edges)), n_trials=n)
"""


def study_by_processes(folder, n_processes, n_trials):
    """The trials of a study that several processes worked on at once."""
    optuna = pytest.importorskip("optuna")
    storage = f"sqlite:///{folder / 'study.db'}"
    optuna.create_study(storage=storage, study_name="cells", direction="maximize")
    command = [sys.executable, "-c", WORKER, storage]
    workers = [subprocess.Popen([*command, str(seed), str(n_trials // n_processes)]) for seed in range(n_processes)]
    assert [worker.wait(timeout=900) for worker in workers] == [0] * n_processes
    return optuna.load_study(storage=storage, study_name="cells").trials


def test_optuna_in_several_processes(tmp_path):
    n = int(os.environ.get("PACE_TRIALS", "24"))
    trials = study_by_processes(tmp_path, 4, n)
    from pace_dag.optuna import dag_of

    assert [trial.state.name for trial in trials] == ["COMPLETE"] * n
    asked = Dataset([dag_of(trial) for trial in trials])
    # Two processes that ask in the same moment may ask for the same graph.
    assert len(set(asked.classes())) >= 0.9 * n


def test_botorch(graphs):
    torch = pytest.importorskip("torch")
    pytest.importorskip("botorch")
    from botorch.acquisition import LogExpectedImprovement
    from botorch.optim import optimize_acqf

    from pace_dag.botorch import SparseGPModel

    torch.manual_seed(0)
    X = torch.rand(60, 2, dtype=torch.double)
    Y = -((X - 0.3) ** 2).sum(dim=-1, keepdim=True)
    model = SparseGPModel(X, Y)
    posterior = model.posterior(X[:5].unsqueeze(1))
    assert posterior.mean.shape == (5, 1, 1)
    assert torch.allclose(posterior.mean.reshape(-1), Y[:5].reshape(-1), atol=0.05)
    # The derivative is that of the function.
    point = torch.tensor([[[0.6, 0.2]]], dtype=torch.double, requires_grad=True)
    model.posterior(point).mean.sum().backward()
    step = torch.tensor([[[1e-5, 0.0]]], dtype=torch.double)
    ahead, behind = (model.posterior(point.detach() + sign * step).mean.item() for sign in (1, -1))
    assert point.grad[0, 0, 0].item() == pytest.approx((ahead - behind) / 2e-5, rel=1e-2, abs=1e-4)
    acquisition = LogExpectedImprovement(model, best_f=Y.max())
    found, _ = optimize_acqf(acquisition, torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double), 1, 4, 64)
    assert (found - 0.3).abs().max() < 0.25
    with pytest.raises(NotImplementedError, match="q = 1"):
        model.posterior(X[:4])
