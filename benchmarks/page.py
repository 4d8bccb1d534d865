"""Time to write and to open the report page of 40 rules on 20,000 records, and its size.

    python benchmarks/page.py [--rules 40] [--records 20000] [--repeats 5]

The time to write is compared with ``predict_proba`` on the same records, the time to open with an empty page in the
same browser (this needs Chromium with its driver, and selenium). A page is open when its script has run and the result
is painted.
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

# The clock starts at 0 with the navigation; after two frames the page is painted.
PAINTED = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))"


def seconds(task, repeats):
    """Return the shortest time of some runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return min(times)


def opening_time(browser, path, repeats):
    """Return the median time until a page is painted, in seconds."""
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
    args = options.parse_args()
    rules, X, y = wide_set(args.rules, n=args.records)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        page, empty = Path(folder, "page.html"), Path(folder, "empty.html")
        empty.write_text("<!DOCTYPE html><title>nothing</title>", "utf8")
        write_time = seconds(lambda: write_html(rules, X, y, page), args.repeats)
        predict_time = seconds(lambda: rules.predict_proba(X), args.repeats)
        size = page.stat().st_size / 1e6
        open_time, empty_time = opening_time(browser, page, args.repeats), opening_time(browser, empty, args.repeats)
    print(f"{args.rules} rules, {len(X):,} records, {X.shape[1]} columns: {size:.2f} MB")
    print(f"written in {write_time:.2f} s, {write_time / predict_time:.1f} times predict_proba ({predict_time:.2f} s)")
    print(f"opened in {open_time:.2f} s, an empty page in {empty_time:.2f} s")


if __name__ == "__main__":
    main()
