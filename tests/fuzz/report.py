"""A failed case as a short Python program and as the command that runs it again."""

from .tables import code_of, labels_code

IMPORTS = """import datetime
import dateutil.tz
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import diverse_rule_sets as drs
from diverse_rule_sets import *
from diverse_rule_sets.baselines import *
"""
_NEEDED = {
    "import datetime": "datetime.",
    "import dateutil.tz": "dateutil.",
    "from decimal import Decimal": "Decimal(",
    "from fractions import Fraction": "Fraction(",
    "from zoneinfo import ZoneInfo": "ZoneInfo(",
    "import numpy as np": "np.",
    "import pandas as pd": "pd.",
    "import polars as pl": "pl.",
    "import pyarrow as pa": "pa.",
    "import diverse_rule_sets as drs": "drs.",
    "from diverse_rule_sets.baselines import *": ("CBAC", "CN2C", "IDSC"),
}


def program(case, failure=None):
    """Return a Python program that builds the table, fits, and shows the failure."""
    lines = [*code_of(case), labels_code(case)]
    parameters = ", ".join(f"{name}={code}" for name, code in case.parameters.items())
    lines.append(f"clf = {case.estimator}({parameters}).fit(X, y)")
    if case.columns[0].new and (failure is None or failure.check == "new records"):
        lines += code_of(case, "new", "X_new")
    if failure is not None and failure.check == "other type":
        lines += code_of(case.with_other_type(), "values", "X_new")
    if failure is not None and failure.code:
        lines += failure.code.splitlines()
    elif failure is not None and failure.check != "fit":
        lines += _CALLS.get(failure.check, "print(clf.predict(X))").replace("LIBRARY", case.library).splitlines()
    body = "\n".join(lines)
    return _imports(body) + "\n" + body + "\n"


_SOURCE = """space = {}
exec(clf.rule_set_.to_python(kind='LIBRARY'), space)
print(space['predict'](X) if 'LIBRARY' == 'pandas' else X.with_columns(space['predict']()))"""
_CALLS = {
    "answers": "print(clf.predict(X), clf.predict_proba(X))",
    "records": "print([clf.predict(X[i:i + 1]) for i in range(len(X))])",
    "new records": "print(clf.predict(X_new))",
    "other type": "print(clf.predict(X_new))",
    "explain": "print(clf.explain(X), clf.why(X), clf.rule_set_, clf.rule_set_.to_frame())",
    "json": "print(RuleSet.from_json(clf.rule_set_.to_json()).predict(X))",
    "python": "space = {}\nexec(clf.rule_set_.to_python(), space)  # call space['predict'] with a dict of a record",
    "source": _SOURCE,
    "pmml": "print(clf.rule_set_.to_pmml())",
    "duckdb": "print(clf.rule_set_.to_sql(keep=['id']))",
    "sqlite": "print(clf.rule_set_.to_sql(dialect='sqlite', keep=['id']))",
    "text": "print([Rule.parse(str(rule), orders=clf.rule_set_.orders) for rule in clf.rule_set_.all_rules])",
    "limits": "print(clf.rule_set_, clf.rule_set_.covers(X))",
    "evaluated": "print(clf.rule_set_.evaluated(X, y))",
}


def _imports(body):
    """Return the import lines that a program needs."""
    kept = []
    for line in IMPORTS.splitlines():
        needed = _NEEDED.get(line, "")
        words = (needed,) if isinstance(needed, str) else needed
        if any(word in body for word in words):
            kept.append(line)
    return "\n".join(kept)
