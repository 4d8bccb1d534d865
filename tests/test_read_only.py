"""A package in folders that cannot be written to, as installed by an administrator."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import diverse_rule_sets

CODE = """
import os, sys
from sklearn.datasets import load_iris
import diverse_rule_sets
from diverse_rule_sets import DiverseRuleSetClassifier
folder = os.path.dirname(diverse_rule_sets.__file__)
assert folder.startswith(sys.argv[1]), folder
try:
    open(os.path.join(folder, "new"), "w")
except OSError:
    pass
else:
    raise SystemExit("the folder can be written to")
X, y = load_iris(return_X_y=True)
clf = DiverseRuleSetClassifier(random_state=0).fit(X, y)
from diverse_rule_sets._bits import kernels
stats = kernels.count_segments.stats
print(len(clf.rule_set_), sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), stats.cache_path)
"""


def run(folder, home):
    """Fit in a process that may not write to the package, and return what it prints."""
    without_rights = []
    if os.geteuid() == 0:  # permissions do not bind root
        if shutil.which("setpriv") is None:
            pytest.skip("needs setpriv, or a user that is not root")
        without_rights = ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner"]
    names = ("PATH", "LANG", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
    environment = {name: os.environ[name] for name in names if name in os.environ}
    environment |= {"HOME": str(home), "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [*without_rights, sys.executable, "-c", CODE, str(folder)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    n_rules, hits, misses, path = done.stdout.split(maxsplit=3)
    return int(n_rules), int(hits), int(misses), path.strip()


@pytest.mark.skipif(sys.platform == "win32", reason="needs permissions of folders")
def test_compiled_code_is_kept_in_the_folder_of_the_user_or_not_at_all(tmp_path):
    package = tmp_path / "site"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(diverse_rule_sets.__file__).parent, package / "diverse_rule_sets", ignore=ignored)
    home, closed = tmp_path / "home", tmp_path / "closed"
    home.mkdir()
    closed.mkdir(mode=0o555)
    folders = [package, *(path for path in package.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    try:
        first, second, none = run(package, home), run(package, home), run(package, closed)
    finally:
        for folder in [*folders, closed]:
            folder.chmod(0o755)
    assert first[1:3] == (0, 1)  # compiled
    assert second[1:3] == (1, 0)  # loaded
    assert str(home) in first[3]
    assert str(home) in second[3]
    assert none[3] == "None"  # compiled in this process only
    assert first[0] == second[0] == none[0] > 0
