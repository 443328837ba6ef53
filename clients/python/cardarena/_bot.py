"""The classes of bots: one object for each match, or one for all."""

import difflib
from collections.abc import Awaitable, Coroutine, Sequence
from typing import Any, ClassVar, Generic, Literal

from cardarena._ask import Ask, End, EventT, MoveT, OptionValue, ViewT, option_values
from cardarena._choice import Choice
from cardarena._errors import Misconfigured
from cardarena.v1.play_pb2 import GameSupport, MatchStart, Player


class Declaration:
    """The settings that a bot declares when it connects."""

    games: ClassVar[Sequence[str | GameSupport]] = ()
    """The ids of the games that it plays; by default all games of this SDK.

    `GameSupport(game="democracy", seats=[3, 4], rules_version=1)` also limits seats and rules.
    """
    max_matches: ClassVar[int | None] = None
    """The number of matches that it plays at the same time; by default as many as it can decide at once.

    That is 1 for a plain `move`, the number of `workers` or `processes`, and 64 for `async def move` and a `BatchBot`.
    """
    max_open_asks: ClassVar[int | None] = None
    """The number of asks that may be open at the same time; by default as many as it can decide at once.

    Further asks wait at the arena, and their clocks do not run. A fast bot plays faster with more open asks, because
    the next ones have already arrived. In a slow bot they wait in its own queue, and their clocks run.
    """
    auto: ClassVar[bool] = True
    """Whether the SDK answers asks with a single legal move."""
    want_text: ClassVar[bool] = False
    """Whether asks also have moves and events in notation."""
    version: ClassVar[str] = ""
    """The version of the bot, as free text; an arena records it for remote bots."""
    adds_entropy: ClassVar[bool] = True
    """Whether it takes part in fair deals, and checks them."""
    publish_notes: ClassVar[bool] = False
    """Whether everybody sees its notes beside its decisions when a replay is published."""


class Bot(Declaration, Generic[ViewT, MoveT, EventT]):
    """A bot at a seat of one match. There is one object for each match, so attributes of `self` belong to it.

    The module of each game has a typed class, which plays that game only: `class MyBot(abstrac.Bot)`. This one plays
    every game.

    The methods of one object are called one at a time, in the order of its match. By default the thread that called
    `run` calls the methods of all objects. A bot with slow moves can decide several matches at once in one of three
    ways:

    - `async def move`, for code that awaits, such as calls of another machine;
    - `workers = N`, threads for code that waits or releases the interpreter, as numpy does;
    - `processes = N`, for Python code that computes.

    An exception in `move` is a fault: its traceback goes to stderr, the fallback move is played, and the bot's owner
    gets a note. The match continues until the limit of faults.
    """

    workers: ClassVar[int] = 1
    """Threads that call the methods; with 1 it is the thread that called `run`. The calls of a match may be on
    different threads."""
    processes: ClassVar[int] = 0
    """The number of processes that call the methods; with 0 it is the one that called `run`.

    Each match stays in one process. Each process imports the program, so the class must be at the top of a module.
    `cardarena.run` does nothing in these processes.
    """
    event_loop: ClassVar[Literal["asyncio", "trio"]] = "asyncio"
    """The event loop of `async def move`; trio needs `pip install 'cardarena[trio]'`."""

    start: MatchStart
    """The message with which the match began; set before `started` is called."""

    @classmethod
    def load(cls) -> None:
        """Load data that all matches share, such as `cls.model`. Called once in each process before the bot connects."""

    @property
    def seat(self) -> int:
        """The bot's seat, from 0."""
        return self.start.seat

    @property
    def game(self) -> str:
        """The id of the game, such as `abstrac`."""
        return self.start.terms.game

    @property
    def options(self) -> dict[str, OptionValue]:
        """The options of the match with their values."""
        return option_values(self.start)

    @property
    def players(self) -> Sequence[Player]:
        """The players by seat. In matches of deal-sets the others have names such as `seat 1`."""
        return self.start.players

    def started(self) -> Awaitable[None] | None:
        """Prepare for a match. Called once, before the first `move`. May be `async` if `move` is."""

    def move(
        self, ask: Ask[ViewT, MoveT, EventT]
    ) -> Choice[MoveT] | Coroutine[Any, Any, Choice[MoveT]]:
        """Choose a move: one of `ask.moves`, its index, or a move of the game's type.

        `Noted(move, "why")` adds a note for the bot's owner. With `async def move` the bot decides all its matches at
        the same time.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method `move`")

    def ended(self, end: End[EventT]) -> Awaitable[None] | None:
        """Finish a match. Called once, after the last `move`, even if the end was missed (`end.missed`)."""


class BatchBot(Declaration, Generic[ViewT, MoveT, EventT]):
    """A bot with one object for all matches, which decides many moves at a time, such as a neural network.

    The module of each game has a typed class, as for `Bot`. It plays up to 64 matches at the same time by default. The
    thread that called `run` calls its methods. Exceptions are handled as for `Bot`; one in `moves` loses the moves of
    the whole batch.
    """

    def started(self, start: MatchStart) -> None:
        """Prepare for a match. Called before its first ask."""

    def moves(self, asks: Sequence[Ask[ViewT, MoveT, EventT]]) -> Sequence[Choice[MoveT]]:
        """Choose a move for each ask, in the same order, as `Bot.move` does.

        The asks are all that wait now. They are of different matches, and may be of different games.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method `moves`")

    def ended(self, end: End[EventT]) -> None:
        """Finish a match. Called after its last ask, even if its end was missed (`end.missed`)."""


_LOADED: set[type] = set()


def load_once(kind: type[Bot] | type[BatchBot]) -> None:
    """Call the `load` of a class, unless this process has called it."""
    if issubclass(kind, Bot) and kind not in _LOADED:
        kind.load()
        _LOADED.add(kind)


def require_method(kind: type[Bot] | type[BatchBot]) -> None:
    """Require that a bot has a method that chooses moves.

    Raises:
      Misconfigured: if it has none.
    """
    for base, name, asked in ((Bot, "move", "ask"), (BatchBot, "moves", "asks")):
        if issubclass(kind, base) and getattr(kind, name) is getattr(base, name):
            near = difflib.get_close_matches(name, vars(kind), 1)
            hint = f"; did you mean {near[0]!r} to be it?" if near else ""
            raise Misconfigured(
                f"{kind.__name__} has no method `def {name}(self, {asked})`, "
                f"which chooses its moves{hint}"
            )
