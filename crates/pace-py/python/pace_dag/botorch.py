"""BoTorch: the sparse Gaussian process as a model for its acquisition functions.

>>> model = SparseGPModel(train_x, train_y)                                  # doctest: +SKIP
>>> from botorch.acquisition import LogExpectedImprovement                   # doctest: +SKIP
>>> LogExpectedImprovement(model, best_f=train_y.max())(candidates)          # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from botorch.models.model import Model
from botorch.posteriors.gpytorch import GPyTorchPosterior
from gpytorch.distributions import MultivariateNormal
from torch import Tensor

from ._core import Surrogate

__all__ = ["SparseGPModel"]


class _Predict(torch.autograd.Function):
    """Mean and variance of rows, with their derivatives by the rows."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, surrogate: Surrogate) -> tuple[Tensor, Tensor]:
        rows = np.ascontiguousarray(x.detach().cpu().double().numpy())
        mean, variance, _ = surrogate.predict(rows)
        ctx.surrogate, ctx.rows = surrogate, rows
        return torch.from_numpy(mean).to(x), torch.from_numpy(np.maximum(variance, 1e-12)).to(x)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor, None]:
        by_mean, by_variance = ctx.surrogate.gradient(ctx.rows)
        mean, variance = grads
        total = mean[:, None] * torch.from_numpy(by_mean).to(mean) + variance[:, None] * torch.from_numpy(by_variance).to(mean)
        return total, None


class SparseGPModel(Model):
    """A sparse Gaussian process on vectors of graphs, for acquisition functions of one point at a time (q = 1).

    Parameters
    ----------
    train_X : vectors [N, D], such as those of `PaceEncoder`
    train_Y : scores [N, 1]
    """

    def __init__(self, train_X: Tensor, train_Y: Tensor, n_inducing: int = 500, max_iterations: int = 60, seed: int = 1) -> None:
        super().__init__()
        y = train_Y.detach().cpu().double().reshape(-1)
        if len(y) != len(train_X):
            raise ValueError(f"{len(train_X)} vectors and {len(y)} scores")
        self._mean, self._scale = float(y.mean()), float(y.std(unbiased=False)) or 1.0
        self._surrogate = Surrogate.fit(
            "sparse_gp",
            np.ascontiguousarray(train_X.detach().cpu().double().numpy()),
            ((y - self._mean) / self._scale).numpy(),
            n_inducing=min(n_inducing, len(y)),
            max_iterations=max_iterations,
            seed=seed,
        )

    @property
    def num_outputs(self) -> int:
        """One score."""
        return 1

    @property
    def batch_shape(self) -> torch.Size:
        """No batch of models."""
        return torch.Size()

    def posterior(
        self, X: Tensor, output_indices: Any = None, observation_noise: Any = False, posterior_transform: Any = None, **_: Any
    ) -> GPyTorchPosterior:
        """The posterior at X [..., 1, D]."""
        if X.shape[-2] != 1:
            raise NotImplementedError(f"the posterior of {X.shape[-2]} points at a time is not known, only that of one (q = 1)")
        mean, variance = _Predict.apply(X.reshape(-1, X.shape[-1]), self._surrogate)
        mean = self._mean + self._scale * mean.reshape(X.shape[:-1])
        variance = self._scale**2 * variance.reshape(*X.shape[:-1], 1)
        posterior = GPyTorchPosterior(MultivariateNormal(mean, variance))
        return posterior if posterior_transform is None else posterior_transform(posterior)
