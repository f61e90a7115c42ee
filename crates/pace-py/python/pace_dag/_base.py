"""scikit-learn's base classes where it is installed; otherwise what estimators of ours need of them."""

from __future__ import annotations

import inspect
from typing import Any

__all__ = ["BaseEstimator", "NotFittedError", "RegressorMixin", "TransformerMixin", "progress"]

try:
    from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
    from sklearn.exceptions import NotFittedError
except ImportError:

    class BaseEstimator:  # type: ignore[no-redef]
        """Parameters are the arguments of the constructor."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """All parameters."""
            names = list(inspect.signature(type(self).__init__).parameters)[1:]
            return {name: getattr(self, name) for name in names}

        def set_params(self, **params: Any) -> "BaseEstimator":
            """Sets parameters."""
            known = self.get_params()
            for name, value in params.items():
                if name not in known:
                    raise ValueError(f"Invalid parameter {name!r} for estimator {type(self).__name__}")
                setattr(self, name, value)
            return self

        def __repr__(self) -> str:
            params = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
            return f"{type(self).__name__}({params})"

    class TransformerMixin:  # type: ignore[no-redef]
        """Fits, then transforms."""

        def fit_transform(self, X: Any, y: Any = None) -> Any:
            """Fits and transforms the same graphs."""
            return self.fit(X, y).transform(X)  # type: ignore[attr-defined]

    class RegressorMixin:  # type: ignore[no-redef]
        """Scores by the coefficient of determination."""

        def score(self, X: Any, y: Any) -> float:
            """R squared."""
            import numpy as np

            y = np.asarray(y, dtype=float)
            left = ((y - self.predict(X)) ** 2).sum()  # type: ignore[attr-defined]
            return float(1 - left / ((y - y.mean()) ** 2).sum())

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """Used before it was fitted."""


def progress(name: str, wanted: bool) -> Any:
    """A callback of a training that moves a bar of tqdm; None if nobody wants it or tqdm is not there."""
    if not wanted:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    bar = tqdm(desc=name, unit="graph", leave=False)

    def callback(graphs: int, total: int | None, loss: float | None) -> None:
        if total is not None:
            bar.total = total
        bar.n = min(graphs, bar.total or graphs)
        if loss is not None:
            bar.set_postfix_str(f"loss {loss:.4f}", refresh=False)
        bar.refresh()
        if bar.total and bar.n >= bar.total:
            bar.close()

    return callback
