"""The command line: ``python -m tests.fuzz --tables 1000 --files 1000 --seed 0 --jobs 2``."""

import argparse
import os
import sys
import time
from collections import Counter

from .runner import compare_processes, family_of, run, run_case, shrink_failures, started

COUNTS = {"tables": 2000, "files": 2000, "text": 4000, "csv": 200}

COMPARED = 200  # tables that are fitted in two processes


def main(arguments=None):
    options = _options(arguments)
    if options.case is not None:
        return _one_case(options)
    plan = [
        (family, options.first, getattr(options, family))
        for family in COUNTS
        if getattr(options, family) and options.only in (None, family)
    ]
    start = time.monotonic()
    with started(options.jobs) as workers:
        totals = run(plan, options.seed, workers, options.seconds, _say)
        if options.tables and options.only in (None, "tables"):
            numbers = range(options.first, options.first + min(options.tables, COMPARED))
            compare_processes(totals, options.seed, workers, numbers)
        results = shrink_failures(totals, options.seed, workers, options.shrink, show=_say) if options.shrink else []
    print(summary(totals, results, options, time.monotonic() - start))
    return 1 if totals.n_failures else 0


def _options(arguments):
    parser = argparse.ArgumentParser("python -m tests.fuzz", description=__doc__)
    for family, number in COUNTS.items():
        parser.add_argument(f"--{family}", type=int, default=number, help=f"number of cases, {number} by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case of each family")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of processes")
    parser.add_argument("--seconds", type=float, help="start no further cases after this time")
    parser.add_argument("--only", choices=(*COUNTS, "faults"), help="one family of cases; faults fail on purpose")
    parser.add_argument("--case", type=int, help="run one case of the family --only (tables by default), and show it")
    parser.add_argument("--shrink", type=int, default=6, help="number of cases of each failure to make small")
    return parser.parse_args(arguments)


def _say(text):
    print(text, file=sys.stderr, flush=True)


def _one_case(options):
    """Run one case, and print it as a program, whole and small."""
    family = options.only or "tables"
    print(family_of(family).show(options.seed, options.case))
    result = run_case(family, options.seed, options.case)
    if not isinstance(result, dict):
        print("#", *result)
        return 0
    print("# FAILED", result["text"])
    if result["key"][0] not in ("time", "memory"):
        small, text, _ = family_of(family).shrink(options.seed, options.case, result["key"], 30)
        print(f"\n# Made small:\n{small}\n# {text}")
    return 1


def summary(totals, results, options, seconds):
    """Return the counts, and each kind of failure with a small program."""
    lines = ["", "outcomes:"]
    by_word = Counter()
    for (family, word, _), n in totals.outcomes.items():
        by_word[family, word] += n
    for family, word in sorted(by_word):
        parts = [f"{n:,} {o}" for (f, w, o), n in sorted(totals.outcomes.items()) if (f, w) == (family, word)]
        lines.append(f"  {family:8} {word:12} {', '.join(parts)}")
    for title, counts in (("checks", totals.checks), ("not compared", totals.exempt)):
        lines.append(f"{title}:")
        for family in dict.fromkeys(family for family, _ in sorted(counts)):
            parts = [f"{what} {n:,}" for (name, what), n in sorted(counts.items()) if name == family]
            lines.append(f"  {family:8} {', '.join(parts)}")
    groups = {}
    for group, number, (small, text, kinds) in results:
        groups.setdefault(group, []).append((len(small), small, text, number, ", ".join(kinds)))
    for (family, key), found in groups.items():
        failed = totals.failures[family, key]
        _, small, text, number, kinds = min(found)
        others = list(dict.fromkeys(one[-1] for one in found if one[-1] != kinds))
        lines += ["", f"== {len(failed):,} cases, such as {', '.join(str(n) for n, _, _ in failed[:5])}: {kinds}"]
        lines += [f"# {text if text and text != 'None' else failed[0][1]}", small.rstrip()]
        lines += [f"# also with: {'; '.join(others)}"] if others else []
        lines.append(f"# again: python -m tests.fuzz --only {family} --seed {options.seed} --case {number}")
    unshrunk = [group for group in totals.failures if group not in {one[0] for one in results}]
    for family, key in unshrunk:
        found = totals.failures[family, key]
        lines += ["", f"== {len(found):,} cases, such as {', '.join(str(n) for n, _, _ in found[:5])}: {found[0][1]}"]
    lines += [
        "",
        f"seed {options.seed}, {totals.n_cases:,} cases, {totals.n_failures:,} failures of {len(groups)} kinds",
    ]
    lines.append(f"{seconds:.0f} seconds in all")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
