"""Matches that a stop or a crash cut short: what becomes of each when the arena is back."""

import logging
from dataclasses import replace
from enum import Enum, auto
from typing import Final

from arena.games.catalogue import BadOptions, UnknownGame
from arena.referee import MatchSpec
from arena.replay.deal_book import Opening, seat_views
from arena.replay.fairness import context_of
from arena.replay.journal.journal import boot_id
from arena.replay.journal.recovery import Unfinished
from arena.replay.read import Unplayable, spec_of
from arena.server.orders import DealSetOrder, order_of_message
from arena.wire.terms import OtherRules
from cardarena.v1 import journal_pb2

_log = logging.getLogger(__name__)

UNPLAYABLE: Final = (UnknownGame, OtherRules, BadOptions, ValueError)
"""Errors that an order may raise which an earlier version of the arena wrote down."""


class RecoveryAction(Enum):
    """What becomes of a match that was cut short."""

    RESUME_NOW = auto()
    """Its bots dial in again by themselves."""
    RESUME_WHEN_ORDERED = auto()
    """It goes on once it is ordered again, as tournaments do."""
    ABORT = auto()
    """Nobody will come for it, or it cannot go on."""
    ABORT_AS_DAMAGED = auto()
    """Its bots may have been told more than is known of it, or its packs are not known any more; of a
    deal-set, it is ordered again."""


def after_power_cut(boot: str) -> bool:
    """Whether the machine was started again since; then what bots have seen may not be on the disk."""
    now = boot_id()
    return "" not in (boot, now) and boot != now


def action_for(unfinished: Unfinished) -> RecoveryAction:
    """What becomes of a match."""
    crashed = after_power_cut(unfinished.boot_id)
    order = unfinished.order
    if unfinished.opening is None or (unfinished.damaged and not crashed):
        return RecoveryAction.ABORT_AS_DAMAGED
    if order is not None and order.ordered_again:
        if not unfinished.opened.deal_set:
            return RecoveryAction.ABORT  # as of `arena play`, which has ended with the arena
        # Also after a power cut, if its deal-set has a result: else the packs were drawn anew.
        return RecoveryAction.RESUME_WHEN_ORDERED
    return RecoveryAction.ABORT if crashed or order is None else RecoveryAction.RESUME_NOW


def kept_order(ordered: journal_pb2.Ordered | None, match_id: str) -> DealSetOrder | None:
    """The order that a journal kept; None if there is none that this arena could play."""
    if ordered is None:
        return None
    try:
        return order_of_message(ordered.deal_set)
    except UNPLAYABLE as error:
        fields = {"match": match_id, "why": str(error)}
        _log.warning("an order can be kept no more", extra=fields)
        return None


def spec_again(unfinished: Unfinished) -> MatchSpec:
    """What the match is played by.

    Raises:
      Unplayable: if this arena has other rules, or the deals are lost.
    """
    if unfinished.opening is None:
        raise Unplayable("the key of its deals is lost")
    return spec_of_opened(unfinished.opened, unfinished.opening)


def spec_of_opened(opened: journal_pb2.Opened, opening: Opening) -> MatchSpec:
    """What a match was played by.

    Raises:
      Unplayable: if this arena has other rules, or the deals are not these.
    """
    spec = spec_of(opened, opening.key)
    if spec.fair_deal is None:
        return spec
    views = seat_views(context_of(opened), opened.fair_deal, opening.plan, opened.match_id)
    return replace(spec, deal_contexts=views)
