"""How fast the compiled loops read memory, beside a plain read of the same memory in the same run.

    python benchmarks/kernels.py [--records 1000000] [--rows 370] [--repeats 20]

"read" adds up all words of the rows: every byte is read once from memory. Counting reads the rows once for one mask;
with several masks it counts each row under each of them, and "counted" is rows x masks x bytes of a row. The least time
of the repeats counts.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from diverse_rule_sets._bits import bitset, sorting
from diverse_rule_sets._bits.bitset import Lists, n_words


def gigabytes_per_second(function, n_bytes, repeats):
    """Return the rate of the fastest call."""
    function()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return n_bytes / min(seconds) / 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=370)
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    rng, width = np.random.default_rng(0), n_words(options.records)
    rows = rng.integers(2**63, size=(options.rows, width), dtype=np.uint64)
    starts = np.array([0, width // 10, width])
    classes = rng.random((1, 64 * width)) < 0.1
    sorter = sorting.WordSorter(bitset.pack(np.vstack([classes, ~classes])))
    sorted_rows = np.zeros((options.rows, int(sorter.starts[-1])), np.uint64)
    every = np.full((1, width), 2**64 - 1, np.uint64)
    pairs = Lists.of([(k, k + 1) for k in range(options.rows - 1)])
    print("| loop | counted GB/s | read GB/s | ratio |\n| --- | --- | --- | --- |")

    def show(name, function, n_bytes):
        plain = gigabytes_per_second(rows.sum, rows.nbytes, options.repeats)
        rate = gigabytes_per_second(function, n_bytes, options.repeats)
        print(f"| {name} | {rate:.1f} | {plain:.1f} | {rate / plain:.2f} |", flush=True)

    for n_threads in (1, 2):
        for n_masks in (1, 2, 4, 9, 16):
            masks = rng.integers(2**63, size=(n_masks, width), dtype=np.uint64)
            show(
                f"count by class, {n_masks} masks, {n_threads} threads",
                lambda masks=masks, n=n_threads: bitset.count_segments(rows, masks, starts, n),
                rows.nbytes * n_masks,
            )
        show(
            f"count pairs of rows, {n_threads} threads",
            lambda n=n_threads: bitset.count(rows, pairs, every, n),
            2 * rows.nbytes,
        )
        show(
            f"sort by class, {n_threads} threads",
            lambda n=n_threads: sorter.sort(rows, np.arange(options.rows), sorted_rows, n),
            rows.nbytes,
        )


if __name__ == "__main__":
    main()
