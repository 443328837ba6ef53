"""Orders of matches: a deal-set, its matches, and the bots of each by seat."""

import secrets
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from arena.bots.bot_ids import BotId
from arena.errors.refused import Refused
from arena.games.catalogue import BadOptions, UnknownGame, game_by_id
from arena.referee.deal import COMMON, first_pack, plan_line, rules_hash, setting_texts
from arena.referee.terms import MatchTerms
from arena.referee.wire.terms import OtherRules, terms_message, terms_of_message
from cardarena.v1 import game_pb2, journal_pb2


class AbsentBots(IntEnum):
    """The treatment of bots that are not connected when their match begins; numbered as in the journal."""

    REFUSED = 1
    """The order is refused."""
    PLAYED_AS_GONE = 2
    """The fallback plays its seat."""


@dataclass(frozen=True, slots=True)
class OrderPolicy:
    """The rules for a match before it begins and after a restart."""

    absent_bots: AbsentBots
    ordered_again: bool
    """Whether after a restart the match waits until it is ordered again; otherwise the arena resumes it
    by itself."""
    waits_for_turn: bool
    """Whether the match waits while the arena is late or its disk is full; otherwise it is refused."""


BY_HAND: Final = OrderPolicy(AbsentBots.REFUSED, ordered_again=False, waits_for_turn=False)
"""The policy for a match between connected bots that a client of the lobby orders."""
PROMISED: Final = OrderPolicy(AbsentBots.PLAYED_AS_GONE, ordered_again=False, waits_for_turn=False)
"""The policy for a match that was ordered by hand before a restart of the arena, and had not begun."""
SCHEDULED: Final = OrderPolicy(AbsentBots.PLAYED_AS_GONE, ordered_again=True, waits_for_turn=True)
"""The policy for a match of a competition, whose schedule is in the store."""


@dataclass(frozen=True, slots=True)
class TableOrder:
    """One match of a deal-set, and its bots."""

    match_id: str
    bots: tuple[BotId, ...]
    """By seat."""
    rotation: int = 0
    """The number of seats by which the bots are rotated; 0 for a single match."""


@dataclass(frozen=True, slots=True)
class DealSetOrder:
    """One list of boards and all matches with these boards.

    Raises `ValueError` if there is no match, or the number of bots of one differs from the number of seats.
    """

    deal_set: str
    """The name of the deal-set; that of a single match is the match's id."""
    terms: MatchTerms
    tables: tuple[TableOrder, ...]
    seed: str = ""
    """Determines the deals; empty for fair deals. Secret while it is played."""
    own_dice: bool = False
    """Whether bots always have separate dice at each table."""
    common_dice: bool = False
    """Whether all its tables have the same dice.

    They may not if a bot could tell another what it saw at one table: the other would know the dice of an opponent at
    the next.
    """

    def __post_init__(self) -> None:
        if not self.tables or any(len(table.bots) != self.terms.seats for table in self.tables):
            raise ValueError("a deal-set has matches, each with a bot for every seat")
        if self.terms.seeded != bool(self.seed):
            raise ValueError("the terms of a deal-set are seeded if it has a seed, and only then")

    @classmethod
    def of_match(
        cls, terms: MatchTerms, bots: tuple[BotId, ...], *, seed: str = "", match_id: str = ""
    ) -> "DealSetOrder":
        """Return the order of a single match; without an id it gets a random one."""
        match_id = match_id or secrets.token_hex(8)
        return cls(match_id, terms, (TableOrder(match_id, bots),), seed)

    @property
    def alone(self) -> bool:
        """Whether it is a single match, whose replay is public as soon as it has ended."""
        return len(self.tables) == 1 and self.tables[0].match_id == self.deal_set

    @property
    def match_ids(self) -> tuple[str, ...]:
        return tuple(table.match_id for table in self.tables)

    @property
    def bots(self) -> tuple[BotId, ...]:
        """The bots of all its matches, each once."""
        return tuple(dict.fromkeys(bot for table in self.tables for bot in table.bots))

    def table(self, match_id: str) -> TableOrder:
        """Return the match of this id, which has to be in the deal-set."""
        return next(table for table in self.tables if table.match_id == match_id)

    def dice_table(self, match_id: str) -> int:
        """Return the table whose dice a match has, as replays record it."""
        if self.common_dice or len(self.tables) == 1:
            return COMMON
        return self.match_ids.index(match_id) + 1

    # A fair deal commits to the rotations before bots add entropy.

    @property
    def plan(self) -> str:
        """Return the rotation of each match, as replays reveal it."""
        return "\n".join(
            plan_line(
                table.match_id, table.rotation, ((bot.name, bot.instance) for bot in table.bots)
            )
            for table in self.tables
        )

    @property
    def rules_hash(self) -> bytes:
        """The hash of the game, the version of its rules, and its options that have an effect."""
        game = self.terms.game
        values = game.values(self.terms.options)
        return rules_hash(game.id, game.rules_version, setting_texts(values))

    @property
    def deck(self) -> tuple[str, ...]:
        terms = self.terms
        return tuple(map(str, first_pack(terms.game.rules, terms.options, terms.seats)))


