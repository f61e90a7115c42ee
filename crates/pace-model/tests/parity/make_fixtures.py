#!/usr/bin/env python3
"""Numbers of an independent PyTorch implementation of PACE, for tests/it/parity.rs to hold the Rust one against.

Written from the paper (Dong et al., ICML 2022: equations 1-4, appendix D) and from docs/ARCHITECTURE.md for what the
published code does otherwise. Transformer blocks are PyTorch's own. Computes in 64-bit floats on weights that are exact
in 32 bits, without dropout.

    pip install torch safetensors && python make_fixtures.py          # rewrites the *.safetensors beside this file

Per case two files: <case>.weights.safetensors, a plain state dict, and <case>.expect.safetensors with
    nodes [B*N, D], graph [B, G]    encoder outputs
    mu, log_variance [B, Z], nll [B], loss [1], eps [B, Z], noisy_loss [1]      (VAE)
    tokens [B, N], labels [B, N], loss [1]                                      (MLM; label -1: not predicted)
    probe, loss [1]                                                             (encoder alone: loss = sum(graph * probe))
    grad.<parameter>, noisy_grad.<parameter>                                    gradients of loss and noisy_loss
    filled_grad.<parameter>                                                     as grad, where masked scores pass none
and the graphs, one a line, as metadata "dags".
"""
import os
import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import save_file
from torch.nn.attention import SDPBackend, sdpa_kernel

HERE = os.path.dirname(os.path.abspath(__file__))
D_OP, D_POSITION, HEADS, FF, LAYERS, D_LATENT, D_HIDDEN = 4, 4, 2, 8, 2, 4, 6


class Graph:
    """A DAG from text `op op op : from>to from>to`, nodes in sequence order; `start` puts a start symbol in front."""

    def __init__(self, text, start=None):
        ops, _, edges = text.partition(':')
        self.ops = [int(op) for op in ops.split()]
        self.edges = [tuple(int(end) for end in edge.split('>')) for edge in edges.split()]
        if start is not None:
            targets = {to for _, to in self.edges}
            sources = [node for node in range(len(self.ops)) if node not in targets]
            self.edges = [(0, node + 1) for node in sources] + [(a + 1, b + 1) for a, b in self.edges]
            self.ops = [start] + self.ops
        self.n = len(self.ops)
        assert all(a < b for a, b in self.edges)

    def paths(self):
        """paths[a][b]: there is a path a -> b of length >= 1"""
        reach = [[False] * self.n for _ in range(self.n)]
        for a, b in sorted(self.edges, key=lambda edge: -edge[0]):
            reach[a][b] = True
            for c in range(self.n):
                reach[a][c] = reach[a][c] or reach[b][c]
        return reach


class Batch:
    """The tensors of a list of graphs of at most n nodes; `labels` (of nodes, by graph) default to positions."""

    def __init__(self, graphs, n, n_labels, pad, labels='position', neighbours='in', mask='ancestors'):
        size = len(graphs)
        self.graphs, self.size, self.n = graphs, size, n
        self.tokens = torch.full((size, n), pad)
        self.features = torch.zeros(size, n, 2 * n_labels, dtype=torch.float64)
        # The published MLM code sets masked scores to -1e9; added in 64 bits that would leave a trace of the scores.
        blocked = -1e30 if mask == 'descendants' else float('-inf')
        self.bias = torch.full((size, n, n), blocked, dtype=torch.float64)
        for b, graph in enumerate(graphs):
            self.tokens[b, :graph.n] = torch.tensor(graph.ops)
            label = list(range(graph.n)) if labels == 'position' else graph.ops if labels == 'op' else labels[b]
            for i in range(graph.n):
                self.features[b, i, label[i]] = 1
            for i in range(graph.n, n):
                self.features[b, i, n_labels - 1] = 1
            for a, c in graph.edges:
                if neighbours == 'in':
                    self.features[b, c, n_labels + label[a]] += 1
                else:
                    self.features[b, a, n_labels + label[c]] += 1
            paths = graph.paths()
            for q in range(n):
                for k in range(n):
                    real = q < graph.n and k < graph.n
                    if mask == 'ancestors':
                        allowed = q == k or (real and paths[k][q])
                    else:
                        allowed = real and paths[q][k]
                    if allowed:
                        self.bias[b, q, k] = 0
        self.heads_bias = self.bias.repeat_interleave(HEADS, 0)


class Position(nn.Module):
    """dag2seq: W2 relu(W1 [onehot ; sum of neighbours' onehots])"""

    def __init__(self, n_labels, d):
        super().__init__()
        self.first = nn.Linear(2 * n_labels, 2 * d, bias=False)
        self.second = nn.Linear(2 * d, d, bias=False)

    def forward(self, features):
        return self.second(F.relu(self.first(features)))


