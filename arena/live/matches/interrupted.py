"""The matches of earlier processes after a restart: the action for an interrupted one, and ends that are sent again."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from enum import Enum, auto
from pathlib import Path
from typing import Final

from arena.games.catalogue import BadOptions, UnknownGame
from arena.games.contract import Seat
from arena.live.orders import DealSetOrder, order_of_message
from arena.live.session.asks import match_end
from arena.records.bot_notes import without_notes
from arena.records.deal_book import Opening, seat_views
from arena.records.fairness import context_of
from arena.records.journal.journal import boot_id
from arena.records.journal.recovery import ToldEnd, UnfinishedMatch
from arena.records.playback import play_back
from arena.records.read import Replay, Unplayable, spec_of
from arena.records.records import Framed
from arena.records.write import with_revealed
from arena.referee.spec import AbortCause, Ending, Fault, FaultKind, MatchSpec, Outcome
from arena.referee.wire.games import codec_of
from arena.referee.wire.terms import OtherRules
from cardarena.v1 import journal_pb2, play_pb2

_log = logging.getLogger(__name__)

UNPLAYABLE: Final = (UnknownGame, OtherRules, BadOptions, ValueError)
"""Errors that an order in the journal of another version of the arena may raise."""


class RecoveryAction(Enum):
    """The action of the arena for an interrupted match."""

    RESUME_NOW = auto()
    """Resume it now: its bots reconnect by themselves."""
    RESUME_WHEN_ORDERED = auto()
    """Resume it once it is ordered again, as competitions do."""
    ABORT = auto()
    """Abort it: nothing will order it again, or it cannot be resumed."""
    ABORT_AS_DAMAGED = auto()
    """Abort it: its bots may have received more than the journal has, or its packs are lost. A match of a
    deal-set is ordered again."""


def after_power_cut(boot: str) -> bool:
    """Return whether the machine was restarted since `boot`; then the disk may lack what bots have received."""
    now = boot_id()
    return "" not in (boot, now) and boot != now


def action_for(unfinished: UnfinishedMatch) -> RecoveryAction:
    """Return the action for an interrupted match."""
    crashed = after_power_cut(unfinished.boot_id)
    order = unfinished.order
    if unfinished.opening is None or (unfinished.damaged and not crashed):
        return RecoveryAction.ABORT_AS_DAMAGED
    if order is not None and order.ordered_again:
        if not unfinished.opened.deal_set:
            return RecoveryAction.ABORT  # `arena play`, which ordered it, has ended with the arena
        # After a power cut, a match is resumed only if its deal-set has a result: otherwise packs are drawn anew.
        return RecoveryAction.RESUME_WHEN_ORDERED
    return RecoveryAction.ABORT if crashed or order is None else RecoveryAction.RESUME_NOW


def kept_order(ordered: journal_pb2.Ordered | None, match_id: str) -> DealSetOrder | None:
    """Return the order in a journal; None if there is none, or this arena cannot play it."""
    if ordered is None:
        return None
    try:
        return order_of_message(ordered.deal_set)
    except UNPLAYABLE as error:
        fields = {"match": match_id, "why": str(error)}
        _log.warning("an order cannot be played any more", extra=fields)
        return None


def spec_again(unfinished: UnfinishedMatch) -> MatchSpec:
    """Return the specification of an interrupted match.

    Raises `Unplayable` if this arena has other rules, or the deals are lost.
    """
    if unfinished.opening is None:
        raise Unplayable("the key of its deals is lost")
    return spec_of_opened(unfinished.opened, unfinished.opening)


def spec_of_opened(opened: journal_pb2.Opened, opening: Opening) -> MatchSpec:
    """Return the specification of a match in a journal.

    Raises `Unplayable` if this arena has other rules, or the deals differ.
    """
    spec = spec_of(opened, opening.key)
    if spec.fair_deal is None:
        return spec
    views = seat_views(context_of(opened), opened.fair_deal, opening.plan, opened.match_id)
    return replace(spec, deal_contexts=views)


def last_events(
    bodies: Sequence[bytes], opening: Opening, replay: Path
) -> tuple[tuple[bytes, ...], ...]:
    """Return the events that each seat received since its last ask, by seat. The match is replayed to compute them.

    `bodies` are the match's records; without any, they are read from its replay.

    Raises `OSError`, `Damaged`, `Discrepancy` or `Unplayable` if that is not possible.
    """
    if bodies:
        published, _ = without_notes(bodies)
        played = Replay.of_records(Framed(0, body) for body in with_revealed(published, opening))
    else:
        played = Replay.open(replay)
    spec = played.spec()
    rules, codec = spec.terms.game.rules, codec_of(spec.terms.game)
    events: list[list[object]] = [[] for _ in range(spec.terms.seats)]
    records, before = list(played.decided), 0
    for step in play_back(played):
        before += len(step.decisions)
        if not step.complete:
            break
        for sent in step.events:
            for seat in range(spec.terms.seats) if sent.sent_to is None else sent.sent_to:
                events[seat].append(sent.event)
        acting = rules.to_act(step.state)
        unasked = {
            Seat(decision.seat)
            for decision in records[before : before + len(acting)]
            if decision.unasked
        }
        for seat in acting:
            if seat not in unasked:
                events[seat].clear()
    return tuple(tuple(codec.game_event(event) for event in received) for received in events)


def end_again(end: ToldEnd, seat: int, number: int, last: Sequence[bytes]) -> play_pb2.MatchEnd:
    """Return the end of a match for the bot at a seat.

    `number` is the number of the match on the bot's streams, `last` are the last events of the seat.
    """
    closed = end.closed
    outcome = Outcome(
        end.opened.match_id,
        Ending(closed.ending),
        tuple(closed.scores),
        tuple(closed.places),
        hand_scores=(),
        faults=tuple(
            Fault(fault.seat, FaultKind(fault.fault), fault.decision, fault.reason)
            for fault in end.faults
        ),
        decisions=0,
        cause=AbortCause(closed.cause) if closed.cause else None,
    )
    return match_end(number, seat, outcome, last)
