"""Write what the examples of Markdown pages print into the pages.

``python docs/print_examples.py`` executes the blocks of Python in README.md and docs/scorecards.md and replaces the
block after each "prints". Run it after a change that changes printed rules; ``tests/test_readme.py`` compares.
All other pages are executed when they are built.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/scorecards.md")
EXAMPLE = re.compile(r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```", re.DOTALL)
SEPARATOR = "\x00end of example\x00"


def examples(text):
    """Return pairs of code and of what the page says that it prints."""
    return EXAMPLE.findall(text)


def outputs(codes):
    """Return what each of several blocks prints; they are executed one after the other."""
    code = "".join(f"{code}\nprint({SEPARATOR!r})\n" for code in codes)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout.split(SEPARATOR + "\n")[:-1]


def renewed(text):
    """Return the text of a page with the present output of its examples."""
    printed = iter(outputs([code for code, _ in examples(text)]))
    return EXAMPLE.sub(lambda match: f"```python\n{match[1]}```\n\nprints\n\n```\n{next(printed)}```", text)


def main():
    """Renew all pages, and print the names of those that change."""
    for name in PAGES:
        page = ROOT / name
        text = page.read_text("utf8")
        if (new := renewed(text)) != text:
            page.write_text(new, "utf8")
            print("changed:", name)


if __name__ == "__main__":
    main()
