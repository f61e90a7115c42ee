"""Ray: one encoder over millions of graphs, and searches whose graphs are evaluated on a cluster.

>>> import ray                                                                   # doctest: +SKIP
>>> from pace_dag.ray import DagSearcher, dag_of, encode                         # doctest: +SKIP
>>> vectors = encode(ray.data.read_json("graphs.jsonl", lines=True), "model")    # doctest: +SKIP
>>> vectors.write_parquet("vectors")                                             # doctest: +SKIP

The folder of the model must be on every node, e.g. on a file system that all share.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from ray.data import Dataset as RayDataset
from ray.tune.search import Searcher

from ._core import Dag, Dataset, Model, Search
from .convert import dataset

__all__ = ["DagSearcher", "dag_of", "encode"]

_OPS, _EDGES = "ops", "edges"


class _Encode:
    """Loads the model once per worker, and encodes batches of rows."""

    def __init__(self, model: str, ops: str, edges: str, column: str) -> None:
        self._model, self._columns, self._column = Model.load(model), (ops, edges), column

    def __call__(self, batch: dict[str, np.ndarray]) -> dict[str, Any]:
        rows = zip(*(batch[name] for name in self._columns))
        graphs = Dataset([Dag(list(ops), [(int(a), int(b)) for a, b in edges]) for ops, edges in rows])
        kept = {name: values for name, values in batch.items() if name not in self._columns}
        return {**kept, self._column: self._model.encode(graphs)}


def encode(
    graphs: RayDataset,
    model: str | os.PathLike[str],
    *,
    ops: str = _OPS,
    edges: str = _EDGES,
    column: str = "vector",
    workers: int | tuple[int, int] = 1,
    threads: int = 1,
    batch: int = 2048,
) -> RayDataset:
    """The vectors of a dataset of graphs: rows with a column of operations and one of edges get a column of vectors instead.

    Blocks are encoded by `workers` processes (or by as many as the cluster has room for, from (least, most)) with `threads` threads
    each, one batch in memory at a time; the other columns stay.
    """
    return graphs.map_batches(
        _Encode,
        fn_constructor_args=(os.path.abspath(model), ops, edges, column),
        batch_size=batch,
        batch_format="numpy",
        concurrency=workers,
        num_cpus=threads,
        # Without it a worker would start as many threads as its machine has cores.
        runtime_env={"env_vars": {"PACE_THREADS": str(threads)}},
    )


def dag_of(config: dict[str, Any]) -> Dag:
    """The graph of a trial of Ray Tune, from its config."""
    return Dag(config[_OPS], [(int(a), int(b)) for a, b in config[_EDGES]])


class DagSearcher(Searcher):
    """Suggests graphs to Ray Tune.

    `tune.Tuner(train, tune_config=tune.TuneConfig(search_alg=DagSearcher(examples, metric="accuracy", mode="max"), num_samples=200))`;
    in `train(config)` the graph is `dag_of(config)`. Any number of trials may run at the same time. With `path` the search is written
    to a journal, and the same searcher again goes on where that ends. Ray copies searchers before it starts; a copy has the settings,
    not the trials.
    """

    def __init__(self, examples: Any, *, metric: str, mode: str = "max", op: str | None = None, **options: Any) -> None:
        super().__init__(metric=metric, mode=mode)
        self._sign = -1.0 if mode == "min" else 1.0
        self._settings = (dataset(examples, op=op), options)
        self._search: Search | None = None
        self._running: dict[str, int] = {}

    def __getstate__(self) -> dict[str, Any]:
        graphs, options = self._settings
        plain = [(dag.ops, dag.edges, dag.target, dag.id) for dag in graphs]
        return {**self.__dict__, "_settings": (plain, options), "_search": None, "_running": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        plain, options = state["_settings"]
        graphs = Dataset([Dag(ops, edges, target=target, id=id) for ops, edges, target, id in plain])
        self.__dict__.update(state, _settings=(graphs, options))

    def _open(self) -> Search:
        # Not before it is asked: whoever opens a journal keeps others out of it.
        if self._search is None:
            graphs, options = self._settings
            self._search = Search(graphs, **options)
        return self._search

    def suggest(self, trial_id: str) -> dict[str, Any]:
        """A graph that nobody evaluates yet."""
        # Whoever asks gets open queries first, in the order in which they were asked.
        mine = set(self._running.values())
        asked = self._open().ask(len(mine) + 1)
        query, graph = next((query, graph) for query, graph in asked if query not in mine)
        self._running[trial_id] = query
        return {_OPS: graph.ops, _EDGES: [list(edge) for edge in graph.edges]}

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """Takes note of the score; a trial that failed has none."""
        query = self._running.pop(trial_id, None)
        if query is None:
            return
        score = None if error or not result else result.get(self.metric)
        self._open().tell(query, None if score is None else self._sign * float(score))

    def save(self, checkpoint_path: str) -> None:
        """The search is in its journal, if it has one; nothing else is to be saved."""

    def restore(self, checkpoint_path: str) -> None:
        """See `save`."""
