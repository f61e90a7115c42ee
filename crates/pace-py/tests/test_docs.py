"""What the documentation shows is so."""

import doctest
import importlib
import inspect
import pathlib

import pytest

import pace_dag
from pace_dag import _core

MODULES = ["pace_dag", "pace_dag.convert", "pace_dag.encoder", "pace_dag.predictor"]


def test_examples_in_docstrings():
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    names = {name: getattr(pace_dag, name) for name in pace_dag.__all__}
    names["np"] = importlib.import_module("numpy")
    for module in MODULES:
        for test in finder.find(importlib.import_module(module), module, globs=dict(names)):
            runner.run(test)
    assert runner.tries > 15 and runner.failures == 0


def test_everything_is_documented_and_typed():
    stub = pathlib.Path(pace_dag.__file__).with_name("_core.pyi").read_text()
    for name, item in inspect.getmembers(_core):
        if name.startswith("__"):
            continue
        assert f"class {name}:" in stub or f"def {name}(" in stub or f"{name}: " in stub, f"{name} is not in the stub"
        if not inspect.isclass(item):
            continue
        assert item.__doc__, f"{name} has no docstring"
        for member, function in inspect.getmembers(item):
            if not member.startswith("_"):
                assert inspect.getdoc(function), f"{name}.{member} has no docstring"
                assert f"def {member}(" in stub, f"{name}.{member} is not in the stub"


@pytest.mark.parametrize("name", ["optuna", "botorch"])
def test_modules_for_other_packages_say_what_they_want(name):
    try:
        importlib.import_module(name)
    except ImportError:
        # botorch wants torch, and that may be what is missing.
        with pytest.raises(ImportError, match=f"{name}|torch"):
            importlib.import_module(f"pace_dag.{name}")
