"""One sentence of advice for every kind of fault that a bot made."""

from collections.abc import Iterator
from typing import Final

from arena.referee.spec import FaultKind
from arena.replay.account import RAISED, Account
from arena.replay.words import listed, seconds

_PLENTY: Final = 0.5
"""Who answered in less than this part of its time elsewhere was hardly slow just there."""


def advice(account: Account) -> Iterator[tuple[str, str]]:
    """What each kind of fault is called, and a sentence about it, in the order of a match."""
    if account.forfeited_before:
        yield "deals", _BEFORE_THE_DEAL
    if account.exceptions:
        yield "exceptions", _ON_EXCEPTIONS
    for kind in FaultKind:
        if account.faults_of(kind):
            yield kind.name.lower(), _ADVICE[kind](account)


_BEFORE_THE_DEAL: Final = (
    "What a bot commits to for the deals it must open, unchanged: the SDK does both by itself; a "
    "client of your own may take no part by committing zeros."
)


_ON_EXCEPTIONS: Final = (
    "An exception costs the move, for which the first one offered is played. To step through it, "
    "put the bot before the same ask again: `cardarena.local.replay(FILE, MyBot, seat=…, step=…)`."
)


def _on_timeouts(account: Account) -> str:
    faults = account.faults_of(FaultKind.TIMEOUT)
    allowed_us = min((each.move_ms + each.bank_before_ms) * 1000 for each in faults)
    if not account.slowest:
        return (
            "The bot answered nothing in time in this match: see that it answers every ask that "
            "it gets, with a move of it and the ask's own id."
        )
    longest_us = account.slowest[0].charged_us
    if longest_us < _PLENTY * allowed_us:
        return (
            f"All that the bot did answer took {seconds(longest_us)} or less, so this looks like "
            "a hang or a lost answer rather than slow thought: look for what is different at "
            "these decisions, and give the search an end."
        )
    slowest = listed(
        f"{each.decision} ({seconds(each.charged_us)})"
        for each in account.slowest
        if each.charged_us >= longest_us / 2
    )
    return (
        f"The slowest decisions that were in time were {slowest}: read `ask.clock`, which says "
        "how long a move may take and what is in the bank, and answer before that."
    )


def _on_illegal(account: Account) -> str:
    faults = account.faults_of(FaultKind.ILLEGAL)
    if all(each.complete for each in faults):
        return (
            "The moves offered were all there were: answer with one of `ask.moves`, or with its "
            "place in that list counted from 0."
        )
    return (
        "Answer with one of `ask.moves`, or its place in that list counted from 0; only where "
        "`ask.moves_complete` is false do the rules allow others, as "
        f"`arena games show {account.game.id}` tells."
    )


def _on_malformed(account: Account) -> str:
    faults = account.faults_of(FaultKind.MALFORMED)
    raised = [note.text for each in faults for note in each.notes if note.text.startswith(RAISED)]
    if raised:
        return (
            f"The bot's own code failed ({raised[0].removeprefix(RAISED)}), so the SDK had no "
            "move to send: the traceback is in what it printed; mend that, and answer with any of "
            "`ask.moves` where the code fails."
        )
    return (
        f"An answer holds the ask's id and either an index or a move of {account.game.id}, never "
        "neither; the SDK sends no other, and a client of your own is checked by the digest of "
        "the bytes above."
    )


def _on_gone(account: Account) -> str:
    if account.forfeit is None:
        return (
            "The connection was lost while the clock ran and did not come back in time: the SDK "
            "dials again by itself, so look at the network between, or at what kept it busy."
        )
    if account.forfeit.away_ms >= account.away_limit_ms > 0:
        return (
            f"A bot may be away for {account.away_limit_ms / 1000:g} s of a match in all: have "
            "it started again when it ends, and let the SDK dial again."
        )
    return (
        "The bot's process ended, or it said goodbye, in the middle of a match: the last lines "
        "that it printed say why; catch the error and answer with any of `ask.moves` instead."
    )


_ADVICE: Final = {
    FaultKind.TIMEOUT: _on_timeouts,
    FaultKind.ILLEGAL: _on_illegal,
    FaultKind.MALFORMED: _on_malformed,
    FaultKind.GONE: _on_gone,
}
