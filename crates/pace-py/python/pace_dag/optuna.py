"""Optuna: a trial suggests a graph.

>>> import optuna                                                       # doctest: +SKIP
>>> from pace_dag.optuna import DagSampler, suggest_dag                 # doctest: +SKIP
>>> study = optuna.create_study(sampler=DagSampler(cells), direction="maximize")   # doctest: +SKIP
>>> study.optimize(lambda trial: train(suggest_dag(trial)), n_trials=200)          # doctest: +SKIP
"""

from __future__ import annotations

import json
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, Trial

from ._core import Dag, DagSpec, Dataset, Search
from .convert import dataset

__all__ = ["DagSampler", "dag_of", "suggest_dag"]

_KEY = "pace:dag"
# Two processes that ask in the same moment get the same graph; after so many tries they may.
_TRIES = 5


def suggest_dag(trial: Trial) -> Dag:
    """The graph of this trial; the study must have a `DagSampler`."""
    # Through the study: a trial sees what its sampler wrote only after the fact.
    return dag_of(trial.study._storage.get_trial(trial._trial_id))


def dag_of(trial: FrozenTrial) -> Dag:
    """The graph of a trial that is over, such as `study.best_trial`."""
    if _KEY not in trial.system_attrs:
        raise ValueError("this trial has no graph: create the study with sampler=pace_dag.optuna.DagSampler(graphs)")
    return _from_json(trial.system_attrs[_KEY])


class DagSampler(BaseSampler):
    """Suggests graphs by `Search`, from the finished trials of the study's own storage.

    Any number of processes may work on one study: each sees the graphs that the others asked for, so none is asked twice unless two
    processes ask in the same moment. Other parameters of a trial are sampled by `other`, at random by default.
    """

    def __init__(
        self,
        examples: Any,
        *,
        spec: DagSpec | None = None,
        strategy: str = "bayes",
        op: str | None = None,
        seed: int = 1,
        other: BaseSampler | None = None,
        **options: Any,
    ) -> None:
        self._examples: Dataset = dataset(examples, op=op)
        self._settings = {"spec": spec, "strategy": strategy, "seed": seed, **options}
        self._other = other or RandomSampler(seed=seed)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Asks for the graph of a trial."""
        sign = -1.0 if study.direction == StudyDirection.MINIMIZE else 1.0
        search = Search(self._examples, **self._settings)
        others = self._others(study, trial)
        for _ in range(_TRIES):
            asked = [(graph, None if other.value is None else sign * other.value) for other, graph in others]
            graph = search._replay(asked, [other.state.is_finished() for other, _ in others])
            study._storage.set_trial_system_attr(trial._trial_id, _KEY, _to_json(graph))
            # Another process may have asked for the same graph meanwhile.
            others = self._others(study, trial)
            if not any(graph.isomorphic(theirs) for _, theirs in others):
                return

    def _others(self, study: Study, trial: FrozenTrial) -> list[tuple[FrozenTrial, Dag]]:
        trials = study._storage.get_all_trials(study._study_id, deepcopy=False)
        others = (other for other in trials if _KEY in other.system_attrs and other.number != trial.number)
        return [(other, _from_json(other.system_attrs[_KEY])) for other in others]

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """The graph is no parameter of Optuna's."""
        return self._other.infer_relative_search_space(study, trial)

    def sample_relative(self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]) -> dict[str, Any]:
        """Other parameters."""
        return self._other.sample_relative(study, trial, search_space)

    def sample_independent(self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution) -> Any:
        """Other parameters."""
        return self._other.sample_independent(study, trial, param_name, param_distribution)

    def reseed_rng(self) -> None:
        """In a new thread or process."""
        self._other.reseed_rng()


def _to_json(graph: Dag) -> str:
    return json.dumps({"ops": graph.ops, "edges": graph.edges})


def _from_json(text: str) -> Dag:
    graph = json.loads(text)
    return Dag(graph["ops"], [tuple(edge) for edge in graph["edges"]])
