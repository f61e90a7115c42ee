#!/usr/bin/env python3
"""Numbers of independent PyTorch implementations of GT, SAN, Graphormer and GraphiT, for tests/it/graph_transformers.rs.

Written from the papers (Dwivedi & Bresson 2021; Kreuzer et al. 2021; Ying et al. 2021; Mialon et al. 2021), with the differences that
the headers of src/encoder/{gt,san,graphormer,graphit}.rs state. One graph at a time and pair by pair: no batches, no padding,
no masks. 64-bit floats on weights that are exact in 32 bits, no dropout.

    pip install torch numpy safetensors && python make_graph_fixtures.py     # rewrites the *.safetensors of these four

Per model two files: <model>.weights.safetensors, parameters by the names and shapes that the Rust module has, and
<model>.expect.safetensors with
    nodes [nodes of all graphs, D], graph [B, D]                             encoder outputs
    node_probe, graph_probe, loss [1], grad.<parameter>                      loss = sum(nodes * node_probe) + sum(graph * graph_probe)
    walk_nodes, walk_graph                                                   (graphit) the same with the random walk kernel
and the graphs, one a line, as metadata "dags".
"""
import os
import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file

HERE = os.path.dirname(os.path.abspath(__file__))
D, HEADS, FF, LAYERS = 8, 2, 6, 2
N_OPS, START = 5, 5                                          # NAS-Bench-101: input 0, operations 1..3, output 4
# In canonical order, with the start symbol in front and without it.
CELLS = ['0 4 : 0>1',
         '0 2 3 4 : 0>1 0>2 1>3 2>3',
         '0 3 3 1 2 4 : 0>1 0>2 0>5 1>3 2>3 3>4 4>5',
         '0 1 3 2 1 2 4 : 0>1 0>3 1>2 1>5 2>3 2>6 3>4 4>5 5>6']


class Graph:
    def __init__(self, text, start):
        ops, _, edges = text.partition(':')
        self.ops = [int(op) for op in ops.split()]
        self.edges = [tuple(int(end) for end in edge.split('>')) for edge in edges.split()]
        if start:
            sources = [v for v in range(len(self.ops)) if all(to != v for _, to in self.edges)]
            self.edges = [(0, v + 1) for v in sources] + [(a + 1, b + 1) for a, b in self.edges]
            self.ops = [START] + self.ops
        self.n = len(self.ops)
        self.n_tokens = N_OPS + (1 if start else 2)          # a start symbol, or MASK and PAD

    def neighbours(self, v):
        return [b for a, b in self.edges if a == v] + [a for a, b in self.edges if b == v]

    def distance(self, source, target):
        """edges on a shortest directed path, None if there is none: by trying all lengths"""
        reached = {source}
        for hops in range(self.n):
            if target in reached:
                return hops
            reached = {b for a, b in self.edges if a in reached}
        return None

    def laplacian(self):
        adjacency = np.zeros((self.n, self.n))
        for a, b in self.edges:
            adjacency[a, b] = adjacency[b, a] = 1
        scale = np.diag(adjacency.sum(1) ** -.5)
        return np.eye(self.n) - scale @ adjacency @ scale

    def spectrum(self):
        """ascending; of each vector the entry of largest magnitude is positive, the first one if several tie"""
        values, vectors = np.linalg.eigh(self.laplacian())
        assert (np.diff(values) > 1e-3).all(), f'repeated eigenvalues have no eigenvectors of their own: {values}'
        for vector in vectors.T:
            size = np.abs(vector)
            leading = vector[np.nonzero(size >= size.max() - 1e-9)[0][0]]
            vector *= np.sign(leading)
        return torch.tensor(np.maximum(values, 0)), torch.tensor(vectors)


