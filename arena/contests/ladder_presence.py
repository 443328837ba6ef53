"""The presence of a ladder's bots: which bots can be drawn, for how long each was connected, and what limits it."""

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

import trio

from arena.bots.bot_ids import BotId
from arena.bots.manifest import declares
from arena.contests.ladder_limits import DrawRate, limit_of
from arena.contests.pairing import MIN_DEAL_SETS, Waiting
from arena.contests.timetable import Rate
from arena.live.arena import Arena
from arena.live.players import Players
from arena.referee.terms import MatchTerms
from arena.results.deal_sets import DealSet, MatchOutcome, bot_of, lapse
from arena.sandbox.house_levels import HOUSE_BOTS
from arena.store import BotKind, Competition, EnteredBot, Version

FORFEITS_IN_A_ROW: Final = 3
"""The number of seats in a row that a remote bot may forfeit before it is no longer drawn."""

_NAMED: Final = 5
"""The maximal number of bots that a sentence names if no two can meet."""

_SHARE: Final = 0.001
"""The resolution of presence, as a share of the longest presence of a bot."""


class LadderPresence:
    """The presence of bots, and the forfeits of each in a row. It uses no other results."""

    def __init__(
        self,
        terms: MatchTerms,
        arena: Arena,
        players: Players,
        entered: Competition,
        team_of: Callable[[str], str] = str,
    ) -> None:
        """`team_of` gives the team of an owner; bots of a team never meet."""
        self._terms, self._team_of = terms, team_of
        self._arena, self._players = arena, players
        self._lasted_s: dict[str, dict[str, float]] = {
            bot.name: {name: ms / 1000 for name, ms in bot.present.items()}
            for bot in entered.entries
        }
        self._looked_s = trio.current_time()
        self._forfeits: Counter[str] = Counter()
        self._last: dict[str, str] = {}
        """The player of each bot when it was last connected, while this arena ran."""
        self._ready: dict[str, int] = {}
        """The count of a bot's session when the arena stopped drawing it."""

    @property
    def lasted_ms(self) -> dict[str, dict[str, int]]:
        return {
            bot: {player: int(lasted * 1000) for player, lasted in lasted_of.items()}
            for bot, lasted_of in self._lasted_s.items()
        }

    def look(
        self,
        entered: Competition,
        active: Mapping[str, Version | None],
        served: Mapping[str, int],
        in_play: Mapping[str, int],
    ) -> list[Waiting]:
        """Return the bots that can play now, and absent bots that were connected before.

        Also counts presence since the last call.

        Args:
          active: The version that plays for each bot with versions; None if it may not play.
          served: Deal-sets of each player so far.
          in_play: Seats of each bot at tables in play, of all its versions together.
        """
        now_s = trio.current_time()
        since_s, self._looked_s = now_s - self._looked_s, now_s
        here = []
        for held in entered.entries:
            player = self._player(held, active)
            lasted_of = self._lasted_s.setdefault(held.name, {})
            away = player is None
            if player is not None:
                lasted_of[player[0]] = lasted_of.get(player[0], 0.0) + since_s
                self._last[held.name] = player[0]
            elif held.out is None and not held.away and held.name in self._last:
                player = self._last[held.name], sys.maxsize
            if player is not None:
                # All versions of a bot count as one, because a remote bot may declare another version on each stream.
                here.append((held, *player, sum(lasted_of.values()), away))
        of_bot: Counter[str] = Counter()
        for player_name, deal_sets in served.items():
            of_bot[bot_of(player_name)] += deal_sets
        longest_s = max((lasted_s for *_, lasted_s, _ in here), default=0.0) or 1.0
        return [
            Waiting(
                name=name,
                owner=self._team_of(held.owner),
                served=of_bot[held.name],
                # Only the ratios of presence matter. So a draw does not depend on the speed of the machine, on
                # restarts, or on free seats that are not needed.
                present_h=max(_SHARE, round(lasted_s / longest_s / _SHARE) * _SHARE),
                free_seats=max(0, min(self._terms.seats, free - in_play.get(held.name, 0))),
                new=served.get(name, 0) < MIN_DEAL_SETS,
                remote=held.kind is BotKind.REMOTE,
                away=away,
            )
            for held, name, free, lasted_s, away in here
        ]

    def limits(
        self,
        entered: Competition,
        active: Mapping[str, Version | None],
        served: Mapping[str, int],
        rate: Rate,
    ) -> dict[str, str]:
        """Return by bot, in a sentence, what limits how often it is drawn; empty if nothing does."""
        able = {e.name: self._player(e, active) for e in entered.entries}
        owners = {e.owner for e in entered.entries if able[e.name] is not None}
        deal_sets: Counter[str] = Counter()
        for player, number in served.items():
            deal_sets[bot_of(player)] += number
        return {
            bot.name: limit_of(
                bot,
                self._arena.sessions.get(BotId(bot.name)),
                active,
                self._terms,
                rate,
                DrawRate(deal_sets[name], sum(self._lasted_s.get(name, {}).values()) / 3600),
                rests=self._is_resting(bot, active),
                owners=owners,
            )
            for bot in entered.entries
            for name in [bot.name]
        }

    def why_none(self, entered: Competition, active: Mapping[str, Version | None]) -> str:
        """Return why no two bots can meet, with what limits the first few of them."""
        bots = [bot for bot in entered.entries if bot.out is None]
        if not bots:
            return "no bot has entered"
        if all(bot.name in HOUSE_BOTS for bot in bots):
            return "only the arena's own bots have entered, and they play with others alone"
        if len({self._team_of(bot.owner) for bot in bots}) == 1:
            return "all bots that have entered are of one owner or team, and these never meet"
        # The rate of a ladder and earlier draws do not prevent a bot from playing.
        limits = self.limits(entered, active, {}, Rate())
        kept = [
            f"{bot.name} {limits[bot.name]}" for bot in bots if self._player(bot, active) is None
        ]
        more = [f"and {len(kept) - _NAMED} more"] if len(kept) > _NAMED else []
        why = "; ".join([*kept[:_NAMED], *more])
        return "no two bots of different owners can play now" + (f": {why}" if why else "")

    def _is_resting(self, bot: EnteredBot, active: Mapping[str, Version | None]) -> bool:
        if bot.kind is BotKind.REMOTE:
            return False
        version = active.get(bot.name)
        return self._players.rests(bot.name if version is None else str(version))

    def pass_over(self) -> None:
        """Skip the time since the last call, as nothing could be drawn."""
        self._looked_s = trio.current_time()

    def returned(self, entered: Competition) -> list[str]:
        """Return the paused bots that have declared readiness again."""
        return [
            bot.name
            for bot in entered.entries
            if bot.away and self._count(bot.name) > self._ready.get(bot.name, 0)
        ]

    def count_forfeits(
        self, deal_set: DealSet, outcomes: Mapping[str, MatchOutcome], remote: frozenset[str]
    ) -> list[str]:
        """Count forfeited seats; return the bots that are paused because of too many in a row."""
        resting = []
        for match in deal_set.matches:
            for seat, player in enumerate(match.bots):
                bot = bot_of(player)
                if bot not in remote:
                    continue
                forfeited = lapse(outcomes[match.id], seat) >= 1.0
                self._forfeits[bot] = self._forfeits[bot] + 1 if forfeited else 0
                if self._forfeits[bot] == FORFEITS_IN_A_ROW:
                    self._forfeits[bot] = 0
                    self._ready[bot] = self._count(bot)
                    resting.append(bot)
        return resting

    def _count(self, bot: str) -> int:
        session = self._arena.sessions.get(BotId(bot))
        return 0 if session is None else session.came_ready

    def _player(
        self, bot: EnteredBot, active: Mapping[str, Version | None]
    ) -> tuple[str, int] | None:
        """Return the player of a bot and the seats that it accepts; None if it is not connected."""
        if bot.out is not None or bot.away:
            return None
        version = active.get(bot.name)
        if bot.kind is BotKind.REMOTE:
            if version is None and bot.name in active:
                return None  # its declared version is retired
            return self._remote(bot.name, bot.name if version is None else str(version))
        if bot.kind is BotKind.COMMAND:
            return self._launched(bot.name)
        if version is None or not declares(version.manifest, self._terms):
            return None
        return self._launched(str(version))

    def _launched(self, player: str) -> tuple[str, int] | None:
        # Its matches wait for its process, so any number may be drawn.
        return None if self._players.rests(player) else (player, sys.maxsize)

    def _remote(self, bot: str, player: str) -> tuple[str, int] | None:
        session = self._arena.sessions.get(BotId(bot))
        terms = self._terms
        if session is None or not session.present:
            return None
        if not session.plays(terms.game.id, terms.game.rules_version, terms.seats):
            return None
        # The caller subtracts seats that were drawn and have not begun.
        return player, session.declared.max_matches
