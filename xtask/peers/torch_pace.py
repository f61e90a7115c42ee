#!/usr/bin/env python3
"""A lean, fully batched PyTorch PACE (own code, written from the paper), meant as the strongest reasonable PyTorch peer on CPU.

Everything that depends on the graph alone (node types, canonical positions, dag2seq input features, reachability masks,
edge targets) is computed once for the whole data set and kept as tensors; a training step is index_select + forward +
backward + fused Adam, with no per-graph Python.

tasks
  vae-na      PACE-VAE, NA graphs, N = 9 (start symbol, input, 6 operations, output), d 64 (32 type + 32 position),
              3 encoder + 3 decoder blocks, 8 heads, ff 64, nz 64, dropout .15, beta .005, noise scale .01
  mlm101      MLM encoder, NAS-Bench-101-like cells, N = 7, d 64, 3 blocks, 8 heads, ff 64, dropout .1, 20 % masked
  mlm101pair  the same encoder with the reference's (CATE's) pair objective: two graphs, then 24 blocks over 2N tokens
  ast         6 blocks, d 256, 8 heads, ff 256, ASTs (random trees) padded to --nodes, token heads 5 x 5002
"""
import argparse, json, os, sys, time

ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument('--task', default='vae-na', choices=['vae-na', 'mlm101', 'mlm101pair', 'ast'])
ap.add_argument('--batch', type=int, default=32)
ap.add_argument('--infer-batch', type=int, default=0, help='default: max(batch, 128), for ast: batch')
ap.add_argument('--threads', type=int, default=1)
ap.add_argument('--compile', action='store_true')
ap.add_argument('--mode', default='default', help='torch.compile mode: default | max-autotune-no-cudagraphs')
ap.add_argument('--cpp-wrapper', action='store_true')
ap.add_argument('--freezing', action='store_true', help='inductor weight freezing for encode')
ap.add_argument('--bf16', action='store_true', help='autocast to bfloat16 (AMX here)')
ap.add_argument('--attn', default='sdpa', choices=['sdpa', 'manual', 'bcast'], help='bcast: broadcast multiply + sum instead of tiny batched matmuls (for --compile, small N)')
ap.add_argument('--dropout', type=float, default=-1.)
ap.add_argument('--attn-dropout', type=float, default=-1., help='default: same as --dropout; CPU flash SDPA needs 0')
ap.add_argument('--fast-dropout', action='store_true', help='one bulk draw of random bytes per step (keep probability in 1/256 steps) instead of a bernoulli_ per dropout')
ap.add_argument('--cross-mask', type=int, default=1, help='1: encoder-decoder attention also uses the reachability mask (the published code does); 0: unmasked (the paper\'s text)')
ap.add_argument('--nodes', type=int, default=0)
ap.add_argument('--ff', type=int, default=0)
ap.add_argument('--graphs', type=int, default=0)
ap.add_argument('--data', default='', help='NA file, plain or .xz; made by the Rust bench')
ap.add_argument('--seconds', type=float, default=3., help='length of one timed repetition')
ap.add_argument('--reps', type=int, default=3)
ap.add_argument('--maxreps', type=int, default=9)
ap.add_argument('--epochs', type=int, default=0, help='vae-na: instead of timing, train this many epochs and print losses')
ap.add_argument('--lr', type=float, default=1e-4)
ap.add_argument('--skip', default='', help='train | encode')
ap.add_argument('--save', default='')
ap.add_argument('--profile', action='store_true')
a = ap.parse_args()
os.environ['OMP_NUM_THREADS'] = str(a.threads)
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.set_num_threads(a.threads); torch.manual_seed(1); torch.set_flush_denormal(True)
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import quiet

DROP = a.dropout if a.dropout >= 0 else {'vae-na': .15, 'ast': .1}.get(a.task, .1)
ADROP = a.attn_dropout if a.attn_dropout >= 0 else DROP


