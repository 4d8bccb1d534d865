"""The rooms keep to their doors: who imports whom, what is public, what an import costs."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import diverse_rule_sets

SOURCE = Path(diverse_rule_sets.__file__).parent
PACKAGE = "diverse_rule_sets"

PAGE = (SOURCE.parents[1] / "ARCHITECTURE.md").read_text("utf8")
FILES = [path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py"]


def allowed():
    """Read the table of ARCHITECTURE.md: room -> (rooms of ours, other packages) that it may import."""
    table = PAGE.split("## Who may import whom")[1].split("##")[0]
    rows = [line.split("|")[1:4] for line in table.splitlines() if line.startswith("| `")]
    names = re.compile(r"`(\w+)`")
    return {
        room: (set(names.findall(ours)) | {room}, set(names.findall(others)))
        for rooms, ours, others in rows
        for room in names.findall(rooms)
    }


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
    ours, others = allowed()[room(path)]
    for name in imports(path):
        top, *rest = name.split(".")
        if top == PACKAGE:
            assert rest[0] in ours, f"{room(path)} may not import {name}"
        else:
            assert top in others or top in sys.stdlib_module_names, f"{room(path)} may not import {name}"


def test_every_room_is_on_the_architecture_page_and_no_other():
    assert set(allowed()) == {room(path) for path in FILES}


def test_the_public_names():
    assert diverse_rule_sets.__all__ == sorted(diverse_rule_sets.__all__)
    imported = {"TYPE_CHECKING", "Any", "import_module"}
    public = {name for name in dir(diverse_rule_sets) if not name.startswith("_")} - imported
    rooms = {room(path) for path in FILES}
    assert public - rooms == set(diverse_rule_sets.__all__) - {"baselines", "metrics", "report"}
    for name in diverse_rule_sets.__all__:
        assert getattr(diverse_rule_sets, name).__name__.split(".")[-1] == name
    with pytest.raises(AttributeError, match="no attribute 'Rules'"):
        diverse_rule_sets.Rules  # noqa: B018


def test_a_rule_set_predicts_without_scikit_learn():
    said = run(
        "import sys, polars; from diverse_rule_sets import Rule, RuleSet;"
        "rule = Rule.parse('IF age <= 37 THEN good');"
        "rules = RuleSet((rule,), ('bad', 'good'), 'bad', (5, 5), (5, 1));"
        "print(RuleSet.from_json(rules.to_json()).predict(polars.DataFrame({'age': [20, 50]})));"
        "print([name for name in ('sklearn', 'scipy', 'joblib', 'numba') if name in sys.modules])"
    )
    assert said.splitlines() == ["['good' 'bad']", "[]"]


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
        "from diverse_rule_sets import DiverseRuleSetClassifier, baselines as b\n"
        "X, y = load_iris(return_X_y=True)\n"
        "clf = DiverseRuleSetClassifier(random_state=0, n_candidates=20).fit(X, y)\n"
        "rivals = [R().fit(X, y).score(X, y) > 0.8 for R in (b.CBAClassifier, b.CN2Classifier, b.IDSClassifier)]\n"
        "print(clf.score(X, y) > 0.8, rivals)\n"
        "try:\n"
        "    clf.explain(X)\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    assert said.splitlines() == [
        "True [True, True, True]",
        "a data frame as the answer needs pandas or polars; install one of them",
    ]
