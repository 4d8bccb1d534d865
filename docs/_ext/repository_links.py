"""Links between pages of the repository and pages of the site.

README, CHANGELOG and others are written for the repository: they link to files by relative paths. Where such a file is
a page of the site, the link is changed to this page when the file is read. Links to other files become plain text.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
# Files of the repository -> pages of the site, without suffix.
PAGES = {
    "README.md": "index",
    "GLOSSARY.md": "glossary",
    "ARCHITECTURE.md": "architecture",
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changelog",
    "benchmarks/README.md": "benchmarks",
    "benchmarks/comparison.md": "comparison",
    "experiments/results/README.md": "paper_results",
}
# Blocks of code, which are left as they are.
CODE = re.compile(r"(^(`{3,}).*?^\2`*$)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def site_page(file: str) -> str | None:
    """Return the page that shows a file of the repository, None if none does."""
    if file.startswith("docs/") and file.endswith(".md"):
        return file.removeprefix("docs/").removesuffix(".md")
    return PAGES.get(file)


def with_site_links(text: str, folder: str, page: str) -> str:
    """Return a text whose links to files of the repository lead to pages of the site.

    Parameters
    ----------
    text : Markdown
    folder : the folder of the file below the root of the repository
    page : the page of the site that shows the text
    """

    def changed(match: re.Match[str]) -> str:
        image, shown, target = match.groups()
        path, _, anchor = target.partition("#")
        if not path or "://" in target or target.startswith("mailto:"):
            return match[0]
        file = posixpath.normpath(posixpath.join(folder, path))
        if file.startswith("../"):
            return match[0]
        start = posixpath.dirname(page) or "."
        if image:
            return f"![{shown}]({posixpath.relpath('../' + file, start)})"
        found = site_page(file)
        if found is None:
            return shown
        return f"[{shown}]({posixpath.relpath(found, start)}.md{'#' + anchor if anchor else ''})"

    parts = CODE.split(text)  # text, a block of code, its fence, text, ...
    return "".join(LINK.sub(changed, part) if k % 3 == 0 else part for k, part in enumerate(parts) if k % 3 != 2)


def _page_read(app: Any, page: str, content: list[str]) -> None:
    """Change the links of a page of docs/ that lead out of docs/."""
    content[0] = with_site_links(content[0], posixpath.dirname(f"docs/{page}"), page)


def _file_included(app: Any, path: Path, page: str, content: list[str]) -> None:
    """Change the links of an included file."""
    folder = (Path(app.srcdir) / path).resolve().parent.relative_to(ROOT).as_posix()
    content[0] = with_site_links(content[0], "" if folder == "." else folder, page)


def setup(app: Any) -> dict[str, Any]:
    """Change links when pages and included files are read."""
    app.connect("source-read", _page_read)
    app.connect("include-read", _file_included)
    return {"version": "1", "parallel_read_safe": True}
