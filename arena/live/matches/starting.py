"""Starts matches: reserves their bots, fixes the deals and seats the bots, for the first time or after a restart."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import trio

from arena.bots.bot_ids import BotId
from arena.errors import faults
from arena.errors.refused import BOT_NOT_AVAILABLE, Refused
from arena.games.contract import Seat
from arena.live.deals.deal_sets import DealSets
from arena.live.matches.interrupted import spec_again
from arena.live.matches.match_record import MatchRecord, SeatedMatch
from arena.live.orders import AbsentBots, deal_set_message, ordered_message
from arena.live.session.asks import Seating
from arena.live.session.register import SessionRegister
from arena.live.session.session import Session, seat_all
from arena.records.journal.journal import Journal
from arena.records.journal.match_log import SeatedAt
from arena.records.journal.recovery import UnfinishedMatch
from arena.referee.deal import KeyedDeals, dice_of
from arena.referee.referee import Referee
from arena.referee.spec import FaultKind, ForfeitedSeat, MatchSpec, SeatedBot
from arena.referee.terms import MatchTerms
from cardarena.v1 import journal_pb2

SLOT_CHECK_S: Final = 1.0
"""The longest time in seconds between two checks of a scheduled match whose bot plays its limit of matches."""

Reserved: TypeAlias = tuple[Session, ...]
"""The sessions of a match's bots, by seat; each counts the match."""


class MatchStarter:
    """Reserves and seats the bots of matches that are about to begin, and records that in the journal.

    Reservations ensure that no bot gets more matches than it accepts.
    """

    def __init__(
        self, journal: Journal, deal_sets: DealSets, sessions: SessionRegister, referee: Referee
    ) -> None:
        """`referee` plays the matches, and measures the arena's lag while deals are agreed."""
        self._journal = journal
        self._deal_sets = deal_sets
        self._sessions = sessions
        self._referee = referee

    def reserve(self, match: MatchRecord) -> Reserved:
        """Reserve the match's bots; return their sessions by seat.

        Raises `Refused` if a bot that the order requires is not connected or will not play the match, or if the arena
        has ended a bot's process.
        """
        self.require_not_sent_home(match)
        sessions = tuple([self._available(bot, match) for bot in match.table.bots])
        for session in sessions:
            session.reserve()
        return sessions

    def require_not_sent_home(self, match: MatchRecord) -> None:
        """Require that the arena has not ended the process of a bot.

        Raises `Refused` if it has. A bot that is absent by its own fault is accepted.
        """
        for bot in match.table.bots:
            if (session := self._sessions.get(bot)) is not None and session.sent_home:
                raise Refused(BOT_NOT_AVAILABLE, f"the arena has ended the process of {bot.name!r}")

    async def bots_are_free(self, match: MatchRecord) -> None:
        """Wait until every bot accepts another match."""
        if not match.policy.waits_for_turn:
            return
        bots = match.table.bots
        while any(_is_full(self._sessions.get(bot), bots) for bot in bots):
            with trio.move_on_after(SLOT_CHECK_S):
                await self._referee.match_ended()

    def write_order(self, match: MatchRecord) -> None:
        ordered = ordered_message(deal_set_message(match.order), match.match_id, match.policy)
        self._journal.append(journal_pb2.Record(ordered=ordered).SerializeToString())

    async def start(self, match: MatchRecord, reserved: Reserved) -> SeatedMatch:
        order, bots = match.order, match.table.bots
        try:
            with self._referee.measuring():
                fixed = await self._deal_sets.fix(order)
        finally:
            release(reserved)
        spec = MatchSpec(
            match_id=match.match_id,
            terms=order.terms,
            entrants=tuple(
                SeatedBot(bot.name, publishes_notes=session.declared.publishes_notes)
                for bot, session in zip(bots, reserved, strict=True)
            ),
            deals=KeyedDeals(fixed.key),
            deal_key_sha256=hashlib.sha256(fixed.key).digest(),
            deal_set="" if order.alone else order.deal_set,
            forfeited_seats=_forfeited(fixed.forfeited_seats(bots), bots, match.unwilling),
            fair_deal=fixed.fair_deal,
            deal_contexts=fixed.seat_views(match.match_id),
            dice=dice_of(fixed.key, order.dice_table(match.match_id), order.terms.seats),
        )
        ports = seat_all(spec, reserved)
        log = self._journal.match(spec, _numbers(reserved, ports), match.grant)
        return SeatedMatch(spec, ports, log)

    def resume(self, match: MatchRecord, unfinished: UnfinishedMatch) -> SeatedMatch:
        """Seat the bots of an interrupted match again.

        Raises `Unplayable` if this arena has other rules, or the deals are lost.
        """
        spec, opening = spec_again(unfinished), unfinished.opening
        assert opening is not None
        bots = match.table.bots
        unknown = {bot for bot in bots if self._sessions.get(bot) is None}
        sessions = [self._sessions.session_of(bot) for bot in bots]
        for session in sessions:
            if match.policy.absent_bots is AbsentBots.REFUSED:
                session.expect_back()
            elif session.bot in unknown:
                session.leave()
        ports = seat_all(spec, sessions, [seated.match for seated in unfinished.seated])
        self.write_order(match)
        used = unfinished.used
        if match.policy.ordered_again:
            # Its bots are new processes: the time that the old ones used is not charged.
            used = tuple([time._replace(decision=0, used_s=0.0) for time in used])
        numbers = _numbers(sessions, ports)
        log = self._journal.match_again(unfinished.bodies, numbers, used, match.grant)
        for seat, port in enumerate(ports):
            port.had_notes(log.note_bytes[seat])
        self._deal_sets.goes_on(match.order, opening)
        return SeatedMatch(spec, ports, log, unfinished, used)

    def _available(self, bot: BotId, match: MatchRecord) -> Session:
        refuses = match.policy.absent_bots is AbsentBots.REFUSED
        session = self._sessions.get(bot)
        if session is None and not refuses:
            session = self._sessions.session_of(bot)
            session.leave()
        if session is None or not (session.connected or not refuses):
            raise Refused("UNKNOWN_BOT", f"{bot.name!r} is not connected")
        unwilling = _why_unwilling(session, match.order.terms, match.table.bots)
        if unwilling and not match.policy.waits_for_turn:
            raise Refused(BOT_NOT_AVAILABLE, f"{bot.name!r}: {unwilling}")
        if unwilling:
            match.refuse_seat(bot, unwilling)
        return session


