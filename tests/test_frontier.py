"""The benchmark of accuracy against size, on two tables that scikit-learn ships."""

import json
import math
import statistics
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from diverse_rule_sets import DiverseRuleSetClassifier, metrics

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

import _calibration
import _figures
import _models
import _results
import _rivals
import _summary
import _tables
import _trees
import frontier
import newcomer
from _measuring import Split, calibration, quality

VARIANTS = ["default", "conjunctions", "5 rules, no fallbacks"]
RIVALS = [
    "tree, as many leaves",
    "tree, as many conditions",
    "tree, 5 leaves",
    "tree, 20 leaves",
    "tree, 15 conditions",
]
ASKED = ["--tables", "iris", "breast_cancer", "--splits", "1", "--variants", *VARIANTS, "--rivals", *RIVALS]


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    monkeypatch.delenv("DRS_DATA", raising=False)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """One run with budgets: its rows by table and model, its file, and its tables."""
    folder = tmp_path_factory.mktemp("frontier")
    results, page = folder / "results.jsonl", folder / "page.md"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DRS_DATA", raising=False)
        asked = [*ASKED, "logistic regression", "--budgets", "default", "--results", str(results)]
        frontier.main([*asked, "--markdown", str(page), "--figure", str(folder / "figure.png")])
    rows = {(row["table"], row["model"]): row for row in map(json.loads, results.read_text().splitlines())}
    return rows, results, page, asked


def split_of(name, seed=0):
    return Split(_tables.shipped(name), seed)


# --- sizes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scorecards", [None, "auto"])
def test_sizes_are_those_of_the_rule_set(run, scorecards):
    rows, *_ = run
    bunch = load_breast_cancer(as_frame=True)
    y = bunch.target.astype(str).to_numpy(object)
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=0)
    clf = DiverseRuleSetClassifier(scorecards=scorecards, random_state=0).fit(bunch.data.iloc[train], y[train])
    row = rows["breast_cancer", "conjunctions" if scorecards is None else "default"]
    assert {name: row[name] for name in metrics.Size._fields} == metrics.size(clf.rule_set_)._asdict()
    assert (row["signs"] > 0) == (scorecards == "auto")
    assert row["acc"] == pytest.approx(clf.score(bunch.data.iloc[test], y[test]))
    assert row["uncovered"] == pytest.approx(1 - metrics.coverage(clf.rule_set_, bunch.data.iloc[train]))


def test_rivals_are_at_most_as_large(run):
    rows, *_ = run
    for (table, model), row in rows.items():
        for variant in VARIANTS:
            ours = rows[table, variant]
            if model == f"tree, as many leaves ({variant})":
                assert row["statements"] == ours["statements"]
            if model == f"tree, as many conditions ({variant})":
                assert row["conditions"] <= ours["conditions"]


def test_budgets_are_kept(run):
    rows, *_ = run
    seen = set()
    for (table, model), row in rows.items():
        *_, last = model.split(", ")
        number, _, unit = last.partition(" ")
        if number.isdigit() and unit in ("leaves", "statements", "conditions") and "absent" not in row:
            assert row["statements" if unit == "leaves" else unit] <= int(number), (table, model)
            seen.add((model.split(",")[0], unit, table))
    both = {("tree", "leaves"), ("default", "statements")}
    more = {("tree", "conditions", "iris"), ("default", "conditions", "iris")}  # more than two classes only
    assert seen == {(*kind, table) for kind in both for table in ("iris", "breast_cancer")} | more


def test_the_largest_tree_within_a_number_of_conditions():
    split = split_of("iris")
    for budget in (0, 1, 2, 5, 9, 14):
        tree, _ = split.trees.with_conditions(budget)
        larger, _ = split.trees.with_leaves(tree.get_n_leaves() + 1)
        assert _trees.tree_conditions(tree, split.trees.column) <= budget
        assert _trees.tree_conditions(larger, split.trees.column) > budget


