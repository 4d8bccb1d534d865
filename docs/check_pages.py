"""Open every built page in Chromium: wide and narrow, light and dark.

``python -m docs.check_pages docs/_build/html [--pictures FOLDER]`` reports messages of the console (errors, blocked or
failed loads) and pages that scroll horizontally, and returns 1 if there are any. With ``--pictures`` it writes a
picture of each page.
"""

import argparse
import base64
import sys
from pathlib import Path

from tests.browser import chromium

WIDTHS = (1280, 390)


def pages_in(folder):
    """Return the pages of a built site, without search and index pages that are made by Sphinx."""
    left_out = {"genindex.html", "search.html", "py-modindex.html"}
    files = sorted(folder.rglob("*.html"))
    return [path for path in files if "_static" not in path.parts and path.name not in left_out]


def problems(browser, page, width, dark):
    """Return what is wrong with a page."""
    browser.open(page, width, dark)
    browser.run("document.documentElement.dataset.theme = arguments[0]", "dark" if dark else "light")
    found = [entry["message"] for entry in browser.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    if wide > 1:
        found.append(f"scrolls horizontally by {wide} pixels")
    return found


def save_picture(browser, target):
    """Write a picture of the whole page."""
    height = min(browser.run("return document.documentElement.scrollHeight"), 6000)
    metrics = browser.run("return [window.innerWidth, window.devicePixelRatio]")
    clip = {"x": 0, "y": 0, "width": metrics[0], "height": height, "scale": 1}
    picture = browser.driver.execute_cdp_cmd(
        "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip, "format": "png"}
    )
    target.write_bytes(base64.b64decode(picture["data"]))


def main():
    """Open all pages and print the problems; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pictures", type=Path)
    asked = parser.parse_args()
    pages, n_wrong = pages_in(asked.folder.resolve()), 0
    if not pages:
        parser.error(f"no pages in {asked.folder}; make docs builds them")
    with chromium() as browser:
        for page in pages:
            for width in WIDTHS:
                for dark in (False, True):
                    name = page.relative_to(asked.folder.resolve()).as_posix()
                    for problem in problems(browser, page, width, dark):
                        n_wrong += 1
                        print(f"{name}, {width} pixels, {'dark' if dark else 'light'}: {problem}")
                    if asked.pictures:
                        asked.pictures.mkdir(parents=True, exist_ok=True)
                        shade = "dark" if dark else "light"
                        save_picture(browser, asked.pictures / f"{name.replace('/', '-')}-{width}-{shade}.png")
    print(f"{len(pages)} pages, {len(WIDTHS) * 2} times each: {n_wrong} problems")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
