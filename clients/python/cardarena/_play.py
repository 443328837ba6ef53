"""The author's thread: work in, the author's code, answers out."""

import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol

from cardarena import _choice
from cardarena._ask import AnyAsk, End
from cardarena._bot import BatchBot, Bot
from cardarena._session import News, Work
from cardarena.v1.play_pb2 import Answer, MatchStart

LINGER_S: Final = 0.01
"""Answers travel together, but none waits longer than this for the next to be thought of."""


class Port(Protocol):
    """What the author's thread needs of the connection."""

    def take(self) -> Work | None:
        """Waits for work; None when play is over."""
        ...

    def show(self, ask: AnyAsk) -> bool:
        """Says that an ask is about to be given to the author; false if it is settled."""
        ...

    def answer(self, answers: Iterable[Answer]) -> None:
        """Sends answers."""
        ...


class Author(Protocol):
    """The author's code, of either kind."""

    def tell(self, news: News) -> None:
        """Tells it of a match that starts or ended."""
        ...

    def decide(self, asks: Sequence[AnyAsk], port: Port) -> None:
        """Has it answer the asks."""
        ...


def play(author: Author, port: Port) -> None:
    """Plays until the connection is over."""
    while (work := port.take()) is not None:
        for news in work.news:
            author.tell(news)
        if work.asks:
            author.decide(work.asks, port)


class OneByOne:
    """A `Bot` object for each match."""

    def __init__(self, bot: type[Bot], now_s: Callable[[], float] = time.monotonic) -> None:
        self._bot = bot
        self._now_s = now_s
        self._bots: dict[int, Bot | Exception] = {}

    def tell(self, news: News) -> None:
        """Makes the match's object, or lets it go."""
        if isinstance(news, MatchStart):
            self._bots[news.match] = self._seated(news)
            return
        bot = self._bots.pop(news.match)
        if isinstance(bot, Bot):
            try:
                bot.ended(news)
            except Exception:  # the author's code may raise anything
                _show_traceback(news)

    def decide(self, asks: Sequence[AnyAsk], port: Port) -> None:
        """Asks the matches' objects one after the other."""
        ready: list[Answer] = []
        since_s = self._now_s()
        for ask in asks:
            if not port.show(ask):
                continue
            ready.append(self._answer(ask))
            if self._now_s() - since_s >= LINGER_S:
                port.answer(ready)
                ready, since_s = [], self._now_s()
        if ready:
            port.answer(ready)

    def _seated(self, start: MatchStart) -> Bot | Exception:
        try:
            bot = self._bot()
            bot.start = start
            bot.started()
        except Exception as error:  # likewise
            _show_traceback(start)
            return error
        return bot

    def _answer(self, ask: AnyAsk) -> Answer:
        bot = self._bots[ask.match]
        if isinstance(bot, Exception):
            return _choice.failure(ask, bot)
        try:
            return _choice.answer(ask, bot.move(ask))
        except Exception as error:  # likewise
            _show_traceback(ask)
            return _choice.failure(ask, error)


class AllAtOnce:
    """A `BatchBot` for all matches."""

    def __init__(self, bot: BatchBot) -> None:
        self._bot = bot

    def tell(self, news: News) -> None:
        """Calls the bot's `started` or `ended`."""
        try:
            if isinstance(news, MatchStart):
                self._bot.started(news)
            else:
                self._bot.ended(news)
        except Exception:  # the author's code may raise anything
            _show_traceback(news)

    def decide(self, asks: Sequence[AnyAsk], port: Port) -> None:
        """Asks the bot for all moves together."""
        asks = [ask for ask in asks if port.show(ask)]
        if not asks:
            return
        try:
            choices = self._bot.moves(asks)
            if len(choices) != len(asks):
                raise ValueError(f"moves() chose {len(choices)} moves for {len(asks)} asks")
        except Exception as error:  # likewise
            _show_traceback(asks[0])
            port.answer([_choice.failure(ask, error) for ask in asks])
            return
        port.answer([self._answer(ask, choice) for ask, choice in zip(asks, choices, strict=True)])

    @staticmethod
    def _answer(ask: AnyAsk, choice: object) -> Answer:
        try:
            return _choice.answer(ask, choice)
        except (TypeError, IndexError) as error:
            _show_traceback(ask)
            return _choice.failure(ask, error)


def _show_traceback(where: AnyAsk | MatchStart | End) -> None:
    """Prints the exception that is being handled. The bot plays on."""
    sys.stderr.write(f"cardarena: the bot failed in match {where.match} and plays on:\n")
    traceback.print_exc()
