"""The families of cases: each runs a case by its number, and shrinks a failed one to a short program."""

import hashlib
import json
import warnings
from dataclasses import replace

from . import csv_files, files
from . import text as rule_text
from .checks import check_table, choose_checks, estimator
from .outcome import ERRORS, CaseError
from .report import program
from .shrink import Shrinker
from .tables import build, build_labels, make_case


class Tables:
    """Random tables."""

    name = "tables"

    @staticmethod
    def run(seed, number):
        """Run a case; return a word about the table, the outcome, the checks and the exemptions."""
        case = make_case(seed, number, choose_checks)
        return (case.library, *check_table(case))

    @staticmethod
    def kinds(seed, number):
        """Return a word about the table, and the kinds of its columns and labels."""
        case = make_case(seed, number, choose_checks)
        return case.library, [*(column.kind.name for column in case.columns), case.label_kind.name]

    @staticmethod
    def shrink(seed, number, key, seconds):
        """Return a small program that fails in the same way, its failure as text, and the kinds in it."""
        case = make_case(seed, number, choose_checks)
        only = () if key[0] in ("fit", "answers") else (key[0],)

        def failure_of(case):
            return _failure(key, check_table, case)

        simple = replace(case, checks=only, thorough=True)
        case = simple if failure_of(simple) else replace(case, checks=only)
        case = Shrinker(failure_of, seconds).table(case)
        failure = failure_of(case)
        text = "" if failure is None else str(failure)
        label = [] if case.label_kind.name == "list of text" else [case.label_kind.name]
        return program(case, failure), text, sorted({column.kind.name for column in case.columns}) + label

    @staticmethod
    def digest(seed, number):
        """Return a checksum of the rules of a case, to compare processes."""
        case = make_case(seed, number, choose_checks)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rule_set = estimator(case).fit(build(case), build_labels(case)).rule_set_
        except ERRORS as error:
            return type(error).__name__
        text = f"{rule_set}\n{rule_set.rule_probabilities.tolist()}"
        return hashlib.sha256(text.encode("utf8", "backslashreplace")).hexdigest()

    @staticmethod
    def show(seed, number):
        """Return the whole case as a program."""
        return program(make_case(seed, number, choose_checks))


class Files:
    """Damaged model files."""

    name = "files"

    @staticmethod
    def run(seed, number):
        return ("json", *files.check_file(files.make_file(seed, number)), ())

    @staticmethod
    def kinds(seed, number):
        return "json", []

    @staticmethod
    def shrink(seed, number, key, seconds):
        shrinker = Shrinker(lambda text: _failure(key, files.check_file, text, True), seconds)
        text = files.make_file(seed, number)
        if not shrinker.fails(text):
            shrinker = Shrinker(lambda text: _failure(key, files.check_file, text), seconds)
        try:
            content = json.loads(text)
            content.pop("checksum", None)
            trees = Shrinker(lambda content: shrinker.fails(json.dumps(content, indent=1)), seconds / 2)
            if trees.fails(content):
                text = json.dumps(trees.tree(content))
        except (ValueError, RecursionError, AttributeError):
            pass  # not JSON
        text = shrinker.text(text)
        failure = shrinker.fails(text)
        return _lines(failure), str(failure), []

    @staticmethod
    def show(seed, number):
        return f"from diverse_rule_sets import *\nRuleSet.from_json({files.make_file(seed, number)!r})"


class Text:
    """Damaged texts of rules, scorecards and rule sets."""

    name = "text"

    @staticmethod
    def run(seed, number):
        case = rule_text.make_text(seed, number)
        return (case.kind, *rule_text.check_text(case), ())

    @staticmethod
    def kinds(seed, number):
        return rule_text.make_text(seed, number).kind, []

    @staticmethod
    def shrink(seed, number, key, seconds):
        case = rule_text.make_text(seed, number)
        changed = case._replace(made=None)
        shrinker = Shrinker(lambda text: _failure(key, rule_text.check_text, changed._replace(text=text)), seconds)
        failure = _failure(key, rule_text.check_text, case)
        if shrinker.fails(case.text):
            failure = shrinker.fails(shrinker.text(case.text))
        return _lines(failure), str(failure), []

    @staticmethod
    def show(seed, number):
        return f"from diverse_rule_sets import *\n{rule_text.make_text(seed, number).code}"


class Csv:
    """CSV files for `drs predict`."""

    name = "csv"

    @staticmethod
    def run(seed, number):
        return ("csv", *csv_files.check_csv(*csv_files.make_csv(seed, number)), ())

    @staticmethod
    def kinds(seed, number):
        return "csv", []

    @staticmethod
    def shrink(seed, number, key, seconds):
        model, content, options, rows = csv_files.make_csv(seed, number)
        failure = _failure(key, csv_files.check_csv, model, content, options, rows)

        def fails(kept):
            return _failure(key, csv_files.check_csv, model, csv_files.written(rows[0], *kept), [], [rows[0], *kept])

        if fails(rows[1:]):
            failure = fails(Shrinker(fails, seconds).text(rows[1:]))
        return f"# model {model}\n{_lines(failure)}", str(failure), []

    @staticmethod
    def show(seed, number):
        model, content, options, _ = csv_files.make_csv(seed, number)
        return f"# drs predict {model}.json table.csv {' '.join(options)}\n{content!r}"


def _failure(key, check, *arguments):
    """Return the failure of a check if it is of the given kind, else None."""
    try:
        check(*arguments)
    except CaseError as failure:
        return failure if failure.key == tuple(key) else None
    return None


def _lines(failure):
    return f"from diverse_rule_sets import *\n{failure.code}" if failure is not None else "# it does not fail again"


FAMILIES = {family.name: family for family in (Tables, Files, Text, Csv)}
