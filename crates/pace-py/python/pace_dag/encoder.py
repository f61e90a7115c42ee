"""`PaceEncoder`: graphs to vectors, and back where the objective is an autoencoder's."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any

import numpy as np

from ._base import BaseEstimator, NotFittedError, TransformerMixin, progress
from ._core import DagSpec, Dataset, Model
from ._core import train as _train
from .convert import dataset

__all__ = ["PaceEncoder"]


class PaceEncoder(TransformerMixin, BaseEstimator):
    """Learns an encoder from graphs alone, without scores.

    Parameters
    ----------
    objective : "mlm" (guess hidden operations) or "vae" (decode each graph from its vector; then `inverse_transform` works)
    encoder : "pace", or a system it is compared with; see `pace_dag.ENCODERS`
    epochs, batch, lr, latent : as of `pace train`; None chooses by the number of graphs
    spec : a `DagSpec`; None infers one from the graphs of `fit`
    op : the node attribute that is the operation, for graphs of other libraries
    path : the folder of the model, in which a killed training resumes; None takes a folder that goes with this object
    seed : of everything random
    verbose : a bar of tqdm, where it is installed

    >>> cells = DagSpec.named("nas101").sample(64)
    >>> PaceEncoder(epochs=1).fit(cells).transform(cells[:3]).shape[0]
    3
    """

    def __init__(
        self,
        objective: str = "mlm",
        encoder: str = "pace",
        *,
        epochs: int | None = None,
        batch: int | None = None,
        lr: float = 1e-3,
        latent: int | None = None,
        spec: DagSpec | None = None,
        op: str | None = None,
        path: str | os.PathLike[str] | None = None,
        seed: int = 1,
        verbose: bool = False,
    ) -> None:
        self.objective = objective
        self.encoder = encoder
        self.epochs = epochs
        self.batch = batch
        self.lr = lr
        self.latent = latent
        self.spec = spec
        self.op = op
        self.path = path
        self.seed = seed
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> "PaceEncoder":
        """Trains on graphs; `y` is ignored."""
        if self.objective not in ("mlm", "vae"):
            raise ValueError(f"objective is {self.objective!r}; choose 'mlm' or 'vae', or PacePredictor for scores")
        graphs = dataset(X, op=self.op)
        if len(graphs) == 0:
            raise ValueError("there are no graphs to learn from; give at least one")
        self.model_ = train(graphs, self.path, self)
        self.spec_ = self.model_.spec
        self.n_features_out_ = self.model_.width
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The vectors of graphs, [N, D] in single precision."""
        return self._fitted().encode(dataset(X, op=self.op))

    def inverse_transform(self, X: Any) -> Dataset:
        """Graphs from vectors, valid by the spec."""
        return self._fitted().decode(np.ascontiguousarray(X, dtype=np.float32))

    def score(self, X: Any, y: Any = None) -> float:
        """Of an autoencoder: the share of graphs that come back from their vectors, up to isomorphism."""
        graphs = dataset(X, op=self.op)
        back = self.inverse_transform(self.transform(graphs))
        return float(np.mean([graphs[row].isomorphic(back[row]) for row in range(len(graphs))]))

    @classmethod
    def load(cls, path: str | os.PathLike[str], **params: Any) -> "PaceEncoder":
        """An encoder from a folder that `pace train` or `fit` wrote."""
        model = Model.load(os.fspath(path))
        estimator = cls(objective=model.objective, path=path, **params)
        estimator.model_ = model
        estimator.spec_ = model.spec
        estimator.n_features_out_ = model.width
        return estimator

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns."""
        self._fitted()
        return np.array([f"pace{column}" for column in range(self.n_features_out_)], dtype=object)

    def _fitted(self) -> Model:
        if not hasattr(self, "model_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first, or load a folder")
        return self.model_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Graphs are no matrix of numbers.
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if "model_" in state:
            state["model_"] = folder_to_bytes(self._folder)
        state.pop("_folder", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        packed = state.pop("model_", None)
        self.__dict__.update(state)
        if packed is not None:
            self._folder = Folder()
            bytes_to_folder(packed, self._folder.name)
            self.model_ = Model.load(self._folder.name)


class Folder:
    """A folder that goes when nobody holds it any more, in the process that made it."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="pace-")
        self._owner = os.getpid()

    def __fspath__(self) -> str:
        return self.name

    def __del__(self) -> None:
        if os.getpid() == self._owner:
            shutil.rmtree(self.name, ignore_errors=True)


def train(graphs: Dataset, path: Any, estimator: Any, **options: Any) -> Model:
    """Trains in `path`, or in a folder of the estimator's own."""
    estimator._folder = Folder() if path is None else os.fspath(path)
    bar = progress(type(estimator).__name__, estimator.verbose)
    settings = {name: getattr(estimator, name) for name in ("objective", "latent") if hasattr(estimator, name)}
    return _train(
        graphs,
        os.fspath(estimator._folder),
        spec=estimator.spec,
        encoder=estimator.encoder,
        epochs=estimator.epochs,
        batch=estimator.batch,
        lr=estimator.lr,
        seed=estimator.seed,
        callback=bar,
        **{**settings, **options},
    )


WEIGHTS = "encoder.safetensors"


def folder_to_bytes(folder: Any) -> bytes:
    """What a model needs, for pickle."""
    with open(os.path.join(os.fspath(folder), WEIGHTS), "rb") as file:
        return file.read()


def bytes_to_folder(weights: bytes, folder: str) -> None:
    """The folder of a pickled model."""
    with open(os.path.join(folder, WEIGHTS), "wb") as file:
        file.write(weights)