def ordered_message(
    order: journal_pb2.OrderedDealSet, match_id: str, policy: OrderPolicy
) -> journal_pb2.Ordered:
    """Return the order of a match as a record of the journal; `order` is that of its deal-set."""
    return journal_pb2.Ordered(
        match_id=match_id,
        deal_set=order,
        absent_bots=policy.absent_bots.value,  # type: ignore[arg-type]
        ordered_again=policy.ordered_again,
    )


def deal_set_message(order: DealSetOrder) -> journal_pb2.OrderedDealSet:
    """Return the order of a deal-set as `order_of_message` reads it."""
    return journal_pb2.OrderedDealSet(
        deal_set=order.deal_set,
        terms=terms_message(order.terms),
        matches=[
            journal_pb2.OrderedMatch(
                match_id=table.match_id,
                rotation=table.rotation,
                bots=[
                    journal_pb2.OrderedBot(bot=bot.name, instance=bot.instance)
                    for bot in table.bots
                ],
            )
            for table in order.tables
        ],
        seed=order.seed,
        common_dice=order.common_dice,
    )


def order_of_message(message: journal_pb2.OrderedDealSet) -> DealSetOrder:
    """Return the order in a record of the journal.

    Raises `UnknownGame`, `OtherRules`, `BadOptions` or `ValueError` if this arena cannot play it.
    """
    return DealSetOrder(
        message.deal_set,
        terms_of_message(message.terms),
        tuple(
            TableOrder(
                table.match_id,
                tuple(BotId(bot.bot, bot.instance) for bot in table.bots),
                table.rotation,
            )
            for table in message.matches
        ),
        message.seed,
        message.common_dice,
    )


def requested_terms(request: game_pb2.MatchTerms, *, seats: int, seeded: bool) -> MatchTerms:
    """Return the terms that a client requests.

    Raises `Refused` if there is no such game, or it does not allow these terms.
    """
    asked = game_pb2.MatchTerms()
    asked.CopyFrom(request)
    asked.seeded = seeded
    if asked.seats not in (0, seats):
        raise Refused("BAD_SEATS", f"{asked.seats} are asked for, and {seats} bots are named")
    asked.seats = seats
    if asked.time_odds:
        raise Refused("BAD_TIME_CONTROL", "a client cannot give time odds; a plan can")
    try:
        terms = terms_of_message(asked)
        # The rules check options that depend on the seats.
        first_pack(terms.game.rules, terms.options, seats)
    except UnknownGame:
        raise Refused("UNKNOWN_GAME", repr(asked.game)) from None
    except OtherRules as error:
        raise Refused("OTHER_RULES", str(error)) from None
    except BadOptions as error:
        raise Refused(_bad_part(asked), str(error)) from None
    except ValueError as error:
        raise Refused("BAD_TIME_CONTROL", str(error)) from None
    return terms


def _bad_part(asked: game_pb2.MatchTerms) -> str:
    return "BAD_OPTIONS" if asked.seats in game_by_id(asked.game).seats else "BAD_SEATS"
