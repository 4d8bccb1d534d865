"""The first cases of each family of `tests/fuzz`, and tests of the harness itself."""

import collections
import warnings

import numpy as np
import pytest

from diverse_rule_sets.estimators._base import RuleSetEstimator
from fuzz import __main__ as command
from fuzz.checks import check_table, choose_checks
from fuzz.families import FAMILIES
from fuzz.kinds import REFUSED
from fuzz.outcome import CaseError, CheckError, check_refusal, watched_warnings
from fuzz.report import IMPORTS
from fuzz.runner import Totals, run, run_case, shrink_failures, started
from fuzz.tables import build, code_of, make_case

NUMBERS = {"tables": 200, "files": 300, "text": 1500, "csv": 25}


@pytest.mark.parametrize("family", NUMBERS)
def test_the_first_cases_keep_what_is_promised(family):
    results = [run_case(family, 0, number) for number in range(NUMBERS[family])]
    failed = [(k, result["text"]) for k, result in enumerate(results) if isinstance(result, dict)]
    assert not failed, f"python -m tests.fuzz --only {family} --case {failed[0][0]}"
    outcomes = collections.Counter(outcome for _, outcome, *_ in results)
    assert len(outcomes) > 1
    assert min(outcomes[word] for word in outcomes if word != "not built") > 0.05 * len(results)


def test_a_case_follows_from_its_number():
    for family in NUMBERS:
        first, again, other = (FAMILIES[family].show(seed, 7) for seed in (0, 0, 1))
        assert first == again != other


def test_the_printed_program_builds_the_table_of_the_case():
    space = {}
    exec(IMPORTS, space)
    compared = 0
    for number in range(60):
        case = make_case(0, number, choose_checks)
        if "beyond" in case.columns[0].kind.name or "object" in repr(case.columns):
            continue
        exec("\n".join(code_of(case)), space)
        assert repr(space["X"]) == repr(build(case))
        compared += 1
    assert compared > 30


def wrong_alone(answer):
    """Return a method of the classifiers whose answer is wrong for a table of one record."""

    def answer_wrongly(self, X):
        found = answer(self, X)
        if found.labels.size == 1:
            found.labels[:] = (found.labels + 1) % len(self.classes_)
        return found

    return answer_wrongly


def test_a_fault_of_the_package_is_found_and_made_small(monkeypatch):
    monkeypatch.setattr(RuleSetEstimator, "_answer", wrong_alone(RuleSetEstimator._answer))
    results = [(number, run_case("tables", 0, number)) for number in range(20)]
    failed = [(number, result) for number, result in results if isinstance(result, dict)]
    assert len(failed) > 5
    assert {result["key"][0] for _, result in failed} <= {"records", "answers", "order", "new records"}
    number, result = next(one for one in failed if one[1]["key"][0] == "records")
    program, _, kinds = FAMILIES["tables"].shrink(0, number, result["key"], 20)
    assert len(kinds) <= 2
    assert len(program.splitlines()) <= 12
    with pytest.raises(AssertionError):
        exec(program, {})
    monkeypatch.undo()
    exec(program, {})


def case_of(kind):
    """Return the first case with some property."""
    return next(c for c in (make_case(0, k, choose_checks) for k in range(50_000)) if kind(c))


def test_what_a_good_error_is():
    case = case_of(lambda c: [column.fate for column in c.columns] == [REFUSED] and c.library == "polars")
    name = case.columns[0].name
    check_refusal(case, TypeError(f"column {name!r} holds times"))
    for error in (TypeError("some column holds times"), KeyError(name), TypeError(f"column {name!r}\nholds times")):
        with pytest.raises(CheckError):
            check_refusal(case, error)
    fitting = case_of(lambda c: c.fate == "fits" and not c.parameters.keys() - {"random_state"})
    with pytest.raises(CheckError, match="is supported"):
        check_refusal(fitting, TypeError(f"column {fitting.columns[0].name!r} holds numbers"))


def test_a_table_that_must_be_refused_and_is_not_is_a_failure(monkeypatch):
    case = case_of(lambda c: c.fate == REFUSED)
    monkeypatch.setattr(RuleSetEstimator, "fit", lambda self, X, y: self)
    with pytest.raises(CaseError, match="must be refused"):
        check_table(case)


def test_unknown_warnings_are_failures():
    with watched_warnings() as check, np.errstate(all="warn"):
        np.float64(1) / np.float64(0)
        warning = check.take()[0]
        assert issubclass(warning.category, RuntimeWarning)
        warnings.warn("no rule was found within max_conditions=3", UserWarning, stacklevel=1)
        check()
        warnings.warn("something else", UserWarning, stacklevel=1)
        with pytest.raises(CheckError, match="something else"):
            check()


def test_cases_that_hang_crash_or_need_too_much_memory_are_failures():
    said = []
    with started(1, seconds=0.5, grace=1) as workers:
        totals = run([("faults", 0, 7)], 0, workers, show=said.append)
        assert {key[0]: [number for number, *_ in found] for (_, key), found in totals.failures.items()} == {
            "time": [1],
            "lost": [2, 3],
            "memory": [4],
            "number": [5],
        }
        assert totals.n_cases == 7
        results = shrink_failures(totals, 0, workers, show=said.append)
    options = command._options(["--seed", "3"])
    text = command.summary(totals, results, options, 1.0)
    assert "print(5)" in text
    assert "python -m tests.fuzz --only faults --seed 3 --case 5" in text
    assert said[-2].startswith("7 cases in ")
    assert said[-2].endswith(", 5 failures")


def test_the_exit_code(capsys):
    number = next(k for k in range(100) if not isinstance(run_case("text", 0, k), dict))
    assert command.main(["--only", "text", "--case", str(number)]) == 0
    assert ".parse(" in capsys.readouterr().out
    assert command.main(["--only", "faults", "--case", "5"]) == 1


def test_totals_count_outcomes():
    totals = Totals()
    totals.add("tables", 0, ("pandas", "fitted", ("records",), ("no JSON",)))
    totals.add("tables", 1, {"word": "pandas", "key": ("fit", "", "", ""), "text": "x", "kinds": []})
    assert (totals.n_cases, totals.n_failures) == (2, 1)
    assert dict(totals.outcomes) == {("tables", "pandas", "fitted"): 1, ("tables", "pandas", "failed"): 1}
    assert dict(totals.exempt) == {("tables", "no JSON"): 1}
