"""What holds with numpy and nothing else; no pytest, `cargo xtask ci python` runs it as a script."""

import subprocess
import sys

MAX_IMPORT, MAX_OWN_IMPORT = map(float, sys.argv[1:3])

CLOCK = "import time, sys; {before}; start = time.perf_counter(); import pace_dag; print(time.perf_counter() - start)"


def seconds(before):
    """The import of pace_dag in a fresh interpreter, the best of three."""
    command = [sys.executable, "-c", CLOCK.format(before=before)]
    return min(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(3))


whole, own = seconds("pass"), seconds("import numpy, tempfile, shutil")
print(f"alone: import in {whole:.3f} s, {own:.3f} s of it ours")
assert whole < MAX_IMPORT and own < MAX_OWN_IMPORT, (whole, own)

import numpy as np

from pace_dag import Dngo, PaceEncoder, PacePredictor, Search, SparseGP, DagSpec

cells = DagSpec.named("nas101").sample(200)
cells = cells.with_targets(np.array([float(len(cell.edges)) for cell in cells]))
encoder = PaceEncoder(epochs=1).fit(cells)
assert encoder.transform(cells).shape[0] == 200
assert PacePredictor(encoder).fit(cells).predict(cells[:5]).shape == (5,)
assert Dngo().fit([[0.0], [1.0]] * 20, [0.0, 1.0] * 20).predict([[0.5]]).shape == (1,)
search = Search(cells)
for _ in range(3):
    for query, cell in search.ask(2):
        search.tell(query, float(len(cell.edges)))
assert len(search.history()) == 6
try:
    PaceEncoder().set_params(colour="red")
except ValueError as error:
    assert "colour" in str(error)
else:
    raise AssertionError("an unknown parameter was taken")
assert repr(SparseGP(n_inducing=7)).startswith("SparseGP(n_inducing=7")
others = {"sklearn", "networkx", "torch", "optuna", "tqdm"} & set(sys.modules)
assert not others, f"imported without need: {others}"
print("alone: encoder, predictor, surrogates and search work with numpy alone")