def test_conditions_of_a_tree_are_the_columns_on_the_way_to_each_leaf():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "blue", "green", "grey"], 300)
    X = pd.DataFrame({"colour": colour, "size": rng.random(300)})
    y = ((colour == "red") | (colour == "blue") | (X["size"] > 0.5)).astype(int)
    numbers = _tables.as_numbers(X)
    assert numbers.column.tolist() == [0, 0, 0, 0, 1]
    tree = DecisionTreeClassifier(max_leaf_nodes=5, random_state=0).fit(numbers.values, y)
    paths = {}
    for leaf, path in zip(tree.apply(numbers.values), tree.decision_path(numbers.values).toarray(), strict=True):
        tested = [tree.tree_.feature[node] for node in np.flatnonzero(path) if node != leaf]
        paths[leaf] = {int(numbers.column[feature]) for feature in tested}
    assert _trees.tree_conditions(tree, numbers.column) == sum(map(len, paths.values()))
    one_hot = sum(len(path) for path in paths.values())
    assert one_hot < _trees.tree_conditions(tree, np.arange(5))  # blue and red are one condition on colour


def test_leaves_are_drawn_to_their_parents():
    """A leaf with the class weights (6, 0), and two leaves (0, 2) and (1, 3) below its sibling."""
    shares = _trees.smoothed_shares(np.array([[6.0, 0], [0, 2], [1, 3]]), [(0, 1), (0, 2, 3), (0, 2, 4)])
    root = np.array([7, 5]) / 12
    inner = (np.array([1, 5]) + 10 * root) / 16
    expected = [(np.array([6, 0]) + 10 * root) / 16, (np.array([0, 2]) + 10 * inner) / 12]
    np.testing.assert_allclose(shares, [*expected, (np.array([1, 3]) + 10 * inner) / 14])


def test_trees_of_a_split_have_the_labels_of_the_tree_and_smoothed_shares():
    split = split_of("breast_cancer")
    fitted = _rivals.tree_with_leaves(split, 6)
    values = split.numbers()[1]
    tree = DecisionTreeClassifier(max_leaf_nodes=6, class_weight="balanced", random_state=0)
    tree.fit(split.numbers()[0], split.train_codes)
    np.testing.assert_array_equal(fitted.model.predict(values), tree.predict(values))
    smoothed, plain = fitted.model.predict_proba(values), tree.predict_proba(values)
    np.testing.assert_allclose(smoothed.sum(axis=1), 1)
    assert (smoothed.max(axis=1) < 1).all()
    assert (plain.max(axis=1) == 1).any()


def test_one_leaf_has_no_condition():
    split = split_of("iris")
    assert _rivals.tree_with_leaves(split, 1).size == {"statements": 1, "conditions": 0}


def test_the_budget_of_conditions_is_met_by_the_best_on_the_training_records(monkeypatch):
    found = [(0.6, 4), (0.7, 9), (0.9, 12), (0.7, 8)]  # balanced accuracy on training records, and conditions
    rows = [(training, {"conditions": n, "bacc": 1 - training}) for training, n in found]
    # Without scorecards only 0 signs are tried.
    monkeypatch.setattr(_models, "LIMITS", ((2, 3, 4, 5), (0, 5)))
    monkeypatch.setattr(Split, "measure_statements", lambda self, clf, limits: rows[: len(limits)])
    split = split_of("iris")
    assert _models.within_conditions("conjunctions", 10).run(split, {})["conditions"] == 8
    assert _models.within_conditions("conjunctions", 30).run(split, {})["conditions"] == 12
    assert _models.within_conditions("conjunctions", 3).run(split, {}) is None


def test_budgets_of_one_search_are_those_of_single_fits():
    split = split_of("iris")
    for n in (3, 5):
        row = _models.within_statements("default", n).run(split, {})
        train, _ = split.parts
        clf = DiverseRuleSetClassifier(max_statements=n, random_state=0)
        clf.fit(split.table.X.iloc[train], split.table.y[train])
        expected = split.measure_rules(clf.rule_set_, row["seconds"])
        assert row == expected
        assert row["statements"] <= n


