"""The baselines beside independent implementations, in one run: Orange's CN2 and mlxtend's frequent itemsets.

    python benchmarks/baselines.py --data FOLDER [--repeats 3] [--record FILE]

Needs Orange3 and mlxtend beside this package (``pip install orange3 mlxtend``; large, so best in an environment of its
own). For each of the paper's tables, cut into five bins of equal width:

- CN2, beam 10, at least 15 records of the class, up to 5 conditions, conditions ``column = bin`` only: seconds of a fit
  (best of the repeats), rules, rules in common, share of equal predictions on a held-out fifth, and the same with
  Orange's rules and counts in a rule set of ours;
- frequent bodies of up to 4 conditions at support .1: seconds of mlxtend's FP-growth and of our own bits, which must
  list the same (ours leaves out bodies that cover no fewer records than a shorter one; it is told not to here);
- IDS with at least 1,000 candidates: seconds.

``--record`` writes small tables with the rules that Orange finds on them, for the tests.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
from _paper import parser, tables
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import train_test_split

from diverse_rule_sets import Equals, Rule, RuleSet
from diverse_rule_sets.baselines import CN2Classifier, IDSClassifier


def timed(work, *arguments):
    """Return the seconds that some work takes, and its result."""
    start = time.perf_counter()
    result = work(*arguments)
    return time.perf_counter() - start, result


def print_row(*cells):
    """Print one line of a table."""
    print(f"| {' | '.join(cells)} |", flush=True)


def binned(X, n_bins=5):
    """Return columns as integer codes of bins or categories, and their names."""
    frame = pd.DataFrame(X)
    codes = {}
    for name in frame:
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column):
            column = pd.cut(column, n_bins, labels=False)
        codes[str(name)] = pd.factorize(column, sort=True)[0]
    return pd.DataFrame(codes)


def orange_cn2(codes, labels, beam_width=10, min_covered=15, longest=5):
    """Fit Orange's CN2 on codes; return the seconds, the rules as [[[column, code], ...], label], and the model."""
    from Orange.classification import CN2UnorderedLearner
    from Orange.data import DiscreteVariable, Domain, Table

    columns = [DiscreteVariable(name, [str(v) for v in range(codes[name].max() + 1)]) for name in codes]
    domain = Domain(columns, DiscreteVariable("class", [str(v) for v in range(labels.max() + 1)]))
    table = Table.from_numpy(domain, codes.to_numpy(float), labels.astype(float))
    learner = CN2UnorderedLearner(restrict_equality=True)
    learner.rule_finder.search_algorithm.beam_width = beam_width
    learner.rule_finder.general_validator.min_covered_examples = min_covered
    learner.rule_finder.general_validator.max_rule_length = longest
    seconds, model = timed(learner, table)
    named = list(codes)
    rules = [
        [sorted([named[s.column], int(s.value)] for s in rule.selectors), int(rule.target_class)]
        for rule in model.rule_list[:-1]
        if rule.selectors  # an empty rule covers everything, and is ignored when predicting
    ]
    return seconds, rules, model


def translated(model, columns, labels):
    """Return Orange's rules with Orange's counts and default as a rule set of ours."""
    classes = tuple(range(labels.max() + 1))
    rules = tuple(
        Rule(
            tuple(Equals(columns[s.column], str(int(s.value))) for s in dict.fromkeys(rule.selectors)),
            int(rule.target_class),
            tuple(zip(classes, rule.curr_class_dist.astype(int).tolist(), strict=True)),
        )
        for rule in model.rule_list[:-1]
        if rule.selectors
    )
    totals = tuple(np.bincount(labels).tolist())
    return RuleSet(rules, classes, int(np.argmax(totals)), totals, (0,) * len(classes), "counts")


def compared(name, codes, labels, repeats):
    """Print one line of the CN2 table."""
    train, test = train_test_split(np.arange(len(labels)), test_size=0.2, stratify=labels, random_state=0)
    inside = codes.iloc[train]
    words = codes.astype(str)
    ours = CN2Classifier.as_in_paper(max_rules=None)
    ours.fit(words.iloc[train], labels[train])  # compiles
    times, theirs = [], []
    for _ in range(repeats):
        times.append(timed(lambda: ours.fit(words.iloc[train], labels[train]))[0])
        seconds, rules, model = orange_cn2(inside, labels[train])
        theirs.append(seconds)
    found = [[sorted([c.column, int(c.value)] for c in rule.conditions), rule.label] for rule in ours.rule_set_]
    said = np.argmax(model.predict(codes.iloc[test].to_numpy(float)), axis=1)
    equal = (ours.predict(words.iloc[test]) == said).mean()
    theirs_here = (translated(model, list(codes), labels[train]).predict(words.iloc[test]) == said).mean()
    shared = sum(rule in rules for rule in found)
    ratio = min(theirs) / min(times)
    counts = (str(len(rules)), str(len(found)), str(shared))
    print_row(
        name, f"{min(theirs):.2f}", f"{min(times):.3f}", f"{ratio:.0f}", *counts, f"{equal:.1%}", f"{theirs_here:.1%}"
    )


