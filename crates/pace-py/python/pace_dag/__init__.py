"""Vectors for directed acyclic graphs, predictions and searches with them.

>>> from pace_dag import Dag, PaceEncoder, dataset
>>> chain = Dag(["in", "conv", "out"], [(0, 1), (1, 2)])
>>> backwards = Dag(["out", "conv", "in"], [(2, 1), (1, 0)])
>>> graphs = dataset([chain, backwards, Dag(["in", "out"], [(0, 1)])] * 10)
>>> vectors = PaceEncoder(epochs=1).fit_transform(graphs)
>>> vectors.shape[0], bool((vectors[0] == vectors[1]).all()), bool((vectors[0] == vectors[2]).all())
(30, True, False)
"""

from ._core import ENCODERS, FORMATS, Dag, DagSpec, Dataset, Model, Search, __version__
from .convert import dataset, to_networkx, to_pyg
from .encoder import PaceEncoder
from .predictor import Dngo, PacePredictor, SparseGP

__all__ = [
    "ENCODERS",
    "FORMATS",
    "Dag",
    "DagSpec",
    "Dataset",
    "Dngo",
    "Model",
    "PaceEncoder",
    "PacePredictor",
    "Search",
    "SparseGP",
    "__version__",
    "dataset",
    "to_networkx",
    "to_pyg",
]