def test_other_trees_are_run_within_budgets_if_they_are_among_the_rivals(monkeypatch):
    monkeypatch.setattr(_rivals, "has", lambda *_: True)
    chosen = _models.Choice((), ("default",), ("LicketySPLIT, as many leaves",))
    names = [model.name for model in chosen.plan()]
    assert [name for name in names if "Lickety" in name] == [f"LicketySPLIT, {n} leaves" for n in (3, 5, 10, 15, 20)]
    assert not any("imodels" in name for name in names)
    assert ("default, 5 statements", "LicketySPLIT, 5 leaves") in chosen.budget_pairs()
    assert _models.Choice(("default",), (), ("LicketySPLIT, as many leaves",)).budget_pairs() == []


# --- figures -------------------------------------------------------------------------------------------------------


def test_quality_of_two_classes_by_hand():
    y, classes = np.array(["a", "a", "b"], object), np.array(["a", "b"], object)
    p = np.array([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5]])
    got = quality(y, np.array(["a", "b", "b"], object), p, classes)
    assert got["bacc"] == pytest.approx(0.75)
    assert got["acc"] == pytest.approx(2 / 3)
    assert got["auc"] == pytest.approx(0.5)  # of the two pairs, b is above a in one
    assert got["brier"] == pytest.approx((0.1**2 + 0.6**2 + 0.5**2) / 3)
    assert got["log loss"] == pytest.approx(-(math.log(0.9) + math.log(0.4) + math.log(0.5)) / 3)


def test_quality_under_class_weights_by_hand():
    y, classes = np.array(["a", "a", "a", "b"], object), np.array(["a", "b"], object)
    p = np.array([[0.92, 0.08], [0.95, 0.05], [0.35, 0.65], [0.31, 0.69]])
    got = calibration(y, np.array(["a", "a", "b", "b"], object), p, classes, np.array([1.0, 1.0]))
    # Each record of a weighs a sixth, that of b a half; two records are in the first bin, two in the seventh.
    expected = np.zeros((10, 3))
    expected[0] = 2 / 6, (0.08 + 0.05) / 6, 0
    expected[6] = 1 / 6 + 1 / 2, 0.65 / 6 + 0.69 / 2, 1 / 2
    np.testing.assert_allclose(got["bins"], expected, atol=1e-6)
    assert got["weighted brier"] == pytest.approx((0.08**2 + 0.05**2 + 0.65**2) / 6 + 0.31**2 / 2)
    logs = (math.log(0.92) + math.log(0.95) + math.log(0.35)) / 6 + math.log(0.69) / 2
    assert got["weighted log loss"] == pytest.approx(-logs)
    off = abs(0.13 / 6) + abs(0.65 / 6 + 0.69 / 2 - 1 / 2)
    assert _calibration.error(np.array(got["bins"])) == pytest.approx(off, abs=1e-5)
    # Probabilities for the class frequencies of the table: every record weighs the same, as in `quality`.
    labels = np.array(["a", "a", "b", "b"], object)
    plain = calibration(y, labels, p, classes, np.array([3.0, 1.0]))
    assert plain["weighted brier"] == pytest.approx(quality(y, labels, p, classes)["brier"])
    assert plain["weighted log loss"] == pytest.approx(quality(y, labels, p, classes)["log loss"])


def test_with_more_classes_the_probability_of_the_predicted_label_is_compared():
    y, labels = np.array(["a", "b", "c"], object), np.array(["a", "c", "c"], object)
    p = np.array([[1.0, 0, 0], [0.3, 0.25, 0.45], [0.2, 0.25, 0.55]])
    got = np.array(calibration(y, labels, p, np.array(["a", "b", "c"]), np.ones(3))["bins"])
    np.testing.assert_allclose(
        got[[9, 4, 5]], [[1 / 3, 1 / 3, 1 / 3], [1 / 3, 0.15, 0], [1 / 3, 0.55 / 3, 1 / 3]], atol=1e-5
    )
    assert got[:, 0].sum() == pytest.approx(1, abs=1e-5)


