#!/usr/bin/env python3
"""From networkx graphs to vectors: pace_dag against our PyTorch peer, in turns, in one process.

Cells of NAS-Bench-101, drawn by pace_dag, as networkx DiGraphs. Both sides end with the vectors of a Transformer of the same shape (64
wide, 3 blocks) with random weights: what is learnt plays no part in the time. The peer reads nodes and edges into flat lists, asks
igraph for the canonical order of each graph as the authors' code does, and computes everything else over whole batches.

Prints a line of JSON: graphs per second, and the share of time that reading networkx takes.
"""
import argparse, json, pathlib, sys, time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--graphs", type=int, default=10_000)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--threads", type=int, default=2)
options = parser.parse_args()

# The peer reads options of its own when it is imported.
sys.argv = ["torch_pace.py", "--task", "mlm101", "--threads", str(options.threads)]
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import igraph
import networkx as nx
import numpy as np
import torch
import torch_pace

from pace_dag import DagSpec, Dataset, PaceEncoder, dataset, to_networkx

SPEC = DagSpec.named("nas101")
MAX_NODES = 7
BATCHES = [256, 1024, 4096]


def peer_convert(graphs):
    """Operations [G, N], edges [G, N, N], and which nodes there are."""
    numbers = {op: number + 2 for number, op in enumerate(SPEC.ops)}
    ops = np.zeros((len(graphs), MAX_NODES), dtype=np.int64)
    adjacent = np.zeros((len(graphs), MAX_NODES, MAX_NODES), dtype=bool)
    rows, befores, afters, sizes, words = [], [], [], [], []
    for row, graph in enumerate(graphs):
        words.extend(numbers[op] for _, op in graph.nodes(data="op"))
        sizes.append(len(graph))
        for before, after in graph.edges:
            rows.append(row), befores.append(before), afters.append(after)
    valid = np.arange(MAX_NODES) < np.array(sizes)[:, None]
    ops[valid] = words
    adjacent[rows, befores, afters] = True
    return ops, adjacent, valid, np.array(sizes)


def peer_order(ops, adjacent, sizes):
    """Canonical positions by igraph, a graph at a time: it has no other way."""
    places = np.full(ops.shape, MAX_NODES - 1)
    for row, size in enumerate(sizes):
        graph = igraph.Graph(int(size), list(zip(*np.nonzero(adjacent[row, :size, :size]))), directed=True)
        places[row, :size] = graph.canonical_permutation(color=ops[row, :size].tolist())
    return places


def peer_encode(model, ops, adjacent, places, batch):
    """Features and mask of all, then the encoder batch by batch."""
    mask = torch.from_numpy(torch_pace.closure(adjacent).transpose(0, 2, 1)[:, None].copy())
    features, ops = torch.from_numpy(torch_pace.dag_feats(places, adjacent, MAX_NODES)), torch.from_numpy(ops)
    with torch.no_grad():
        parts = [model.encode(ops[at : at + batch], features[at : at + batch], mask[at : at + batch]) for at in range(0, len(ops), batch)]
    return torch.cat(parts)


class Clock:
    """Seconds since the last look."""

    def __init__(self):
        self.last = time.perf_counter()

    def lap(self):
        now = time.perf_counter()
        self.last, passed = now, now - self.last
        return passed


def main():
    cells = SPEC.sample(options.graphs, seed=1)
    graphs = [to_networkx(cell) for cell in cells]
    model = PaceEncoder(spec=SPEC, epochs=1).fit(cells[:256]).model_
    peer = torch_pace.PaceMlm(MAX_NODES, 7).eval()
    ends = np.cumsum([len(cell) for cell in cells])
    edge_ends = np.cumsum([len(cell.edges) for cell in cells])
    names = {op: number for number, op in enumerate(SPEC.ops)}
    arrays = dict(
        names=SPEC.ops,
        ops=np.array([names[op] for cell in cells for op in cell.ops]),
        node_ends=ends,
        edges=np.array([edge for cell in cells for edge in cell.edges]),
        edge_ends=edge_ends,
    )
    ours, from_arrays, theirs, bare = [], [], [], []
    for _ in range(options.rounds):
        clock = Clock()
        read = dataset(graphs)
        converted = clock.lap()
        vectors = model.encode(read)
        ours.append((converted, clock.lap()))
        # As many graphs again and again: 10,000 take a few hundredths of a second.
        for _ in range(5):
            clock.lap()
            same = model.encode(Dataset.from_arrays(**arrays))
            from_arrays.append(clock.lap())
            bare.append(model._encode_seconds(read))
        assert (vectors == same).all()
        for batch in BATCHES:
            clock.lap()
            ops, adjacent, valid, sizes = peer_convert(graphs)
            converted = clock.lap()
            places = peer_order(ops, adjacent, sizes)
            ordered = clock.lap()
            peer_encode(peer, ops, adjacent, places, batch)
            theirs.append((converted, ordered, clock.lap()))
    ours, theirs = min(ours, key=sum), min(theirs, key=sum)
    n = len(graphs)
    print(
        json.dumps(
            {
                "networkx_gps": n / sum(ours),
                "networkx_conversion_share": ours[0] / sum(ours),
                "peer_gps": n / sum(theirs),
                "peer_without_order_gps": n / (theirs[0] + theirs[2]),
                "peer_conversion_share": theirs[0] / sum(theirs),
                "arrays_gps": n / min(from_arrays),
                "rust_gps": n / min(bare),
            }
        )
    )


main()
