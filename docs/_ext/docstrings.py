"""Docstrings of this package for numpydoc.

In this package a parameter is ``name : what it is``, which may take several lines. numpydoc reads the first line as a
type and the others as the description, so the text is moved to the description.
"""

from __future__ import annotations

import re
from typing import Any

SECTIONS = {"Parameters", "Attributes", "Returns", "Yields"}
ENTRY = re.compile(r"(?P<name>\S[^:]*?) : (?P<text>.*)")


def with_descriptions(lines: list[str]) -> list[str]:
    """Return the lines of a docstring with the text of each parameter below its name."""
    changed: list[str] = []
    inside = False
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if following and set(following.strip()) == {"-"}:
            inside = line.strip() in SECTIONS
        entry = ENTRY.fullmatch(line) if inside and not line.startswith(" ") else None
        changed += [entry["name"], f"    {entry['text']}"] if entry else [line]
    return changed


def _change(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Change a docstring before numpydoc reads it."""
    lines[:] = with_descriptions(lines)


def setup(app: Any) -> dict[str, Any]:
    """Change docstrings; numpydoc has the priority 500."""
    app.connect("autodoc-process-docstring", _change, priority=100)
    return {"version": "1", "parallel_read_safe": True}
