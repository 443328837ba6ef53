"""The invariants, asserted on the merged histories of bots, journal, replays and results.

Each gives `Violation`s, in words that name the match or the bot. None of them
trusts the arena's word for anything.
"""

from tests.chaos.bot_checks import (
    acknowledged_moves_are_kept,
    ends_are_told_truly,
    nothing_before_written,
    numbers_are_kept,
    views_are_prefixes,
)
from tests.chaos.case import Violation
from tests.chaos.file_checks import (
    commitments_are_opened,
    matches_end,
    nobody_blamed,
    one_action,
    only_grows,
    points_conserved,
    results_follow,
)

INVARIANTS = (
    one_action,
    only_grows,
    matches_end,
    results_follow,
    points_conserved,
    views_are_prefixes,
    numbers_are_kept,
    nothing_before_written,
    acknowledged_moves_are_kept,
    ends_are_told_truly,
    nobody_blamed,
    commitments_are_opened,
)


def check(case):
    """Assert every invariant on a case; the violations, none if all is well."""
    return [violation for invariant in INVARIANTS for violation in invariant(case)]


def twins_differ(books, twins):
    """Where matches did not come out as their twins, which nothing happened to.

    Both are books by what the match is called in both runs.
    """
    name = "a match that was disturbed ends as its undisturbed twin"
    return [
        Violation(name, f"{called}: {difference}")
        for called, twin in twins.items()
        for difference in _differences(books.get(called), twin)
    ]


def _differences(book, twin):
    if book is None or book.closed is None:
        yield "it has not ended, and its twin has"
        return
    for seat in range(len(twin.opened.entrants)):
        if _moves_of(book, seat) != _moves_of(twin, seat):
            yield f"seat {seat} made other moves"
    if _result_of(book) != _result_of(twin):
        yield "another result"


def _moves_of(book, seat):
    return [
        (each.decision, each.move.SerializeToString(deterministic=True))
        for each in book.decided
        if each.seat == seat
    ]


def _result_of(book):
    return list(book.closed.scores), list(book.closed.places), book.closed.ending
