"""Random CSV files for `drs predict`: as many answers as records, and the same answer for a record alone."""

import atexit
import contextlib
import csv
import io
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from diverse_rule_sets import DiverseRuleSetClassifier
from diverse_rule_sets.cli import main

from .outcome import CaseError, CheckError
from .values import HOSTILE, Draw

# The variable with the folder for temporary files; the runner removes it, because its workers are stopped.
FOLDER = "DRS_FUZZ_FOLDER"
_NUMBERS = (
    "0",
    "1",
    "-1",
    "3.5",
    "+7",
    "1e5",
    "007",
    ".5",
    "5.",
    "1e400",
    "-0",
    " 4 ",
    "12345678901234567890",
    "NA",
    "",
)
_NAUGHTY = ("abc", "1,5", "0x10", "1_000", "٣", "inf", "nan", "NaN", "--1", "1 2", "None", "null", "-")
_WORDS = ("red", "blue", "green", "", " red", "red ", "RED", "NA", "purple", "1", "true", *HOSTILE)
_FLAGS = ("true", "false", "TRUE", "False", "yes", "0", "1", "", "NA", "T")
_DATES = ("2020-01-31", "2020-01-31 12:00:00", "2020-01-31T12:00:00.5", "2020-01-31T12:00:00Z", "0001-01-01", "", "NA")
_DATES += ("2020-02-30", "31.01.2020", "99999-01-01", "2020-1-31", "2020-01-31 12:00:00+01:00", "soon")
_GOOD = {
    "n": ("0", "1", "-1", "3.5", "+7", "1e5", ".5", "", "NA"),
    "w": ("red", "blue", "green", "purple", ""),
    "f": ("true", "false", "TRUE", "False", ""),
    "d": ("2020-01-31", "2020-01-31 12:00:00", "2021-05-05", ""),
}
_CELLS = {"n": _NUMBERS + _NAUGHTY, "w": _WORDS, "f": _FLAGS, "d": _DATES}


@cache
def folder():
    """Return a folder with model files: each reads some of the columns n, w, f and d."""
    path = Path(tempfile.mkdtemp(prefix="drs-fuzz-", dir=os.environ.get(FOLDER)))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    rng = np.random.default_rng(0)
    n = 200
    columns = {
        "n": rng.integers(0, 9, n) / 2,
        "w": rng.choice(["red", "blue", "green"], n),
        "f": rng.random(n) < 0.5,
        "d": np.datetime64("2020-01-01") + rng.integers(0, 400, n),
    }
    frame = pl.DataFrame(columns)
    codes = (
        (columns["n"] > 2) * 1
        + (columns["w"] == "red") * 2
        + columns["f"] * 1
        + (columns["d"] > np.datetime64("2020-06-01"))
    )
    for k, (used, labels) in enumerate((("nwfd", "abcdef"), ("n", "ab"), ("w", "abc"), ("d", "ab"), ("f", "abc"))):
        y = np.array(list(labels))[codes % len(labels)]
        clf = DiverseRuleSetClassifier(random_state=k, min_evidence=0.0).fit(frame.select(*used), y)
        (path / f"{k}.json").write_text(clf.rule_set_.to_json(), "utf8")
    return path


def make_csv(seed, number):
    """Return the number of a model, the bytes of a CSV file, options, and the rows of cells."""
    draw = Draw(seed, 3, number)
    cells = _GOOD if draw.chance(0.5) else _CELLS
    header = draw.some(("n", "w", "f", "d", "other"), 5)
    n = draw.pick((0, 1, 2, 3, 5, 20))
    hostile = draw.chance(0.3)
    rows = [[draw.pick(cells.get(name, _WORDS if hostile else ("x",))) for name in header] for _ in range(n)]
    if not hostile:
        rows = [[cell.replace("\x00", "").replace("\ufeff", "") for cell in row] for row in rows]
    separator = draw.pick((",", ",", ";", "\t"))
    buffer = io.StringIO()
    end, quoting = draw.pick(("\n", "\r\n")), draw.pick((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    writer = csv.writer(buffer, delimiter=separator, lineterminator=end, quoting=quoting)
    writer.writerows([header, *rows])
    text = buffer.getvalue()
    if draw.chance(0.2):
        text = text.rstrip("\r\n")
    content = text.encode("utf8", "surrogatepass")
    if draw.chance(0.2):
        content = b"\xef\xbb\xbf" + content
    options = [] if separator == "," else ["--separator", separator]
    return draw.below(5), content, options, [header, *rows]


def run_drs(*arguments):
    """Run the command in this process; return its exit code, standard output and standard error."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(arguments))
    return code, *(stream.buffer.getvalue().decode("utf8", "replace") for stream in (out, err))


def predict(model, content, options):
    """Return the labels and rules that `drs predict` gives; None and the message if it refuses."""
    path = folder() / "table.csv"
    path.write_bytes(content)
    code, out, err = run_drs("predict", str(folder() / f"{model}.json"), str(path), *options)
    if code not in (0, 1, 2):
        raise CheckError(f"exit code {code}: {err[-300:]}")
    errors = [line for line in err.splitlines() if "error" in line]
    if code and (len(errors) != 1 or "Traceback" in err or "unexpected" in err.lower()):
        raise CheckError(f"exit code {code} with {len(errors)} lines of errors: {err[-300:]!r}")
    if code:
        return None, err
    return list(csv.reader(io.StringIO(out, newline="")))[1:], err


def check_csv(model, content, options, rows):
    """Predict a file. Return the outcome and the checks; raises CaseError."""
    code = f"# {options}\nopen('table.csv', 'wb').write({content!r})"
    try:
        answers, message = predict(model, content, options)
        if answers is None:
            return "refused", ("predict",)
        if len(answers) != len(rows) - 1:
            raise CheckError(f"{len(answers)} answers for {len(rows) - 1} records")
        for i in range(min(3, len(rows) - 1)):
            alone = written(rows[0], rows[1 + i])
            answer, message = predict(model, alone, [])
            if answer != [answers[i]]:
                raise CheckError(f"record {i} {rows[1 + i]}: {answer} alone, {answers[i]} in the file; {message[:200]}")
    except Exception as error:
        raise CaseError("predict", error, code) from None
    return "read", ("predict", "records")


def written(header, *rows):
    """Return rows as a CSV file, every cell in quotes."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([header, *rows])
    return buffer.getvalue().encode("utf8", "surrogatepass")