class Bulk:
    """dropout multipliers for a whole step from one bulk draw: random int64 seen as bytes, compared once, scaled once"""
    def __init__(s): s.off = 0; s.m = {}
    def fill(s, need):
        if not need: return
        if not s.m: s.raw = torch.empty(need // 8 + 1, dtype=torch.int64)
        s.raw.random_(-2**63, None)                          # all 64 bits
        b = s.raw.view(torch.uint8)
        for p in s.ps:
            thr = round(p * 256)
            t = b.ge(thr)
            if p in s.m: torch.mul(t, 256. / (256 - thr), out=s.m[p])
            else: s.m[p] = t * (256. / (256 - thr))
        s.off = 0
R = Bulk(); R.ps = sorted({p for p in (DROP, ADROP) if p > 0}); NEED = [0]

def drop(x, p, training):
    if not training or p == 0: return x
    if not a.fast_dropout: return F.dropout(x, p, True)
    n = x.numel()
    if p not in R.m:                                         # dry run: count
        NEED[0] += n; return x
    o = R.off; R.off = o + n
    return x * R.m[p][o:o + n].view(x.shape)


# ---------------------------------------------------------------- model
class Attention(nn.Module):
    def __init__(s, d, h):
        super().__init__(); s.h, s.dh = h, d // h
        s.qkv = nn.Linear(d, 3 * d); s.out = nn.Linear(d, d)

    def core(s, q, k, v, mask):
        p = ADROP if s.training else 0.
        if a.attn == 'sdpa' and not (p and a.fast_dropout):
            return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=p)
        q = q * s.dh ** -.5
        w = (q.unsqueeze(3) * k.unsqueeze(2)).sum(-1) if a.attn == 'bcast' else q @ k.transpose(-1, -2)
        if mask is not None: w = w.masked_fill(~mask, float('-inf')) if mask.dtype == torch.bool else w + mask
        w = drop(w.softmax(-1), p, s.training)
        return (w.unsqueeze(-1) * v.unsqueeze(2)).sum(3) if a.attn == 'bcast' else w @ v

    def forward(s, x, mask, mem=None):
        B, N, D = x.shape
        if mem is None:
            q, k, v = s.qkv(x).view(B, N, 3, s.h, s.dh).permute(2, 0, 3, 1, 4).unbind(0)
        else:
            w, b = s.qkv.weight, s.qkv.bias
            q = F.linear(x, w[:D], b[:D]).view(B, N, s.h, s.dh).transpose(1, 2)
            k, v = F.linear(mem, w[D:], b[D:]).view(B, mem.shape[1], 2, s.h, s.dh).permute(2, 0, 3, 1, 4).unbind(0)
        return s.out(s.core(q, k, v, mask).transpose(1, 2).reshape(B, N, D))


class Block(nn.Module):
    """post-norm Transformer block; with cross=True a decoder block"""
    def __init__(s, d, h, ff, cross=False):
        super().__init__()
        s.att = Attention(d, h); s.n1 = nn.LayerNorm(d); s.f1 = nn.Linear(d, ff); s.f2 = nn.Linear(ff, d); s.n2 = nn.LayerNorm(d)
        s.cross = Attention(d, h) if cross else None
        s.n3 = nn.LayerNorm(d) if cross else None

    def forward(s, x, mask, mem=None):
        dp = lambda t: drop(t, DROP, s.training)
        x = s.n1(x + dp(s.att(x, mask)))
        if s.cross is not None: x = s.n3(x + dp(s.cross(x, mask if a.cross_mask else None, mem)))
        return s.n2(x + dp(s.f2(dp(F.relu(s.f1(x))))))


class Dag2Seq(nn.Module):
    """positional encoding: GIN-like one layer over canonical indices; input = [onehot(pi) | sum of predecessors' onehot], constant per graph"""
    def __init__(s, n, d):
        super().__init__(); s.l1 = nn.Linear(2 * n, 2 * d, bias=False); s.l2 = nn.Linear(2 * d, d, bias=False)

    def forward(s, f): return drop(s.l2(drop(F.relu(s.l1(f)), DROP, s.training)), DROP, s.training)


