"""The rooms keep to their doors: who imports whom, what is public, what an import costs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import diverse_rule_sets

SOURCE = Path(diverse_rule_sets.__file__).parent
PACKAGE = "diverse_rule_sets"

# Room: (rooms of ours it may import, other packages it may import). ARCHITECTURE.md has the same table.
ALLOWED = {
    "_kernels": (set(), {"numba", "numpy"}),
    "_bitset": ({"_kernels"}, {"numpy"}),
    "_checks": (set(), {"numpy"}),
    "_progress": (set(), set()),
    "_tables": (set(), {"numpy", "narwhals", "sklearn"}),
    "_labels": ({"_tables"}, {"numpy", "sklearn"}),
    "measures": (set(), {"numpy"}),
    "diversify": (set(), {"numpy"}),
    "rules": ({"_tables"}, {"numpy"}),
    "encoding": ({"_bitset", "_tables", "rules"}, {"numpy"}),
    "backends": ({"_bitset", "backends"}, {"numpy"}),
    "samplers": ({"_bitset", "_checks", "backends", "samplers"}, {"numpy"}),
    "search": ({"_bitset", "backends", "diversify", "measures", "samplers"}, {"numpy"}),
    "metrics": ({"_bitset", "_tables", "measures", "rules"}, {"numpy"}),
    "classifier": (
        {"_checks", "_labels", "_progress", "_tables", "backends", "encoding", "rules", "samplers", "search"},
        {"joblib", "numpy", "sklearn"},
    ),
}
FILES = [path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py"]


def room(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path):
    for node in ast.walk(ast.parse(path.read_text("utf8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide who imports whom"
            if node.module == PACKAGE:
                yield from (f"{PACKAGE}.{alias.name}" for alias in node.names)
            else:
                yield node.module


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_imports_only_what_it_may(path):
    ours, others = ALLOWED[room(path)]
    for name in imports(path):
        top, *rest = name.split(".")
        if top == PACKAGE:
            assert rest[0] in ours, f"{room(path)} may not import {name}"
        else:
            assert top in others or top in sys.stdlib_module_names, f"{room(path)} may not import {name}"


def test_the_table_of_rooms_is_in_the_architecture_page():
    page = (SOURCE.parents[1] / "ARCHITECTURE.md").read_text("utf8")
    for name in ALLOWED:
        assert f"`{name}`" in page, f"ARCHITECTURE.md says nothing of {name}"


def test_the_public_names():
    assert diverse_rule_sets.__all__ == sorted(diverse_rule_sets.__all__)
    public = {name for name in vars(diverse_rule_sets) if not name.startswith("_")}
    rooms = {room(path) for path in FILES}
    assert public - rooms == set(diverse_rule_sets.__all__) - {"metrics"}


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_neither_import_nor_prediction_loads_numba(tmp_path):
    model = tmp_path / "model.pickle"
    run(
        "import pickle; from sklearn.datasets import load_iris;"
        "from diverse_rule_sets import DiverseRuleSetClassifier as D;"
        f"pickle.dump(D(random_state=0, n_candidates=20).fit(*load_iris(return_X_y=True)), open({str(model)!r}, 'wb'))"
    )
    said = run(
        "import pickle, sys, diverse_rule_sets; from sklearn.datasets import load_iris;"
        f"clf = pickle.load(open({str(model)!r}, 'rb')); X, y = load_iris(return_X_y=True);"
        "clf.predict_proba(X); diverse_rule_sets.metrics.diversity(clf.rule_set_, X); print(clf.score(X, y) > 0.8);"
        "print([name for name in ('numba', 'polars', 'matplotlib') if name in sys.modules])"
    )
    assert said.splitlines() == ["True", "[]"]


def test_fit_and_predict_need_no_extra():
    """A bare install has neither pandas nor polars: arrays work, and explain says what it needs."""
    said = run(
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name in ('pandas', 'polars', 'pyarrow', 'matplotlib', 'jinja2', 'typer', 'rich', 'dask'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from sklearn.datasets import load_iris\n"
        "from diverse_rule_sets import DiverseRuleSetClassifier\n"
        "X, y = load_iris(return_X_y=True)\n"
        "clf = DiverseRuleSetClassifier(random_state=0, n_candidates=20).fit(X, y)\n"
        "print(clf.score(X, y) > 0.8)\n"
        "try:\n"
        "    clf.explain(X)\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    assert said.splitlines() == ["True", "explain returns a data frame; install pandas or polars"]
