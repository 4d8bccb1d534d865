"""Check the wheel and the source archive of a folder: ``python .ci/check_archives.py dist``.

The wheel holds the package and nothing else, with its data files, type marker and licence; the source archive holds
tests, documentation and examples, and no built or temporary file. Both have the version of the package.
"""

import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src/diverse_rule_sets"
# Files of the source archive without which it cannot be built, tested or understood.
NEEDED = (
    "pyproject.toml",
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "GLOSSARY.md",
    "LICENSE",
    "SECURITY.md",
    "tests/naive.py",
    "docs/conf.py",
    "docs/data/README.md",
    "docs/data/penguins.csv",
    "docs/_static/rules.png",
    "benchmarks/frontier.py",
    "experiments/paper.py",
    "examples/demo.py",
)
UNWANTED = ("__pycache__", "_build", ".venv", ".git", ".mypy_cache", ".ruff_cache", ".pytest_cache")


def package_files():
    """Return the files of the package, below the folder of sources."""
    files = (path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(PACKAGE.parent).as_posix() for path in files}


def wheel_problems(names):
    """Return what is wrong with the names of the files of a wheel."""
    own = {name for name in names if name.startswith("diverse_rule_sets/")}
    other = {name for name in names - own if ".dist-info/" not in name}
    expected = package_files()
    problems = [f"wheel: {name} is missing" for name in sorted(expected - own)]
    problems += [f"wheel: {name} should not be there" for name in sorted((own - expected) | other)]
    if not any(name.endswith("licenses/LICENSE") for name in names):
        problems.append("wheel: the licence is missing")
    return problems


def source_problems(names):
    """Return what is wrong with the names of the files of a source archive, below its top folder."""
    wanted = {*NEEDED, *(f"src/{name}" for name in package_files())}
    problems = [f"source archive: {name} is missing" for name in sorted(wanted - names)]
    generated = ("docs/gallery/", "docs/generated/", "docs/_build/")
    for name in sorted(names):
        if set(PurePosixPath(name).parts) & set(UNWANTED) or name.startswith(generated) or name.endswith(".pyc"):
            problems.append(f"source archive: {name} should not be there")
    return problems


def package_version():
    """Return the version in the source, its only place."""
    lines = (PACKAGE / "__init__.py").read_text("utf8").splitlines()
    return next(line.split('"')[1] for line in lines if line.startswith("__version__"))


def main(folder):
    """Print the problems of both archives; return the exit code."""
    version = package_version()
    wheel = folder / f"diverse_rule_sets-{version}-py3-none-any.whl"
    source = folder / f"diverse_rule_sets-{version}.tar.gz"
    problems = [f"{path.name} was not built" for path in (wheel, source) if not path.exists()]
    if not problems:
        with zipfile.ZipFile(wheel) as archive:
            problems += wheel_problems(set(archive.namelist()))
        with tarfile.open(source) as archive:
            files = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
        problems += source_problems(files)
    sizes = [f"{path.name} {path.stat().st_size / 1000:,.0f} kB" for path in (wheel, source) if path.exists()]
    print("\n".join(problems) if problems else f"archives hold what they should: {', '.join(sizes)}")
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