def test_calibrated_probabilities_have_no_error_and_others_have_that_of_their_distance():
    rng = np.random.default_rng(0)
    p = rng.random(200_000)
    y, classes = np.where(rng.random(p.size) < p, "b", "a"), np.array(["a", "b"])

    def measured(p, kept):
        both = np.column_stack([1 - p, p])[kept]
        return np.array(calibration(y[kept], y[kept], both, classes, np.ones(2))["bins"])

    assert _calibration.error(measured(p, np.arange(p.size))) < 0.005
    assert _calibration.error(measured(p / 2, np.arange(p.size))) == pytest.approx(0.25, abs=0.01)
    # A tenth of the records of class b is kept: the probabilities stay those of classes of equal weight.
    kept = np.flatnonzero((y == "a") | (rng.random(p.size) < 0.1))
    assert _calibration.error(measured(p, kept)) < 0.01


@pytest.mark.parametrize("class_weight", ["balanced", None])
def test_the_weights_of_calibration_are_those_of_the_rules(class_weight):
    """Two thirds of the records are malignant; with class_weight=None the weights leave this share as it is."""
    split = split_of("breast_cancer")
    row = split.measure(DiverseRuleSetClassifier(class_weight=class_weight, random_state=0))
    second = sum(observed for _, _, observed in row["bins"])
    share = (split.table.codes[split.parts[0]] == 1).mean()
    assert second == pytest.approx(0.5 if class_weight else share, abs=1e-3)


def test_tables_have_equal_weight_in_the_curve():
    def row(table, split, *bins):
        whole = np.zeros((10, 3))
        for place, values in bins:
            whole[place] = values
        return {"table": table, "split": split, "model": "m", "classes": 2, "bins": whole.tolist()}

    rows = [
        row("p", 0, (1, (1, 0.1, 0.2))),
        row("p", 1, (1, (1, 0.1, 0.0))),
        row("q", 0, (1, (0.5, 0.05, 0.25)), (9, (0.5, 0.45, 0.5))),
    ]
    by_table = _calibration.bins_by_table(_summary.as_frame(rows), "m")
    assert [_calibration.error(by_table[table]) for table in "pq"] == pytest.approx([0.0, 0.25])
    np.testing.assert_allclose(_calibration.curve(by_table), [[0.1, 0.35 / 1.5, 0.75], [0.9, 1.0, 0.25]])
    # A split without bins, of a file of an earlier version: the table is left out.
    without = [*rows, {"table": "p", "split": 2, "model": "m", "classes": 2}]
    assert [*_calibration.bins_by_table(_summary.as_frame(without), "m")] == ["q"]


def test_the_calibration_of_a_run(run, tmp_path, monkeypatch):
    rows, _, page, asked = run
    text = page.read_text()
    part = text[text.index("### Calibration") :]
    line = next(line for line in part.splitlines() if line.startswith("| logistic regression |"))
    row = rows["breast_cancer", "logistic regression"]
    bins = np.array(row["bins"])
    expected = np.abs(bins[:, 1] - bins[:, 2]).sum()
    cells = [expected, row["brier"], row["log loss"], row["weighted brier"], row["weighted log loss"]]
    assert line == "| logistic regression | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |"
    # Nothing is fitted for a figure of known results.
    monkeypatch.setattr(Split, "measure", lambda *_: pytest.fail("fitted again"))
    monkeypatch.setattr(Split, "measure_rival", lambda *_: pytest.fail("fitted again"))
    frontier.main([*asked, "--resume", "--calibration", str(tmp_path / "curve.svg")])
    assert "<svg" in (tmp_path / "curve.svg").read_text()


