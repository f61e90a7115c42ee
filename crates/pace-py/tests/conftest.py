"""Graphs that nobody has tuned for, and a score that depends on operations and edges."""

import random

import pytest

from pace_dag import Dag

OPS = ["load", "mul", "add", "relu", "pool"]


def make_graphs(n, seed=1):
    """`n` random graphs with scores."""
    rng = random.Random(seed)
    graphs = []
    for row in range(n):
        size = rng.randint(3, 8)
        ops = [rng.choice(OPS) for _ in range(size)]
        edges = [(a, b) for b in range(size) for a in range(b) if rng.random() < 0.35]
        graphs.append(Dag(ops, edges, target=score(ops, edges), id=f"g{row}"))
    return graphs


def score(ops, edges):
    """Each edge counts by the operations at its ends."""
    value = OPS.index
    return sum((value(ops[a]) - 1.5) * (2 - abs(value(ops[b]) - 3)) for a, b in edges) - 0.1 * len(ops) ** 2


@pytest.fixture
def graphs():
    """Two hundred graphs."""
    return make_graphs(200)


def shuffled(graph, seed=0):
    """The same graph under another numbering."""
    order = list(range(len(graph)))
    random.Random(seed).shuffle(order)
    place = {old: new for new, old in enumerate(order)}
    return Dag([graph.ops[old] for old in order], [(place[a], place[b]) for a, b in graph.edges])
