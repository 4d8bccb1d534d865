"""Check the built pages: every internal link and anchor exists, and no page is larger than 1 MB.

``python docs/check_links.py docs/_build/html`` prints what is wrong and returns 1, or prints the number of links.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

MAX_BYTES = 1_000_000


class _Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = set(), set()
        self.feed(path.read_text("utf8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.add(value)


def problems(folder):
    """Return the number of internal links, and a line for each problem."""
    files = [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts]  # those of the theme
    pages = {path.resolve(): _Page(path) for path in files}
    n_links, wrong = 0, []
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        if path.stat().st_size > MAX_BYTES:
            wrong.append(f"{name}: {path.stat().st_size:,} bytes, more than {MAX_BYTES:,}")
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            n_links += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                wrong.append(f"{name}: no file for the link {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                wrong.append(f"{name}: no anchor for the link {link}")
    return n_links, wrong


def main(folder):
    """Print the problems; return the exit code."""
    n_links, wrong = problems(folder)
    print("\n".join(wrong) if wrong else f"{n_links:,} internal links, all found")
    return 1 if wrong or n_links == 0 else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