class Sinusoid(nn.Module):
    """The published MLM code: a sinusoid of the label, one linear message passing step, scaled to a fixed norm"""

    def __init__(self, n_labels, d, scale):
        super().__init__()
        self.first = nn.Linear(d, d, bias=False)
        self.n_labels, self.scale = n_labels, scale
        angle = torch.arange(n_labels, dtype=torch.float64)[:, None] / 10000 ** (torch.arange(d) // 2 * 2 / d)
        self.wave = torch.where(torch.arange(d) % 2 == 0, angle.sin(), angle.cos())

    def forward(self, features):
        own, others = features.split(self.n_labels, -1)
        message = self.first(own @ self.wave)
        message = (message + self.first(others @ self.wave)) / (1 + others.sum(-1, keepdim=True))
        return self.scale * F.normalize(message, dim=-1)


class Embedding(nn.Module):
    def __init__(self, n_tokens, d, position, table=False, add=False):
        super().__init__()
        if table:
            self.table = nn.Embedding(n_tokens, d)
        else:
            self.op = nn.Linear(n_tokens, d)
        self.position, self.n_tokens, self.d, self.add = position, n_tokens, d, add

    def forward(self, tokens, features):
        if hasattr(self, 'table'):
            op = self.table(tokens) * self.d ** .5
        else:
            op = F.relu(self.op(F.one_hot(tokens, self.n_tokens).double()))
        position = self.position(features)
        return op + position if self.add else torch.cat([op, position], -1)


class Encoder(nn.Module):
    def __init__(self, embedding, d, pre_norm=False):
        super().__init__()
        self.embedding = embedding
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(d, HEADS, FF, dropout=0., batch_first=True, norm_first=pre_norm) for _ in range(LAYERS))
        self.norm = nn.LayerNorm(d) if pre_norm else None

    def forward(self, tokens, batch, filled=False):
        x = self.embedding(tokens, batch.features)
        for layer in self.layers:
            x = filled_layer(layer, x, batch.bias) if filled else layer(x, src_mask=batch.heads_bias)
        return x if self.norm is None else self.norm(x)


