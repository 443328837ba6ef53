"""Plays in this process without a server, for training and debugging.

    result = cardarena.local.play("abstrac", [MyBot, Other], seed=7)
    results = cardarena.local.play_many("abstrac", [[MyBot, Other]], deal_sets=100, seed=7)
    again = cardarena.local.replay("arena-data/replays/….replay", MyBot, seat=0, step=17)
    asked = cardarena.local.ask("abstrac", state, seat=0)

The rules are those of the arena, and asks are equal to those over the network. Clocks do not run, so `breakpoint()`
costs no time. Methods are called on this thread, one at a time; `workers` and `processes` have no effect, and
coroutines are awaited. It needs the engine: `pip install 'cardarena[local]'`. Without it, these names raise `NoEngine`
when they are first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.local.play import (
        Again,
        AnyBot,
        DealSetResult,
        Failure,
        LocalAsk,
        Result,
        Unplayed,
        ask,
        move,
        play,
        play_many,
        replay,
    )


class NoEngine(ImportError):
    """The engine is not installed. The text says how to install it."""


def __getattr__(name: str) -> Any:
    """Return a name of the engine, which is imported late because a bot that only connects does not need it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from arena.local import play as engine
    except ImportError as error:
        raise NoEngine(
            "cardarena.local plays by the arena's own rules, and they are not installed: "
            f"pip install 'cardarena[local]' ({error})",
            name=error.name,
        ) from error
    return getattr(engine, name)


__all__ = [
    "Again",
    "AnyBot",
    "DealSetResult",
    "Failure",
    "LocalAsk",
    "NoEngine",
    "Result",
    "Unplayed",
    "ask",
    "move",
    "play",
    "play_many",
    "replay",
]
