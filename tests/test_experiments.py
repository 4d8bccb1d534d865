import io
import json
import urllib.error
import zipfile

import numpy as np
import pandas as pd
import pytest

import diverse_rule_sets
from experiments import models, page, runs, tables
from experiments.printed import IDS_SETTINGS, TABLE_1, TABLE_2, TABLE_3
from experiments.runs import Fit, Ledger


def archive(**files):
    """A zip archive of some files, their names with a dot for each double underscore."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        for name, data in files.items():
            packed.writestr(name.replace("__", ".").replace("_", "-"), data)
    return content.getvalue()


# --- tables --------------------------------------------------------------------------------------------------------


def test_iris_needs_neither_folder_nor_network(monkeypatch):
    monkeypatch.setattr(tables.urllib.request, "urlopen", None)
    X, y = tables.load("iris")
    assert X.shape == (150, 4)
    assert sorted(set(y)) == list(tables.TABLES["iris"].class_counts)


def test_a_table_from_a_folder_is_checked(tmp_path):
    frame = tables.TABLES["iris"].parse(b"")
    (tmp_path / "paper").mkdir()
    frame.to_csv(tmp_path / "paper" / "iris.csv", index=False)
    X, _ = tables.load("iris", str(tmp_path))
    pd.testing.assert_frame_equal(X, tables.load("iris")[0])
    frame.iloc[:-1].to_csv(tmp_path / "iris.csv", index=False)
    with pytest.raises(tables.TableError, match="iris has 149 records, expected 150"):
        tables.load("iris", str(tmp_path))
    frame.assign(**{"class": ["Iris-setosa"] * 150}).to_csv(tmp_path / "iris.csv", index=False)
    with pytest.raises(
        tables.TableError, match=r"iris has the classes {'Iris-setosa': 150}, expected {'Iris-setosa': 50"
    ):
        tables.load("iris", str(tmp_path))
    frame.iloc[3, 1] += 1e-4
    frame.to_csv(tmp_path / "iris.csv", index=False)
    with pytest.raises(tables.TableError, match="iris has other values than the paper's table: checksum"):
        tables.load("iris", str(tmp_path))
    frame.drop(columns="class").to_csv(tmp_path / "iris.csv", index=False)
    with pytest.raises(
        tables.TableError, match=r"iris has the columns sepal.length, .*petal.width; expected .*petal.width, class"
    ):
        tables.load("iris", str(tmp_path))
    (tmp_path / "iris.csv").write_text("")
    with pytest.raises(tables.TableError, match=r"iris.csv cannot be read as a table \(No columns"):
        tables.load("iris", str(tmp_path))
    with pytest.raises(tables.TableError, match=r"avila.csv is neither in .* nor in .*paper; without a folder"):
        tables.load("avila", str(tmp_path))


def test_a_checksum_does_not_depend_on_how_numbers_are_written():
    whole = pd.DataFrame({"a": [1, 2], "class": ["x", "y"]})
    assert tables.checksum(whole) == tables.checksum(whole.assign(a=[1.0, 2.0 + 1e-13]))
    assert tables.checksum(whole) != tables.checksum(whole.assign(a=[1.0, 2.001]))
    assert tables.checksum(whole) != tables.checksum(whole.iloc[::-1])


def test_what_is_downloaded_is_read_as_its_source_writes_it(monkeypatch):
    content = archive(cmc__data="24,2,3,3,1,1,2,3,0,1\n45,1,3,10,1,1,3,4,0,2\n")
    frame = tables.TABLES["contracept"].parse(content)
    assert list(frame.columns) == [*tables.CONTRACEPT, "class"]
    assert frame["nchildren"].tolist() == [3, 10]
    row = ",".join(["0.1"] * 10)
    inner = archive(avila_tr__txt=f"{row},A\n{row},B\n", avila_ts__txt=f"{row},I\n")
    assert tables.TABLES["avila"].parse(archive(avila__zip=inner))["class"].tolist() == ["A", "I"]
    frogs = "MFCCs_ 1,MFCCs_ 2,Family,Genus,Species,RecordID\n1,0.5,Hylidae,H,s,1\n"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        packed.writestr("Frogs_MFCCs.csv", frogs)
    assert tables.TABLES["anuran"].parse(content.getvalue()).columns.tolist() == ["MFCCs_ 1", "MFCCs_ 2", "class"]
    sheet = pd.DataFrame({name: [1.0, 2.0, np.nan] for name in [*tables.CARDIO, "NSP", "FileName"]})
    monkeypatch.setattr(tables.pd, "read_excel", lambda file, sheet_name: sheet if sheet_name == "Raw Data" else None)
    frame = tables.TABLES["cardio"].parse(archive(CTG__xls=b""))
    assert list(frame.columns) == [*tables.CARDIO, "class"]
    assert frame["class"].tolist() == [1, 2]


def test_a_download_is_kept_once_it_is_right_and_never_before(monkeypatch, tmp_path):
    monkeypatch.setattr(tables, "get_data_home", lambda: str(tmp_path))
    answers = [archive(cmc__data="24,2,3,3,1,1,2,3,0,1\n"), b"<html>", archive(readme__txt="moved")]
    monkeypatch.setattr(tables.urllib.request, "urlopen", lambda url, timeout: io.BytesIO(answers.pop(0)))
    with pytest.raises(tables.TableError, match="contracept has 1 records, expected 1,473"):
        tables.load("contracept")
    with pytest.raises(
        tables.TableError, match=r"what https://.* sent could not be read as contracept \(File is not a"
    ):
        tables.load("contracept")
    with pytest.raises(tables.TableError, match=r"the archive holds no file cmc.data, only readme.txt"):
        tables.load("contracept")
    assert list(tmp_path.rglob("*.*")) == []
    small = tables.Known(
        tables.CONTRACEPT,
        {"1": 1, "2": 1},
        "",
        tables.TABLES["contracept"].parse,
        "https://example.org",
        ("education",),
    )
    content = archive(cmc__data="24,2,3,3,1,1,2,3,0,1\n45,1,3,10,1,1,3,4,0,2\n")
    small = tables.Known(**{**vars(small), "checksum": tables.checksum(small.parse(content))})
    monkeypatch.setitem(tables.TABLES, "contracept", small)
    answers[:] = [content]
    X, y = tables.load("contracept")
    assert X["education"].tolist() == ["2", "1"]
    assert y.tolist() == ["1", "2"]
    again, _ = tables.load("contracept")  # there is no second answer to give
    pd.testing.assert_frame_equal(again, X)
    (kept,) = tmp_path.rglob("*.csv")
    for damaged in ("", kept.read_text()[:-4], "a,b\n1,2\n"):
        kept.write_text(damaged)
        answers[:] = [content]
        pd.testing.assert_frame_equal(tables.load("contracept")[0], X)


def test_without_folder_and_network_the_message_says_what_to_give(monkeypatch, tmp_path):
    def nobody(url, timeout):
        raise urllib.error.URLError("no route")

    monkeypatch.setattr(tables, "get_data_home", lambda: str(tmp_path))
    monkeypatch.setattr(tables.urllib.request, "urlopen", nobody)
    with pytest.raises(tables.TableError, match=r"anuran could not be downloaded .*no route.* --data .* DRS_DATA"):
        tables.load("anuran")


# --- what the paper prints --------------------------------------------------------------------------------------------


def test_the_print_is_whole():
    assert list(TABLE_1) == list(TABLE_2) == list(TABLE_3) == list(tables.TABLES)
    for name, (n_records, n_classes, imbalance, _) in TABLE_1.items():
        counts = tables.TABLES[name].class_counts.values()
        assert (n_records, n_classes) == (sum(counts), len(counts))
        assert imbalance == pytest.approx(max(counts) / min(counts), abs=0.005)
        assert len(TABLE_2[name]) == 3
        assert len(TABLE_3[name]) == (5 if name in IDS_SETTINGS else 4)
    assert TABLE_3["cardio"]["full method"]["bacc"] == 0.71
    assert TABLE_2["anuran"]["permissive"]["diversity"] == 1.0


# --- runs ---------------------------------------------------------------------------------------------------------


def test_the_plan_has_every_model_and_trees_after_what_they_are_like():
    plan = list(runs.planned(["iris", "avila"], 2))
    assert len(plan) == len(set(plan))
    assert {fit.model for fit in plan if fit.k is None and fit.table == "iris"} == {*models.MODELS, *models.TREES}
    assert Fit("avila", 0, "IDS, published settings") not in plan
    for place, fit in enumerate(plan):
        if fit.model in models.TREES:
            assert plan.index(fit._replace(model=models.TREES[fit.model])) < place
    assert [fit.split for fit in plan] == sorted(fit.split for fit in plan)


def test_a_ledger_survives_a_line_cut_short_and_refuses_other_settings(tmp_path, monkeypatch):
    path = tmp_path / "fits.jsonl"
    ledger = Ledger(path)
    ledger.add(Fit("iris", 0, "CBA"), {"bacc": 0.9})
    ledger.add(Fit("iris", 0, "CN2", 4), {"bacc": 0.8})
    path.write_text(path.read_text() + '{"table": "iris", "split": 1, "mod')
    again = Ledger(path)
    assert again.get(Fit("iris", 0, "CBA"))["bacc"] == 0.9
    assert again.get(Fit("iris", 0, "CN2")) is None
    again.add(Fit("iris", 1, "CBA"), {"bacc": 0.7})
    assert Ledger(path).get(Fit("iris", 1, "CBA"))["bacc"] == 0.7
    monkeypatch.setitem(models.MODELS, "CBA", lambda *_: diverse_rule_sets.baselines.CBAClassifier(min_support=0.3))
    assert Ledger(path).get(Fit("iris", 0, "CBA")) is None
    assert Ledger(path).get(Fit("iris", 0, "CN2", 4))["bacc"] == 0.8
    tree = Fit("iris", 0, "tree like default")
    ledger.add(tree, {"bacc": 0.6})
    path.write_bytes(path.read_bytes() + b'3\n{"table": "iris"}\n\xff\n')
    assert Ledger(path).get(tree)["bacc"] == 0.6
    monkeypatch.setitem(models.MODELS, "default", lambda *_: diverse_rule_sets.DiverseRuleSetClassifier(max_rules=7))
    assert Ledger(path).get(tree) is None  # it is as large as a model that is another now
    monkeypatch.setattr(runs, "_code", lambda: "other code")
    assert Ledger(path).get(Fit("iris", 0, "CN2", 4)) is None


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run on iris with two splits, and its page."""
    folder = tmp_path_factory.mktemp("results")
    frame = runs.run(["iris"], None, 2, Ledger(folder / "fits.jsonl"))
    return folder, frame, page.write(frame, ["iris"], 2, None, folder)