class PaceVae(nn.Module):
    def __init__(s, n, types, dt=32, d=64, h=8, ff=64, layers=3, nz=64, fch=32):
        super().__init__(); s.n, s.d = n, d
        s.pos = Dag2Seq(n, dt); s.typ = nn.Embedding(types, dt)
        s.enc = nn.ModuleList(Block(d, h, ff) for _ in range(layers))
        s.mu = nn.Linear(n * d, nz); s.lv = nn.Linear(n * d, nz); s.z2m = nn.Linear(nz, n * d)
        s.dec = nn.ModuleList(Block(d, h, ff, True) for _ in range(layers))
        s.node = nn.Sequential(nn.Linear(d, fch), nn.ReLU(), nn.Linear(fch, types))
        s.eu = nn.Linear(d, d); s.ev = nn.Linear(d, d, bias=False); s.eo = nn.Linear(d, 1)   # edge MLP, first layer split over the pair
        i, j = torch.tril_indices(n - 1, n - 1, -1); s.register_buffer('pi', i); s.register_buffer('pj', j)

    def embed(s, t, f): return torch.cat([F.relu(s.typ(t)), s.pos(f)], -1)

    def trunk(s, t, f, mask):
        x = s.embed(t, f)
        for b in s.enc: x = b(x, mask)
        return x.flatten(1)

    def encode(s, t, f, mask):
        x = s.trunk(t, f, mask)
        return s.mu(x), s.lv(x)

    def mean(s, t, f, mask): return s.mu(s.trunk(t, f, mask))   # an embedding is the mean alone, on both sides of the bench

    def decode_tf(s, z, t, f, mask):
        m = s.z2m(z).view(-1, s.n, s.d); x = s.embed(t, f)
        for b in s.dec: x = b(x, mask, m)
        o = x[:, :-1]                                       # o_i speaks for node i+1
        types = s.node(o)
        e = s.eo(F.relu(s.eu(o)[:, s.pi] + s.ev(o)[:, s.pj])).squeeze(-1)   # edge (j+1 -> i+1), j < i
        return types, e

    @torch.no_grad()
    def generate(s, z, sample=False):
        """batched autoregressive decoding, one node per round; nodes not made yet are nobody's predecessor, so their content does not matter"""
        B, n = len(z), s.n
        t = torch.ones(B, n, dtype=torch.long); t[:, 0] = 2; adj = torch.zeros(B, n, n); adj[:, 0, 1] = 1; eye = torch.eye(n)
        for i in range(n - 1):
            r = ((adj + eye) > 0).float()
            for _ in range(4): r = (r @ r > 0).float()
            f = torch.cat([eye.expand(B, n, n), adj.transpose(1, 2)], -1)
            types, e = s.decode_tf(z, t, f, (r > 0).transpose(1, 2)[:, None])
            lt = types[:, i]
            t[:, i + 1] = torch.multinomial(lt.softmax(-1), 1)[:, 0] if sample else lt.argmax(-1)
            if i == n - 2: t[:, n - 1] = 1
            if i:
                sel = s.pi == i; p = e[:, sel].sigmoid()
                on = (torch.rand_like(p) < p) if sample else p > .5
                adj[:, 1 + s.pj[sel], i + 1] = on.float()
            if i == n - 2:                                   # the end node takes every loose end, as the reference's decoder does
                adj[:, :, n - 1] = 0; adj[:, 1:n - 1, n - 1] = (adj[:, 1:n - 1].sum(-1) == 0).float()
        return t, adj

    def loss(s, t, f, mask, edges):
        mu, lv = s.encode(t, f, mask)
        z = mu + torch.randn_like(mu) * (.5 * lv).exp() * .01 if s.training else mu
        types, e = s.decode_tf(z, t, f, mask)
        rec = F.cross_entropy(types.flatten(0, 1), t[:, 1:].flatten(), reduction='sum') + F.binary_cross_entropy_with_logits(e, edges, reduction='sum')
        kld = -.5 * (1 + lv - mu * mu - lv.exp()).sum()
        return rec + .005 * kld, rec, kld


