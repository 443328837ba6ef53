"""What is ordered of the arena: a deal-set, the matches of it, and who sits where."""

import secrets
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from arena.deal import first_pack, plan_line, rules_hash, setting_texts
from arena.games.catalogue import BadOptions, UnknownGame, game_by_id
from arena.server.bots import BotId
from arena.server.refusals import invalid, not_found
from arena.terms import MatchTerms
from arena.wire.terms import OtherRules, terms_message, terms_of_message
from cardarena.v1 import game_pb2, journal_pb2


class AbsentBots(IntEnum):
    """What becomes of a bot that is not there when its match begins; numbered as in the journal."""

    REFUSED = 1
    """The order is refused."""
    PLAYED_AS_GONE = 2
    """Its seat is played by fallback."""


@dataclass(frozen=True, slots=True)
class OrderPolicy:
    """How a match is dealt with by the arena, apart from how it is played."""

    absent_bots: AbsentBots
    ordered_again: bool
    """After a restart of the arena the match waits until it is ordered again; otherwise the arena
    goes on with it by itself."""
    waits_for_turn: bool
    """While the arena is late or its disk is full the match waits; otherwise it is refused."""


BY_HAND: Final = OrderPolicy(AbsentBots.REFUSED, ordered_again=False, waits_for_turn=False)
"""For a match between bots that are there now, as somebody at the lobby makes it."""
PROMISED: Final = OrderPolicy(AbsentBots.PLAYED_AS_GONE, ordered_again=False, waits_for_turn=False)
"""For a match that was made by hand before the arena was restarted, and had not begun."""
SCHEDULED: Final = OrderPolicy(AbsentBots.PLAYED_AS_GONE, ordered_again=True, waits_for_turn=True)
"""For a match of a schedule that is kept elsewhere, as a tournament's is."""


@dataclass(frozen=True, slots=True)
class TableOrder:
    """One match of a deal-set, and who plays it."""

    match_id: str
    bots: tuple[BotId, ...]
    """By seat."""
    rotation: int = 0
    """By how many seats the bots are turned; 0 for a match alone."""


@dataclass(frozen=True, slots=True)
class DealSetOrder:
    """One list of boards and all the matches they are played at.

    Raises:
      ValueError: if there is no match, or one has another number of bots than there are seats.
    """

    deal_set: str
    """Its name; that of a match alone is the match's id."""
    terms: MatchTerms
    """What all its matches are played by."""
    tables: tuple[TableOrder, ...]
    seed: str = ""
    """Makes the deals repeatable; empty deals fairly. Secret while it is played."""

    def __post_init__(self) -> None:
        if not self.tables or any(len(each.bots) != self.terms.seats for each in self.tables):
            raise ValueError("a deal-set has matches, each with a bot for every seat")
        if self.terms.seeded != bool(self.seed):
            raise ValueError("the terms of a deal-set are seeded if it has a seed, and only then")

    @classmethod
    def of_match(
        cls, terms: MatchTerms, bots: tuple[BotId, ...], *, seed: str = "", match_id: str = ""
    ) -> "DealSetOrder":
        """A match alone; without an id it gets one at random."""
        match_id = match_id or secrets.token_hex(8)
        return cls(match_id, terms, (TableOrder(match_id, bots),), seed)

    @property
    def alone(self) -> bool:
        """Whether it is a match alone, whose replay may be read as soon as it has ended."""
        return len(self.tables) == 1 and self.tables[0].match_id == self.deal_set

    @property
    def match_ids(self) -> tuple[str, ...]:
        return tuple(table.match_id for table in self.tables)

    @property
    def bots(self) -> tuple[BotId, ...]:
        """Everybody who sits at one of the matches, once."""
        return tuple(dict.fromkeys(bot for table in self.tables for bot in table.bots))

    def table(self, match_id: str) -> TableOrder:
        """The match of this id, which has to be one of the deal-set's."""
        return next(each for each in self.tables if each.match_id == match_id)

    # What a fair deal is bound to before anybody adds entropy.

    @property
    def plan(self) -> str:
        """Which match plays the boards in which rotation, as replays reveal it."""
        return "\n".join(
            plan_line(
                table.match_id, table.rotation, ((bot.name, bot.instance) for bot in table.bots)
            )
            for table in self.tables
        )

    @property
    def rules_hash(self) -> bytes:
        """Binds the game, the version of its rules and all its options."""
        game, options = self.terms.game, self.terms.options
        values = {each.name: getattr(options, each.name) for each in game.settings}
        return rules_hash(game.id, game.rules_version, setting_texts(values))

    @property
    def deck(self) -> tuple[str, ...]:
        """The pack before chance has touched it."""
        terms = self.terms
        return tuple(map(str, first_pack(terms.game.rules, terms.options, terms.seats)))


def ordered_message(order: DealSetOrder, match_id: str, policy: OrderPolicy) -> journal_pb2.Ordered:
    """An order as the journal keeps it."""
    return journal_pb2.Ordered(
        match_id=match_id,
        deal_set=deal_set_message(order),
        absent_bots=policy.absent_bots.value,  # type: ignore[arg-type]
        ordered_again=policy.ordered_again,
    )


def deal_set_message(order: DealSetOrder) -> journal_pb2.OrderedDealSet:
    """The order of a deal-set as `order_of_message` reads it."""
    return journal_pb2.OrderedDealSet(
        deal_set=order.deal_set,
        terms=terms_message(order.terms),
        tables=[
            journal_pb2.OrderedTable(
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
    )


def order_of_message(message: journal_pb2.OrderedDealSet) -> DealSetOrder:
    """The order that the journal kept.

    Raises:
      UnknownGame, OtherRules, BadOptions, ValueError: if this arena cannot play it any more.
    """
    return DealSetOrder(
        message.deal_set,
        terms_of_message(message.terms),
        tuple(
            TableOrder(
                table.match_id,
                tuple(BotId(each.bot, each.instance) for each in table.bots),
                table.rotation,
            )
            for table in message.tables
        ),
        message.seed,
    )


def requested_terms(request: game_pb2.MatchTerms, *, seats: int, seeded: bool) -> MatchTerms:
    """The terms that a client asks for.

    Raises:
      Refused: if there is no such game, or it is not played so.
    """
    asked = game_pb2.MatchTerms()
    asked.CopyFrom(request)
    asked.seeded = seeded
    if asked.seats not in (0, seats):
        raise invalid("BAD_SEATS", f"{asked.seats} seats are asked for, and {seats} bots")
    asked.seats = seats
    try:
        terms = terms_of_message(asked)
        # Options that only the rules can judge, as their fit to the seats.
        first_pack(terms.game.rules, terms.options, seats)
    except UnknownGame as error:
        raise not_found("UNKNOWN_GAME", str(error)) from None
    except OtherRules as error:
        raise invalid("OTHER_RULES", str(error)) from None
    except BadOptions as error:
        raise invalid(_what_is_bad(asked), str(error)) from None
    except ValueError as error:
        raise invalid("BAD_TIME_CONTROL", str(error)) from None
    return terms


def _what_is_bad(asked: game_pb2.MatchTerms) -> str:
    return "BAD_OPTIONS" if asked.seats in game_by_id(asked.game).seats else "BAD_SEATS"