def test_a_run_that_is_done_is_not_done_again(finished, monkeypatch, capsys):
    folder, frame, _ = finished
    lines = [json.loads(line) for line in (folder / "fits.jsonl").read_text().splitlines()]
    assert len(lines) == len(frame) == len(list(runs.planned(["iris"], 2)))
    monkeypatch.setattr(runs, "measured", None)
    pd.testing.assert_frame_equal(runs.run(["iris"], None, 2, Ledger(folder / "fits.jsonl")), frame)
    assert f"{len(frame):,} of {len(frame):,} fits are kept" in capsys.readouterr().err
    kept = lines[: len(lines) // 2]
    (folder / "half.jsonl").write_text("".join(json.dumps(line) + "\n" for line in kept))
    todo = []
    monkeypatch.setattr(runs, "measured", lambda *fit: todo.append(fit) or {**lines[0], "rules": 3})
    runs.run(["iris"], None, 2, Ledger(folder / "half.jsonl"))
    assert len(todo) == len(frame) - len(kept)


def test_figures_are_those_of_the_fitted_classifier(finished):
    _, frame, _ = finished
    X, y = tables.load("iris")
    row = frame[(frame["model"] == "CBA") & (frame["split"] == 1) & frame["k"].isna()].iloc[0]
    train, test = models.train_test_split(np.arange(150), test_size=0.2, stratify=y, random_state=1)
    clf = diverse_rule_sets.baselines.CBAClassifier.as_in_paper().fit(X.iloc[train], y[train])
    recalls = [(clf.predict(X.iloc[test])[y[test] == label] == label).mean() for label in clf.classes_]
    assert row["bacc"] == pytest.approx(np.mean(recalls))
    assert row["rules"] == len(clf.rule_set_)
    assert row["overlap"] == (clf.rule_set_.covers(X.iloc[train]).sum(axis=1) > 1).sum()
    assert frame["bacc"].between(0.3, 1).all()
    assert frame["seconds"].gt(0).all()
    limits = frame[frame["k"].notna() & ~frame["model"].str.startswith("tree")]
    assert (limits["rules"] <= limits["k"]).all()


def test_the_page_shows_every_figure_next_to_the_printed_one(finished):
    folder, frame, path = finished
    text = path.read_text(encoding="utf8")
    for title in ("Table 1", "Table 2", "Table 3", "which rule decides", "limited number of rules", "Candidates used"):
        assert title in text
    rows = frame[(frame["model"] == "full method") & frame["k"].isna()]
    assert f"{rows['bacc'].mean():.3f} ± {rows['bacc'].std():.3f} / 0.93 / " in text
    assert text.count("\n| DRS, full method") == 2
    assert "A quick run" in text
    whole = (page.DISCUSSION.parent / "results" / "README.md").read_text(encoding="utf8")
    assert page.DISCUSSION.read_text(encoding="utf8").strip() in whole
    for picture in ("table3.png", "limited_rules.png"):
        assert f"({picture})" in text
        assert (folder / picture).read_bytes().startswith(b"\x89PNG")
    assert not list(folder.glob("*.part"))


def test_a_difference_is_bold_where_chance_does_not_explain_it():
    values = pd.Series([0.70, 0.72, 0.68, 0.70])
    assert page.cell(values, 0.71, "bacc") == "0.700 ± 0.016 / 0.71 / -0.010"
    assert page.cell(values, 0.80, "bacc") == "0.700 ± 0.016 / 0.80 / **-0.100**"
    assert page.cell(values, 0.70, "bacc").endswith("/ 0.70 / +0.000")
    assert page.cell(values, None, "bacc") == "0.700 ± 0.016"


def test_the_least_precise_rule_decides_as_in_the_papers_program():
    rules = [diverse_rule_sets.Rule((), label, ((0, a), (1, b))) for label, a, b in ((0, 9, 1), (1, 4, 6), (0, 8, 2))]
    assert models.least_precise(tuple(rules)) is rules[1]
