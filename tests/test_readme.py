"""What the README and the pages in docs/ show is what one gets."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PARAMETERS = (ROOT / "docs/guide/parameters.md").read_text("utf8")
# The number of examples on each page: blocks of Python, then "prints", then a block of what is printed.
N_EXAMPLES = {"README.md": 1, "docs/scorecards.md": 2}


def load(path):
    """Import a module of docs/ by its path."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


print_examples = load(ROOT / "docs/print_examples.py")


def test_every_block_of_python_is_tested_here_or_executed_by_the_build():
    """Pages of docs/ use the directive `run`; a block of Python that nothing executes may be wrong."""
    pages = [*ROOT.glob("docs/*.md"), *ROOT.glob("docs/guide/*.md"), ROOT / "README.md"]
    blocks = {page.relative_to(ROOT).as_posix(): page.read_text("utf8").count("```python") for page in pages}
    assert {page: n for page, n in blocks.items() if n} == N_EXAMPLES
    assert set(print_examples.PAGES) == set(N_EXAMPLES)


@pytest.mark.parametrize("page", N_EXAMPLES)
def test_the_examples_print_what_the_page_says(page):
    """One after the other, as a reader would type them in."""
    examples = print_examples.examples((ROOT / page).read_text("utf8"))
    assert len(examples) == N_EXAMPLES[page]
    codes, printed = zip(*examples, strict=True)
    assert print_examples.outputs(codes) == list(printed)


def test_what_is_printed_is_renewed():
    page = "```python\nprint(6 * 7)\n```\n\nprints\n\n```\n41\n```\n\n```python\nx = 1\n```\n\nprints\n\n```\n```\n"
    assert print_examples.renewed(page) == page.replace("41", "42")


def test_every_parameter_is_explained_with_its_default():
    from diverse_rule_sets import DiverseRuleSetClassifier

    for name, value in DiverseRuleSetClassifier().get_params().items():
        shown = (
            f"`{name}`" if name in ("random_state", "n_jobs", "verbose") else f"`{name}={value!r}`".replace("'", '"')
        )
        assert shown in PARAMETERS, f"docs/guide/parameters.md does not show {shown}"