def filled_layer(layer, x, bias):
    """a pre-norm layer whose masked scores are filled in, as the published MLM code does it: no gradient passes there"""
    b, n, d = x.shape
    attention, y = layer.self_attn, layer.norm1(x)
    qkv = F.linear(y, attention.in_proj_weight, attention.in_proj_bias).view(b, n, 3, HEADS, d // HEADS).permute(2, 0, 3, 1, 4)
    scores = qkv[0] @ qkv[1].transpose(-1, -2) / (d // HEADS) ** .5
    scores = scores.masked_fill(bias[:, None] != 0, -1e9)
    y = (scores.softmax(-1) @ qkv[2]).transpose(1, 2).reshape(b, n, d)
    x = x + attention.out_proj(y)
    return x + layer.linear2(F.relu(layer.linear1(layer.norm2(x))))


class Heads(nn.Module):
    def __init__(self, d, n_ops, node_bias):
        super().__init__()
        self.node_hidden = nn.Linear(d, D_HIDDEN, bias=node_bias)
        self.node_out = nn.Linear(D_HIDDEN, n_ops, bias=node_bias)
        self.edge_hidden = nn.Linear(2 * d, d)
        self.edge_out = nn.Linear(d, 1)

    def nll(self, o, graph):
        """of one graph, node by node and pair by pair, as the paper words it"""
        total = 0.
        for v in range(1, graph.n):
            logits = self.node_out(F.relu(self.node_hidden(o[v - 1])))
            total = total - F.log_softmax(logits, -1)[graph.ops[v]]
            for u in range(1, v):
                logit = self.edge_out(F.relu(self.edge_hidden(torch.cat([o[v - 1], o[u - 1]]))))[0]
                total = total - F.logsigmoid(logit if (u, v) in graph.edges else -logit)
        return total


class Decoder(nn.Module):
    def __init__(self, n, d, n_ops, embedding, node_bias=True, masked_memory=True, by_op=False):
        super().__init__()
        if embedding is not None:
            self.embedding = embedding
        self.memory = nn.Linear(D_LATENT, n * d)
        self.layers = nn.ModuleList(nn.TransformerDecoderLayer(d, HEADS, FF, dropout=0., batch_first=True) for _ in range(LAYERS))
        self.heads = Heads(d, n_ops, node_bias)
        self.n, self.d, self.masked_memory, self.by_op = n, d, masked_memory, by_op

    def nll(self, z, batch, shared):
        embedding = self.embedding if hasattr(self, 'embedding') else shared
        x = embedding(batch.tokens, batch.features)
        memory = self.memory(z).view(-1, self.n, self.d)
        if self.by_op:
            memory = torch.stack([rows[tokens] for rows, tokens in zip(memory, batch.tokens)])
        for layer in self.layers:
            x = layer(x, memory, tgt_mask=batch.heads_bias, memory_mask=batch.heads_bias if self.masked_memory else None)
        return torch.stack([self.heads.nll(o, graph) for o, graph in zip(x, batch.graphs)])


class Vae(nn.Module):
    def __init__(self, encoder, decoder, d_graph, by_op=False):
        super().__init__()
        self.encoder, self.decoder, self.by_op = encoder, decoder, by_op
        self.mu, self.log_variance = nn.Linear(d_graph, D_LATENT), nn.Linear(d_graph, D_LATENT)

    def posterior(self, batch):
        nodes = self.encoder(batch.tokens, batch)
        if self.by_op:                                       # slot t of the concatenation is the node with operation t
            graph = torch.stack([rows[tokens.argsort()] for rows, tokens in zip(nodes, batch.tokens)]).flatten(1)
        else:
            graph = nodes.flatten(1)
        return nodes, graph, self.mu(graph), self.log_variance(graph)

    def forward(self, batch, eps=None):
        nodes, graph, mu, log_variance = self.posterior(batch)
        z = mu if eps is None else mu + .01 * eps * (log_variance / 2).exp()
        nll = self.decoder.nll(z, batch, self.encoder.embedding)
        kl = -.5 * (1 + log_variance - mu ** 2 - log_variance.exp()).sum()
        return dict(nodes=nodes.flatten(0, 1), graph=graph, mu=mu, log_variance=log_variance, nll=nll, loss=nll.sum() + .005 * kl)


class Mlm(nn.Module):
    """predict masked operations from node vectors: Linear, tanh, Linear"""

    def __init__(self, encoder, d, n_ops):
        super().__init__()
        self.encoder, self.hidden, self.out = encoder, nn.Linear(d, d), nn.Linear(d, n_ops)


def weights(model):
    """random weights, exact in 32 bits; gains and offsets too, so that no parameter is at a trivial value"""
    model.double()
    with torch.no_grad():
        for name, p in model.named_parameters():
            gain = 1. if 'norm' in name and name.endswith('weight') else 0.
            p.copy_((gain + .4 * torch.randn(p.shape, dtype=torch.float64)).float().double())
    return model.train()                                     # no dropout; PyTorch's inference path is not ours to test


def gradients(model, loss, prefix):
    model.zero_grad(set_to_none=True)
    loss.backward()
    return {prefix + name: p.grad for name, p in model.named_parameters()}


def save(case, model, texts, expect):
    as32 = lambda tensors: {name: t.detach().to(torch.float32).contiguous() for name, t in tensors.items()}
    save_file(as32(model.state_dict()), os.path.join(HERE, case + '.weights.safetensors'))
    expect = {name: t.detach().reshape(1) if t.dim() == 0 else t for name, t in expect.items()}
    save_file(as32(expect), os.path.join(HERE, case + '.expect.safetensors'), {'dags': '\n'.join(texts)})
    print(case, 'loss', expect['loss'].item(), 'parameters', sum(p.numel() for p in model.parameters()))


def vae_case(case, texts, model, batch):
    weights(model)
    out = model(batch)
    expect = {**out, **gradients(model, out['loss'], 'grad.')}
    eps = torch.randn(batch.size, D_LATENT, dtype=torch.float64).float().double()
    noisy = model(batch, eps)['loss']
    save(case, model, texts, {**expect, 'eps': eps, 'noisy_loss': noisy, **gradients(model, noisy, 'noisy_grad.')})


D = D_OP + D_POSITION
torch.manual_seed(20220620)
# The fused attention of PyTorch loses its normaliser in the backward pass of rows that are masked throughout.
plain = sdpa_kernel(SDPBackend.MATH)
plain.__enter__()

# ENAS: input 0, output 1, six layers of operations 2..7 in a chain with skips; start symbol 8. Stored order.
NA = ['0 2 5 7 3 4 6 1 : 0>1 0>3 0>5 1>2 1>4 2>3 2>6 3>4 3>5 4>5 5>6 6>7',
      '0 4 4 2 2 7 3 1 : 0>1 1>2 2>3 3>4 4>5 5>6 6>7',
      '0 6 3 5 7 2 2 1 : 0>1 0>2 0>3 0>4 1>2 1>3 1>6 2>3 2>5 3>4 4>5 4>6 5>6 6>7']
embedding = Embedding(9, D_OP, Position(9, D_POSITION))
vae_case('na_published', NA, Vae(Encoder(embedding, D), Decoder(9, D, 9, None), 9 * D),
         Batch([Graph(text, 8) for text in NA], 9, 9, 1))

# Bayesian networks: input 0, output 1, eight variables 2..9; start symbol 10. Labels, read-out and memory go by operation.
BN = ['0 2 3 4 5 6 7 8 9 1 : 0>1 0>2 1>3 2>4 2>5 3>6 4>6 5>8 6>7 6>8 7>9 8>9',
      '0 3 2 5 4 6 8 7 9 1 : 0>1 0>2 0>5 1>3 1>4 2>4 3>6 4>7 5>7 5>8 6>9 7>9 8>9',
      '0 2 3 4 5 6 7 8 9 1 : 0>1 0>2 0>3 0>4 0>5 0>6 0>7 0>8 1>9 2>9 3>9 4>9 5>9 6>9 7>9 8>9']
embedding = Embedding(11, D_OP, Position(11, D_POSITION))
vae_case('bn_published', BN, Vae(Encoder(embedding, D), Decoder(11, D, 11, None, node_bias=False, by_op=True), 11 * D, by_op=True),
         Batch([Graph(text, 10) for text in BN], 11, 11, 1, labels='op'))

# NAS-Bench-101 cells: input 0, operations 1..3, output 4; start symbol 5; at most 7 + 1 nodes. In canonical order.
CELLS = ['0 2 3 4 : 0>1 0>2 1>3 2>3',
         '0 3 3 1 2 4 : 0>1 0>2 0>5 1>3 2>3 3>4 4>5',
         '0 1 3 2 1 2 4 : 0>1 0>3 1>2 1>5 2>3 2>6 3>4 4>5 5>6']
vae_case('vae_paper', CELLS,
         Vae(Encoder(Embedding(6, D_OP, Position(8, D_POSITION)), D),
             Decoder(8, D, 6, Embedding(6, D_OP, Position(8, D_POSITION)), masked_memory=False), 8 * D),
         Batch([Graph(text, 5) for text in CELLS], 8, 8, 4))

# The same cells, masked language model: MASK 5, PAD 6, parts summed.
batch = Batch([Graph(text) for text in CELLS], 7, 7, 6)
model = weights(Mlm(Encoder(Embedding(7, D, Position(7, D), add=True), D), D, 5))
corrupted, labels = batch.tokens.clone(), torch.full_like(batch.tokens, -1)
for b, i, masked in [(0, 1, True), (0, 3, False), (1, 0, True), (1, 2, True), (2, 4, True), (2, 6, True)]:
    labels[b, i] = batch.tokens[b, i]
    if masked:
        corrupted[b, i] = 5
nodes = model.encoder(corrupted, batch)
logits = model.out(torch.tanh(model.hidden(nodes)))
loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-1, reduction='sum')
clean = model.encoder(batch.tokens, batch)
graph = torch.stack([rows[g.n - 1] for rows, g in zip(clean, batch.graphs)])
save('mlm_paper', model, CELLS, dict(nodes=clean.flatten(0, 1), graph=graph, tokens=corrupted, labels=labels, loss=loss,
                                     **gradients(model, loss, 'grad.')))

# Cells in stored order with their canonical indices as labels, as the published MLM code has them: strict descendants by
# a penalty, successors, sinusoids, pre-norm, padding with id 0, the last position read out.
STORED = ['0 3 2 4 : 0>1 0>2 1>3 2>3',
          '0 3 1 2 3 1 4 : 0>1 0>2 1>3 2>3 3>4 4>5 5>6',
          '0 2 2 1 4 : 0>1 0>4 1>2 2>3 3>4']
INDICES = [[0, 2, 1, 3], [0, 2, 1, 3, 4, 5, 6], [0, 1, 2, 3, 4]]
batch = Batch([Graph(text) for text in STORED], 7, 7, 0, labels=INDICES, neighbours='out', mask='descendants')
model = weights(Encoder(Embedding(5, D, Sinusoid(7, D, .5), table=True, add=True), D, pre_norm=True))
nodes = model(batch.tokens, batch)
graph = nodes[:, -1]
probe = torch.randn(graph.shape, dtype=torch.float64).float().double()
loss = (graph * probe).sum()
filled = model(batch.tokens, batch, filled=True)[:, -1]
assert (filled - graph).abs().max() < 1e-9
save('mlm_published', model, STORED, dict(nodes=nodes.flatten(0, 1), graph=graph, probe=probe, loss=loss,
                                          **gradients(model, loss, 'grad.'),
                                          **gradients(model, (filled * probe).sum(), 'filled_grad.')))
