"""Play in this process, without a server: to train a bot, and to step through it.

    result = cardarena.local.play("abstrac", [MyBot, Other], seed=7)
    again = cardarena.local.replay("arena-data/replays/….replay", MyBot, seat=0, step=17)

The rules are the arena's own, and a bot is given the same asks as over the network. No clock
runs out: a `breakpoint()` costs nothing. Methods are called on this thread, one at a time, whatever
`workers` and `processes` are; coroutines are awaited. It needs the engine: `pip install 'cardarena[local]'`.
"""

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from cardarena import _bot, _games
from cardarena._ask import OptionValue
from cardarena._local_ask import form_of
from cardarena._local_match import Failure, Match, Result
from cardarena._local_place import AnyBot, Place, object_of, start_of
from cardarena._local_walk import Again, Walk


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
    """Plays a match between bots of this process.

    Clocks stand as at the beginning for every ask. An illegal move is a fault, as is an exception,
    and the rules' fallback is played, as at the arena.

    Args:
      game: Its id, as `abstrac`.
      bots: By seat. A class is made a new object of, as over the network.
      seed: Fixes the deals: those of `arena play --seed`. None draws one, which the result tells.
      options: Of the game.
      raising: Whether an exception in a bot comes out of this call, as suits a debugger. Otherwise
        it is a fault, as over the network, and the result tells.
      replays: A folder that gets the replay.

    Raises:
      NoEngine: if the engine is not installed.
      LookupError: if there is no such game.
      ValueError: if the game is not played so, or a bot does not play it.
      Exception: whatever a bot raises, if `raising`.
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
    """Puts a bot before an ask of a replay, and tells what it would do now.

    Args:
      file: The replay.
      bot: Its class, or an object of it.
      seat: The seat that was asked.
      step: The step, as `arena replay show` and `arena match why` count them.
      earlier: Whether the bot is given the seat's earlier asks first, as it was in the match, so
        that it remembers what it then knew. What it answers to them does not matter.

    Raises:
      NoEngine: if the engine is not installed.
      OSError: if the file cannot be read.
      ValueError: if it is no intact replay, or the seat was not asked at that step.
      Exception: whatever the bot raises.
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
    start = start_of(spec.match_id, terms_message(spec.terms), played.names, seat, 1)
    with closing(Place(form, start, object_of(bot))) as place:
        return Walk(form, spec.terms, place, seat).to(step, walk, spec.match_id, earlier=earlier)


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


__all__ = ["Again", "AnyBot", "Failure", "NoEngine", "Result", "play", "replay"]
