"""Advice to a bot's owner: one row of the table of errors for each kind of fault in a match."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from arena.errors import ErrorEntry, faults
from arena.records.diagnosis import FaultDetails, MatchDiagnosis, SlowDecision
from arena.records.phrases import listed, seconds
from arena.referee.spec import FaultKind

_FAR_BELOW: Final = 0.5
"""The part of its time below which a bot's answers show that it is not slow in general."""


def advice(diagnosis: MatchDiagnosis) -> Iterator[tuple[str, str]]:
    """Yield the code of each row that applies with its advice, in the order of a match."""
    lines: list[tuple[ErrorEntry, str]] = []
    if diagnosis.forfeited_before:
        lines.append((_reason_of(diagnosis.forfeited_before) or faults.DEAL, ""))
    lines += [_ADVICE[kind](diagnosis) for kind in FaultKind if diagnosis.faults_of(kind)]
    for row, evidence in lines:
        yield row.code, f"{evidence} {row.cure.replace('GAME', diagnosis.game.id)}".lstrip()


def _on_timeouts(diagnosis: MatchDiagnosis) -> tuple[ErrorEntry, str]:
    of_kind = diagnosis.faults_of(FaultKind.TIMEOUT)
    decisions: tuple[FaultDetails | SlowDecision, ...] = (*of_kind, *diagnosis.slowest)
    if stuck := [fault for fault in of_kind if 0 < fault.stuck_since < fault.decision]:
        return faults.HANG, f"{stuck[0].stuck}. {faults.HANG.cause}"
    if queued := [decision for decision in decisions if decision.queued]:
        return faults.QUEUED, f"At decision {queued[0].decision}, {queued[0].queued}."
    if not diagnosis.slowest:
        return faults.SILENT, ""
    allowed_us = min((each.move_ms + each.bank_before_ms) * 1000 for each in of_kind)
    longest_us = diagnosis.slowest[0].charged_us
    if longest_us < _FAR_BELOW * allowed_us:
        evidence = f"All answers in time took {seconds(longest_us)} or less."
        return faults.HANG, f"{evidence} {faults.HANG.cause}"
    slowest = listed(
        f"{slow.decision} ({seconds(slow.charged_us)})"
        for slow in diagnosis.slowest
        if slow.charged_us >= longest_us / 2
    )
    return faults.SLOW, f"The slowest decisions in time were {slowest}."


def _on_illegal(diagnosis: MatchDiagnosis) -> tuple[ErrorEntry, str]:
    if all(fault.complete for fault in diagnosis.faults_of(FaultKind.ILLEGAL)):
        return faults.ILLEGAL, "The moves offered were all there were."
    return faults.BAD_MOVE, faults.ILLEGAL.cure


def _reason_of(text: str) -> ErrorEntry | None:
    """Return the reason why a bot could not be seated, from a sentence with or without its code; None if the sentence has another reason."""
    for reason in (faults.NOT_PLAYED, faults.FULL):
        if reason.read(text.removesuffix(f" ({reason.code})")) is not None:
            return reason
    return None


def _on_gone(diagnosis: MatchDiagnosis) -> tuple[ErrorEntry, str]:
    for fault in diagnosis.faults_of(FaultKind.GONE):
        if reason := _reason_of(fault.reason):
            return reason, ""
    if diagnosis.forfeit is None:
        return faults.HUNG_UP, ""
    if diagnosis.forfeit.away_ms >= diagnosis.away_limit_ms > 0:
        limit_s = diagnosis.away_limit_ms / 1000
        return faults.AWAY, f"A bot may be away for {limit_s:g} s of a match in all."
    return faults.LEFT, ""


_ADVICE: Final[Mapping[FaultKind, Callable[[MatchDiagnosis], tuple[ErrorEntry, str]]]] = {
    FaultKind.TIMEOUT: _on_timeouts,
    FaultKind.ILLEGAL: _on_illegal,
    FaultKind.MALFORMED: lambda _: (faults.MALFORMED, ""),
    FaultKind.GONE: _on_gone,
    FaultKind.ERROR: lambda _: (faults.ERROR, ""),
}