class PaceMlm(nn.Module):
    def __init__(s, n, vocab, d=64, h=8, ff=64, layers=3, pair=0):
        super().__init__(); s.pos = Dag2Seq(n, d); s.typ = nn.Embedding(vocab, d)
        s.enc = nn.ModuleList(Block(d, h, ff) for _ in range(layers))
        s.seg = nn.Embedding(2, d) if pair else None
        s.pair = nn.ModuleList(Block(d, h, ff) for _ in range(pair))
        s.head = nn.Sequential(nn.Linear(d, d), nn.Tanh(), nn.Linear(d, vocab))

    def encode_seq(s, t, f, mask):
        x = drop(s.typ(t), DROP, s.training) + s.pos(f)
        for b in s.enc: x = b(x, mask)
        return x

    def encode(s, t, f, mask): return s.encode_seq(t, f, mask)[:, -1]

    def corrupt(s, t, valid):
        pick = (torch.rand(t.shape) < .2) & valid
        return torch.where(pick & (torch.rand(t.shape) < .8), 1, t), pick

    hidden = 0                                               # how many positions of a batch are hidden: a fifth of the real ones

    def loss(s, t, f, mask, valid):
        # as many of the real positions as a fifth of them, at random: a fixed number, so that compiled shapes are static
        at = torch.where(valid, torch.rand(t.shape), 2.).flatten().topk(s.hidden, largest=False, sorted=False).indices
        mark = torch.where(torch.rand(s.hidden) < .8, 1, t.flatten()[at])
        x = s.encode_seq(t.flatten().scatter(0, at, mark).view(t.shape), f, mask)
        l = F.cross_entropy(s.head(x.flatten(0, 1)[at]), t.flatten()[at])   # the head at hidden positions only, as ours
        return l, l, l

    def loss_pair(s, t, f, mask, valid):
        B = t.shape[0] // 2
        tm, pick = s.corrupt(t, valid)
        x = s.encode_seq(tm, f, mask)
        x = torch.cat([x[:B] + s.seg.weight[0], x[B:] + s.seg.weight[1]], 1)
        v = torch.cat([valid[:B], valid[B:]], 1)[:, None, None, :]
        for b in s.pair: x = b(x, v)
        tt = torch.cat([t[:B], t[B:]], 1); pp = torch.cat([pick[:B], pick[B:]], 1)
        l = F.cross_entropy(s.head(x).flatten(0, 1), tt.flatten(), reduction='none') * pp.flatten()
        return l.sum() / pp.sum().clamp(min=1), l.sum(), pp.sum()


class PaceAst(nn.Module):
    """trees: one-hot(pi) x W is a table look-up, the predecessor sum a gather of the parent's row"""
    def __init__(s, n, d=256, h=8, ff=256, layers=6, types=98, attrs=10030, depth=21, seq=5, voc=5002):
        super().__init__(); s.t = nn.Embedding(types, d); s.at = nn.Embedding(attrs, d); s.dp = nn.Embedding(depth, d)
        s.e1 = nn.Embedding(n, d); s.e2 = nn.Embedding(n + 1, d); s.pl = nn.Linear(d, d)
        s.enc = nn.ModuleList(Block(d, h, ff) for _ in range(layers)); s.head = nn.Linear(d, seq * voc); s.seq = seq

    def encode(s, t, at, dp, par, mask):
        n = t.shape[1]; pi = torch.arange(n)
        x = s.t(t) + s.at(at) + s.dp(dp) + s.pl(F.relu(s.e1(pi)[None] + s.e2(par)))
        x = drop(x, DROP, s.training)
        for b in s.enc: x = b(x, mask)
        return x[:, 0]

    def loss(s, t, at, dp, par, mask, y):
        o = s.head(s.encode(t, at, dp, par, mask)).view(-1, y.shape[1], 5002)
        l = F.cross_entropy(o.flatten(0, 1), y.flatten())
        return l, l, l


# ---------------------------------------------------------------- data (once)
def closure(adj):
    """(G,N,N) bool adjacency i->j -> reachability incl. self, by repeated squaring, batched"""
    r = adj | np.eye(adj.shape[1], dtype=bool)
    k = 1
    while k < adj.shape[1]:
        r = np.matmul(r.astype(np.float32), r.astype(np.float32)) > 0; k *= 2
    return r

