"""Times pynauty and igraph on the graphs of `cargo bench --bench graph -- --dump FILE`.

Usage: graph_peers.py FILE. Prints {"<set>": {"<what>": microseconds per graph}}; the best of several passes counts, on
one thread. `pynauty` and `igraph` label a graph object that is already built; `+building` starts from operations and
edges. `mask` is the reachability closure on Python integers, which is faster here than numpy.
"""

import json
import sys
import time

import igraph
import pynauty

# Seconds spent on one measurement, and the number of passes at least.
BUDGET = 0.5
MIN_PASSES = 3


def build_pynauty(ops, edges):
    adjacency = {}
    for source, target in edges:
        adjacency.setdefault(source, []).append(target)
    classes = {}
    for node, op in enumerate(ops):
        classes.setdefault(op, set()).add(node)
    colouring = [classes[op] for op in sorted(classes)]
    return pynauty.Graph(len(ops), directed=True, adjacency_dict=adjacency, vertex_coloring=colouring)


def build_igraph(ops, edges):
    return igraph.Graph(n=len(ops), edges=edges, directed=True)


def mask(ops, edges):
    """Row v holds v and its ancestors; edges come sorted, and every edge goes to a higher number."""
    rows = [1 << node for node in range(len(ops))]
    for source, target in edges:
        rows[target] |= rows[source]
    return rows


def best(work, items):
    """Microseconds per item of the fastest pass of `work` over all items."""
    fastest, spent, passes = float("inf"), 0.0, 0
    while spent < BUDGET or passes < MIN_PASSES:
        start = time.perf_counter()
        for item in items:
            work(*item)
        elapsed = time.perf_counter() - start
        fastest, spent, passes = min(fastest, elapsed), spent + elapsed, passes + 1
    return fastest / len(items) * 1e6


def measure(name, graphs):
    plain = [(graph["ops"], [tuple(edge) for edge in graph["edges"]]) for graph in graphs]
    times = {"mask": best(mask, plain)}
    built = [(build_igraph(ops, edges), ops) for ops, edges in plain]
    times["igraph"] = best(lambda graph, ops: graph.canonical_permutation(color=ops), built)
    times["igraph+building"] = best(
        lambda ops, edges: build_igraph(ops, edges).canonical_permutation(color=ops), plain
    )
    # nauty's digraph refinement explodes on trees: over a minute for one AST of 120 nodes.
    if not name.startswith("ast"):
        built = [(build_pynauty(ops, edges),) for ops, edges in plain]
        times["pynauty"] = best(pynauty.canon_label, built)
        times["pynauty+building"] = best(lambda ops, edges: pynauty.canon_label(build_pynauty(ops, edges)), plain)
    return times


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        sets = json.load(file)
    json.dump({name: measure(name, graphs) for name, graphs in sets.items()}, sys.stdout)


if __name__ == "__main__":
    main()