def test_more_candidates_are_compared_with_the_default():
    rng = np.random.default_rng(2)
    rows = [
        {"table": table, "split": 0, "model": model, "classes": 2, "bacc": rng.random(), "auc": rng.random()}
        for table in "pqr"
        for model in ("default", "16 candidates", "4 candidates", "conjunctions")
    ]
    for row in rows:
        row.update(statements=4, conditions=9, seconds=0.5)
    frame = _summary.as_frame(rows)
    further = {**rows[0], "table": "s", "model": "16 candidates", "statements": 99}  # a table without the default
    heading, table = _summary.more_search(_summary.as_frame([*rows, further]), _models.CANDIDATES)
    assert heading.startswith("### More search\n")
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    assert lines[0][0] == "two classes (4): candidates"
    assert [line[1] for line in lines[2:]] == ["4.0"] * 3
    assert [line[0] for line in lines[2:]] == ["4", "8", "16"]
    gaps = [
        next(row["auc"] for row in rows if (row["table"], row["model"]) == (name, "16 candidates"))
        - next(row["auc"] for row in rows if (row["table"], row["model"]) == (name, "default"))
        for name in "pqr"
    ]
    mean, error = statistics.mean(gaps), statistics.stdev(gaps) / 3**0.5
    assert lines[4][-1] == f"{mean:+.3f} ({error:.3f}), ahead on {sum(gap > 0 for gap in gaps)} of 3"
    assert lines[3][-1] == "default"
    assert _summary.more_search(frame[frame["model"].isin(["default", "conjunctions"])], _models.CANDIDATES) == []


def test_the_title_of_the_figure_follows_from_the_results():
    def title(ours, trees):
        models = {"default, 5 statements": ours, **{f"tree, {n} leaves": height for n, height in trees.items()}}
        rows = [
            {"table": "p", "split": 0, "model": model, "classes": 2, "statements": 5, "bacc": height}
            for model, height in models.items()
        ]
        return _figures.finding(_summary.as_frame(rows), "default")

    assert title(0.8, {3: 0.7, 5: 0.75, 10: 0.79, 15: 0.81}) == (
        "A tree needs 15 leaves to predict as well as 5 statements"
    )
    assert title(0.8, {3: 0.7, 20: 0.79}) == "No tree of up to 20 leaves predicts as well as 5 statements"
    assert title(0.8, {3: 0.7, 5: 0.8, 10: 0.9}) is None
    assert title(0.8, {}) is None


def test_paired_differences_are_those_of_a_naive_computation():
    rng = np.random.default_rng(1)
    rows = [
        {"table": table, "split": split, "model": model, "classes": 2, "bacc": rng.random()}
        for table in "pqrs"
        for split in range(3)
        for model in ("ours", "rival")
        if (table, split, model) != ("s", 1, "rival")  # a split on which the rival failed
    ]
    kept = {(row["table"], row["split"], row["model"]): row["bacc"] for row in rows}
    by_table = []
    for table in "pqrs":
        splits = [split for split in range(3) if (table, split, "rival") in kept]
        by_table.append(statistics.mean(kept[table, s, "ours"] - kept[table, s, "rival"] for s in splits))
    rng.shuffle(rows)
    got = _summary.difference(_summary.as_frame(rows), "ours", "rival", "bacc")
    assert got.mean == pytest.approx(statistics.mean(by_table))
    assert got.error == pytest.approx(statistics.stdev(by_table) / 2)
    assert (got.ahead, got.tables) == (sum(gap > 0 for gap in by_table), 4)
    assert _summary.difference(_summary.as_frame(rows), "ours", "nobody", "bacc") is None


def test_the_tables_are_of_groups_and_leave_out_what_is_incomparable(run):
    _, _, page, _ = run
    text = page.read_text()
    assert "| two classes (1): ours / rival |" in text
    assert "| more than two classes (1): ours / rival |" in text
    assert "| mean of 2 tables, all tables |" in text
    whole = text[text.index("| mean of 2 tables") : text.index("### Calibration")]
    assert "tree, 20 leaves" in whole
    assert "tree, 15 conditions" not in whole  # only for more than two classes
    assert "| default, 5 statements - tree, 5 leaves |" in whole


