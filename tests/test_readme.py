"""What the README shows is what one gets."""

import re
import subprocess
import sys
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text("utf8")


def test_the_example_prints_what_the_readme_says():
    code, printed = re.search(r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```", README, re.DOTALL).groups()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == printed


def test_every_parameter_is_explained_with_its_default():
    from diverse_rule_sets import DiverseRuleSetClassifier

    for name, value in DiverseRuleSetClassifier().get_params().items():
        shown = (
            f"`{name}`" if name in ("random_state", "n_jobs", "verbose") else f"`{name}={value!r}`".replace("'", '"')
        )
        assert shown in README, f"README does not show {shown}"
