"""Calls the bot's methods with its work, and returns their answers, on any thread or event loop."""

import asyncio
import sys
import textwrap
import threading
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
    """The part of the connection that plays. Any thread may call it."""

    def take(self) -> Work | None:
        """Wait for work; None when play is over."""
        ...

    def show(self, ask: AnyAsk) -> bool:
        """Record that the bot receives an ask now; return false if it is settled."""
        ...

    def answer(self, answers: Iterable[Answer]) -> None:
        """Send answers, together with others that are ready."""
        ...

    def fail(self, error: BaseException) -> None:
        """End play: `take` raises this error."""
        ...


class Author(Protocol):
    """Calls the methods of a `Bot` or a `BatchBot`. If they raise a `BaseException` that is no `Exception`, the program ends."""

    async def tell(self, news: News) -> None:
        """Call the method for a match that begins or has ended."""
        ...

    async def decide(self, asks: Sequence[AnyAsk], port: Port) -> None:
        """Let the bot answer asks."""
        ...


def play(author: Author, port: Port) -> None:
    """Play until the connection is over, on this thread."""
    while (work := port.take()) is not None:
        finished(do(author, work, port))


async def do(author: Author, work: Work, port: Port) -> None:
    """Let the bot do some work."""
    for news in work.news:
        await author.tell(news)
    if work.asks:
        await author.decide(work.asks, port)


def finished(coroutine: Coroutine[Any, Any, _ResultT]) -> _ResultT:
    """Return the result of a coroutine that awaits nothing, for a bot with plain methods."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: _ResultT = end.value
        return result
    raise AssertionError("plain methods await nothing")


async def awaited(coroutine: Any) -> Any:
    """Await a coroutine of the bot.

    Raises:
      Exception: the exception of the coroutine; RuntimeError if it awaited a cancelled task.
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
        """Create the object of a match, or remove it."""
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
        """Ask the objects of the matches one after another, and send each answer at once."""
        for ask in asks:
            if port.show(ask):
                port.answer([await self._answer(ask)])

    async def _seated(self, start: MatchStart) -> Bot | Raised:
        try:
            bot = self._bot()
            bot.start = start
            await self._of("started", bot.started())
        except Exception as error:  # the author's code may raise anything
            raised = Raised.of(error, self._bot.started)
            _say(raised, f"at the start of match {start.match}, so fallbacks are played")
            return raised
        return bot

    async def _of(self, name: str, returned: Any) -> Any:
        """Return what a method returned, or the result of its coroutine."""
        return await awaited(returned) if name in self._waits else returned

    async def _answer(self, ask: AnyAsk) -> Answer:
        bot = self._bots[ask.match]
        if isinstance(bot, Raised):
            return _choice.failure(ask, bot)
        ask.thinking = threading.get_ident()
        try:
            returned: Any = bot.move(ask)
            if "move" in self._waits:
                ask.thinking = returned
            return _choice.answer(ask, await self._of("move", returned))
        except Exception as error:  # the author's code may raise anything
            cure = _choice.labels(error, ask.family)
            return _failed(ask, Raised.of(error, bot.move, cure))
        finally:
            ask.thinking = None


class AllAtOnce:
    """A `BatchBot` for all matches."""

    def __init__(self, bot: BatchBot) -> None:
        self._bot = bot

    async def tell(self, news: News) -> None:
        """Call the bot's `started` or `ended`."""
        try:
            if isinstance(news, MatchStart):
                self._bot.started(news)
            else:
                self._bot.ended(news)
        except Exception as error:  # the author's code may raise anything
            edge = "start" if isinstance(news, MatchStart) else "end"
            _say(Raised.of(error, self._bot.moves), f"at the {edge} of match {news.match}")

    async def decide(self, asks: Sequence[AnyAsk], port: Port) -> None:
        """Ask the bot for all moves together."""
        asks = [ask for ask in asks if port.show(ask)]
        if not asks:
            return
        for ask in asks:
            ask.thinking = threading.get_ident()
        try:
            choices = self._bot.moves(asks)
            if len(choices) != len(asks):
                raise ValueError(f"moves() chose {len(choices)} moves for {len(asks)} asks")
        except Exception as error:  # the author's code may raise anything
            cure = _choice.labels(error, asks[0].family)
            raised = Raised.of(error, self._bot.moves, cure)
            port.answer([_failed(ask, raised, again=ask is not asks[0]) for ask in asks])
            return
        finally:
            for ask in asks:
                ask.thinking = None
        port.answer([self._answer(ask, choice) for ask, choice in zip(asks, choices, strict=True)])

    def _answer(self, ask: AnyAsk, choice: object) -> Answer:
        try:
            return _choice.answer(ask, choice)
        except (TypeError, IndexError) as error:
            return _failed(ask, Raised.of(error, self._bot.moves))


def _failed(ask: AnyAsk, raised: Raised, *, again: bool = False) -> Answer:
    """Print an exception at an ask, and return the answer that the bot failed."""
    where = f"at ask {ask.ask_id} of match {ask.match}, so the fallback is played"
    _say(raised, where, again=again)
    return _choice.failure(ask, raised)


def _say(raised: Raised, where: str, *, again: bool = False) -> None:
    """Print an exception in one write, with an indented traceback.

    `again` omits the traceback, which was just printed.
    """
    set_in = "" if again else textwrap.indent(raised.traceback, "  ", lambda _: True)
    sys.stderr.write(f"cardarena: {raised}: an exception {where}\n{set_in}")
    sys.stderr.flush()
