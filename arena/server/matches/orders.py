"""A match as it is ordered, and what is told of it afterwards."""

from dataclasses import dataclass, field
from typing import Final

from arena.deal import first_pack
from arena.games.catalogue import BadOptions, Game, UnknownGame, game_by_id
from arena.games.contract import Options
from arena.referee import Outcome, TimeControl
from arena.server.bots import BotId
from arena.server.deals.fair import PlannedMatch
from arena.server.refusals import invalid, not_found
from arena.wire.settings import settings_of_options, values_of_settings
from cardarena.v1 import journal_pb2

DEFAULT_TIME_CONTROL: Final = TimeControl()


@dataclass(frozen=True, slots=True)
class MatchOrder:
    """A match that is to be played."""

    game: str
    bots: tuple[BotId, ...]
    """By seat."""
    options: dict[str, object] = field(default_factory=dict)
    time_control: TimeControl = DEFAULT_TIME_CONTROL
    seed: str = ""
    """Makes the deals repeatable; empty deals fairly."""
    match_id: str = ""
    """Empty makes one at random."""
    deal_set: str = ""
    """Matches of one deal-set share its boards."""
    tables: int = 1
    """Matches of the deal-set that are still to be played: its replays stay closed until all
    have ended."""
    plan: tuple[PlannedMatch, ...] = ()
    """All matches of the deal-set; empty is this one alone."""
    fault_limit: int = 10


@dataclass(slots=True)
class MatchRecord:
    """What the lobby tells of a match."""

    match_id: str
    game: str
    bots: tuple[str, ...]
    outcome: Outcome | None = None


def checked(order: MatchOrder) -> tuple[Game, Options]:
    """The game of an order, and its options.

    Raises:
      Refused: if there is no such game, or it is not played so.
    """
    try:
        game = game_by_id(order.game)
    except UnknownGame as error:
        raise not_found("UNKNOWN_GAME", str(error)) from None
    seats = len(order.bots)
    try:
        options = game.options(order.options, seats)
        # Options that only the rules can judge, as their fit to the seats.
        first_pack(game.rules, options, seats)
    except BadOptions as error:
        reason = "BAD_SEATS" if seats not in game.seats else "BAD_OPTIONS"
        raise invalid(reason, str(error)) from None
    return game, options


def promise_of(order: MatchOrder, game: Game, options: Options) -> journal_pb2.Ordered:
    """An order as the journal keeps it until the match begins."""
    return journal_pb2.Ordered(
        match_id=order.match_id,
        game=order.game,
        options=settings_of_options(game, options),
        bots=[bot.name for bot in order.bots],
        time_control=order.time_control.message,
        seed=order.seed,
    )


def promised(ordered: journal_pb2.Ordered) -> MatchOrder:
    """The order that the journal kept."""
    return MatchOrder(
        game=ordered.game,
        bots=tuple(BotId(name) for name in ordered.bots),
        options=dict(values_of_settings(ordered.options)),
        time_control=TimeControl.from_message(ordered.time_control),
        seed=ordered.seed,
        match_id=ordered.match_id,
    )