class Parameters(dict):
    """Parameters by name; made on first use, random, exact in 32 bits; gains near 1."""

    def get(self, name, *shape):
        if name not in self:
            gain = 1. if name.endswith('gamma') else 0.
            value = gain + .4 * torch.randn(shape, dtype=torch.float64)
            self[name] = value.float().double().requires_grad_()
        assert self[name].shape == shape, name
        return self[name]

    def linear(self, name, x, d_out, bias=True):
        y = x @ self.get(f'{name}.weight', x.shape[-1], d_out)
        return y + self.get(f'{name}.bias', d_out) if bias else y

    def norm(self, name, x):
        d = x.shape[-1]
        return F.layer_norm(x, (d,), self.get(f'{name}.gamma', d), self.get(f'{name}.beta', d), 1e-5)


def heads(q, k, v, n_heads, keys, bias=lambda head, i, j: 0.):
    """softmax over keys(i) of q_i . k_j / sqrt(d) + bias, for every head; 0 without keys"""
    n, d = q.shape[0], q.shape[1] // n_heads
    rows = []
    for i in range(n):
        row = []
        for head in range(n_heads):
            part = slice(head * d, (head + 1) * d)
            js = keys(i)
            if not js:
                row.append(torch.zeros(d, dtype=torch.float64))
                continue
            scores = torch.stack([q[i, part] @ k[j, part] / d ** .5 + bias(head, i, j) for j in js])
            row.append(sum(w * v[j, part] for w, j in zip(scores.softmax(0), js)))
        rows.append(torch.cat(row))
    return torch.stack(rows)


def stack(p, name, x, n_heads, n_layers, keys, bias=lambda head, i, j: 0., pre=False):
    """Transformer blocks with packed projections"""
    d = x.shape[1]
    for layer in range(n_layers):
        at = f'{name}.blocks.{layer}'

        def attention(x):
            qkv = x @ p.get(f'{at}.attention.wqkv', d, 3 * d) + p.get(f'{at}.attention.bqkv', 3 * d)
            y = heads(*qkv.split(d, 1), n_heads, keys, bias)
            return y @ p.get(f'{at}.attention.wo', d, d) + p.get(f'{at}.attention.bo', d)

        def feed_forward(x):
            y = F.relu(x @ p.get(f'{at}.feed_forward.w1', d, FF) + p.get(f'{at}.feed_forward.b1', FF))
            return y @ p.get(f'{at}.feed_forward.w2', FF, d) + p.get(f'{at}.feed_forward.b2', d)

        for norm, f in [('norm_attention', attention), ('norm_feed_forward', feed_forward)]:
            norm = f'{at}.{norm}'
            x = x + f(p.norm(norm, x)) if pre else p.norm(norm, x + f(x))
    return p.norm(f'{name}.norm', x) if pre else x


def graph_stack(p, x, n_parts, bias, attend):
    """post-norm blocks around an attention on projections"""
    d = x.shape[1]
    for layer in range(LAYERS):
        at = f'stack.blocks.{layer}'
        parts = (x @ p.get(f'{at}.projection', d, n_parts * d)).split(d, 1)
        x = p.norm(f'{at}.norm_attention', x + p.linear(f'{at}.output', attend(*parts), d, bias))
        y = p.linear(f'{at}.contract', F.relu(p.linear(f'{at}.hidden', x, FF)), d)
        x = p.norm(f'{at}.norm_feed_forward', x + y)
    return x


def gt(p, graph, k=4):
    _, vectors = graph.spectrum()
    vectors = vectors[:, 1:k + 1]
    vectors = F.pad(vectors, (0, k - vectors.shape[1]))
    x = p.get('ops', graph.n_tokens, D)[graph.ops] + p.linear('position', vectors, D)
    x = stack(p, 'stack', x, HEADS, LAYERS, graph.neighbours)
    return x, x.mean(0)


