"""Plays in this process without a server, for training and debugging.

    result = cardarena.local.play("abstrac", [MyBot, Other], seed=7)
    again = cardarena.local.replay("arena-data/replays/….replay", MyBot, seat=0, step=17)
    asked = cardarena.local.ask("abstrac", state, seat=0)

The rules are those of the arena, and asks are equal to those over the network. Clocks do not run, so `breakpoint()`
costs no time. Methods are called on this thread, one at a time; `workers` and `processes` have no effect, and
coroutines are awaited. It needs the engine: `pip install 'cardarena[local]'`.
"""

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cardarena import _bot, _choice, _games
from cardarena._ask import OptionValue
from cardarena._local_ask import LocalAsk, News, form_of
from cardarena._local_match import Failure, Match, Result
from cardarena._local_place import AnyBot, Place, object_of, start_of
from cardarena._local_walk import Again, Walk

if TYPE_CHECKING:
    from arena.games.contract import Move, State


class NoEngine(ImportError):
    """The engine is not installed. The text says how to install it."""


def play(
    game: str,
    bots: Sequence[AnyBot],
    *,
    seed: str | int | None = None,
    options: Mapping[str, OptionValue] | None = None,
    raising: bool = True,
    replays: str | os.PathLike[str] | None = None,
) -> Result:
    """Play a match between bots in this process.

    Each ask has the full time. Illegal moves and exceptions are faults, for which the fallback move is played, as at an
    arena.

    Args:
      game: The id of the game, such as `abstrac`.
      bots: The bots by seat: classes, which are instantiated, or objects.
      seed: Gives the same deals as `arena play --seed`; by default one is drawn, and `Result.seed` has it.
      options: The options of the game.
      raising: Whether an exception in a bot is raised by this call. Otherwise it is a fault, as over the network, and
        is in `Result.exceptions`.
      replays: A folder that gets the replay.

    Raises:
      NoEngine: if the engine is not installed.
      LookupError: if there is no such game.
      ValueError: if the game cannot be played with these seats or options, or a bot does not play it.
      Exception: an exception of a bot, if `raising`.
    """
    with _engine():
        from arena.games.catalogue import game_by_id
        from arena.terms import MatchTerms
    chosen = game_by_id(game)
    seats = len(bots)
    terms = MatchTerms(chosen, chosen.options(options or {}, seats), seats, seeded=True)
    for bot in bots:
        _require_fit(bot, game)
    seed = secrets.token_hex(8) if seed is None else str(seed)
    return Match(terms, seed, bots, raising=raising, replays=replays).play()


def replay(
    file: str | os.PathLike[str], bot: AnyBot, *, seat: int, step: int, earlier: bool = True
) -> Again:
    """Give a bot an ask of a replay; returns its move now, and the move of the replay.

    Args:
      file: The replay.
      bot: Its class, or an object of it.
      seat: The seat of the ask.
      step: The number of the step in `arena replay show` and `arena match why`.
      earlier: Whether the bot first receives the earlier asks of the seat, so that its state is as in the match. Its
        answers to them are ignored.

    Raises:
      NoEngine: if the engine is not installed.
      OSError: if the file cannot be read.
      ValueError: if the file is no intact replay, or the step is no ask of the seat.
      Exception: an exception of the bot.
    """
    with _engine():
        from arena.replay.playback import Discrepancy, play_back
        from arena.replay.read import Replay, Unplayable
        from arena.replay.records import Damaged
        from arena.wire.terms import terms_message
    try:
        played = Replay.open(Path(file))
        spec = played.spec()
        walk = list(play_back(played))
    except (Damaged, Discrepancy, Unplayable) as error:
        raise ValueError(f"{file}: {error}") from error
    if not 0 <= seat < spec.terms.seats:
        raise ValueError(f"there is no seat {seat}: the match has {spec.terms.seats}, from 0")
    _require_fit(bot, spec.terms.game.id)
    asked = [
        frame.index
        for frame in walk
        for each in frame.decisions
        if each.seat == seat and not each.unasked
    ]
    if step not in asked:
        near = ", ".join(map(str, sorted(asked, key=lambda at: abs(at - step))[:3])) or "none"
        raise ValueError(f"seat {seat} was not asked at step {step}; near to it are: {near}")
    form = form_of(spec.terms)
    dice = spec.dice.seats[seat] if spec.dice is not None else b""
    start = start_of(spec.match_id, terms_message(spec.terms), played.names, seat, 1, dice)
    with closing(Place(form, start, object_of(bot))) as place:
        return Walk(form, spec.terms, place, seat).to(step, walk, spec.match_id, earlier=earlier)


def ask(
    game: str,
    state: "State",
    seat: int,
    *,
    seats: int | None = None,
    options: Mapping[str, OptionValue] | None = None,
    decision: int = 1,
    dice: bytes = b"",
) -> LocalAsk:
    """Return an ask of any state of the rules (`arena.games`), as a bot at a seat would see it.

    It has no events, for a state says nothing of what led to it. Searches and training put it to a bot's `move`;
    `local.move` turns the answer into a move of the rules.

    Args:
      game: The id of the game.
      state: The state; the seat must be one of those to act.
      seat: The seat.
      seats: The number of seats of the match; by default the fewest of the game.
      options: The options of the game.
      decision: The number of the seat's decision in the match, from 1, which also chooses the stream of `ask.random`.
      dice: 16 bytes of which `ask.random` is made; without them it is drawn.

    Raises:
      NoEngine: if the engine is not installed.
      LookupError: if there is no such game.
      ValueError: if the game cannot be played with these seats or options, or the seat is not to act.
    """
    with _engine():
        from arena.games.catalogue import game_by_id
        from arena.games.contract import Seat
        from arena.terms import MatchTerms
        from arena.wire.terms import terms_message
    chosen = game_by_id(game)
    count = chosen.seats[0] if seats is None else seats
    terms = MatchTerms(chosen, chosen.options(options or {}, count), count, seeded=True)
    acting = chosen.rules.to_act(state)
    if seat not in acting:
        raise ValueError(f"seat {seat} is not to act; to act are: {[*acting] or 'none'}")
    names = [f"seat {each}" for each in range(count)]
    start = start_of("local", terms_message(terms), names, seat, 1, dice)
    form = form_of(terms)
    allowed = form.rules.moves(state, Seat(seat))
    return LocalAsk(form, start, decision, state, allowed, News(), None, form.clock_ms)


def move(asked: LocalAsk, choice: object) -> "Move":
    """Return the move of the rules that a bot's answer to an ask of `local.ask` stands for.

    Args:
      asked: The ask.
      choice: What `Bot.move` returned: one of the offered moves, its index, or another move.

    Raises:
      TypeError: if the choice is no move of the game, and no index.
      IndexError: if it is an index past the offered moves.
      ValueError: if the move is illegal; the text says why.
    """
    return asked.judged(_choice.answer(asked, choice))


def _require_fit(bot: AnyBot, game: str) -> None:
    kind = bot if isinstance(bot, type) else type(bot)
    _bot.require_method(kind)
    games = [support.game for support in _games.supported(kind.games)]
    if game not in games:
        raise ValueError(f"{kind.__name__} plays {', '.join(games)}, and not {game}")


@contextmanager
def _engine() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise NoEngine(
            "cardarena.local plays by the arena's own rules, and they are not installed: "
            f"pip install 'cardarena[local]' ({error})",
            name=error.name,
        ) from error


__all__ = [
    "Again",
    "AnyBot",
    "Failure",
    "LocalAsk",
    "NoEngine",
    "Result",
    "ask",
    "move",
    "play",
    "replay",
]