def dag_feats(pi, adj, n):
    P = np.eye(n, dtype=np.float32)[pi]                     # (G,N,n)
    return np.concatenate([P, np.matmul(adj.transpose(0, 2, 1).astype(np.float32), P)], -1)   # row j: [onehot(pi_j) | sum over i->j of onehot(pi_i)]

def load_na(path, burn=1000):
    import ast as _ast, lzma
    T, A, Y = [], [], []
    for k, line in enumerate(lzma.open(path, 'rt') if path.endswith('.xz') else open(path)):
        if k < burn: continue
        if a.graphs and k >= burn + a.graphs: break
        row, y = _ast.literal_eval('(' + line.strip() + ')')
        n = len(row) + 3; t = np.zeros(n, np.int64); ad = np.zeros((n, n), bool)
        t[0], t[1], t[-1] = 2, 0, 1; ad[0, 1] = True
        for i, nd in enumerate(row):
            t[i + 2] = nd[0] + 3; ad[i + 1, i + 2] = True
            for j, e in enumerate(nd[1:]):
                if e: ad[j + 1, i + 2] = True
        ad[n - 2, n - 1] = True
        T.append(t); A.append(ad); Y.append(y)
    return np.stack(T), np.stack(A), np.array(Y, np.float32)

def rand_cells(g, n, rng):
    """random NAS-Bench-101-like cells: upper triangular, <= 9 edges, in/out connected (edges thinned), canonical index by igraph once"""
    import igraph
    T = np.zeros((g, n), np.int64); A = np.zeros((g, n, n), bool); PI = np.zeros((g, n), np.int64); V = np.zeros((g, n), bool)
    for i in range(g):
        while True:
            k = int(rng.choice([4, 5, 6, 7], p=[.02, .05, .13, .8])); m = np.triu(rng.random((k, k)) < .38, 1)
            for v in range(1, k):
                if not m[:v, v].any(): m[rng.integers(v), v] = True
            for v in range(k - 1):
                if not m[v, v + 1:].any(): m[v, rng.integers(v + 1, k)] = True
            if m.sum() <= 9: break
        t = rng.integers(4, 7, k); t[0], t[-1] = 2, 3
        gr = igraph.Graph(k, list(zip(*np.nonzero(m))), directed=True)
        T[i, :k] = t; A[i, :k, :k] = m; V[i, :k] = True
        PI[i, :k] = gr.canonical_permutation(color=t.tolist()); PI[i, k:] = n - 1
    return T, A, PI, V

