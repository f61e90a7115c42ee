"""Regressors: `PacePredictor` on graphs, `SparseGP` and `Dngo` on vectors."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ._base import BaseEstimator, NotFittedError, RegressorMixin
from ._core import DagSpec, Dataset, RankGP, Surrogate
from .convert import dataset
from .encoder import PaceEncoder

# What each choice of features looks at.
_KINDS = {"both": ("vectors", "counts"), "vectors": ("vectors",), "counts": ("counts",), "plain": ("plain",)}

__all__ = ["Dngo", "PacePredictor", "SparseGP"]


class _SurrogateRegressor(RegressorMixin, BaseEstimator):
    """What the regressors on vectors share."""

    _kind: Literal["sparse_gp", "dngo"]

    def fit(self, X: Any, y: Any) -> Any:
        """Fits to vectors [N, D] and scores [N]."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
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
        return {"seed": self.seed}

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
    """Scores of graphs: an encoder that learns from the graphs alone, and a Gaussian process on its vectors and on what can be counted.

    Whether the encoder pays is a question of the data: compare with `features="counts"` and `features="plain"`, which train nothing, by
    cross-validation. The process learns ranks, so a few failed experiments do no harm; predictions lie within the known scores.

    Parameters
    ----------
    encoder : an unfitted or fitted `PaceEncoder`; None takes one with default settings
    features : "both" (vectors and counts), "vectors", "counts" (sizes, depths, paths, operations) or "plain" (operations and edges, one-hot)
    spec, op, seed : as of `PaceEncoder`
    """

    def __init__(
        self,
        encoder: PaceEncoder | None = None,
        *,
        features: str = "both",
        spec: DagSpec | None = None,
        op: str | None = None,
        seed: int = 1,
    ) -> None:
        self.encoder = encoder
        self.features = features
        self.spec = spec
        self.op = op
        self.seed = seed

    def fit(self, X: Any, y: Any = None) -> "PacePredictor":
        """Learns from graphs and scores; without `y`, the targets of the graphs."""
        if self.features not in _KINDS:
            raise ValueError(f"features is {self.features!r}; choose {', '.join(map(repr, _KINDS))}")
        graphs = dataset(X, op=self.op)
        y = graphs.targets if y is None else np.asarray(y, dtype=float)
        if len(y) != len(graphs):
            raise ValueError(f"{len(graphs)} graphs and {len(y)} scores")
        if not np.isfinite(y).all():
            raise ValueError(f"{int((~np.isfinite(y)).sum())} of {len(y)} graphs have no finite score; leave them out")
        if "vectors" in _KINDS[self.features]:
            encoder = self.encoder if self.encoder is not None else PaceEncoder(spec=self.spec, op=self.op, seed=self.seed)
            if not hasattr(encoder, "model_"):
                encoder = type(encoder)(**encoder.get_params(deep=False)).fit(graphs)
            self.encoder_ = encoder
            self.spec_ = encoder.spec_
        else:
            self.spec_ = self.spec if self.spec is not None else graphs.infer()[0]
        kinds = self._kinds(graphs)
        raw = np.concatenate(kinds, axis=1)
        self.center_, spread = raw.mean(axis=0), raw.std(axis=0)
        self.spread_ = np.where(spread > 1e-9, spread, np.inf)
        self.fitted_to_ = (self._scaled(raw), y, [kind.shape[1] for kind in kinds])
        self._learn()
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Expected scores; with `return_std` also their standard deviations, without the noise of an observation."""
        if not hasattr(self, "gp_"):
            raise NotFittedError("this PacePredictor is not fitted yet; call fit first")
        mean, std = self.gp_.predict(self._scaled(np.concatenate(self._kinds(dataset(X, op=self.op)), axis=1)))
        return (mean, std) if return_std else mean

    def _kinds(self, graphs: Dataset) -> list[np.ndarray]:
        of = {
            "vectors": lambda: self.encoder_.transform(graphs),
            "counts": lambda: self.spec_.features(graphs, "counts"),
            "plain": lambda: self.spec_.features(graphs, "plain"),
        }
        return [of[kind]().astype(float) for kind in _KINDS[self.features]]

    def _scaled(self, raw: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray((raw - self.center_) / self.spread_)

    def _learn(self) -> None:
        x, y, widths = self.fitted_to_
        self.gp_ = RankGP.fit(x, y, widths, seed=self.seed)

    def __getstate__(self) -> dict[str, Any]:
        # As the regressors on vectors: a fit is the same again.
        state = dict(self.__dict__)
        state.pop("gp_", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "fitted_to_" in state:
            self._learn()

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
