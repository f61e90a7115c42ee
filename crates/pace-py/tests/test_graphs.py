"""Graphs, datasets, specs, and graphs of other libraries."""

import pickle

import numpy as np
import pytest
from conftest import make_graphs, shuffled

from pace_dag import Dag, DagSpec, Dataset, dataset, to_networkx, to_pyg


def test_a_graph_is_what_it_was_made_of():
    graph = Dag(["a", "b", "c"], [(0, 1), (0, 2)], target=0.5, id="x")
    assert (graph.ops, graph.edges, graph.target, graph.id, len(graph)) == (["a", "b", "c"], [(0, 1), (0, 2)], 0.5, "x", 3)
    assert graph == Dag(["a", "b", "c"], [(0, 2), (0, 1)], target=0.5, id="x") != Dag(["a", "b", "c"], [(0, 1)])
    assert pickle.loads(pickle.dumps(graph)) == graph and len({graph, pickle.loads(pickle.dumps(graph))}) == 1
    assert "a b c" in repr(graph)
    with pytest.raises(ValueError, match="cycle"):
        Dag(["a", "b"], [(0, 1), (1, 0)])
    with pytest.raises(ValueError, match="finite"):
        Dag(["a"], [], target=float("nan"))


def test_isomorphic_graphs_have_one_form():
    for row, graph in enumerate(make_graphs(50)):
        other = shuffled(graph, row)
        assert graph.isomorphic(other)
        assert other.canonical().ops == graph.canonical().ops and sorted(other.canonical().edges) == sorted(graph.canonical().edges)
        assert other.dag2seq() == graph.dag2seq()
        assert (other.mask() == graph.mask()).all() and graph.mask().shape == (len(graph), len(graph))
        sequence = graph.dag2seq()
        assert all(before < place for place, (_, befores) in enumerate(sequence) for before in befores)
        # A position attends to itself and its ancestors, so to its predecessors.
        assert all(graph.mask()[place, before] for place, (_, befores) in enumerate(sequence) for before in [place, *befores])
    assert not Dag(["a", "b"], [(0, 1)]).isomorphic(Dag(["a", "b"], [(1, 0)]))
    assert not Dag(["a", "b"], [(0, 1)]).isomorphic(Dag(["a", "c"], [(0, 1)]))


def test_datasets_are_sliced_selected_and_pickled(graphs):
    data = Dataset(graphs)
    assert len(data) == 200 and data[3] == graphs[3] and data[-1] == graphs[-1]
    assert [data[10:20:3][row] for row in range(4)] == graphs[10:20:3]
    assert data[[5, 1]][0] == graphs[5]
    np.testing.assert_array_equal(data.targets, [graph.target for graph in graphs])
    assert data.ids[:2] == ["g0", "g1"]
    again = pickle.loads(pickle.dumps(data))
    assert len(again) == 200 and again[7] == graphs[7]
    with pytest.raises(IndexError):
        data[200]
    with pytest.raises(TypeError, match="Dags"):
        Dataset(["no graph"])
    relabelled = data.with_targets(np.arange(200.0))
    assert relabelled[4].target == 4.0 and data[4].target == graphs[4].target
    with pytest.raises(ValueError, match="199 targets for 200"):
        data.with_targets(np.zeros(199))


def test_classes_count_isomorphic_graphs_once(graphs):
    mixed = graphs[:20] + [shuffled(graph) for graph in graphs[:20]]
    classes = Dataset(mixed).classes()
    assert (classes[:20] == classes[20:]).all() and classes[0] == 0


def test_arrays_are_checked():
    good = dict(names=["a", "b"], ops=np.array([0, 1, 1]), node_ends=np.array([2, 3]), edges=np.array([[0, 1]]), edge_ends=np.array([1, 1]))
    data = Dataset.from_arrays(**good)
    assert data[0].ops == ["a", "b"] and data[1].edges == []
    for bad, word in [
        (dict(ops=np.array([0, 1, 2])), "operation 2"),
        (dict(ops=np.array([0, 1, -1])), "-1 is no index"),
        (dict(node_ends=np.array([2, 2])), "nodes"),
        (dict(edges=np.array([[0, 2]])), "beyond its 2 nodes"),
        (dict(edges=np.zeros((1, 3), dtype=np.int64)), "3 columns"),
    ]:
        with pytest.raises(ValueError, match=word):
            Dataset.from_arrays(**{**good, **bad})