def test_the_figure_is_a_picture(run, tmp_path):
    _, results, _, asked = run
    assert results.with_name("figure.png").read_bytes().startswith(b"\x89PNG")
    frontier.main([*asked, "--resume", "--figure", str(tmp_path / "more.svg"), "--figure-tables", "more"])
    assert "<svg" in (tmp_path / "more.svg").read_text()


def test_points_of_the_figure_are_means_over_the_same_splits(capsys):
    rows = [
        {"table": table, "split": split, "model": model, "classes": 2, "statements": size, "bacc": size / 10}
        for table, split, sizes in (("p", 0, (2, 3)), ("p", 1, (4, 3)), ("q", 0, (7, None)))
        for model, size in zip(("whole", "part"), sizes, strict=True)
        if size is not None
    ]
    got = _figures.points(_summary.as_frame(rows), ["whole", "part", "nobody"], "statements", "bacc")
    np.testing.assert_allclose(got, [[5, 0.5]])  # table p: 3, table q: 7
    assert "because not on all splits of all tables: part" in capsys.readouterr().err


# --- results -------------------------------------------------------------------------------------------------------


def test_an_interrupted_run_is_continued_and_gives_the_same_tables(run, tmp_path, capsys, monkeypatch):
    rows, results, page, asked = run
    asked = [*asked[: asked.index("--results")], "--results", str(tmp_path / "part.jsonl"), "--resume"]
    lines = results.read_text().splitlines()
    # The second table is missing, and the last line is cut off; rows are in another order.
    kept = [line for line in lines if json.loads(line)["table"] == "iris"]
    (tmp_path / "part.jsonl").write_text("\n".join([*kept[::-1], lines[-1][:40]]))
    frontier.main([*asked, "--markdown", str(tmp_path / "page.md")])

    def without_seconds(text):
        return [line.rsplit("|", 2)[0] for line in text.splitlines() if not line.startswith("| breast_cancer")]

    assert without_seconds((tmp_path / "page.md").read_text()) == without_seconds(page.read_text())
    again = list(map(json.loads, (tmp_path / "part.jsonl").read_text().splitlines()))
    assert {(row["table"], row["model"]) for row in again} == set(rows)
    assert len(again) == len(rows)
    # Nothing is left to run, so that the tables are the same to the last digit.
    monkeypatch.setattr(Split, "measure", lambda *_: pytest.fail("fitted again"))
    monkeypatch.setattr(Split, "measure_rival", lambda *_: pytest.fail("fitted again"))
    monkeypatch.setattr(Split, "measure_statements", lambda *_: pytest.fail("fitted again"))
    capsys.readouterr()
    frontier.main(asked)
    assert capsys.readouterr().out.strip() == (tmp_path / "page.md").read_text().strip()


def test_results_are_not_overwritten_or_mixed(run, tmp_path):
    _, results, _, asked = run
    with pytest.raises(SystemExit, match=r"results.jsonl exists; give --resume"):
        frontier.main(asked)
    changed = [json.loads(line) for line in results.read_text().splitlines()]
    for row in changed:
        row["records"] += 1
    (tmp_path / "other.jsonl").write_text("".join(json.dumps(row) + "\n" for row in changed))
    with pytest.raises(SystemExit, match=r"'default' on split 0 of 'iris' with records 151, this run has 150"):
        frontier.main([*ASKED, "--results", str(tmp_path / "other.jsonl"), "--resume"])
    (tmp_path / "other.jsonl").write_text("no JSON\n" + json.dumps(changed[0]) + "\n")
    with pytest.raises(SystemExit, match=r"line 1 of .*other.jsonl is not a row of results"):
        frontier.main([*ASKED, "--results", str(tmp_path / "other.jsonl"), "--resume"])


def test_a_rival_that_fails_is_reported_and_tried_again(tmp_path, capsys, monkeypatch):
    asked = ["--tables", "iris", "--splits", "1", "--variants", "default", "--rivals", "logistic regression"]
    asked += ["--results", str(tmp_path / "results.jsonl"), "--resume"]

    def fail(_):
        raise ArithmeticError("no answer")

    with monkeypatch.context() as patch:
        patch.setattr(_rivals, "logistic", fail)
        frontier.main(asked)
    captured = capsys.readouterr()
    assert "Failed: logistic regression on split 0 of iris" in captured.out
    assert "logistic regression failed: ArithmeticError: no answer" in captured.err
    frontier.main(asked)
    captured = capsys.readouterr()
    assert "Failed" not in captured.out
    assert "1 models run, 1 known" in captured.err


