"""What a release needs: one version, declared dependencies, complete archives, workflows with the right commands."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from diverse_rule_sets import __version__
from tests.test_architecture import layers
from tests.test_readme import load

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
check_archives = load(ROOT / ".ci/check_archives.py")
RELEASE = __version__.partition(".dev")[0]
# Packages whose name differs from the name that is imported.
IMPORTED = {"scikit-learn": "sklearn"}


def packages(requirements):
    """Return the names under which required packages are imported."""
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in requirements}
    return {IMPORTED.get(name, name) for name in names if name != PROJECT["name"]}


def test_the_version_has_one_place():
    assert PROJECT["dynamic"] == ["version"]
    assert check_archives.package_version() == __version__
    assert f"\nversion: {RELEASE}\n" in (ROOT / "CITATION.cff").read_text("utf8")


def test_the_changelog_has_a_section_for_each_release_the_latest_first():
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text("utf8"), re.MULTILINE)
    assert headings[0].startswith(f"{RELEASE} (")
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ \((unreleased|\d{4}-\d\d-\d\d)\)", heading) for heading in headings)
    versions = [tuple(map(int, heading.split()[0].split("."))) for heading in headings]
    assert versions == sorted(versions, reverse=True)


def test_every_import_of_the_package_is_declared_and_nothing_else():
    """The third-party packages of the layers, which another test compares with the imports."""
    imported = set().union(*layers()[1].values())
    extras = PROJECT["optional-dependencies"]
    declared = packages(PROJECT["dependencies"]).union(
        *(packages(extras[name]) for name in ("report", "cli", "files", "sql", "dask"))
    )
    assert imported == declared


def test_all_has_every_extra_for_users():
    listed = re.search(r"\[(.*)\]", PROJECT["optional-dependencies"]["all"][0])[1].split(",")
    assert set(listed) == set(PROJECT["optional-dependencies"]) - {"all", "dev", "docs", "experiments"}


def test_the_pages_name_every_dependency_and_extra():
    page = (ROOT / "docs/install.md").read_text("utf8")
    for name in packages(PROJECT["dependencies"]):
        assert f"| {'scikit-learn' if name == 'sklearn' else name} |" in page
    for extra in set(PROJECT["optional-dependencies"]) - {"all", "dev"}:
        assert f"`{extra}`" in page


def test_missing_and_unwanted_files_of_archives_are_found():
    files = check_archives.package_files()
    wheel = {*files, "diverse_rule_sets-1.dist-info/METADATA", "diverse_rule_sets-1.dist-info/licenses/LICENSE"}
    assert "diverse_rule_sets/py.typed" in wheel
    assert "diverse_rule_sets/export/schema.json" in wheel
    assert check_archives.wheel_problems(wheel) == []
    assert check_archives.wheel_problems({*wheel, "tests/naive.py"}) == ["wheel: tests/naive.py should not be there"]
    assert check_archives.wheel_problems(wheel - {"diverse_rule_sets/py.typed"}) == [
        "wheel: diverse_rule_sets/py.typed is missing"
    ]
    source = {*check_archives.NEEDED, *(f"src/{name}" for name in files)}
    assert check_archives.source_problems(source) == []
    wrong = {*source, "docs/gallery/index.rst"} - {"LICENSE"}
    assert check_archives.source_problems(wrong) == [
        "source archive: LICENSE is missing",
        "source archive: docs/gallery/index.rst should not be there",
    ]


def test_the_files_that_archives_need_exist():
    assert [name for name in check_archives.NEEDED if not (ROOT / name).is_file()] == []


def test_the_oldest_versions_are_those_of_the_project():
    printed = subprocess.run(
        [sys.executable, ROOT / ".ci/oldest_versions.py"], capture_output=True, text=True, check=True
    ).stdout
    extras = PROJECT["optional-dependencies"]
    asked = {*PROJECT["dependencies"], *(one for name in ("report", "cli", "files", "sql") for one in extras[name])}
    assert len(printed.splitlines()) == len(asked) + 1
    assert "\npandas==" in printed
    for dependency in asked:
        name, oldest = dependency.split(">=")
        assert re.search(rf"^{name}=={re.escape(oldest)}(\.\*)?$", printed, re.MULTILINE)


@pytest.mark.parametrize("workflow", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=lambda path: path.name)
def test_workflows_run_commands_that_exist(workflow):
    text = workflow.read_text("utf8")
    for command in re.findall(r"\.ci/[\w.]+", text):
        assert (ROOT / command).is_file()
    targets = re.findall(r"^(\w[\w-]*):", (ROOT / "Makefile").read_text("utf8"), re.MULTILINE)
    assert set(re.findall(r"run: make (\w+)", text)) <= set(targets)
    assert "permissions:\n  contents: read" in text


def test_only_the_job_that_publishes_may_ask_for_an_identity():
    text = (ROOT / ".github/workflows/release.yml").read_text("utf8")
    before, after = text.split("  publish:\n")
    assert "id-token" not in before
    assert "id-token: write" in after
    assert "password" not in after
