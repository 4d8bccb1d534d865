import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# Programs started by tests buffer their output, as they do for most users.
os.environ.pop("PYTHONUNBUFFERED", None)

# No deadline: the first call compiles the kernels. In continuous integration the examples are the same every time;
# elsewhere new ones are tried.
settings.register_profile(
    "ours", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("ours")


def make_mixed(n=400, seed=0):
    """Return columns of every type with missing values, as Python lists, and labels that depend on them."""
    import datetime

    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n).astype(float)
    income = rng.lognormal(10, 1, n)
    sex = rng.choice(["F", "M"], n).astype(object)
    job = rng.choice(["clerk", "sales", "nurse", "driver"], n).astype(object)
    smoker = rng.choice([True, False], n).astype(object)
    size = rng.choice(["S", "M", "L"], n).astype(object)
    days = rng.integers(0, 3000, n)
    since = np.array([datetime.datetime(2015, 1, 1) + datetime.timedelta(days=int(d)) for d in days], object)
    y = np.where((age > 60) | ((sex == "F") & (income > 30000)), "good", "bad").astype(object)
    flip = rng.random(n) < 0.05
    y[flip] = np.where(y[flip] == "good", "bad", "good")
    columns = {
        "age": age,
        "income (€ / year)": income,
        "sex": sex,
        'job = "title"': job,
        "smoker": smoker,
        "size": size,
        "since": since,
    }
    table = {}
    for name, values in columns.items():
        gone = rng.random(n) < 0.1
        table[name] = [None if missing else v for v, missing in zip(values.tolist(), gone, strict=True)]
    return table, y


@pytest.fixture
def mixed():
    import pandas as pd

    table, y = make_mixed()
    frame = pd.DataFrame(table)
    frame["size"] = pd.Categorical(frame["size"], ["S", "M", "L"], ordered=True)
    return frame, y


@pytest.fixture(scope="session")
def browser():
    from browser import chromium

    with chromium() as opened:
        yield opened


@pytest.fixture
def drs(capsys):
    """Return a function that runs a command and returns its exit code, output and messages."""

    from diverse_rule_sets.cli import main

    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run
