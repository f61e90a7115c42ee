#!/usr/bin/env python3
"""GPyTorch's sparse Gaussian process (SGPR) as a peer of ours: fits, predicts held-out rows, prints one line of JSON.

ARD RBF kernel behind an InducingPointKernel, Gaussian noise, hyperparameters and inducing points learnt by Adam on all
rows. It starts where ours starts: standardised inputs, one length-scale from the median distance, signal variance that of
y, noise a tenth of it; but inducing points start at random rows, ours at rows far from one another.

  seconds, cpu_seconds   the fit: start and iterations; neither loading nor predicting
  seconds_per_step       the fastest iteration: bound, gradient and step of Adam
  nlpd, rmse             on the held-out rows, by the better one of GPyTorch's two predictions: with its correction of the
                         diagonal (settings.sgpr_diagonal_correction, its default; FITC's) or without (DTC's, whose variance
                         lacks k(x, x) - q(x, x)); `correction` says which
"""
import argparse, json, math, os, time

ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument('--data', required=True, help='folder made by the Rust bench: x, y, x_test and y_test as .npy')
ap.add_argument('--threads', type=int, default=1)
ap.add_argument('--dtype', default='float32', choices=['float32', 'float64'])
ap.add_argument('--inducing', type=int, default=500)
ap.add_argument('--iterations', type=int, default=60)
ap.add_argument('--lr', type=float, default=.15, help='of .05, .1, .15, .2, .3 and .5 this has the best nlpd on the bench\'s vectors')
ap.add_argument('--seed', type=int, default=0)
a = ap.parse_args()
os.environ['OMP_NUM_THREADS'] = str(a.threads)
import gpytorch
import numpy as np
import torch
torch.set_num_threads(a.threads); torch.manual_seed(a.seed); torch.set_default_dtype(getattr(torch, a.dtype))


class Sgpr(gpytorch.models.ExactGP):
    def __init__(s, x, y, likelihood, inducing, length):
        super().__init__(x, y, likelihood)
        s.mean_module = gpytorch.means.ZeroMean()
        rbf = gpytorch.kernels.RBFKernel(ard_num_dims=x.shape[1])
        s.scale = gpytorch.kernels.ScaleKernel(rbf)
        s.covar_module = gpytorch.kernels.InducingPointKernel(s.scale, inducing_points=inducing, likelihood=likelihood)
        rbf.lengthscale, s.scale.outputscale, likelihood.noise = length, y.var(), .1 * y.var()

    def forward(s, x):
        return gpytorch.distributions.MultivariateNormal(s.mean_module(x), s.covar_module(x))


def fit(x, y):
    rows = x[torch.randperm(len(x))]
    length = (.5 * torch.pdist(rows[:1000]).square().median()).sqrt()
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Sgpr(x, y, likelihood, rows[:a.inducing].clone(), length)
    bound = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    adam, steps = torch.optim.Adam(model.parameters(), lr=a.lr), []
    model.train()
    for _ in range(a.iterations):
        t0 = time.perf_counter()
        adam.zero_grad()
        loss = -bound(model(x), y)
        loss.backward()
        adam.step()
        steps.append(time.perf_counter() - t0)
    return model, likelihood, steps, loss.item()


def score(model, likelihood, x, y, correction):
    model.eval()
    with torch.no_grad(), gpytorch.settings.sgpr_diagonal_correction(correction):
        p = likelihood(model(x))
        mean, var = p.mean, p.variance
    nlpd = .5 * ((2 * math.pi * var).log() + (mean - y).square() / var)
    return dict(nlpd=nlpd.mean().item(), rmse=(mean - y).square().mean().sqrt().item(), correction=correction)


load = lambda name: torch.as_tensor(np.load(os.path.join(a.data, name + '.npy')), dtype=torch.get_default_dtype())
x, y, x_test, y_test = map(load, ['x', 'y', 'x_test', 'y_test'])
c0, t0 = time.process_time(), time.perf_counter()
mean, std = x.mean(0), x.std(0)
model, likelihood, steps, loss = fit((x - mean) / std, y)
seconds, cpu = time.perf_counter() - t0, time.process_time() - c0
scores = [score(model.train(), likelihood, (x_test - mean) / std, y_test, correction) for correction in (True, False)]
print(json.dumps(dict(seconds=seconds, cpu_seconds=cpu, seconds_per_step=min(steps), bound=-loss, threads=a.threads,
                      dtype=a.dtype, lr=a.lr, all=scores, **min(scores, key=lambda s: s['nlpd']))))