def test_specs_are_inferred_sampled_and_edited(graphs):
    spec, remarks = Dataset(graphs).infer()
    assert any("operations" in remark for remark in remarks)
    assert all(spec.is_valid(graph) for graph in graphs) and not spec.is_valid(Dag(["conv"], []))
    assert DagSpec(spec.json()) == spec == pickle.loads(pickle.dumps(spec))
    drawn = spec.sample(30, seed=3)
    assert len(drawn) == 30 and len(set(drawn.classes())) == 30
    assert drawn[0] == spec.sample(30, seed=3)[0] != spec.sample(30, seed=4)[0]
    assert all(spec.is_valid(graph) for graph in spec.neighbours(drawn[0]))
    with pytest.raises(ValueError, match="no space is called"):
        DagSpec.named("nas102")
    with pytest.raises(ValueError, match="no spec"):
        DagSpec("{}")


def test_networkx_there_and_back(graphs):
    nx = pytest.importorskip("networkx")
    there = [to_networkx(graph) for graph in graphs]
    back = dataset(there)
    assert all(back[row] == graph for row, graph in enumerate(graphs))
    # Names of any kind, and nodes in any order.
    odd = nx.DiGraph()
    odd.add_edges_from([("x", 7), (7, (1, 2)), ("x", (1, 2))])
    assert dataset([odd])[0].ops == ["x", "7", "(1, 2)"] and dataset(odd)[0].edges == [(0, 1), (0, 2), (1, 2)]
    nx.set_node_attributes(odd, {"x": 1, 7: 2, (1, 2): 3}, "kind")
    assert dataset([odd], op="kind")[0].ops == ["1", "2", "3"]
    with pytest.raises(ValueError, match="graph 2: node x has no attribute 'op'"):
        dataset([to_networkx(graphs[0]), odd], op="op")
    with pytest.raises(ValueError, match="no directions"):
        dataset([nx.Graph([(0, 1)])])
    multi = nx.MultiDiGraph([("a", "b"), ("a", "b")])
    assert dataset([multi])[0].edges == [(0, 1)]
    cycle = dataset([nx.DiGraph([(0, 1), (1, 0)])])
    with pytest.raises(ValueError, match="cycle"):
        cycle.infer()


def test_igraph(graphs):
    ig = pytest.importorskip("igraph")
    graph = graphs[0]
    other = ig.Graph(n=len(graph), edges=graph.edges, directed=True)
    other.vs["op"] = graph.ops
    other["target"] = graph.target
    found = dataset([other])[0]
    assert (found.ops, found.edges, found.target) == (graph.ops, graph.edges, graph.target)
    with pytest.raises(ValueError, match="no directions"):
        dataset([ig.Graph([(0, 1)])])


def test_pytorch_geometric(graphs):
    pytest.importorskip("torch_geometric")
    spec, _ = Dataset(graphs).infer()
    found = dataset([to_pyg(graph, spec.ops) for graph in graphs])
    for row, graph in enumerate(graphs):
        assert found[row].edges == graph.edges and found[row].target == pytest.approx(graph.target, abs=1e-5)
        assert [spec.ops[int(op)] for op in found[row].ops] == graph.ops


def test_files_of_every_format(tmp_path, graphs):
    for ending in ["jsonl", "json", "dot", "graphml"]:
        path = tmp_path / f"graphs.{ending}"
        Dataset(graphs).write(path)
        back = dataset(path)
        assert len(back) == 200 and back[3] == graphs[3], ending
        assert "200 graphs from 1 file" in back.remarks
    assert len(dataset(str(tmp_path / "graphs.dot"), max_nodes=5)) < 200
    (tmp_path / "area.py").write_text("def area(self):\n    return self.a * self.b\n")
    function = dataset(tmp_path / "area.py")[0]
    assert function.id == "area:area:1" and function.ops[:2] == ["Module", "FunctionDef"]
    (tmp_path / "bad.dot").write_text("digraph { a -> b -> a }")
    with pytest.raises(ValueError, match="bad.dot.*cycle"):
        dataset(tmp_path / "bad.dot")
    with pytest.raises(OSError, match="nowhere"):
        dataset(tmp_path / "nowhere.dot")
    with pytest.raises(TypeError, match="expected Dag"):
        dataset([1, 2])
