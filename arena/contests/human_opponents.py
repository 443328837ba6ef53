"""Matches of people against submitted bots: which bots accept them, and how such a match is played.

The person has a play stream with a token for one match. The match is an ordinary one of the arena, with fair deals,
outside of competitions: it is never rated, and it is never part of a deal-set of a competition. Its bots run in
separate processes, so that no competition waits for a person.
"""

import asyncio
import contextlib
import logging
import secrets
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import trio
from trio.to_thread import run_sync

from arena.bots.bot_ids import BotId
from arena.bots.manifest import declares
from arena.bots.tokens import new_token
from arena.contests.comparison_requests import active_versions
from arena.durable_files import Unwritten
from arena.errors.refused import BOT_NOT_AVAILABLE, DRAINING, Refused
from arena.live.arena import Arena
from arena.live.orders import AbsentBots, DealSetOrder, OrderPolicy
from arena.live.players import OF_PEOPLE, Players
from arena.referee.terms import MatchTerms
from arena.results.deal_sets import HOUSE, PERSON
from arena.store import Store, Version
from arena.store.failures import first_error
from arena.store.moments import iso_utc

MOST_IN_PLAY: Final = 8
"""The maximal number of simultaneous matches of people: each needs a process of a bot."""
ARRIVAL_S: Final = 60.0
"""The longest time in seconds from the launch of the bot to the person's hello."""
LAST_MESSAGES_S: Final = 2.0
"""The time in seconds from the end of the match until the person's stream is closed."""
WHEN_IN_TIME: Final = OrderPolicy(AbsentBots.REFUSED, ordered_again=False, waits_for_turn=True)
"""The match of a person waits while the arena is late, as those of competitions do."""
KNOWN_S: Final = 10.0
"""The time in seconds for which a list of opponents is cached."""

_log = logging.getLogger(__name__)


class HumanOpponents:
    """The bots that accept people.

    Handlers on the asyncio loop call `seat` and `accepting`; `run` plays the matches on the trio loop.
    """

    def __init__(self, arena: Arena, store: Store, now: Callable[[], datetime]) -> None:
        self._arena, self._store, self._now = arena, store, now
        self._begun: Counter[tuple[str, str, str]] = Counter()
        """Matches by day, bot and game; those of earlier days are dropped. A restart begins anew."""
        self._places = deque(range(MOST_IN_PLAY))
        self._known: tuple[float, Mapping[str, Sequence[Any]]] = (-KNOWN_S, {})
        self._players: Players | None = None
        self._nursery: trio.Nursery
        self._token: trio.lowlevel.TrioToken

    async def run(self, players: Players) -> None:
        """Play matches with the bots that `players` launch, until cancelled."""
        self._token = trio.lowlevel.current_trio_token()
        async with trio.open_nursery() as self._nursery:
            self._players = players
            await trio.sleep_forever()

    def accepting(self) -> Mapping[str, Sequence[Any]]:
        """By bot, the games of its active version in which it accepts people. Blocks."""
        if self._players is None:
            return {}
        if self._arena.now_s() - self._known[0] >= KNOWN_S:
            of_bots = {
                version.bot: [game for game in _games(version) if game.get("accepts_humans")]
                for version in active_versions(self._store)
            }
            self._known = (
                self._arena.now_s(),
                {bot: games for bot, games in of_bots.items() if games},
            )
        return self._known[1]

    async def seat(self, opponent: str, terms: MatchTerms) -> str:
        """Launch a bot, and return the token of the person's stream. Called on the asyncio loop.

        Raises `Refused` if the bot accepts no people now.
        """
        version, most = await asyncio.to_thread(self._accepted, opponent, terms)
        if self._players is None:
            raise Refused(BOT_NOT_AVAILABLE, "this arena launches no bots")
        if self._arena.draining:
            raise Refused(DRAINING)
        day = iso_utc(self._now())[:10]
        for earlier in [key for key in self._begun if key[0] != day]:
            del self._begun[earlier]
        counted = day, version.bot, terms.game.id
        if self._begun[counted] >= most:
            raise Refused(
                "BUSY", f"{version.bot} accepts {most} matches of people a day", retry_s=3600
            )
        if not self._places:
            raise Refused("BUSY", f"{MOST_IN_PLAY} people play already", retry_s=60)
        self._begun[counted] += 1
        seated: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        place = self._places.popleft()

        def start() -> None:
            with contextlib.suppress(RuntimeError):  # the arena has ended
                self._nursery.start_soon(self._play, version, terms, place, seated)

        self._token.run_sync_soon(start)
        return await seated

    def _accepted(self, opponent: str, terms: MatchTerms) -> tuple[Version, int]:
        """Return the active version of a bot, and the number of matches a day that it accepts. Blocks."""
        registry = self._store.registry()
        version = registry.active(opponent) if registry.find_bot(opponent) else None
        if version is None:
            raise Refused("UNKNOWN_BOT", f"{opponent!r} has no active version")
        if not declares(version.manifest, terms):
            raise Refused(BOT_NOT_AVAILABLE, f"{opponent} does not play this")
        (game,) = (game for game in _games(version) if game["id"] == terms.game.id)
        if not (most := game.get("accepts_humans", 0)):
            raise Refused("NOT_ACCEPTED", f"{opponent!r} accepts no people in {terms.game.id}")
        return version, most

    async def _play(
        self, version: Version, terms: MatchTerms, place: int, seated: "asyncio.Future[str]"
    ) -> None:
        """Play one match. Its errors are logged and affect nothing else."""
        assert self._players is not None
        arena, token = self._arena, new_token()
        person = BotId(PERSON, OF_PEOPLE + place)
        bots = [BotId(str(version), OF_PEOPLE + place)]
        bots += [BotId(HOUSE, OF_PEOPLE + seat) for seat in range(2, terms.seats)]
        try:
            if not self._players.is_launched(str(version)):
                await run_sync(self._players.add_version, version)
            await self._players.require(bots)
            arena.tokens.add(token, person)
            if not seated.done():  # the caller may have gone
                seated.set_result(token)
            with trio.fail_after(ARRIVAL_S):
                await arena.sessions.arrived((person,))
            at = secrets.randbelow(terms.seats)
            order = DealSetOrder.of_match(terms, (*bots[:at], person, *bots[at:]))
            await arena.matches.order(order, order.deal_set, WHEN_IN_TIME).outcome()
            await trio.sleep(LAST_MESSAGES_S)
        except Exception as group:
            error = first_error(group)
            if isinstance(error, Unwritten):
                raise error from group
            fields = {"bot": str(version), "why": str(error)}
            _log.warning("a match of a person was not played", extra=fields)
            if not seated.done():
                # The text of the error may be about the files of the bot.
                seated.set_exception(Refused(BOT_NOT_AVAILABLE, f"{version} cannot be launched"))
        finally:
            if not seated.done():
                seated.set_exception(Refused(DRAINING))
            arena.tokens.drop(token)
            if (session := arena.sessions.get(person)) is not None:
                session.send_home()
            self._places.append(place)


def _games(version: Version) -> Sequence[Any]:
    games: Sequence[Any] = version.manifest.get("games") or ()
    return games