def test_a_failure_of_ours_ends_the_run(monkeypatch):
    def fail(*_):
        raise ArithmeticError("no rules")

    monkeypatch.setattr(Split, "measure", fail)
    with pytest.raises(ArithmeticError, match="no rules"):
        frontier.main(ASKED)


# --- tables and names ----------------------------------------------------------------------------------------------


def test_unknown_names_are_errors_that_list_the_known_ones(capsys):
    with pytest.raises(SystemExit, match=r"no table 'irs' in scikit-learn .*there are: iris, wine, breast_cancer"):
        frontier.main(["--tables", "irs"])
    with pytest.raises(SystemExit, match=r"no table 'irs'"):
        frontier.main(["--exclude", "irs"])
    with pytest.raises(SystemExit):
        frontier.main(["--variants", "defualt"])
    assert "unknown variants: defualt; known: default, conjunctions" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        frontier.main(["--rivals", "oak"])
    assert "unknown rivals: oak; known: tree, as many leaves" in capsys.readouterr().err


def test_a_variant_that_this_version_cannot_run_is_left_out_with_a_message(capsys, monkeypatch):
    monkeypatch.setitem(_models.VARIANTS, "later", {"max_rules": 3, "a_later_setting": True})
    assert _models.available(["default", "later"]) == ("default",)
    assert "left out: later, which needs the setting a_later_setting" in capsys.readouterr().err


def test_every_variant_can_be_run():
    """A setting that is renamed would otherwise only leave out its variant."""
    assert [name for name in _models.VARIANTS if _models.missing_settings(name)] == []


def test_tables_of_a_folder(tmp_path):
    frame = pd.DataFrame({"a": range(16), "b": [*"xyxyxyxyxyxyxyx", None], "class": [1] * 7 + [2] * 5 + [3] * 4})
    (tmp_path / "small").mkdir()
    frame.to_csv(tmp_path / "one.csv", index=False)
    frame.to_csv(tmp_path / "small" / "two.csv.gz", index=False)
    frame.to_csv(tmp_path / "small" / "contracept.csv", index=False)
    tables = _tables.Tables(str(tmp_path))
    assert sorted(tables.names) == ["contracept", "one", "two"]
    assert _tables.Tables(str(tmp_path), ["small"], ["two"]).names == ["contracept"]
    table = tables.load("two")
    assert sorted(set(table.y)) == ["1", "2"]  # the third class has four records
    assert table.shape == {"records": 12, "columns": 2, "classes": 2}
    frame.to_csv(tmp_path / "two.csv", index=False)
    assert sorted(_tables.Tables(str(tmp_path)).names) == ["contracept", "one", "small/two", "two"]
    with pytest.raises(_tables.TableNameError, match="no table 'three' in"):
        _tables.Tables(str(tmp_path), ["three"])
    with pytest.raises(_tables.TableNameError, match="must be a folder"):
        _tables.Tables(str(tmp_path / "nowhere"))
    frame.rename(columns={"class": "y"}).to_csv(tmp_path / "one.csv", index=False)
    with pytest.raises(_tables.TableNameError, match=r"one.csv must have the target in its last column, named class"):
        _tables.Tables(str(tmp_path)).load("one")


def test_codes_of_contracept_are_categories(tmp_path):
    frame = pd.DataFrame({"age": [20, 30] * 5, "living index": [1, 2] * 5, "class": [1, 2] * 5})
    frame.to_csv(tmp_path / "contracept.csv", index=False)
    X = _tables.Tables(str(tmp_path)).load("contracept").X
    assert pd.api.types.is_numeric_dtype(X["age"])
    assert X["living_index"].tolist()[:2] == ["1", "2"]


