#!/usr/bin/env python3
"""Numbers of GPyTorch's sparse Gaussian process (SGPR), for tests/it/surrogate_gpytorch.rs to hold ours against.

ARD RBF kernel behind an InducingPointKernel, no mean, Gaussian noise; hyperparameters and inducing points by Adam with a
decaying step, in 64-bit floats, from several random starts. From the root of the workspace:

    cargo bench -p pace-search --bench surrogate -- dump target/bench/latents2000 --rows 2000 500
    pip install torch numpy gpytorch
    python crates/pace-search/tests/gpytorch/make_fixture.py target/bench/latents2000     # rewrites sgpr.json beside this file

What was learnt from each start is brought into the units of the data and rounded; only then are bound and predictions computed, so that
they belong to the numbers in the file. All but the last three are about the start with the best bound:

    x, y                                  sums over all training vectors and scores: is the data still the same?
    lengths [D], variance, noise          hyperparameters
    inducing [M][D]                       inducing points
    elbo                                  the bound on all training rows, in nats
    mean [T], var [T]                     of the noise-free score at the test rows
    nlpd                                  -log N(y; mean, var + noise), mean over the test rows
    nlpds [starts]                        the same of all starts
    corrected, uncorrected [starts]       the same by GPyTorch's own predictions, of which neither is the bound's; see below
"""
import json, math, os, sys
import gpytorch
import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
INDUCING, STEPS, LR, DIGITS, SEEDS = 100, 1500, .1, 6, 3
torch.set_default_dtype(torch.float64)


class Sgpr(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood, inducing):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ZeroMean()
        self.scaled = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=x.shape[1]))
        self.covar_module = gpytorch.kernels.InducingPointKernel(self.scaled, inducing.clone(), likelihood)

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def build(x, y, inducing, lengths, variance, noise):
    # The default constraint keeps the noise above 1e-4, which would move it.
    likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=gpytorch.constraints.Positive())
    model = Sgpr(x, y, likelihood, inducing)
    model.scaled.base_kernel.lengthscale = lengths
    model.scaled.outputscale, likelihood.noise = variance, noise
    return model, likelihood, gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)


def learn(x, y):
    rows = torch.randperm(len(x))[:INDUCING]
    length = (.5 * torch.pdist(x).square().median()).sqrt()
    model, likelihood, bound = build(x, y, x[rows], length, y.var(), .1 * y.var())
    adam = torch.optim.Adam(model.parameters(), lr=LR)
    decay = torch.optim.lr_scheduler.CosineAnnealingLR(adam, STEPS)
    model.train()
    for step in range(STEPS):
        adam.zero_grad()
        loss = -bound(model(x), y)
        loss.backward()
        adam.step(); decay.step()
        if step % 100 == 0 or step == STEPS - 1:
            print(f'step {step}: bound per row {-loss.item():.5f}', file=sys.stderr)
    kernel = model.scaled
    return [v.detach() for v in (model.covar_module.inducing_points, kernel.base_kernel.lengthscale[0],
                                 kernel.outputscale, likelihood.noise[0])]


def rounded(values, digits=DIGITS):
    return torch.tensor(np.vectorize(lambda v: float(f'%.{digits}g' % v))(values.numpy()))


def predict(model, x, correction):
    with torch.no_grad(), gpytorch.settings.sgpr_diagonal_correction(correction):
        posterior = model.eval()(x)
        return posterior.mean, posterior.variance, model.covar_module(x).diagonal(dim1=-1, dim2=-2)


def evaluate(x, y, x_test, y_test, *hyper):
    inducing, lengths, variance, noise = hyper
    model, _, bound = build(x, y, *hyper)
    with torch.no_grad():
        elbo = (bound(model.train()(x), y) * len(y)).item()
    density = lambda mean, var: (.5 * ((2 * math.pi * (var + noise)).log() + (mean - y_test).square() / (var + noise))).mean().item()
    # Neither of GPyTorch's predictions is the posterior that belongs to the bound (Titsias 2009). With its correction of the
    # diagonal the training rows are corrected too, as in FITC. Without, mean and covariance are right but for the part of the
    # prior variance that inducing points do not explain, k(x, x) - q(x, x), which is missing (DTC): it is added here, from
    # the same kernels. A new model each time, because GPyTorch caches.
    mean, short, explained = predict(build(x, y, *hyper)[0], x_test, False)
    prior = model.scaled(x_test, diag=True).detach()
    var = short + prior - explained
    native = dict(corrected=density(*predict(build(x, y, *hyper)[0], x_test, True)[:2]), uncorrected=density(mean, short))
    print(f'elbo {elbo:.4f}, nlpd {density(mean, var):.4f}, native {native}, noise {noise:.4f}', file=sys.stderr)
    return dict(lengths=lengths.tolist(), variance=variance.item(), noise=noise.item(), inducing=inducing.tolist(), elbo=elbo,
                mean=rounded(mean, 9).tolist(), var=rounded(var, 9).tolist(), nlpd=density(mean, var), **native)


folder = sys.argv[1]
data = [torch.as_tensor(np.load(os.path.join(folder, name + '.npy'))) for name in ('x', 'y', 'x_test', 'y_test')]
x, y = data[:2]
mean, std, starts = x.mean(0), x.std(0), []
for seed in range(SEEDS):
    torch.manual_seed(seed)
    inducing, lengths, variance, noise = learn((x - mean) / std, y)
    starts.append(evaluate(*data, *map(rounded, (inducing * std + mean, lengths * std, variance, noise))))
fixture = dict(x=x.sum().item(), y=y.abs().sum().item(), **max(starts, key=lambda start: start['elbo']),
               nlpds=[start['nlpd'] for start in starts])
fixture.update((name, [start[name] for start in starts]) for name in ('corrected', 'uncorrected'))
with open(os.path.join(HERE, 'sgpr.json'), 'w') as file:
    file.write(json.dumps(fixture, separators=(',', ':')) + '\n')
