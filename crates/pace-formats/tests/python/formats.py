"""Graphs by networkx, pydot and onnx: `write DIR` makes files and prints what is in them, `read DIR` prints what it finds in ours.

Prints one line of JSON per file: format, file, and ops, edges, target and id of each graph.
"""
import json
import os
import random
import sys

NAMES = ["conv", "a b", "é", '"', "<b>", "&amp;", "node", "digraph", "x\ny", "0", "-1.5", "{}", "[;]", "#", "//", "->", "null", "ß", "'"]


def say(kind, file, graphs):
    print(json.dumps({"format": kind, "file": file, "graphs": graphs}))


def plain(ops, edges, target=None, name=None):
    return {"ops": ops, "edges": sorted(edges), "target": target, "id": name}


def random_dag(rng):
    n_nodes = rng.randint(1, 7)
    ops = [rng.choice(NAMES) for _ in range(n_nodes)]
    edges = [(i, j) for j in range(n_nodes) for i in range(j) if rng.random() < 0.4]
    return ops, edges


def networkx_graph(ops, edges, target):
    import networkx as nx
    graph = nx.DiGraph(target=target, name="g")
    for node, op in enumerate(ops):
        graph.add_node(f"{op} {node}", op=op)
    names = list(graph)
    graph.add_edges_from((names[i], names[j], {"weight": 1}) for i, j in edges)
    return graph


def write(folder):
    import networkx as nx
    import onnx
    import pydot
    rng = random.Random(1)
    for index in range(30):
        ops, edges = random_dag(rng)
        target = round(rng.random(), 6)
        graph = networkx_graph(ops, edges, target)
        expected = [plain(ops, edges, target, "g")]
        for key in ["edges", "links"]:
            file = os.path.join(folder, f"{index}-{key}.json")
            with open(file, "w") as out:
                json.dump(nx.node_link_data(graph, edges=key), out, indent=index % 2)
            say("node-link", file, expected)
        file = os.path.join(folder, f"{index}.graphml")
        nx.write_graphml(graph, file)
        say("graphml", file, expected)

        dot = pydot.Dot("g", graph_type="digraph")
        dot.set("target", target)
        quoted = ['"' + op.replace('"', '\\"') + '"' for op in ops]
        for node, op in enumerate(quoted):
            dot.add_node(pydot.Node(f"n{node}", op=op, shape="box"))
        for i, j in edges:
            dot.add_edge(pydot.Edge(f"n{i}", f"n{j}", label='"e"'))
        file = os.path.join(folder, f"{index}.dot")
        dot.write_raw(file, encoding="utf-8")
        say("dot", file, expected)

        nodes = [onnx.helper.make_node(op, [f"t{i}" for i, j in edges if j == node], [f"t{node}"], name=f"n{node}",
                                       domain=rng.choice(["", "my.domain"]), axis=1) for node, op in enumerate(ops)]
        weights = onnx.numpy_helper.from_array(__import__("numpy").zeros((64, 64), "float32"), "weights")
        body = onnx.helper.make_graph(nodes, "g", [], [], initializer=[weights])
        model = onnx.helper.make_model(body)
        onnx.helper.set_model_props(model, {"target": str(target), "author": "me"})
        file = os.path.join(folder, f"{index}.onnx")
        onnx.save(model, file)
        say("onnx", file, expected)


def from_networkx(graph):
    names = list(graph)
    ops = [graph.nodes[name]["op"] for name in names]
    edges = [(names.index(i), names.index(j)) for i, j in graph.edges]
    return plain(ops, edges, graph.graph.get("target"), graph.graph.get("id"))


def read_one(kind, file):
    if kind == "node-link":
        import networkx as nx
        with open(file) as source:
            return from_networkx(nx.node_link_graph(json.load(source), edges="edges"))
    if kind == "graphml":
        import networkx as nx
        return from_networkx(nx.read_graphml(file))
    if kind == "dot":
        import pydot
        [dot] = pydot.graph_from_dot_file(file, encoding="utf-8")

        def text(value):
            return value[1:-1].replace('\\"', '"').replace("\\\\", "\\") if value.startswith('"') else value
        ops = [text(node.get("op")) for node in dot.get_nodes()]
        edges = [(int(edge.get_source()), int(edge.get_destination())) for edge in dot.get_edges()]
        return plain(ops, edges, float(text(dot.get("target"))), text(dot.get_name()))
    import onnx
    model = onnx.load(file)
    properties = {entry.key: entry.value for entry in model.metadata_props}
    makers = {name: index for index, node in enumerate(model.graph.node) for name in node.output}
    edges = [(makers[name], index) for index, node in enumerate(model.graph.node) for name in node.input]
    return plain([node.op_type for node in model.graph.node], edges, float(properties["target"]), model.graph.name)


def read(folder):
    for file in sorted(os.listdir(folder)):
        kind = {"json": "node-link", "gv": "dot"}.get(file.rsplit(".", 1)[1], file.rsplit(".", 1)[1])
        path = os.path.join(folder, file)
        say(kind, path, [read_one(kind, path)])


{"write": write, "read": read}[sys.argv[1]](sys.argv[2])
