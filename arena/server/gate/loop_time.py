"""How long a call keeps the loop at a time: all bots wait meanwhile, and its owner gains nothing by it."""

import types
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

Note: TypeAlias = Callable[[float, float], None]
"""Is told when a call began to keep the loop, and when it let it go."""


@types.coroutine
def timed(call: Awaitable[T], now_s: Callable[[], float], note: Note) -> Generator[Any, Any, T]:
    """What a call returns; notes each span from where the loop goes on with it to where it waits."""
    steps = call.__await__()
    go_on: Callable[[], Any] = steps.__next__
    while True:
        began_s = now_s()
        try:
            awaited = go_on()
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            note(began_s, now_s())
        try:
            sent = yield awaited
        except BaseException as error:  # as when the call is cancelled: it is the call's to take
            go_on = _thrown(steps, error)
        else:
            go_on = _sent(steps, sent)


async def each_timed(
    messages: AsyncIterator[T], now_s: Callable[[], float], note: Note
) -> AsyncIterator[T]:
    """The messages of a call with many answers, each timed."""
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
