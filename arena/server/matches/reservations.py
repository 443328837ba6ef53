"""Reserves the bots of matches that are about to begin, so that no bot gets more matches than it takes."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

import trio

from arena.errors import faults
from arena.server.bots import BotId
from arena.server.matches.match_record import MatchRecord
from arena.server.orders import AbsentBots
from arena.server.refusals import Refused
from arena.server.session.register import SessionRegister
from arena.server.session.session import Session
from arena.terms import MatchTerms

SLOT_CHECK_S: Final = 1.0
"""Longest time in seconds between two checks of a scheduled match whose bot plays its limit of matches."""

Reserved: TypeAlias = tuple[Session, ...]
"""The sessions of a match's bots, by seat; each counts the match."""


class BotReservations:
    """Reserves the bots of matches that are about to begin."""

    def __init__(
        self, sessions: SessionRegister, match_ended: Callable[[], Awaitable[None]]
    ) -> None:
        """`match_ended` waits until a match has ended."""
        self._sessions = sessions
        self._match_ended = match_ended

    def reserve(self, match: MatchRecord) -> Reserved:
        """Reserve the match's bots; returns their sessions by seat.

        Raises:
          Refused: if a bot is not connected or will not play the match, and the order requires it.
        """
        sessions = tuple([self._available(bot, match) for bot in match.table.bots])
        for session in sessions:
            session.reserve()
        return sessions

    @staticmethod
    def release(sessions: Reserved) -> None:
        """End the reservation: the match has begun, or will not begin."""
        for session in sessions:
            session.unreserve()

    async def bots_are_free(self, match: MatchRecord) -> None:
        """Wait until each bot takes another match."""
        if not match.policy.waits_for_turn:
            return
        bots = match.table.bots
        while any(_is_full(self._sessions.get(bot), bots) for bot in bots):
            with trio.move_on_after(SLOT_CHECK_S):
                await self._match_ended()

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
            raise Refused("BOT_NOT_AVAILABLE", f"{bot.name!r}: {unwilling}")
        if unwilling:
            match.refuse_seat(bot, unwilling)
        return session


def _is_full(session: Session | None, bots: Sequence[BotId]) -> bool:
    if session is None or not session.present:
        return False
    wanted = bots.count(session.bot)
    return wanted <= session.max_matches < session.matches + wanted


def _why_unwilling(session: Session, terms: MatchTerms, bots: Sequence[BotId]) -> str:
    """Why a connected bot will not play a match; empty if it will."""
    game, seats = terms.game, terms.seats
    if not session.connected:
        return ""
    if not session.plays(game.id, game.rules_version, seats):
        return faults.NOT_PLAYED.text(game=game.id, seats=seats)
    if session.matches + bots.count(session.bot) > session.max_matches:
        return faults.FULL.text()
    return ""
