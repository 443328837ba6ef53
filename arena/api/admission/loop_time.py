"""Measures for how long a call occupies the loop.

All bots wait during this time, and it is not refunded to the owner of the call.
"""

import types
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

Note: TypeAlias = Callable[[float, float], None]
"""Takes when a call began to occupy the loop and when it released it, in seconds."""


@types.coroutine
def timed(call: Awaitable[T], now_s: Callable[[], float], note: Note) -> Generator[Any, Any, T]:
    """Await a call; `note` gets each span of time in which it runs without waiting."""
    steps = call.__await__()
    resume: Callable[[], Any] = steps.__next__
    while True:
        began_s = now_s()
        try:
            awaited = resume()
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            note(began_s, now_s())
        try:
            sent = yield awaited
        except BaseException as error:  # for example a cancellation, which the call handles
            resume = _thrown(steps, error)
        else:
            resume = _sent(steps, sent)


async def each_timed(
    messages: AsyncIterator[T], now_s: Callable[[], float], note: Note
) -> AsyncIterator[T]:
    """Yield the messages of a call with many answers, and time each of them."""
    while True:
        try:
            message = await timed(anext(messages), now_s, note)
        except StopAsyncIteration:
            return
        yield message


def _sent(steps: Generator[Any, Any, Any], value: Any) -> Callable[[], Any]:
    return lambda: steps.send(value)


def _thrown(steps: Generator[Any, Any, Any], error: BaseException) -> Callable[[], Any]:
    return lambda: steps.throw(error)
