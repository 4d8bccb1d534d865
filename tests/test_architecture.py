"""The imports keep to the layers of ARCHITECTURE.md; what is public; what an import costs."""

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
FILES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")
NAMES = re.compile(r"`([\w./]+)`")


def table_below(heading):
    """Return the rows of the table below a heading of ARCHITECTURE.md, as lists of cells."""
    text = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| `")]


def layers():
    """Return the level of each layer, lowest first, and the third-party packages that it may import."""
    levels, packages = {}, {}
    for level, (names, _, third_party) in enumerate(table_below("Layers")):
        for name in NAMES.findall(names):
            levels[name], packages[name] = level, set(NAMES.findall(third_party))
    return levels, packages


def exceptions():
    """Return the imports that are allowed against the order of the layers: pairs of modules."""
    return {
        (source, target)
        for sources, targets, _ in table_below("Exceptions")
        for source in NAMES.findall(sources)
        for target in NAMES.findall(targets)
    }


def module(path):
    """Return a file's module below the package, such as `model/_rules`."""
    return path.relative_to(SOURCE).with_suffix("").as_posix().removesuffix("/__init__")


def imports(path):
    """List everything that a file imports, in functions and for type checkers too."""
    for node in ast.walk(ast.parse(path.read_text("utf8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide who imports whom"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                known = SOURCE.joinpath(*whole.split(".")[1:])
                is_module = known.with_suffix(".py").exists() or known.is_dir()
                yield whole if node.module.split(".")[0] == PACKAGE and is_module else node.module


def ours(path):
    """List the modules of this package that a file imports."""
    below = (name.split(".")[1:] for name in imports(path) if name.split(".")[0] == PACKAGE)
    return sorted({"/".join(parts) for parts in below if parts})


def layer(name):
    return name.split("/")[0]


@pytest.mark.parametrize("path", FILES, ids=module)
def test_a_module_imports_lower_layers_only(path):
    levels, packages = layers()
    own, allowed = module(path), exceptions()
    for target in ours(path):
        lower = levels[layer(target)] < levels[layer(own)] or layer(target) == layer(own)
        assert lower or (own, target) in allowed, f"{own} may not import {target}"
    for name in imports(path):
        top = name.split(".")[0]
        known = top == PACKAGE or top in sys.stdlib_module_names or top in packages[layer(own)]
        assert known, f"the layer {layer(own)} may not import {top}"


def test_the_layers_are_the_folders():
    entries = {path.name.removesuffix(".py") for path in SOURCE.iterdir() if path.name != "__pycache__"}
    assert set(layers()[0]) == entries - {"__init__", "py.typed"}
    assert len(entries) <= 16


def test_every_file_is_on_the_architecture_page_and_no_other():
    """The tree of the page has a line for each folder and for each file below it."""
    listed, folder = [], ""
    for line in PAGE.split("```")[1].splitlines()[2:]:
        indent, name = len(line) - len(line.lstrip()), line.split()[0]
        if indent == 0:
            break  # the folders beside the package
        if indent == 2:
            folder = name if name.endswith("/") else ""
        if name.endswith(".py"):
            listed.append(folder + name if indent == 4 else name)
    files = [path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py")]
    assert len(listed) == len(set(listed))
    assert set(listed) - {"__init__.py"} == {
        name for name in files if not name.endswith(("__init__.py", "__main__.py"))
    }


def test_every_exception_is_needed():
    """An exception that no import needs any more would allow a new one unnoticed."""
    used = {(module(path), target) for path in FILES for target in ours(path)}
    assert exceptions() <= used


def test_modules_that_import_each_other_are_listed():
    """Groups of modules that reach each other by imports, those in functions and for type checkers included."""
    reach = {module(path): {name for name in ours(path) if (module(path), name) not in exceptions()} for path in FILES}
    for middle in reach:
        for own in reach:
            if middle in reach[own]:
                reach[own] |= reach[middle]
    cyclic = {own for own in reach if own in reach[own]}
    groups = {frozenset(other for other in reach[own] if own in reach.get(other, ())) for own in cyclic}
    listed = {frozenset(NAMES.findall(names)) for names, _ in table_below("Modules that import each other")}
    assert groups == listed


def test_no_module_is_longer_than_400_lines():
    assert {module(path): n for path in FILES if (n := len(path.read_text("utf8").splitlines())) > 400} == {}


def test_modules_below_a_public_folder_are_private():
    """Users import from the package, from `baselines`, `metrics`, `report` and `cli`, and from nothing below them."""
    public = [module(path) for path in FILES if not any(part.startswith("_") for part in module(path).split("/"))]
    assert {name for name in public if "/" in name} <= {"learn/samplers"}


def test_the_public_names():
    assert diverse_rule_sets.__all__ == sorted(diverse_rule_sets.__all__)
    imported = {"TYPE_CHECKING", "Any", "import_module"}
    public = {name for name in dir(diverse_rule_sets) if not name.startswith("_")} - imported
    modules = {layer(module(path)) for path in FILES}
    assert public - modules == set(diverse_rule_sets.__all__) - {"baselines", "metrics", "report"}
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
        f"pickle.dump(D(random_state=0).fit(*load_iris(return_X_y=True)), open({str(model)!r}, 'wb'))"
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
        "clf = DiverseRuleSetClassifier(random_state=0).fit(X, y)\n"
        "baselines = [R().fit(X, y).score(X, y) > 0.8 for R in (b.CBAClassifier, b.CN2Classifier, b.IDSClassifier)]\n"
        "print(clf.score(X, y) > 0.8, baselines)\n"
        "try:\n"
        "    clf.explain(X)\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    assert said.splitlines() == [
        "True [True, True, True]",
        "a data frame as the answer needs pandas or polars; install one of them",
    ]
