"""Starts matches: agrees the deals and seats the bots, for the first time or again."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from arena.deal import KeyedDeals, dice_of
from arena.games.contract import Seat
from arena.referee import FaultKind, MatchSpec, SeatedBot
from arena.referee.spec import ForfeitedSeat
from arena.replay.journal.journal import Journal
from arena.replay.journal.match_log import SeatedAt
from arena.replay.journal.recovery import UnfinishedMatch
from arena.server.bots import BotId
from arena.server.deals.deal_sets import DealSets
from arena.server.matches.interrupted import spec_again
from arena.server.matches.match_record import MatchRecord, SeatedMatch
from arena.server.matches.reservations import BotReservations, Reserved
from arena.server.orders import AbsentBots, ordered_message
from arena.server.session.asks import Seating
from arena.server.session.register import SessionRegister
from arena.server.session.session import Session, seat_all
from cardarena.v1 import journal_pb2


class MatchStarter:
    """Seats the bots of matches, and records that in the journal."""

    def __init__(
        self,
        journal: Journal,
        deal_sets: DealSets,
        sessions: SessionRegister,
        measuring: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """`measuring` has the arena's lag measured while deals are agreed."""
        self._journal = journal
        self._deal_sets = deal_sets
        self._sessions = sessions
        self._measuring = measuring

    def write_order(self, match: MatchRecord) -> None:
        """Write an order to the journal."""
        ordered = ordered_message(match.order, match.match_id, match.policy)
        self._journal.append(journal_pb2.Record(ordered=ordered).SerializeToString())

    async def start(self, match: MatchRecord, reserved: Reserved) -> SeatedMatch:
        """Agree the deals with the bots, and seat them."""
        order, bots = match.order, match.table.bots
        try:
            with self._measuring():
                fixed = await self._deal_sets.fix(order)
        finally:
            BotReservations.release(reserved)
        spec = MatchSpec(
            match_id=match.match_id,
            terms=order.terms,
            entrants=tuple(SeatedBot(bot.name) for bot in bots),
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

        Raises:
          Unplayable: if this arena has other rules, or the deals are lost.
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
        ports = seat_all(spec, sessions, [each.match for each in unfinished.seated])
        self.write_order(match)
        used = unfinished.used
        if match.policy.ordered_again:
            # Its bots are new processes: the time that the old ones used is not charged.
            used = tuple([each._replace(decision=0, used_s=0.0) for each in used])
        numbers = _numbers(sessions, ports)
        log = self._journal.match_again(unfinished.bodies, numbers, used, match.grant)
        for seat, port in enumerate(ports):
            port.had_notes(log.note_bytes[seat])
        self._deal_sets.goes_on(match.order, opening)
        return SeatedMatch(spec, ports, log, unfinished, used)


def _forfeited(
    by_deals: Sequence[ForfeitedSeat], bots: Sequence[BotId], unwilling: Mapping[BotId, str]
) -> tuple[ForfeitedSeat, ...]:
    """The seats that are forfeited from the start, by seat."""
    out = {
        seat: ForfeitedSeat(Seat(seat), FaultKind.GONE, unwilling[bot])
        for seat, bot in enumerate(bots)
        if bot in unwilling
    }
    out.update({each.seat: each for each in by_deals})
    return tuple([out[seat] for seat in sorted(out)])


def _numbers(sessions: Sequence[Session], ports: Sequence[Seating]) -> list[SeatedAt]:
    """The numbers of a match on the streams of its bots, for the journal."""
    return [
        SeatedAt(session.bot.name, session.bot.instance, port.number)
        for session, port in zip(sessions, ports, strict=True)
    ]
