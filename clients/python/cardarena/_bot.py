"""The two kinds of bot that an author writes."""

import difflib
from collections.abc import Sequence
from typing import ClassVar, Generic

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
    max_matches: ClassVar[int] = 1
    """Matches that it plays at the same time.

    All of them share one thread: while the bot thinks of a move, the clocks of its other matches run. Raise
    it for a bot whose moves are quick beside its clock.
    """
    max_open_asks: ClassVar[int] = 64
    """Asks that may wait for it at the same time."""
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

    Every method is called on the thread that called `run`, one at a time.
    An exception in `move` is a fault: its traceback goes to stderr, the rules'
    fallback is played, and a note says so to the bot's owner. The match goes on
    until the limit of faults.
    """

    start: MatchStart
    """The match; set before `started` is called."""

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

    def started(self) -> None:
        """Called once, before the first `move`."""

    def move(self, ask: Ask[ViewT, MoveT, EventT]) -> Choice[MoveT]:
        """Chooses a move: one of `ask.moves`, its index, or a move of the game's own type.

        `Noted(move, "why")` adds a note for the bot's owner.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method `move`")

    def ended(self, end: End[EventT]) -> None:
        """Called once, after the last `move`, also if the end was missed (`end.missed`)."""


class BatchBot(Declaration, Generic[ViewT, MoveT, EventT]):
    """All matches in one object, for a bot that decides many moves at a time.

    Each game's module has its own, as of `Bot`.

    As with a neural network. It plays up to 64 matches at the same time by default. Threads and exceptions are as with `Bot`; an
    exception costs the moves of the whole batch.
    """

    max_matches: ClassVar[int] = 64

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
