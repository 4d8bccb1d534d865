"""The families of cases: each runs a case by its number, and shrinks a failed one to a short program."""

from dataclasses import replace

from .checks import check_table, choose_checks
from .outcome import Failure
from .report import program
from .shrink import Shrinker
from .tables import make_case


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
        """Return the kinds of columns and labels of a case."""
        case = make_case(seed, number, choose_checks)
        return [*(column.kind.name for column in case.columns), case.label_kind.name]

    @staticmethod
    def shrink(seed, number, key, seconds):
        """Return a small program that fails in the same way, its failure as text, and the kinds in it."""
        case = make_case(seed, number, choose_checks)
        only = () if key[0] in ("fit", "answers") else (key[0],)

        def failure_of(case):
            try:
                check_table(case)
            except Failure as failure:
                return failure if failure.key == tuple(key) else None

        simple = replace(case, checks=only, thorough=True)
        case = simple if failure_of(simple) else replace(case, checks=only)
        case = Shrinker(failure_of, seconds).table(case)
        failure = failure_of(case)
        text = "the failure does not occur again" if failure is None else str(failure)
        label = [] if case.label_kind.name == "list of text" else [case.label_kind.name]
        return program(case, failure), text, sorted({column.kind.name for column in case.columns}) + label

    @staticmethod
    def show(seed, number):
        """Return the whole case as a program."""
        return program(make_case(seed, number, choose_checks))


FAMILIES = {family.name: family for family in (Tables,)}
