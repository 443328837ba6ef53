"""Writes the page of errors from the table in arena/errors: `docs/errors.md`."""

from collections.abc import Iterable, Sequence
from typing import Final

from arena.errors import ErrorEntry, ExitEntry, RefusalEntry, checks, exits, faults, refusals

HEAD: Final = """\
# Errors

<!-- Written by scripts/reference_pages.py from arena/errors: do not edit. -->

This page is for everybody who reads a message of the arena. Every fault, refusal, failed check, failure of
the store and exit code has a code, which messages name in parentheses. Search this page for the code. Names in braces stand for values in the message.
"""
SECTIONS: Final[Sequence[tuple[str, str, Sequence[ErrorEntry]]]] = (
    (
        "Faults of bots",
        """\
A fault costs the bot its move: the fallback of the rules is played instead. `F-DEAL` is any fault
before the first card.""",
        (*faults.FAULTS, faults.DEAL),
    ),
    (
        "Reasons of faults",
        "The bot, its owner and the replay get the reason; others get the kind of the fault alone.",
        faults.REASONS,
    ),
    (
        "Diagnoses",
        "`arena match why` draws these conclusions from a whole match.",
        faults.DIAGNOSES,
    ),
    (
        "Aborted matches",
        "The arena aborts a match for a reason of its own; no bot is at fault.",
        faults.ABORTS,
    ),
    (
        "Refusals",
        """\
The reason is that of a `google.rpc.ErrorInfo` with the domain `cardarena`, beside the gRPC status.
Without a status the refusal is a message on the play stream, which goes on.""",
        refusals.REFUSALS,
    ),
    (
        "Qualification checks",
        "A check also fails with a fault of the bot, by its code above.",
        checks.CHECKS,
    ),
    (
        "The store",
        "The message names the file. The code is SQLite's own name of the error.",
        checks.STORE_FAILURES,
    ),
    ("Exit codes", "", exits.EXITS),
)


def page() -> str:
    """Return the page."""
    parts = [HEAD]
    for title, text, entries in SECTIONS:
        parts += [f"## {title}\n", *([text + "\n"] if text else []), _table(entries)]
    return "\n".join(parts)


def _table(entries: Sequence[ErrorEntry]) -> str:
    extra = _extra_heads(entries[0])
    rows = [("Code", *extra, "Meaning", "Cause", "What to do"), ["---"] * (4 + len(extra))]
    rows += [_row(entry) for entry in entries]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def _extra_heads(entry: ErrorEntry) -> Sequence[str]:
    match entry:
        case RefusalEntry():
            return ("Reason", "Status")
        case ExitEntry():
            return ("Program", "Exit code")
    return ()


def _row(entry: ErrorEntry) -> Iterable[str]:
    extra: tuple[str, ...] = ()
    match entry:
        case RefusalEntry():
            extra = (f"`{entry.reason}`", ", ".join(entry.statuses) or "–")
        case ExitEntry():
            extra = (f"`{entry.program}`", str(entry.number))
    return (f"`{entry.code}`", *extra, entry.meaning, entry.cause, entry.cure)