def rand_trees(g, n, rng):
    T = np.zeros((g, n), np.int64); AT = np.zeros((g, n), np.int64); D = np.zeros((g, n), np.int64); P = np.full((g, n), n, np.int64)
    M = np.zeros((g, n, n), bool); S = np.zeros(g, np.int64)
    for i in range(g):
        k = int(rng.integers(n // 2, n + 1)); S[i] = k; stack = [0]; par = [n]; dep = [0]
        for v in range(1, k):                                # DFS order: the parent is on the current path
            p = stack[max(0, len(stack) - 1 - int(rng.geometric(.45) - 1))]
            while stack[-1] != p: stack.pop()
            par.append(p); dep.append(dep[p] + 1); stack.append(v)
        T[i, :k] = rng.integers(0, 98, k); AT[i, :k] = rng.integers(0, 10030, k); D[i, :k] = np.minimum(dep, 20); P[i, :k] = par
        anc = M[i]                                           # anc[d, v]: ancestor d takes v's embedding (computation flows to the root)
        for v in range(k):
            anc[v, v] = True; p = par[v]
            if p < n: anc[:, v] |= anc[:, p]
        for v in range(k, n): anc[v, v] = True
    return T, AT, D, P, M, S


def build():
    rng = np.random.default_rng(0); t0 = time.perf_counter()
    if a.task == 'vae-na':
        T, A, Y = load_na(a.data); n = T.shape[1]
        t1 = time.perf_counter()
        pi = np.tile(np.arange(n), (len(T), 1))              # NA has a Hamiltonian path: the topological order is unique
        mask = closure(A).transpose(0, 2, 1)[:, None]        # query j may look at predecessors i
        tri = np.tril_indices(n - 1, -1)
        E = A[:, 1:, 1:].transpose(0, 2, 1)[:, tri[0], tri[1]].astype(np.float32)
        f = dag_feats(pi, A, n)
        prep = time.perf_counter() - t1
        X = [torch.from_numpy(np.ascontiguousarray(x)) for x in (T, f, mask, E)]
        perm = torch.randperm(len(T), generator=torch.Generator().manual_seed(0)); cut = int(len(T) * .9)
        model = PaceVae(n, 9, ff=a.ff or 64)
        return model, [x[perm[:cut]] for x in X], [x[perm[cut:]] for x in X], model.loss, model.mean, 3, dict(prep_s=prep, parse_s=t1 - t0, y=Y[perm.numpy()])
    if a.task.startswith('mlm101'):
        n = a.nodes or 7; g = a.graphs or 20000
        T, A, PI, V = rand_cells(g, n, rng); t1 = time.perf_counter()
        mask = (closure(A).transpose(0, 2, 1))[:, None]; f = dag_feats(PI, A, n); prep = time.perf_counter() - t1
        X = [torch.from_numpy(np.ascontiguousarray(x)) for x in (T, f, mask, V)]
        model = PaceMlm(n, 7, ff=a.ff or 64, pair=24 if a.task == 'mlm101pair' else 0)
        model.hidden = max(1, round(.2 * a.batch * float(V.sum(1).mean())))
        return model, X, X, model.loss_pair if a.task == 'mlm101pair' else model.loss, model.encode, 3, dict(prep_s=prep)
    n = a.nodes or 200; g = a.graphs or (256 if n <= 256 else 64)
    T, AT, D, P, M, S = rand_trees(g, n, rng)
    X = [torch.from_numpy(np.ascontiguousarray(x)) for x in (T, AT, D, P, M[:, None], rng.integers(0, 5002, (g, 5)))]
    model = PaceAst(n, ff=a.ff or 256)
    return model, X, X, model.loss, model.encode, 5, dict(mean_nodes=float(S.mean()), prep_s=time.perf_counter() - t0)


def main():
    model, X, XT, loss_fn, enc_fn, ne, info = build()
    y = info.pop('y', None)
    opt = torch.optim.Adam(model.parameters(), lr=a.lr, fused=True)
    ac = lambda: torch.autocast('cpu', torch.bfloat16, enabled=a.bf16)
    cl, ce = loss_fn, enc_fn
    if a.compile:
        import torch._inductor.config as ic
        ic.cpp_wrapper = a.cpp_wrapper
        if a.freezing: ic.freezing = True
        kw = dict(dynamic=False, fullgraph=True)
        if a.mode != 'default': kw['mode'] = a.mode
        cl = torch.compile(loss_fn, **kw); ce = torch.compile(enc_fn, **kw)
    G, B = X[0].shape[0], a.batch

    if a.fast_dropout:
        model.train()
        with torch.no_grad(): loss_fn(*[x[:B] for x in X])   # counts the dropout elements of a step
        R.fill(NEED[0]); R.off = 0
    def step(idx):
        xs = [x[idx] for x in X]
        if a.fast_dropout: R.fill(NEED[0])
        with ac(): l = cl(*xs)
        opt.zero_grad(set_to_none=True); l[0].backward(); opt.step()
        return l

    def batches():
        while True:
            p = torch.randperm(G)
            for i in range(0, G - B + 1, B): yield p[i:i + B]
    it = batches()
    out = dict(task=a.task, batch=B, threads=a.threads, compile=a.compile, mode=a.mode, cppw=a.cpp_wrapper, bf16=a.bf16, attn=a.attn, dropout=DROP,
               attn_dropout=ADROP, fast_dropout=a.fast_dropout, torch=torch.__version__, params=sum(p.numel() for p in model.parameters()), graphs=G,
               N=X[0].shape[1], ff=a.ff or 'default', **info)

    if a.epochs:
        model.train(); t0 = time.perf_counter(); c0 = time.process_time()
        for ep in range(1, a.epochs + 1):
            L = np.zeros(3); k = 0; p = torch.randperm(G); model.train()
            for i in range(0, G, B):
                if G - i < B and a.compile: break
                l = step(p[i:i + B]); L += [float(v) for v in l]; k += len(p[i:i + B])
            if ep <= 5 or ep % 5 == 0 or ep == a.epochs:
                model.eval()
                with torch.no_grad():
                    tl = loss_fn(*XT); mu = enc_fn(*XT[:3]); true = XT[1][..., XT[0].shape[1]:].transpose(1, 2); acc = []
                    for smp in (False, True):
                        tt, ad = model.generate(mu, smp); acc.append(float(((tt == XT[0]).all(1) & (ad == true).flatten(1).all(1)).float().mean()))
                print(json.dumps(dict(epoch=ep, loss=L[0] / k, recon=L[1] / k, kld=L[2] / k, test_recon=float(tl[1]) / len(XT[0]), recon_acc_argmax=acc[0], recon_acc_sampled=acc[1], wall=time.perf_counter() - t0, cpu=time.process_time() - c0)), flush=True)
            if a.save and (ep in (1, 2, 5, 10, 20, 50, 100, 200, 300) or ep == a.epochs):
                model.eval()
                with torch.no_grad():
                    Z = [torch.cat([enc_fn(*[x[i:i + 1024] for x in D[:ne]]) for i in range(0, len(D[0]), 1024)]).numpy() for D in (X, XT)]
                np.savez(f'{a.save}_ep{ep}.npz', Zt=Z[0], Zs=Z[1], Yt=y[:G], Ys=y[G:]); torch.save(model.state_dict(), f'{a.save}_ep{ep}.pth')
        return

    import resource
    if a.skip != 'train':
        model.train(); t0 = time.perf_counter(); step(next(it)); out['first_step_s'] = round(time.perf_counter() - t0, 2)
        for _ in range(3): step(next(it))
        t0 = time.perf_counter(); step(next(it)); per = time.perf_counter() - t0
        k = max(2, int(a.seconds / max(per, 1e-5)))
        def run():
            for _ in range(k): l = step(next(it))
            return float(l[0].detach())
        if a.profile:
            with torch.profiler.profile() as prof:
                for _ in range(20): step(next(it))
            print(prof.key_averages().table(sort_by='self_cpu_time_total', row_limit=25))
        q = quiet.best(run, a.reps, a.maxreps)
        out.update(train_gps=round(k * B / q['wall'], 1), train_gps_cpu=round(k * B / q['mincpu'] * (a.threads), 1), train_ms=round(q['wall'] / k * 1e3, 3), train_others=round(q['others'], 2), train_reps=q['n'],
                   train_walls=[round(w / k * 1e3, 3) for w in q['walls']], loss=round(q['ret'], 4))
    if a.skip != 'encode':
        model.eval(); IB = a.infer_batch or (B if a.task == 'ast' else max(B, 128))
        with torch.no_grad(), ac():
            bs = [[x[i:i + IB] for x in X[:ne]] for i in range(0, G - IB + 1, IB)]
            t0 = time.perf_counter(); ce(*bs[0]); out['first_encode_s'] = round(time.perf_counter() - t0, 2)
            for _ in range(3): ce(*bs[0])
            t0 = time.perf_counter(); ce(*bs[0]); per = time.perf_counter() - t0; k = max(2, int(a.seconds / max(per, 1e-5)))
            def run():
                for j in range(k): ce(*bs[j % len(bs)])
            q = quiet.best(run, a.reps, a.maxreps)
        out.update(infer_batch=IB, encode_gps=round(k * IB / q['wall'], 1), encode_ms=round(q['wall'] / k * 1e3, 3), encode_others=round(q['others'], 2), encode_walls=[round(w / k * 1e3, 3) for w in q['walls']])
    out['peak_rss_mib'] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024); out['load'] = round(os.getloadavg()[0], 2)
    print(json.dumps(out), flush=True)


if __name__ == '__main__':
    main()
