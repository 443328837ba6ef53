"""The functions that the SDK exports as `cardarena.local`: a match, many matches, a decision of a replay, and an ask of any state."""

import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from arena.games.catalogue import game_by_id
from arena.games.contract import Move, Seat, State
from arena.local.asks import LocalAsk, News, form_of
from arena.local.many import DealSetResult, Unplayed, play_many
from arena.local.match import Failure, Match, Result
from arena.local.place import AnyBot, Place, object_of, require_fit, start_of
from arena.local.replayed_ask import Again, Walk
from arena.records.playback import Discrepancy, play_back
from arena.records.read import Replay, Unplayable
from arena.records.records import Damaged
from arena.referee.terms import MatchTerms
from arena.referee.wire.terms import terms_message
from cardarena import _choice
from cardarena._ask import OptionValue


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
      LookupError: if there is no such game.
      ValueError: if the game cannot be played with these seats or options, or a bot does not play it.
      Exception: an exception of a bot, if `raising`.
    """
    chosen, seats = game_by_id(game), len(bots)
    terms = MatchTerms(chosen, chosen.options(options or {}, seats), seats, seeded=True)
    for bot in bots:
        require_fit(bot, game)
    seed = secrets.token_hex(8) if seed is None else str(seed)
    folder = None if replays is None else Path(replays)
    return Match(terms, seed, bots, raising=raising, folder=folder).play()


def replay(
    file: str | os.PathLike[str], bot: AnyBot, *, seat: int, step: int, earlier: bool = True
) -> Again:
    """Give a bot an ask of a replay; return its move now, and the move of the replay.

    Args:
      file: The replay.
      bot: Its class, or an object of it.
      seat: The seat of the ask.
      step: The number of the step in `arena replay show` and `arena match why`.
      earlier: Whether the bot first receives the earlier asks of the seat, so that its state is as in the match. Its
        answers to them are ignored.

    Raises:
      OSError: if the file cannot be read.
      ValueError: if the file is no intact replay, or the step is no ask of the seat.
      Exception: an exception of the bot.
    """
    try:
        played = Replay.open(Path(file))
        spec = played.spec()
        walk = list(play_back(played))
    except (Damaged, Discrepancy, Unplayable) as error:
        raise ValueError(f"{file}: {error}") from error
    if not 0 <= seat < spec.terms.seats:
        raise ValueError(f"there is no seat {seat}: the match has {spec.terms.seats}, from 0")
    require_fit(bot, spec.terms.game.id)
    asked = [
        frame.index
        for frame in walk
        for decision in frame.decisions
        if decision.seat == seat and not decision.unasked
    ]
    if step not in asked:
        near = ", ".join(map(str, sorted(asked, key=lambda at: abs(at - step))[:3])) or "none"
        raise ValueError(f"seat {seat} was not asked at step {step}; near to it are: {near}")
    form = form_of(spec.terms)
    dice = spec.dice.seats[seat] if spec.dice is not None else b""
    start = start_of(spec.match_id, terms_message(spec.terms), played.names, seat, 1, dice)
    with closing(Place(form, start, object_of(bot))) as place:
        return Walk(form, spec.terms, place).to(step, walk, spec.match_id, earlier=earlier)


def ask(
    game: str,
    state: State,
    seat: int,
    *,
    seats: int | None = None,
    options: Mapping[str, OptionValue] | None = None,
    decision: int = 1,
    dice: bytes = b"",
) -> LocalAsk:
    """Return an ask of any state of the rules (`arena.games`), as a bot at a seat would see it.

    It has no events, because a state does not have its history. Searches and training pass it to a bot's `move`;
    `local.move` turns the answer into a move of the rules.

    Args:
      game: The id of the game.
      state: The state; the seat must be one of those to act.
      seat: The seat.
      seats: The number of seats of the match; by default the fewest of the game.
      options: The options of the game.
      decision: The number of the seat's decision in the match, from 1, which also chooses the
        stream of `ask.random`.
      dice: 16 bytes from which `ask.random` is made; by default they are drawn.

    Raises:
      LookupError: if there is no such game.
      ValueError: if the game cannot be played with these seats or options, or the seat is not to act.
    """
    chosen = game_by_id(game)
    count = chosen.seats[0] if seats is None else seats
    terms = MatchTerms(chosen, chosen.options(options or {}, count), count, seeded=True)
    acting = chosen.rules.to_act(state)
    if seat not in acting:
        raise ValueError(f"seat {seat} is not to act; to act are: {[*acting] or 'none'}")
    names = [f"seat {seat}" for seat in range(count)]
    start = start_of("local", terms_message(terms), names, seat, 1, dice)
    form = form_of(terms)
    allowed = form.rules.moves(state, Seat(seat))
    return LocalAsk(form, start, decision, state, allowed, News(), None, form.clock_ms)


def move(asked: LocalAsk, choice: object) -> Move:
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


__all__ = [
    "Again",
    "AnyBot",
    "DealSetResult",
    "Failure",
    "LocalAsk",
    "Result",
    "Unplayed",
    "ask",
    "move",
    "play",
    "play_many",
    "replay",
]
