"""Models that version 0.1 wrote: the files give the same answers, and the pickles raise an error that says what to do.

``files_0_1`` holds a model file of each kind, and next to it records with the answers of version 0.1.
"""

import datetime
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from diverse_rule_sets import RuleSet

FILES = Path(__file__).parent / "files_0_1"
MODELS = sorted(path.stem for path in FILES.glob("*.json") if not path.stem.endswith("_answers"))
DTYPES = {"number": "float64", "date": "datetime64[us]", "instant": "datetime64[us, UTC]", "boolean": "boolean"}
FORMS = {
    "datetime": datetime.datetime.fromisoformat,
    "instant": lambda text: datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC),
    "date": datetime.date.fromisoformat,
    "bytes": bytes.fromhex,
    "number": float,
    "tuple": tuple,
}


def value_of(content):
    """Return a value from JSON: an object with one key is a value of another type."""
    if not isinstance(content, dict):
        return content
    ((form, inner),) = content.items()
    return FORMS[form](inner)


def table_of(columns):
    """Return the records as a pandas table."""
    series = [
        pd.Series([value_of(value) for value in column["values"]], dtype=DTYPES.get(column["type"], object))
        for column in columns
    ]
    table = pd.concat(series, axis=1)
    names = np.empty(len(columns), object)
    names[:] = [value_of(column["name"]) for column in columns]
    table.columns = pd.Index(names, tupleize_cols=False)
    return table


@pytest.mark.parametrize("name", MODELS)
def test_a_model_file_of_version_0_1_gives_the_same_answers(name):
    rule_set = RuleSet.from_json((FILES / f"{name}.json").read_bytes())
    answers = json.loads((FILES / f"{name}_answers.json").read_text("utf8"))
    table = table_of(answers["columns"])
    assert rule_set.predict(table).tolist() == answers["labels"]
    assert rule_set.deciding_rules(table).tolist() == answers["deciding"]
    assert rule_set.predict_proba(table).tolist() == answers["probabilities"]
    assert len(set(answers["deciding"])) > 2
    again = RuleSet.from_json(rule_set.to_json())
    assert again == rule_set
    assert again.predict_proba(table).tolist() == answers["probabilities"]


def test_the_files_have_every_kind_of_model():
    """Each conflict once, every type of column, class weights, fallback rules, missing values, unusual values."""
    contents = [json.loads((FILES / f"{name}.json").read_text("utf8")) for name in MODELS]
    assert {content["version"] for content in contents} == {1}
    assert {content["conflict"] for content in contents} == {"precision", "smoothed", "f1", "first", "vote", "counts"}
    kinds = {column["kind"] for content in contents for column in content["columns"]}
    assert kinds == {"number", "date", "date (UTC)", "boolean", "text", "category"}
    text = "".join((FILES / f"{name}.json").read_text("utf8") for name in MODELS)
    for part in ('"mixed": true', '"missing": true', '"date"', '"bytes"', '"number": "-inf"', '"tuple"', '"not in"'):
        assert part in text
    assert any(content["fallbacks"] for content in contents)
    assert any(content["class_weights"] for content in contents)
    assert any(math.isclose(content["smoothing"] or 0, 5) for content in contents)


@pytest.mark.parametrize("name", ["rule_set", "classifier"])
def test_a_pickle_of_version_0_1_raises_an_error_that_says_what_to_do(name):
    with pytest.raises(ValueError, match=r"pickled by version 0\.1 of diverse-rule-sets .*: fit it again; or read it"):
        pickle.loads((FILES / f"{name}.pkl").read_bytes())