def mined(name, codes, labels):
    """Print one line of the mining table."""
    from diverse_rule_sets.data._offers import CutOptions
    from mlxtend.frequent_patterns import fpgrowth

    from diverse_rule_sets._input.labels import encode_labels
    from diverse_rule_sets._input.tables import as_table
    from diverse_rule_sets.data._cut_points import Target
    from diverse_rule_sets.data._encoder import Encoder
    from diverse_rule_sets.data._local import LocalBackend
    from diverse_rule_sets.estimators._mining import Mining, frequent_bodies

    words = codes.astype(str)
    one_hot = pd.get_dummies(words)
    their_seconds, theirs = timed(lambda: fpgrowth(one_hot, min_support=0.1, max_len=4, use_colnames=True))
    table = as_table(words)
    classes, y = encode_labels(labels, len(labels))
    encoder = Encoder(CutOptions("uniform", 5))
    encoded = encoder.fit_transform(table, Target(y, np.ones(classes.size)))
    backend = LocalBackend(encoded.rows, y, classes.size)
    needed = int(np.ceil(0.1 * len(y)))

    def ours(shorter):
        wanted = Mining(lambda c: c.sum(axis=1) >= needed, 4, 10**7, exclusive=True, same_cover=not shorter)
        return timed(frequent_bodies, backend, encoder.columns, wanted)

    ours(True)
    seconds, found = ours(False)
    fewer_seconds, fewer = ours(True)
    conditions = encoder.conditions
    ours_named = {frozenset(f"{conditions[i].column}_{conditions[i].value}" for i in b) for b in found.bodies.tuples()}
    varying = {name for name in one_hot if not one_hot[name].all()}
    theirs_named = {frozenset(s) for s in theirs["itemsets"] if set(s) <= varying}
    same = "yes" if ours_named == theirs_named else "NO"
    both = (f"{their_seconds:.2f}", f"{seconds:.3f}", f"{their_seconds / seconds:.0f}")
    print_row(name, f"{len(theirs_named):,}", same, *both, f"{fewer.bodies.size:,}", f"{fewer_seconds:.3f}")


def searched(name, codes, labels):
    """Print one line of the IDS table."""
    words = codes.astype(str)
    for longest in (2, 3, 4):
        clf = IDSClassifier(min_support=0.1, max_conditions=longest, max_candidates=10_000)
        try:
            clf.fit(words, labels)
        except ValueError:
            break
        seconds, _ = timed(clf.fit, words, labels)
        tuned, _ = timed(clf.set_params(weights="tuned", random_state=0).fit, words, labels)
        print_row(name, str(longest), f"{clf.n_candidates_:,}", f"{seconds:.2f}", f"{tuned:.2f}")
        if clf.n_candidates_ > 10_000:
            break


def record(path):
    """Write small tables, settings, and the rules that Orange finds."""
    cases = []
    rng = np.random.default_rng(0)
    for seed in range(12):
        n = 40 + 10 * seed
        values = rng.integers(0, 2 + seed % 3, (n, 5))
        noise = rng.random(n) < 0.3
        labels = np.where(noise, rng.integers(0, 3, n), (values[:, 0] + values[:, 1] * values[:, 2]) % 3)
        cases.append((f"random {seed}", pd.DataFrame(values, columns=list("abcde")), labels, 1 + seed % 4))
    for name, load in (("iris", load_iris), ("wine", load_wine)):
        bunch = load(as_frame=True)
        cases.append((name, binned(bunch.data), bunch.target.to_numpy(), 5))
    kept = []
    for name, codes, labels, min_covered in cases:
        settings = {"beam_width": 4, "min_covered": min_covered, "longest": 3}
        _, rules, _ = orange_cn2(codes, labels, **settings)
        kept.append(
            {
                "name": name,
                "columns": list(codes),
                "records": codes.astype(str).to_numpy().tolist(),
                "labels": labels.tolist(),
                "settings": settings,
                "rules": [[[[column, str(code)] for column, code in body], label] for body, label in rules],
            }
        )
    lines = ",\n".join(json.dumps(case) for case in kept)
    Path(path).write_text(f"[\n{lines}\n]\n", encoding="utf8")


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--record", help="write Orange's rules on small tables there, and nothing else")
    options = arguments.parse_args()
    if options.record:
        record(options.record)
        return
    cut = {name: (binned(X), np.unique(y, return_inverse=True)[1]) for name, (X, y) in tables(options.data).items()}
    print(
        "| CN2 | Orange, s | here, s | ratio | Orange's rules | ours | in common | equal predictions | with its rules |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, (codes, labels) in cut.items():
        compared(name, codes, labels, options.repeats)
    print("\n| mining | bodies | same | mlxtend, s | here, s | ratio | without repeats | s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, (codes, labels) in cut.items():
        mined(name, codes, labels)
    print("\n| IDS | conditions up to | candidates | s | tuned, s |")
    print("| --- | --- | --- | --- | --- |")
    for name, (codes, labels) in cut.items():
        searched(name, codes, labels)


if __name__ == "__main__":
    main()
