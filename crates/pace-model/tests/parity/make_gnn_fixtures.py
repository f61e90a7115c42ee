#!/usr/bin/env python3
"""Numbers of an independent PyTorch implementation of GIN, GAT and gated GCN, for tests/it/gnns.rs to hold the Rust ones against.

Written from the papers (Xu et al. 2019; Velickovic et al. 2018; Bresson and Laurent 2018, Dwivedi et al. 2020), with layer norms for
batch norms. Graph by graph, with dense matrices [hearer, speaker]; no padding. Computes in 64-bit floats on weights that are exact in
32 bits, without dropout.

    pip install torch safetensors && python make_gnn_fixtures.py      # rewrites gin, gat and gated_gcn.*.safetensors beside this file

Per case two files: <case>.weights.safetensors, a plain state dict, and <case>.expect.safetensors with
    nodes [nodes of all graphs, D], graph [B, G]    encoder outputs
    probe [B, G], node_probe, loss [1]              loss = sum(graph * probe) + sum(nodes * node_probe)
    grad.<parameter>                                gradients of loss
and the graphs, one a line, as metadata "dags".
"""
import os
import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import save_file

HERE = os.path.dirname(os.path.abspath(__file__))
D, HEADS, LAYERS, EIGENVECTORS = 8, 2, 2, 3
# NAS-Bench-101 cells in canonical order: input 0, operations 1..3, output 4; MASK 5, PAD 6.
N_TOKENS = 7
CELLS = ['0 4 : 0>1',
         '0 2 3 4 : 0>1 0>2 0>3 1>3 2>3',
         '0 3 3 1 2 4 : 0>1 0>2 0>5 1>3 2>3 3>4 4>5',
         '0 1 3 2 1 2 4 : 0>1 0>3 1>2 1>5 2>3 2>6 3>4 4>5 5>6']


class Graph:
    """A DAG from text `op op op : from>to from>to`, nodes in sequence order"""

    def __init__(self, text):
        ops, _, edges = text.partition(':')
        self.ops = torch.tensor([int(op) for op in ops.split()])
        self.n = len(self.ops)
        self.along = torch.zeros(self.n, self.n, dtype=torch.float64)       # [v, u] = 1 iff u -> v
        for edge in edges.split():
            u, v = (int(end) for end in edge.split('>'))
            self.along[v, u] = 1
        self.adjacent = self.along + self.along.T

    def eigenvectors(self):
        """the first non-trivial ones of the normalised Laplacian, [n, EIGENVECTORS], zeros if there are not enough"""
        scale = self.adjacent.sum(0).rsqrt()
        values, vectors = torch.linalg.eigh(torch.eye(self.n) - scale[:, None] * self.adjacent * scale)
        used = values[:EIGENVECTORS + 2]
        assert (used[1:] - used[:-1]).min() > 1e-3, 'eigenvectors of a repeated eigenvalue are one basis of many'
        found = torch.zeros(self.n, EIGENVECTORS, dtype=torch.float64)
        for k in range(1, min(self.n, EIGENVECTORS + 1)):
            vector = vectors[:, k]
            # Largest entry positive; of several, the first.
            leading = (vector.abs() >= vector.abs().max() - 1e-9).nonzero()[0, 0]
            found[:, k - 1] = vector * vector[leading].sign()
        return found


class Embedding(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(N_TOKENS, D)

    def forward(self, graph):
        return self.table(graph.ops)


class GinLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(1))
        self.hidden, self.norm_hidden = nn.Linear(D, D), nn.LayerNorm(D)
        self.out, self.norm = nn.Linear(D, D), nn.LayerNorm(D)

    def forward(self, x, graph):
        y = (1 + self.eps) * x + graph.adjacent @ x
        return F.relu(self.norm(self.out(F.relu(self.norm_hidden(self.hidden(y))))))


