"""Regressors: `PacePredictor` on graphs, `SparseGP` and `Dngo` on vectors."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ._base import BaseEstimator, NotFittedError, RegressorMixin
from ._core import DagSpec, Dataset, Surrogate
from .convert import dataset
from .encoder import PaceEncoder

__all__ = ["Dngo", "PacePredictor", "SparseGP"]


class _SurrogateRegressor(RegressorMixin, BaseEstimator):
    """What the regressors on vectors share."""

    _kind = ""

    def fit(self, X: Any, y: Any) -> Any:
        """Fits to vectors [N, D] and scores [N]."""
        X, y = _numbers(self, X, y)
        self.mean_, self.scale_ = float(y.mean()), float(y.std()) or 1.0
        self.surrogate_ = Surrogate.fit(self._kind, X, (y - self.mean_) / self.scale_, **self._settings())
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Expected scores; with `return_std` also their standard deviations, without the noise of an observation."""
        if not hasattr(self, "surrogate_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")
        X, _ = _numbers(self, X, None)
        mean, variance, _ = self.surrogate_.predict(X)
        mean = self.mean_ + self.scale_ * mean
        return (mean, self.scale_ * np.sqrt(np.maximum(variance, 0.0))) if return_std else mean

    def _settings(self) -> dict[str, Any]:
        return {"seed": self.seed}  # type: ignore[attr-defined]

    def __getstate__(self) -> dict[str, Any]:
        # A fit takes seconds and is the same again: pickles carry what it was fitted to.
        state = dict(self.__dict__)
        state.pop("surrogate_", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "fitted_to_" in state:
            X, y = self.fitted_to_
            self.surrogate_ = Surrogate.fit(self._kind, X, (y - self.mean_) / self.scale_, **self._settings())


class SparseGP(_SurrogateRegressor):
    """A sparse Gaussian process with a collapsed bound, for thousands of rows.

    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> float(SparseGP(n_inducing=20).fit(X, 3 * X[:, 0]).predict([[0.5]])[0].round(1))
    1.5
    """

    _kind = "sparse_gp"

    def __init__(self, n_inducing: int = 500, max_iterations: int = 60, seed: int = 1) -> None:
        self.n_inducing = n_inducing
        self.max_iterations = max_iterations
        self.seed = seed

    def _settings(self) -> dict[str, Any]:
        return {"n_inducing": self.n_inducing, "max_iterations": self.max_iterations, "seed": self.seed}


class Dngo(_SurrogateRegressor):
    """DNGO: Bayesian linear regression on the features of a small network, for some hundred rows."""

    _kind = "dngo"

    def __init__(self, seed: int = 1) -> None:
        self.seed = seed


class PacePredictor(RegressorMixin, BaseEstimator):
    """Scores of graphs: an encoder that learns from the graphs alone, and a Gaussian process on its vectors.

    Whether the encoder pays is a question of the data: compare with `features="counts"`, which trains nothing, by cross-validation.

    Parameters
    ----------
    encoder : an unfitted or fitted `PaceEncoder`; None takes one with default settings
    features : "vectors" or "counts" (of operations; the control)
    spec, op, seed : as of `PaceEncoder`
    """

    def __init__(
        self,
        encoder: PaceEncoder | None = None,
        *,
        features: str = "vectors",
        op: str | None = None,
        seed: int = 1,
    ) -> None:
        self.encoder = encoder
        self.features = features
        self.op = op
        self.seed = seed

    def fit(self, X: Any, y: Any = None) -> "PacePredictor":
        """Learns from graphs and scores; without `y`, the targets of the graphs."""
        graphs = dataset(X, op=self.op)
        y = graphs.targets if y is None else np.asarray(y, dtype=float)
        if len(y) != len(graphs):
            raise ValueError(f"{len(graphs)} graphs and {len(y)} scores")
        if not np.isfinite(y).all():
            raise ValueError(f"{int((~np.isfinite(y)).sum())} of {len(y)} graphs have no finite score; leave them out")
        if self.features == "vectors":
            encoder = self.encoder if self.encoder is not None else PaceEncoder(op=self.op, seed=self.seed)
            if not hasattr(encoder, "model_"):
                encoder = type(encoder)(**encoder.get_params(deep=False)).fit(graphs)
            self.encoder_ = encoder
        elif self.features == "counts":
            self.ops_ = sorted({op for graph in graphs for op in graph.ops})
        else:
            raise ValueError(f"features is {self.features!r}; choose 'vectors' or 'counts'")
        raw = self._raw(graphs)
        self.center_, spread = raw.mean(axis=0), raw.std(axis=0)
        self.spread_ = np.where(spread > 1e-9, spread, 1.0)
        self.gp_ = SparseGP(n_inducing=min(500, len(y)), seed=self.seed).fit(self._vectors(graphs), y)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Expected scores; with `return_std` also their standard deviations."""
        if not hasattr(self, "gp_"):
            raise NotFittedError("this PacePredictor is not fitted yet; call fit first")
        return self.gp_.predict(self._vectors(dataset(X, op=self.op)), return_std=return_std)

    def _raw(self, graphs: Dataset) -> np.ndarray:
        if self.features == "vectors":
            return self.encoder_.transform(graphs).astype(float)
        place = {op: column for column, op in enumerate(self.ops_)}
        counts = np.zeros((len(graphs), len(place) + 2))
        for row, graph in enumerate(graphs):
            counts[row, -2:] = len(graph), len(graph.edges)
            for op in graph.ops:
                if op in place:
                    counts[row, place[op]] += 1
        return counts

    def _vectors(self, graphs: Dataset) -> np.ndarray:
        return (self._raw(graphs) - self.center_) / self.spread_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags


def _numbers(estimator: Any, X: Any, y: Any) -> tuple[np.ndarray, Any]:
    """Checked arrays, by scikit-learn's own rules where it is installed."""
    try:
        from sklearn.utils.validation import validate_data
    except ImportError:
        X = np.ascontiguousarray(X, dtype=np.float64)
        if X.ndim != 2:
            raise ValueError(f"expected vectors as rows of a matrix, found {X.ndim} dimensions") from None
        y = None if y is None else np.ascontiguousarray(y, dtype=np.float64)
    else:
        if y is None:
            X = validate_data(estimator, X, reset=False, dtype=np.float64)
        else:
            X, y = validate_data(estimator, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
            y = np.asarray(y, dtype=np.float64)
    if y is not None:
        estimator.fitted_to_ = (np.array(X), np.array(y))
    return np.ascontiguousarray(X), y
