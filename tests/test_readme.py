"""What the README shows is what one gets."""

import re
import subprocess
import sys
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text("utf8")


def test_the_examples_print_what_the_readme_says():
    """One after the other, as a reader would type them in."""
    examples = re.findall(r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```", README, re.DOTALL)
    assert len(examples) == 5
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