def san(p, graph, k=5, d_position=4, gamma=.3):
    values, vectors = graph.spectrum()
    k, positions = min(k, graph.n), []
    for v in range(graph.n):
        pairs = p.linear('pair', torch.stack([values[:k], vectors[v, :k]], 1), d_position)
        positions.append(stack(p, 'position', pairs, 2, 1, lambda i: list(range(k))).sum(0))
    x = torch.cat([p.get('ops', graph.n_tokens, D - d_position)[graph.ops], torch.stack(positions)], 1)
    others = lambda v: [u for u in range(graph.n) if u != v and u not in graph.neighbours(v)]

    def attend(q1, k1, v, q2, k2):
        return (heads(q1, k1, v, HEADS, graph.neighbours) + gamma * heads(q2, k2, v, HEADS, others)) / (1 + gamma)

    x = graph_stack(p, x, 5, True, attend)
    return x, x.mean(0)


def graphormer(p, graph, cap=3, max_degree=2):
    incoming = [min(max_degree, sum(b == v for _, b in graph.edges)) for v in range(graph.n)]
    outgoing = [min(max_degree, sum(a == v for a, _ in graph.edges)) for v in range(graph.n)]
    x = p.get('ops', graph.n_tokens, D)[graph.ops]
    x = x + p.get('in_degrees', max_degree + 1, D)[incoming] + p.get('out_degrees', max_degree + 1, D)[outgoing]
    x = torch.cat([p.get('virtual_node', 1, D), x])

    def bias(head, i, j):                                    # 0 is the virtual node
        if i == 0 or j == 0:
            return p.get('virtual_distance', 1, HEADS)[0, head]
        hops = graph.distance(j - 1, i - 1)
        return p.get('distances', cap + 2, HEADS)[cap + 1 if hops is None or hops > cap else hops, head]

    x = stack(p, 'stack', x, HEADS, LAYERS, lambda i: list(range(graph.n + 1)), bias, pre=True)
    return x[1:], x[0]


def graphit(p, graph, walk=False):
    laplacian = torch.tensor(graph.laplacian())
    if walk:
        kernel = torch.linalg.matrix_power(torch.eye(graph.n) - .6 * laplacian, 3)
    else:
        kernel = torch.linalg.matrix_exp(-.8 * laplacian)
    x = p.get('ops', graph.n_tokens, D)[graph.ops]

    def attend(q, v):
        d, columns = D // HEADS, []
        for head in range(HEADS):
            part = slice(head * d, (head + 1) * d)
            w = (q[:, part] @ q[:, part].T / d ** .5).exp() * kernel
            columns.append(w / w.sum(1, keepdim=True) @ v[:, part])
        degrees = torch.tensor([len(graph.neighbours(v)) for v in range(graph.n)], dtype=torch.float64)
        return torch.cat(columns, 1) / (1 + degrees[:, None]).sqrt()

    x = graph_stack(p, x, 2, False, attend)
    return x, x.mean(0)


def run(model, p, start, **options):
    nodes, graphs = zip(*[model(p, Graph(text, start), **options) for text in CELLS])
    return torch.cat(nodes), torch.stack(graphs)


def write(model, start):
    torch.manual_seed(20210620)
    torch.set_default_dtype(torch.float64)
    p, name = Parameters(), model.__name__
    nodes, graphs = run(model, p, start)
    probes = [torch.randn(t.shape).float().double() for t in (nodes, graphs)]
    loss = (nodes * probes[0]).sum() + (graphs * probes[1]).sum()
    loss.backward()
    expect = dict(nodes=nodes, graph=graphs, node_probe=probes[0], graph_probe=probes[1], loss=loss.reshape(1))
    expect.update({'grad.' + parameter: value.grad for parameter, value in p.items()})
    if model is graphit:
        expect['walk_nodes'], expect['walk_graph'] = run(model, p, start, walk=True)
    as32 = lambda tensors: {name: t.detach().float().contiguous() for name, t in tensors.items()}
    save_file(as32(p), os.path.join(HERE, name + '.weights.safetensors'))
    save_file(as32(expect), os.path.join(HERE, name + '.expect.safetensors'), {'dags': '\n'.join(CELLS)})
    print(name, 'loss', loss.item(), 'parameters', sum(value.numel() for value in p.values()))


write(gt, True)
write(san, True)
write(graphormer, False)
write(graphit, False)
