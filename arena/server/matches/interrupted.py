"""Matches that a stop or a crash interrupted, and what the restarted arena does with each."""

import logging
from dataclasses import replace
from enum import Enum, auto
from typing import Final

from arena.games.catalogue import BadOptions, UnknownGame
from arena.referee import MatchSpec
from arena.replay.deal_book import Opening, seat_views
from arena.replay.fairness import context_of
from arena.replay.journal.journal import boot_id
from arena.replay.journal.recovery import UnfinishedMatch
from arena.replay.read import Unplayable, spec_of
from arena.server.orders import DealSetOrder, order_of_message
from arena.wire.terms import OtherRules
from cardarena.v1 import journal_pb2

_log = logging.getLogger(__name__)

UNPLAYABLE: Final = (UnknownGame, OtherRules, BadOptions, ValueError)
"""Errors that an order in the journal of an earlier version of the arena may raise."""


class RecoveryAction(Enum):
    """What the arena does with an interrupted match."""

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
    """Whether the machine was restarted since `boot`; then the disk may lack what bots have received."""
    now = boot_id()
    return "" not in (boot, now) and boot != now


def action_for(unfinished: UnfinishedMatch) -> RecoveryAction:
    """The action for an interrupted match."""
    crashed = after_power_cut(unfinished.boot_id)
    order = unfinished.order
    if unfinished.opening is None or (unfinished.damaged and not crashed):
        return RecoveryAction.ABORT_AS_DAMAGED
    if order is not None and order.ordered_again:
        if not unfinished.opened.deal_set:
            return (
                RecoveryAction.ABORT
            )  # as `arena play`, which ordered it, has ended with the arena
        # After a power cut only if its deal-set has a result: otherwise packs are drawn anew.
        return RecoveryAction.RESUME_WHEN_ORDERED
    return RecoveryAction.ABORT if crashed or order is None else RecoveryAction.RESUME_NOW


def kept_order(ordered: journal_pb2.Ordered | None, match_id: str) -> DealSetOrder | None:
    """The order in a journal; None if there is none, or this arena cannot play it."""
    if ordered is None:
        return None
    try:
        return order_of_message(ordered.deal_set)
    except UNPLAYABLE as error:
        fields = {"match": match_id, "why": str(error)}
        _log.warning("an order cannot be played any more", extra=fields)
        return None


def spec_again(unfinished: UnfinishedMatch) -> MatchSpec:
    """The specification of an interrupted match.

    Raises:
      Unplayable: if this arena has other rules, or the deals are lost.
    """
    if unfinished.opening is None:
        raise Unplayable("the key of its deals is lost")
    return spec_of_opened(unfinished.opened, unfinished.opening)


def spec_of_opened(opened: journal_pb2.Opened, opening: Opening) -> MatchSpec:
    """The specification of a match in a journal.

    Raises:
      Unplayable: if this arena has other rules, or the deals differ.
    """
    spec = spec_of(opened, opening.key)
    if spec.fair_deal is None:
        return spec
    views = seat_views(context_of(opened), opened.fair_deal, opening.plan, opened.match_id)
    return replace(spec, deal_contexts=views)
