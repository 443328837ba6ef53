"""The author's code: work in, answers out, on whichever threads or event loop it is called."""

import asyncio
import sys
import textwrap
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from cardarena import _choice
from cardarena._ask import AnyAsk
from cardarena._bot import BatchBot, Bot
from cardarena._mode import async_methods
from cardarena._raised import Raised
from cardarena._session import News, Work
from cardarena.v1.play_pb2 import Answer, MatchStart

_ResultT = TypeVar("_ResultT")


class Port(Protocol):
    """What the author's code needs of the connection. Any thread may call it."""

    def take(self) -> Work | None:
        """Waits for work; None when play is over."""
        ...

    def show(self, ask: AnyAsk) -> bool:
        """Says that an ask is about to be given to the author; false if it is settled."""
        ...

    def answer(self, answers: Iterable[Answer]) -> None:
        """Sends answers, with others that are ready before it comes to that."""
        ...

    def fail(self, error: BaseException) -> None:
        """Ends play: `take` raises this."""
        ...


class Author(Protocol):
    """The author's code, of either kind. What it raises, other than exceptions, ends the program."""

    async def tell(self, news: News) -> None:
        """Tells it of a match that starts or ended."""
        ...

    async def decide(self, asks: Sequence[AnyAsk], port: Port) -> None:
        """Has it answer the asks."""
        ...


def play(author: Author, port: Port) -> None:
    """Plays until the connection is over, on this thread."""
    while (work := port.take()) is not None:
        finished(do(author, work, port))


async def do(author: Author, work: Work, port: Port) -> None:
    """Has the author's code do some work."""
    for news in work.news:
        await author.tell(news)
    if work.asks:
        await author.decide(work.asks, port)


def finished(coroutine: Coroutine[Any, Any, _ResultT]) -> _ResultT:
    """Runs a coroutine that awaits nothing: one of an author whose methods are plain functions."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: _ResultT = end.value
        return result
    raise AssertionError("plain methods await nothing")


async def awaited(coroutine: Any) -> Any:
    """The result of a coroutine of the author's.

    Raises:
      Exception: what it raises; RuntimeError where something was cancelled, and not all of play.
    """
    try:
        return await coroutine
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise RuntimeError("something that it awaited was cancelled") from error


class OneByOne:
    """A `Bot` object for each match."""

    def __init__(self, bot: type[Bot]) -> None:
        self._bot = bot
        self._waits = async_methods(bot)
        self._bots: dict[int, Bot | Raised] = {}

    async def tell(self, news: News) -> None:
        """Makes the match's object, or lets it go."""
        if isinstance(news, MatchStart):
            self._bots[news.match] = await self._seated(news)
            return
        bot = self._bots.pop(news.match)
        if isinstance(bot, Bot):
            try:
                await self._of("ended", bot.ended(news))
            except Exception as error:  # the author's code may raise anything
                _say(Raised.of(error, bot.ended), f"at the end of match {news.match}")

    async def decide(self, asks: Sequence[AnyAsk], port: Port) -> None:
        """Asks the matches' objects one after the other. No answer waits for the next one."""
        for ask in asks:
            if port.show(ask):
                port.answer([await self._answer(ask)])

    async def _seated(self, start: MatchStart) -> Bot | Raised:
        try:
            bot = self._bot()
            bot.start = start
            await self._of("started", bot.started())
        except Exception as error:  # likewise
            raised = Raised.of(error, self._bot.started)
            _say(raised, f"at the start of match {start.match}, so fallbacks are played")
            return raised
        return bot

    async def _of(self, name: str, returned: Any) -> Any:
        """What a method returned, or the result of its coroutine."""
        return await awaited(returned) if name in self._waits else returned

    async def _answer(self, ask: AnyAsk) -> Answer:
        bot = self._bots[ask.match]
        if isinstance(bot, Raised):
            return _choice.failure(ask, bot)
        try:
            return _choice.answer(ask, await self._of("move", bot.move(ask)))
        except Exception as error:  # likewise
            cure = _choice.labels(error, ask.family)
            return _failed(ask, Raised.of(error, bot.move, cure))


class AllAtOnce:
    """A `BatchBot` for all matches."""

    def __init__(self, bot: BatchBot) -> None:
        self._bot = bot

    async def tell(self, news: News) -> None:
        """Calls the bot's `started` or `ended`."""
        try:
            if isinstance(news, MatchStart):
                self._bot.started(news)
            else:
                self._bot.ended(news)
        except Exception as error:  # the author's code may raise anything
            edge = "start" if isinstance(news, MatchStart) else "end"
            _say(Raised.of(error, self._bot.moves), f"at the {edge} of match {news.match}")

    async def decide(self, asks: Sequence[AnyAsk], port: Port) -> None:
        """Asks the bot for all moves together."""
        asks = [ask for ask in asks if port.show(ask)]
        if not asks:
            return
        try:
            choices = self._bot.moves(asks)
            if len(choices) != len(asks):
                raise ValueError(f"moves() chose {len(choices)} moves for {len(asks)} asks")
        except Exception as error:  # likewise
            cure = _choice.labels(error, asks[0].family)
            raised = Raised.of(error, self._bot.moves, cure)
            port.answer([_failed(ask, raised, again=ask is not asks[0]) for ask in asks])
            return
        port.answer([self._answer(ask, choice) for ask, choice in zip(asks, choices, strict=True)])

    def _answer(self, ask: AnyAsk, choice: object) -> Answer:
        try:
            return _choice.answer(ask, choice)
        except (TypeError, IndexError) as error:
            return _failed(ask, Raised.of(error, self._bot.moves))


def _failed(ask: AnyAsk, raised: Raised, *, again: bool = False) -> Answer:
    """Tells of an exception at an ask, and answers that the bot failed. The bot plays on."""
    where = f"at ask {ask.ask_id} of match {ask.match}, so the fallback is played"
    _say(raised, where, again=again)
    return _choice.failure(ask, raised)


def _say(raised: Raised, where: str, *, again: bool = False) -> None:
    """Prints an exception in one piece, the traceback set in below, so that both are found.

    `again` leaves the traceback out, as it was just printed.
    """
    set_in = "" if again else textwrap.indent(raised.traceback, "  ", lambda _: True)
    sys.stderr.write(f"cardarena: {raised}: an exception {where}\n{set_in}")
    sys.stderr.flush()
