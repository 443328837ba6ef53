"""The two kinds of bot that an author writes."""

import difflib
from collections.abc import Awaitable, Coroutine, Sequence
from typing import Any, ClassVar, Generic, Literal

from cardarena._ask import Ask, End, EventT, MoveT, OptionValue, ViewT, option_values
from cardarena._choice import Choice
from cardarena._errors import Misconfigured
from cardarena.v1.play_pb2 import GameSupport, MatchStart, Player


class Declaration:
    """What a bot says of itself when it connects."""

    games: ClassVar[Sequence[str | GameSupport]] = ()
    """The games it plays, by id; none means all that this SDK knows.

    `GameSupport(game="democracy", seats=[3, 4], rules_version=1)` says more.
    """
    max_matches: ClassVar[int | None] = None
    """Matches that it plays at the same time. None is as many as it can think of at once.

    That is 1 for a plain `move`, `workers` or `processes` where they are set, and 64 for `async def
    move` and for a `BatchBot`.
    """
    max_open_asks: ClassVar[int | None] = None
    """Asks that the arena may have sent without an answer. None is as many as it can think of at once.

    The arena keeps further asks, and no clock runs for them meanwhile. A bot whose moves are quick
    plays faster with more of them, because it need not wait for each next ask. If its moves are
    slow after all, the clocks run while asks wait in the bot's own queue.
    """
    auto: ClassVar[bool] = True
    """Whether asks with a single legal move are answered without it."""
    want_text: ClassVar[bool] = False
    """Whether moves and events come in notation as well."""
    version: ClassVar[str] = ""
    """Which version of itself it is, in your own words; an arena notes it of remote bots."""
    adds_entropy: ClassVar[bool] = True
    """Whether it takes part in fair deals, and checks them. Costs nothing to speak of."""


class Bot(Declaration, Generic[ViewT, MoveT, EventT]):
    """A seat at one match. There is one object for each, so that `self` is that match.

    Each game's module has its own, which plays that game alone and whose asks are
    of that game's types: `class MyBot(abstrac.Bot)`. This one plays every game.

    The methods of one object are called one at a time, in the order of its match. By default those
    of all objects are called on the thread that called `run`. For a `move` that takes long beside
    its clock there are three ways to think of several matches at once; choose one:

    - `async def move`, which awaits something else, as another machine;
    - `workers = N`, threads for code that releases the interpreter, as numpy does, or waits;
    - `processes = N`, for Python code that computes.

    An exception in `move` is a fault: its traceback goes to stderr, the rules'
    fallback is played, and a note says so to the bot's owner. The match goes on
    until the limit of faults.
    """

    workers: ClassVar[int] = 1
    """Threads that call the methods; with 1 it is the thread that called `run`. A match may change
    threads between two calls."""
    processes: ClassVar[int] = 0
    """Processes that call the methods; with 0 it is the one that called `run`.

    Each match stays in one process. Each process imports the program anew: the class has to be at
    the top of a module, and `cardarena.run` does nothing there.
    """
    event_loop: ClassVar[Literal["asyncio", "trio"]] = "asyncio"
    """What runs `async def move`; trio needs `pip install 'cardarena[trio]'`."""

    start: MatchStart
    """The match; set before `started` is called."""

    @classmethod
    def load(cls) -> None:
        """Called once in each process that plays, before the bot connects: for a model, as in `cls.model`."""

    @property
    def seat(self) -> int:
        """The bot's own seat, from 0."""
        return self.start.seat

    @property
    def game(self) -> str:
        """The game's id, as `abstrac`."""
        return self.start.terms.game

    @property
    def options(self) -> dict[str, OptionValue]:
        """The game's options with their values."""
        return option_values(self.start)

    @property
    def players(self) -> Sequence[Player]:
        """Who sits where, by seat. Where other tables play the same boards, the others are `seat N`."""
        return self.start.players

    def started(self) -> Awaitable[None] | None:
        """Called once, before the first `move`. May be `async` where `move` is."""

    def move(
        self, ask: Ask[ViewT, MoveT, EventT]
    ) -> Choice[MoveT] | Coroutine[Any, Any, Choice[MoveT]]:
        """Chooses a move: one of `ask.moves`, its index, or a move of the game's own type.

        `Noted(move, "why")` adds a note for the bot's owner. With `async def move` the bot thinks
        of all its matches at the same time.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method `move`")

    def ended(self, end: End[EventT]) -> Awaitable[None] | None:
        """Called once, after the last `move`, also if the end was missed (`end.missed`)."""


class BatchBot(Declaration, Generic[ViewT, MoveT, EventT]):
    """All matches in one object, for a bot that decides many moves at a time.

    Each game's module has its own, as of `Bot`.

    As with a neural network. It plays up to 64 matches at the same time by default. Its methods are
    called on the thread that called `run`, and exceptions are as with `Bot`; one in `moves` costs the
    moves of the whole batch.
    """

    def started(self, start: MatchStart) -> None:
        """Called before the first ask of a match."""

    def moves(self, asks: Sequence[Ask[ViewT, MoveT, EventT]]) -> Sequence[Choice[MoveT]]:
        """Chooses a move for each ask, in the same order, as `Bot.move` does.

        The asks are those that wait now: of different matches, and of different
        games if the bot plays several.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method `moves`")

    def ended(self, end: End[EventT]) -> None:
        """Called after the last ask of a match, also if its end was missed (`end.missed`)."""


_LOADED: set[type] = set()


def load_once(kind: type[Bot] | type[BatchBot]) -> None:
    """Has a class load what it needs, unless this process has done so."""
    if issubclass(kind, Bot) and kind not in _LOADED:
        kind.load()
        _LOADED.add(kind)


def require_method(kind: type[Bot] | type[BatchBot]) -> None:
    """Sees to it that a bot can be asked.

    Raises:
      Misconfigured: if it has no method that chooses moves.
    """
    for base, name, asked in ((Bot, "move", "ask"), (BatchBot, "moves", "asks")):
        if issubclass(kind, base) and getattr(kind, name) is getattr(base, name):
            near = difflib.get_close_matches(name, vars(kind), 1)
            hint = f"; did you mean {near[0]!r} to be it?" if near else ""
            raise Misconfigured(
                f"{kind.__name__} has no method `def {name}(self, {asked})`, "
                f"which chooses its moves{hint}"
            )
