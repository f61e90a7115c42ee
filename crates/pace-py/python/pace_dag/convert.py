"""Graphs of other libraries, in and out. Nothing is imported that the caller has not imported already."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ._core import Dag, Dataset

__all__ = ["dataset", "to_networkx", "to_pyg"]


def dataset(graphs: Any, *, op: str | None = None, target: str = "target", **options: Any) -> Dataset:
    """A `Dataset` of whatever graphs these are.

    Takes a `Dataset`, a path (any format of `pace`, also folders, ONNX models and Python sources), one graph, or a list of `Dag`,
    networkx `DiGraph`, igraph `Graph`, PyTorch Geometric `Data`, or pairs (operations, edges). `op` names the attribute of a node that is its
    operation, `target` the attribute of a graph that is its score. Other options are those of `Dataset.read`.

    >>> dataset([(["a", "b"], [(0, 1)]), (["a"], [])])
    Dataset(2 graphs, 0 with a target)
    """
    if isinstance(graphs, Dataset):
        return graphs
    if isinstance(graphs, (str, os.PathLike)):
        return Dataset.read(os.fspath(graphs), op=op, target=target, **options)
    if options:
        raise TypeError(f"options of a file given for graphs in memory: {', '.join(options)}")
    if isinstance(graphs, Dag) or _kind(graphs) is not None:
        graphs = [graphs]
    if not isinstance(graphs, (list, tuple, np.ndarray)):
        if not isinstance(graphs, Iterable):
            raise TypeError(f"graphs are a Dataset, a path or a list of graphs, not {type(graphs).__name__}")
        graphs = list(graphs)
    if len(graphs) == 0:
        return Dataset([])
    # scikit-learn hands on arrays of objects, and columns of them.
    if isinstance(graphs, np.ndarray):
        graphs = list(graphs.ravel())
    first = graphs[0]
    if isinstance(first, Dag):
        return Dataset(graphs)
    kind = _kind(first)
    if kind == "networkx":
        return Dataset.from_networkx(graphs, op=op, target=target)
    if kind == "igraph":
        return Dataset([_from_igraph(graph, op, target) for graph in graphs])
    if kind == "pyg":
        return _from_pyg(graphs, op or "x", target)
    if isinstance(first, (list, tuple)) and len(first) == 2:
        return Dataset([Dag([str(word) for word in ops], [(int(a), int(b)) for a, b in edges]) for ops, edges in graphs])
    raise TypeError(
        f"graph 1 is a {type(first).__name__}; expected Dag, networkx DiGraph, igraph Graph, PyG Data or (operations, edges)"
    )


def _kind(graph: Any) -> str | None:
    """Which library a graph is of, by its methods."""
    if hasattr(graph, "is_directed") and hasattr(graph, "_adj") and hasattr(graph, "_node"):
        return "networkx"
    if hasattr(graph, "get_edgelist") and hasattr(graph, "vs"):
        return "igraph"
    if hasattr(graph, "edge_index") and hasattr(graph, "num_nodes"):
        return "pyg"
    return None


_OPS = ("op", "op_type", "operation", "type", "label", "name")


def _from_igraph(graph: Any, op: str | None, target: str) -> Dag:
    if not graph.is_directed():
        raise ValueError("the graph has no directions; use Graph(directed=True)")
    known = graph.vs.attributes()
    if op is None:
        op = next((name for name in _OPS if name in known), None)
    elif op not in known:
        raise ValueError(f"nodes have no attribute '{op}'; they have {', '.join(known) or 'none'}")
    ops = [str(word) for word in graph.vs[op]] if op else [str(node) for node in range(graph.vcount())]
    score = graph[target] if target in graph.attributes() else None
    name = graph["name"] if "name" in graph.attributes() else None
    return Dag(ops, graph.get_edgelist(), target=None if score is None else float(score), id=name)


def _from_pyg(graphs: Sequence[Any], op: str, target: str) -> Dataset:
    """`op` is a list of words per graph, a vector of numbers, or one-hot rows."""
    names: dict[str, int] = {}
    ops: list[np.ndarray] = []
    edges: list[np.ndarray] = []
    targets = np.full(len(graphs), np.nan)
    for row, graph in enumerate(graphs):
        words = getattr(graph, op, None)
        if words is None:
            raise ValueError(f"graph {row + 1} has no '{op}'; say with op= which field of Data is the operation")
        if not isinstance(words, (list, tuple)):
            numbers = np.asarray(words.detach().cpu() if hasattr(words, "detach") else words)
            if numbers.ndim == 2 and numbers.shape[1] > 1:
                numbers = numbers.argmax(axis=1)
            words = numbers.reshape(-1).astype(np.int64)
        ops.append(np.array([names.setdefault(str(word), len(names)) for word in words], dtype=np.int64))
        index = graph.edge_index
        index = np.asarray(index.detach().cpu() if hasattr(index, "detach") else index, dtype=np.int64)
        edges.append(index.reshape(2, -1).T)
        score = getattr(graph, target, getattr(graph, "y", None) if target == "target" else None)
        if score is not None:
            score = np.asarray(score.detach().cpu() if hasattr(score, "detach") else score, dtype=float).reshape(-1)
            if score.size == 1:
                targets[row] = score[0]
    return Dataset.from_arrays(
        list(names),
        np.concatenate(ops),
        np.cumsum([len(part) for part in ops]),
        np.ascontiguousarray(np.concatenate(edges)),
        np.cumsum([len(part) for part in edges]),
    ).with_targets(targets)


def to_networkx(graph: Dag) -> Any:
    """A networkx `DiGraph` whose nodes have the attribute `op`."""
    import networkx as nx

    result = nx.DiGraph()
    result.add_nodes_from((node, {"op": op}) for node, op in enumerate(graph.ops))
    result.add_edges_from(graph.edges)
    if graph.target is not None:
        result.graph["target"] = graph.target
    if graph.id is not None:
        result.graph["name"] = graph.id
    return result


def to_pyg(graph: Dag, ops: Sequence[str]) -> Any:
    """PyTorch Geometric `Data`: `x` is the number of each operation in `ops`, such as those of a `DagSpec`."""
    import torch
    from torch_geometric.data import Data

    numbers = {op: number for number, op in enumerate(ops)}
    edges = torch.tensor(graph.edges, dtype=torch.long).reshape(-1, 2).T.contiguous()
    data = Data(x=torch.tensor([numbers[op] for op in graph.ops], dtype=torch.long), edge_index=edges)
    if graph.target is not None:
        data.y = torch.tensor([graph.target])
    return data