class Gin(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.layers = Embedding(), nn.ModuleList(GinLayer() for _ in range(LAYERS))

    def forward(self, graph):
        x = self.embedding(graph)
        sums = [x.sum(0)]
        for layer in self.layers:
            x = layer(x, graph)
            sums.append(x.sum(0))
        return x, torch.cat(sums)


class GatLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.map = nn.Linear(D, D, bias=False)
        self.source, self.target = nn.Parameter(torch.zeros(D // HEADS, HEADS)), nn.Parameter(torch.zeros(D // HEADS, HEADS))
        self.bias = nn.Parameter(torch.zeros(D))

    def forward(self, x, graph):
        hears = graph.adjacent + torch.eye(graph.n)
        heads = []
        for head, z in enumerate(self.map(x).chunk(HEADS, 1)):
            scores = F.leaky_relu((z @ self.target[:, head])[:, None] + (z @ self.source[:, head])[None], .2)
            heads.append(scores.masked_fill(hears == 0, float('-inf')).softmax(1) @ z)
        return F.elu(torch.cat(heads, 1) + self.bias)


class Gat(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.layers = Embedding(), nn.ModuleList(GatLayer() for _ in range(LAYERS))

    def forward(self, graph):
        x = self.embedding(graph)
        for layer in self.layers:
            x = layer(x, graph)
        return x, x.mean(0)


class GatedGcnLayer(nn.Module):
    def __init__(self, last):
        super().__init__()
        self.nodes, self.edges = nn.Linear(D, 4 * D), nn.Linear(D, D)
        self.norm = nn.LayerNorm(D)
        if not last:
            self.norm_edges = nn.LayerNorm(D)

    def forward(self, x, edge, graph):
        a, b, d, e = self.nodes(x).chunk(4, 1)
        q = self.edges(edge) + d[None] + e[:, None]                         # [v, u, D]
        gate = q.sigmoid() * graph.adjacent[:, :, None]
        eta = gate / (gate.sum(1, keepdim=True) + 1e-6)
        x = x + F.relu(self.norm(a + (eta * b[None]).sum(1)))
        return x, edge + F.relu(self.norm_edges(q)) if hasattr(self, 'norm_edges') else None


class Laplacian(nn.Module):
    def __init__(self):
        super().__init__()
        self.map = nn.Linear(EIGENVECTORS, D)


class GatedGcn(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.laplacian = Embedding(), Laplacian()
        self.directions = nn.Parameter(torch.zeros(D, 2))
        self.layers = nn.ModuleList(GatedGcnLayer(layer + 1 == LAYERS) for layer in range(LAYERS))

    def forward(self, graph):
        x = self.embedding(graph) + self.laplacian.map(graph.eigenvectors())
        edge = torch.where(graph.along[:, :, None] > 0, self.directions[:, 0], self.directions[:, 1])
        for layer in self.layers:
            x, edge = layer(x, edge, graph)
        return x, x.mean(0)


def random(shape):
    return torch.randn(shape, dtype=torch.float64).float().double()


def case(name, model):
    model.double()
    with torch.no_grad():
        for parameter, p in model.named_parameters():
            # No parameter at a trivial value.
            gain = 1. if 'norm' in parameter and parameter.endswith('weight') else 0.
            p.copy_((gain + .4 * torch.randn(p.shape, dtype=torch.float64)).float().double())
    nodes, graph = zip(*(model(Graph(text)) for text in CELLS))
    nodes, graph = torch.cat(nodes), torch.stack(graph)
    probe, node_probe = random(graph.shape), random(nodes.shape)
    loss = (graph * probe).sum() + (nodes * node_probe).sum()
    loss.backward()
    expect = dict(nodes=nodes, graph=graph, probe=probe, node_probe=node_probe, loss=loss.reshape(1))
    expect.update({'grad.' + parameter: p.grad for parameter, p in model.named_parameters()})
    as32 = lambda tensors: {key: t.detach().to(torch.float32).contiguous() for key, t in tensors.items()}
    save_file(as32(model.state_dict()), os.path.join(HERE, name + '.weights.safetensors'))
    save_file(as32(expect), os.path.join(HERE, name + '.expect.safetensors'), {'dags': '\n'.join(CELLS)})
    print(name, 'loss', loss.item(), 'parameters', sum(p.numel() for p in model.parameters()))


torch.manual_seed(20220620)
case('gin', Gin())
case('gat', Gat())
case('gated_gcn', GatedGcn())
