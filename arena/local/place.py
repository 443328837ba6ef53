"""A bot at its seat in a match of this process."""

import asyncio
from collections.abc import Sequence
from typing import Any, TypeAlias

from arena.games.contract import Moves, State
from arena.local.asks import Form, LocalAsk, News, TextAsk
from cardarena import _bot, _games
from cardarena._ask import End
from cardarena._lanes import on_trio
from cardarena._mode import async_methods, mode_of
from cardarena._play import awaited
from cardarena.v1.game_pb2 import GameEvent
from cardarena.v1.game_pb2 import MatchTerms as TermsMessage
from cardarena.v1.play_pb2 import MatchEnd, MatchStart, Player

AnyBot: TypeAlias = _bot.Bot | type[_bot.Bot] | _bot.BatchBot | type[_bot.BatchBot]
"""A bot's class, or an object of it, which plays all matches."""


def object_of(bot: AnyBot) -> _bot.Bot | _bot.BatchBot:
    """Return a new bot of a class, or the object itself. The class loads its files.

    Raises `Misconfigured` if the class declares two ways of thinking at once.
    """
    kind = bot if isinstance(bot, type) else type(bot)
    mode_of(kind)
    _bot.load_once(kind)
    return bot() if isinstance(bot, type) else bot


def require_fit(bot: AnyBot, game: str) -> None:
    """Require that a bot chooses moves, and plays a game. Raises `ValueError` if it does not."""
    kind = bot if isinstance(bot, type) else type(bot)
    _bot.require_method(kind)
    games = [support.game for support in _games.supported(kind.games)]
    if game not in games:
        raise ValueError(f"{kind.__name__} plays {', '.join(games)}, and not {game}")


def start_of(
    match_id: str, message: TermsMessage, names: Sequence[str], seat: int, number: int, dice: bytes
) -> MatchStart:
    """Return the message with which a match begins; `number` counts the matches of the bot."""
    players = [Player(seat=at, name=name) for at, name in enumerate(names)]
    return MatchStart(
        match=number, terms=message, seat=seat, players=players, match_id=match_id, dice=dice
    )


class Place:
    """A bot at its seat, and the news that its next ask will have."""

    def __init__(self, form: Form, start: MatchStart, bot: _bot.Bot | _bot.BatchBot) -> None:
        self.start = start
        self.news = News()
        self.decisions = 0
        self.faults = 0
        self.forfeited = False
        self.auto = bot.auto
        self._form = form
        self._earlier: News | None = None
        self._kind_of_ask = TextAsk if bot.want_text else LocalAsk
        self._bot = bot
        self._waits = async_methods(type(bot))
        self._loop: asyncio.Runner | None = None

    @property
    def asked(self) -> Any:
        return self._bot.moves if isinstance(self._bot, _bot.BatchBot) else self._bot.move

    def begin(self) -> None:
        if isinstance(self._bot, _bot.BatchBot):
            self._bot.started(self.start)
        else:
            self._bot.start = self.start
            self._result("started", self._bot.started())

    def next_decision(self) -> None:
        self.decisions += 1

    def blame(self, fault_limit: int) -> None:
        """Count a fault; at the limit the seat has forfeited."""
        self.faults += 1
        self.forfeited = self.faults == fault_limit

    def pass_over(self) -> None:
        """Record a decision that was made without the bot; its next ask has the news."""
        if self._earlier is None:
            self._earlier = self.news
        else:
            self._earlier.add(self.news)
        self.news = News()

    def ask(
        self, decision: int, state: State, allowed: Moves, clock_ms: tuple[int, int, int]
    ) -> LocalAsk:
        told = self.news, self._earlier
        self.news, self._earlier = News(), None
        return self._kind_of_ask(self._form, self.start, decision, state, allowed, *told, clock_ms)

    def put(self, ask: LocalAsk) -> Any:
        if isinstance(self._bot, _bot.BatchBot):
            (choice,) = self._bot.moves([ask])
            return choice
        return self._result("move", self._bot.move(ask))

    def end(self, message: MatchEnd) -> None:
        if type(self._bot).ended in (_bot.Bot.ended, _bot.BatchBot.ended):
            return
        before, seat, with_texts = None, self.start.seat, self._kind_of_ask.with_texts
        if self._earlier is not None:
            before = self._form.told(self._earlier, seat, with_texts=with_texts)
        events = map(self._form.codec.game_event, self.news.events)
        message.trailing_events.extend(map(GameEvent.FromString, events))
        self._result("ended", self._bot.ended(End(message, self.start, before=before)))

    def _result(self, method: str, returned: Any) -> Any:
        if method not in self._waits:
            return returned
        assert isinstance(self._bot, _bot.Bot)
        if self._bot.event_loop == "trio":
            return on_trio(returned)
        if self._loop is None:
            self._loop = asyncio.Runner()
        return self._loop.run(awaited(returned))

    def close(self) -> None:
        """End the event loop on which the bot awaited, if it did."""
        if self._loop is not None:
            self._loop.close()
