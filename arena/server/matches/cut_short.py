"""Matches that a stop or a crash cut short: what becomes of each when the arena is back."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum, auto
from pathlib import Path
from typing import Final

from arena.referee import AbortCause, Ending, MatchSpec, Outcome
from arena.replay.fairness import context_of
from arena.replay.journal.journal import Journal, boot_id
from arena.replay.journal.recovery import KeptSession, Recovery, Unfinished
from arena.replay.read import Unplayable, spec_of
from arena.replay.signing import Signer
from arena.replay.write import write_replay
from arena.server.bots import BotId
from arena.server.matches.orders import MatchOrder
from cardarena.v1 import journal_pb2

KEPT_SILENT: Final = 1_000
"""Bots without a match so far whose streams are still counted after a restart."""

_log = logging.getLogger(__name__)


class RecoveryAction(Enum):
    """What becomes of a match that was cut short."""

    GOES_ON = auto()
    """At once: its bots dial in again by themselves."""
    WAITS = auto()
    """Until somebody leases it again, as its tournament does."""
    BEGINS_ANEW = auto()
    """When somebody leases it again."""
    ENDS = auto()
    """Nobody will come for it."""


def action_of(unfinished: Unfinished) -> RecoveryAction:
    """What becomes of a match."""
    # A power cut may have taken moves back that bots have seen.
    crashed = "" not in (unfinished.boot_id, boot_id()) and unfinished.boot_id != boot_id()
    if unfinished.leased and unfinished.opened.deal_set:
        return RecoveryAction.BEGINS_ANEW if crashed else RecoveryAction.WAITS
    return RecoveryAction.ENDS if crashed or unfinished.leased else RecoveryAction.GOES_ON


def actions_of(recovery: Recovery) -> dict[RecoveryAction, list[Unfinished]]:
    """What becomes of all matches that had not ended."""
    actions: dict[RecoveryAction, list[Unfinished]] = {fate: [] for fate in RecoveryAction}
    for each in recovery.unfinished:
        actions[action_of(each)].append(each)
    return actions


def order_of(unfinished: Unfinished) -> MatchOrder:
    """The order of a match that goes on, as far as it is still needed."""
    opened = unfinished.opened
    bots = tuple(BotId(each.bot, each.instance) for each in unfinished.seated)
    return MatchOrder(
        opened.game,
        bots or tuple(BotId(each.name) for each in opened.entrants),
        match_id=opened.match_id,
        deal_set=opened.deal_set,
    )


def spec_again(unfinished: Unfinished) -> MatchSpec:
    """What the match is played by.

    Raises:
      Unplayable: if this arena has other rules, or the deals are lost.
    """
    if unfinished.opening is None:
        raise Unplayable("the key of its deals is lost")
    spec = spec_of(unfinished.opened, unfinished.opening.key)
    if spec.fair_deal is None:
        return spec
    return replace(spec, deal_context=context_of(unfinished.opened))


def close(
    unfinished: Unfinished,
    cause: AbortCause,
    journal: Journal,
    replays: Path,
    signer: Signer | None = None,
) -> None:
    """End a match that cannot go on: it counts for nothing, and its replay is published."""
    match_id, past = unfinished.opened.match_id, unfinished.past
    log = journal.match_again(unfinished.bodies)
    end_s = max((each.sent_s + each.charged_s for each in past), default=0.0)
    outcome = Outcome(match_id, Ending.ABORTED, (), (), (), (), decisions=len(past), cause=cause)
    log.closed(outcome, end_s)
    if unfinished.opening is not None:
        try:
            write_replay(replays, match_id, log.bodies, unfinished.opening, signer)
        except OSError:
            _log.exception("a replay could not be written", extra={"match": match_id})


def keep_sessions(sessions: Mapping[tuple[str, int], KeptSession], journal: Journal) -> None:
    """Write down what sessions of earlier journals had counted up to."""
    silent = [bot for bot, kept in sessions.items() if not kept.matches]
    passed_over = set(silent[:-KEPT_SILENT])
    for (name, instance), kept in sessions.items():
        if (name, instance) in passed_over:
            continue
        message = journal_pb2.SessionKept(
            bot=name, instance=instance, epoch=kept.epoch, matches=kept.matches
        )
        journal.append(journal_pb2.Record(session=message).SerializeToString())
