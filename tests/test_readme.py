"""What the README and the pages in docs/ show is what one gets."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf8")
# The number of examples on each page: blocks of Python, then "prints", then a block of what is printed.
N_EXAMPLES = {"README.md": 6, "docs/scorecards.md": 2, "docs/values.md": 0, "docs/clusters.md": 0}


def test_every_page_is_tested():
    assert {f"docs/{page.name}" for page in ROOT.glob("docs/*.md")} | {"README.md"} == set(N_EXAMPLES)


@pytest.mark.parametrize("page", [page for page, n in N_EXAMPLES.items() if n])
def test_the_examples_print_what_the_page_says(page):
    """One after the other, as a reader would type them in."""
    text = (ROOT / page).read_text("utf8")
    examples = re.findall(r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```", text, re.DOTALL)
    assert len(examples) == N_EXAMPLES[page] == text.count("```python")
    code, printed = ("".join(parts) for parts in zip(*examples, strict=True))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == printed


def test_every_parameter_is_explained_with_its_default():
    from diverse_rule_sets import DiverseRuleSetClassifier

    for name, value in DiverseRuleSetClassifier().get_params().items():
        shown = (
            f"`{name}`" if name in ("random_state", "n_jobs", "verbose") else f"`{name}={value!r}`".replace("'", '"')
        )
        assert shown in README, f"README does not show {shown}"
