"""The report page of 40 rules on 20,000 records: how long it takes to write and to open, and how large it is.

    python benchmarks/page.py [--rules 40] [--records 20000] [--repeats 5]

Writing is given beside ``predict_proba`` on the same records, opening beside an empty page in the same browser
(Chromium with its driver and selenium are needed). Opened: all that the page does at its start is done and painted.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browser import chromium
from diverse_rule_sets.report import write_html
from test_report_page import wide_set

# Navigation starts at 0 in this clock; two frames later what was built is on the screen.
PAINTED = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))"


def seconds(task, repeats):
    """Return the best of a few runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return min(times)


def opening(browser, path, repeats):
    """Return the median seconds until a page is there."""
    times = []
    for _ in range(repeats):
        browser.open(path)
        times.append(browser.driver.execute_async_script(PAINTED) / 1000)
    return statistics.median(times)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rules", type=int, default=40)
    options.add_argument("--records", type=int, default=20_000)
    options.add_argument("--repeats", type=int, default=5)
    given = options.parse_args()
    rules, X, y = wide_set(given.rules, n=given.records)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        page, empty = Path(folder, "page.html"), Path(folder, "empty.html")
        empty.write_text("<!DOCTYPE html><title>nothing</title>", "utf8")
        written = seconds(lambda: write_html(rules, X, y, page), given.repeats)
        asked = seconds(lambda: rules.predict_proba(X), given.repeats)
        size = page.stat().st_size / 1e6
        opened, bare = opening(browser, page, given.repeats), opening(browser, empty, given.repeats)
    print(f"{given.rules} rules, {len(X):,} records, {X.shape[1]} columns: {size:.2f} MB")
    print(f"written in {written:.2f} s, {written / asked:.1f} times predict_proba ({asked:.2f} s)")
    print(f"opened in {opened:.2f} s, an empty page in {bare:.2f} s")


if __name__ == "__main__":
    main()