def release(sessions: Reserved) -> None:
    """End the reservations for a match that has begun, or will not begin."""
    for session in sessions:
        session.unreserve()


def _is_full(session: Session | None, bots: Sequence[BotId]) -> bool:
    if session is None or not session.present:
        return False
    wanted = bots.count(session.bot)
    return wanted <= session.declared.max_matches < session.matches + wanted


def _why_unwilling(session: Session, terms: MatchTerms, bots: Sequence[BotId]) -> str:
    """Return why a connected bot will not play a match; empty if it will."""
    game, seats = terms.game, terms.seats
    if not session.connected:
        return ""
    if not session.plays(game.id, game.rules_version, seats):
        return faults.NOT_PLAYED.text(game=game.id, seats=seats)
    if session.matches + bots.count(session.bot) > session.declared.max_matches:
        return faults.FULL.text()
    return ""


def _forfeited(
    by_deals: Sequence[ForfeitedSeat], bots: Sequence[BotId], unwilling: Mapping[BotId, str]
) -> tuple[ForfeitedSeat, ...]:
    out = {
        seat: ForfeitedSeat(Seat(seat), FaultKind.GONE, unwilling[bot])
        for seat, bot in enumerate(bots)
        if bot in unwilling
    }
    out.update({forfeit.seat: forfeit for forfeit in by_deals})
    return tuple([out[seat] for seat in sorted(out)])


def _numbers(sessions: Sequence[Session], ports: Sequence[Seating]) -> list[SeatedAt]:
    return [
        SeatedAt(session.bot.name, session.bot.instance, port.number)
        for session, port in zip(sessions, ports, strict=True)
    ]
