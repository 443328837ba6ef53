"""A bot at its seat in a match of this process."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from cardarena import _bot
from cardarena._ask import End, Told
from cardarena._local_ask import Form, LocalAsk, News, TextAsk
from cardarena.v1.game_pb2 import GameEvent
from cardarena.v1.game_pb2 import MatchTerms as TermsMessage
from cardarena.v1.play_pb2 import MatchEnd, MatchStart, Player

AnyBot: TypeAlias = _bot.Bot | type[_bot.Bot] | _bot.BatchBot | type[_bot.BatchBot]
"""A bot's class, or an object of it, which plays all matches."""


def object_of(bot: AnyBot) -> _bot.Bot | _bot.BatchBot:
    """Return a new bot of a class, or the object itself."""
    return bot() if isinstance(bot, type) else bot


def start_of(
    match_id: str, message: TermsMessage, names: Sequence[str], seat: int, number: int
) -> MatchStart:
    """Return the message with which a match begins; `number` counts the matches of the bot."""
    players = [Player(seat=at, name=name) for at, name in enumerate(names)]
    return MatchStart(match=number, terms=message, seat=seat, players=players, match_id=match_id)


class Place:
    """A bot at its seat, and the news that its next ask will have."""

    def __init__(self, form: Form, start: MatchStart, bot: _bot.Bot | _bot.BatchBot) -> None:
        self.start = start
        self.news = News()
        self.decisions = 0
        self.faults = 0
        self.forfeited = False
        self.auto = bot.auto
        self.clock_ms = form.clock_ms
        self._form = form
        self._earlier: News | None = None
        self._kind_of_ask = TextAsk if bot.want_text else LocalAsk
        self._bot = bot

    @property
    def asked(self) -> Any:
        """Return the function that chooses moves."""
        return self._bot.moves if isinstance(self._bot, _bot.BatchBot) else self._bot.move

    def begin(self) -> None:
        """Call the bot's `start`."""
        if isinstance(self._bot, _bot.BatchBot):
            self._bot.started(self.start)
        else:
            self._bot.start = self.start
            self._bot.started()

    def pass_over(self) -> None:
        """Record a decision that was made without the bot; its next ask has the news."""
        if self._earlier is None:
            self._earlier = self.news
        else:
            self._earlier.add(self.news)
        self.news = News()

    def ask(self, state: Any, allowed: Any) -> LocalAsk:
        """Return the ask of the seat's next decision."""
        ask = self._kind_of_ask(
            self._form,
            self.start,
            self.decisions,
            state,
            allowed,
            self.news,
            self._earlier,
            self.clock_ms,
        )
        self.news, self._earlier = News(), None
        return ask

    def put(self, ask: LocalAsk) -> Any:
        """Return the bot's answer."""
        if isinstance(self._bot, _bot.BatchBot):
            (choice,) = self._bot.moves([ask])
            return choice
        return self._bot.move(ask)

    def end(self, message: MatchEnd) -> None:
        """Call the bot's `end`."""
        if type(self._bot).ended in (_bot.Bot.ended, _bot.BatchBot.ended):
            return
        form, before = self._form, None
        if self._earlier is not None:
            events = form.events(self._earlier.events)
            before = Told(events, form.event_texts(self._earlier.events) if self._texts else [])
        for event in self.news.events:
            message.trailing_events.append(GameEvent.FromString(form.codec.game_event(event)))
        self._bot.ended(End(message, self.start, before=before))

    @property
    def _texts(self) -> bool:
        return self._kind_of_ask is TextAsk