def test_missing_values_as_numbers():
    X = pd.DataFrame({"a": [1.0, None, 3.0], "b": ["x", None, "y"], "c": [True, False, True]})
    numbers = _tables.as_numbers(X)
    np.testing.assert_array_equal(numbers.values, [[1, 1, 0, 1], [np.nan, 0, 0, 0], [3, 0, 1, 1]])
    np.testing.assert_array_equal(numbers.filled[:, 0], [1, 0, 3])  # below all others


def test_indicators_of_deciles_are_those_of_the_training_records():
    train, test = np.array([[0.0, 5], [1, 5], [2, 5], [3, 5]]), np.array([[0.5, 9], [9, 9]])
    inside, outside = _rivals.indicators(train, test)
    np.testing.assert_array_equal(inside, [[1, 1, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0]])  # the second column is constant
    np.testing.assert_array_equal(outside, [[0, 1, 1], [0, 0, 0]])


def test_risks_are_reweighted_as_if_classes_were_equally_frequent():
    codes = np.array([0] * 9 + [1])
    np.testing.assert_allclose(_rivals.reweighted(np.array([0.1, 0.5]), codes), [[0.5, 0.5], [0.1, 0.9]])


def test_rows_have_no_figures_that_json_does_not_have(tmp_path):
    results = _results.Results(tmp_path / "rows.jsonl")
    with pytest.raises(ValueError, match="JSON"):
        results.add({"table": "a", "split": 0, "model": "b", "bacc": math.nan})


# --- a newcomer's view ---------------------------------------------------------------------------------------------


def test_a_newcomer_sees_rules_sizes_accuracy_and_a_reason(tmp_path, capsys):
    newcomer.main(["--tables", "breast_cancer", "--markdown", str(tmp_path / "view.md")])
    text = (tmp_path / "view.md").read_text()
    assert capsys.readouterr().out == text
    split = split_of("breast_cancer")
    train, test = split.parts
    clf = DiverseRuleSetClassifier(random_state=0).fit(split.table.X.iloc[train], split.table.y[train])
    assert f"```\n{clf.rule_set_}\n```" in text
    assert f"```\n{clf.why(split.table.X.iloc[test[0]])}\n```" in text
    size = metrics.size(clf.rule_set_)
    labels, tree = clf.predict(split.table.X.iloc[test]), split.trees.with_leaves(size.statements)[0]
    ours = balanced_accuracy_score(split.table.y[test], labels)
    assert f"| rules | {size.statements} | {size.conditions} | {ours:.3f} |" in text
    theirs = balanced_accuracy_score(split.table.codes[test], tree.predict(split.numbers()[1]))
    conditions = _trees.tree_conditions(tree, split.trees.column)
    assert f"| tree, as many leaves | {size.statements} | {conditions} | {theirs:.3f} |" in text


def test_a_newcomer_sees_text_gaps_and_warnings(tmp_path, capsys):
    rng = np.random.default_rng(0)
    colour, size = rng.choice(["red", "a ``` b", "c"], 300), rng.random(300)
    frame = pd.DataFrame({"colour": colour, "size": size, "name": [f"record {i}" for i in range(300)]})
    frame["class"] = np.where((colour == "red") | (size > 0.7), "yes", "no")
    frame.loc[::10, "size"] = np.nan
    frame.to_csv(tmp_path / "made.csv", index=False)
    newcomer.main(["--data", str(tmp_path), "--tables", "made"])
    text = capsys.readouterr().out
    assert "300 records, 3 columns (2 of text), 3.3% of the cells missing" in text
    assert "UserWarning" in text  # the column name looks like an identifier
    assert "record 17" not in text
    with pytest.raises(SystemExit, match=r"newcomer.py: no table 'adult' in"):
        newcomer.main(["--data", str(tmp_path)])


def test_blocks_of_code_hold_any_text():
    assert newcomer.fenced("a") == "```\na\n```"
    assert newcomer.fenced("IF x = '```' THEN 1").splitlines()[0] == "````"
