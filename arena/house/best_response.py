"""A best response to a bot, as far as search finds one: its winnings are a lower bound of the bot's exploitability.

The response searches from its own view, and asks the bot for its moves in imagined states. In the betting games it is
the local best response (Lisý & Bowling, *Equilibrium approximation quality of current no-limit poker bots*, 2017): it
weighs hidden cards by whether the bot would have made the same bets with them, and checks or calls after its move. In
the other games it continues by the house bot's policy.
"""

import contextlib
import copy
import math
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import cardarena
from arena.games.betting.moves import CALL, CHECK
from arena.games.catalogue import game_by_id
from arena.games.contract import Move, Options, Seat, State, View
from arena.games.game import Game
from arena.house.betting import OTHERWISE
from arena.house.bot import HouseBot, Play, searcher_of
from arena.house.par import CostlyDecision, compare
from arena.house.search import Below, Searcher
from arena.local import play
from arena.local.asks import LocalAsk, News, form_of
from arena.local.engines import Engine, ThisProcess
from arena.local.many import DealSetResult, play_many
from arena.local.place import AnyBot, object_of, start_of
from arena.records.read import Replay
from arena.referee.terms import MatchTerms
from arena.referee.wire.terms import terms_message
from arena.results.student_t import quantile
from cardarena._mode import async_methods

STEPS: Final = 240
"""The approximate default number of steps of the rules for a decision of the response."""
COMPARED_MATCHES: Final = 6
"""The number of matches with the bot's largest losses whose decisions are compared."""
COMPARED_STEPS: Final = 10
"""The factor of steps for the search that a decision of the bot is compared with."""
MOST_SITUATIONS: Final = 5
COVERAGE: Final = 0.95
_NOT_SEARCHED: Final = ("eleusis",)
"""Families whose states cannot be played out by the house bot's policy."""


class CannotExploit(Exception):
    """There is no best response to the bot. The text says why."""


@dataclass(frozen=True, slots=True)
class Situation:
    """A decision that cost the bot points."""

    replay: Path
    seat: int
    costly: CostlyDecision


@dataclass(frozen=True, slots=True)
class Exploited:
    """The winnings of the response from the bot."""

    deal_sets: int
    matches: int
    mean: float
    """The mean points a match by which the response was above the mean of the bot's seats."""
    low: float
    """The lower end of the 95 % interval of the mean, which is the lower bound of the exploitability."""
    high: float
    situations: tuple[Situation, ...]
    """The costliest decisions of the bot, the worst first."""
    faults: int


class BestResponse(HouseBot):
    """Plays against a bot at all other seats."""

    def __init__(self, bot: AnyBot, steps: int) -> None:
        super().__init__()
        self._bot = bot
        self._steps = steps

    def player(self, terms: MatchTerms) -> Play:
        asked = _AskedBot(self._bot, terms)
        searcher_at = cache(lambda seat: _response(terms.game, asked, seat))

        def chosen(view: View, options: Options, seat: Seat, chance: Any) -> Move:
            searcher = searcher_at(seat)
            return searcher.choose(view, options, seat, view.hand, self._steps, chance).move

        return chosen


def require_searched(game_id: str, bot: AnyBot) -> None:
    """Require that a best response to a bot can be searched. Raises `CannotExploit` if it cannot."""
    game = game_by_id(game_id)
    if searcher_of(game_id) is None or game.family in _NOT_SEARCHED:
        raise CannotExploit(f"the house bot cannot play out imagined hands of {game.title}")
    kind = bot if isinstance(bot, type) else type(bot)
    if issubclass(kind, cardarena.Bot) and "move" in async_methods(kind):
        raise CannotExploit(f"{kind.__name__} awaits in `move`; a search cannot ask it")


def exploit(
    game: str,
    bot: AnyBot,
    *,
    options: Mapping[str, Any],
    seats: int,
    deal_sets: int,
    seed: str,
    folder: Path,
    steps: int = STEPS,
    on_progress: Callable[[int, int], object] = lambda *_: None,
) -> Exploited:
    """Play a best response against a bot, and look for the decisions that cost the bot most.

    Each deal-set has the same cards with the response at each seat. The folder gets the replays; the same call
    continues an interrupted run.

    Raises:
      CannotExploit: if the bot cannot be asked, or the game cannot be searched.
      ValueError: if the game cannot be played with these options and seats.
      Unplayed: if the folder has the results of another run.
    """
    require_searched(game, bot)
    table = [BestResponse(bot, steps), *[bot] * (seats - 1)]
    with contextlib.closing(Engine(ThisProcess())) as engine:
        results = list(
            play_many(
                game, [table], deal_sets=deal_sets, seed=seed, options=options, client=engine,
                raising=False, folder=folder, replays=True, on_progress=on_progress,
            )
        )  # fmt: skip
    leads = [list(_leads(result)) for result in results]
    means = list(map(statistics.fmean, leads))
    mean, reach = statistics.fmean(means), math.inf
    if len(means) > 1:
        error = statistics.stdev(means) / math.sqrt(len(means))
        reach = quantile((1 + COVERAGE) / 2, len(means) - 1) * error
    faults = sum(
        fault.seat != rotation
        for result in results
        for rotation, match in enumerate(result.matches)
        for fault in match.faults
    )
    situations = tuple(_situations(results, leads, steps))
    matches = sum(len(result.matches) for result in results)
    return Exploited(
        len(results), matches, mean, mean - reach, mean + reach, situations, faults
    )  # fmt: skip


def _leads(result: DealSetResult) -> Iterator[float]:
    """Yield the lead of the response in each match; in match `r` it has seat `r`."""
    for seat, match in enumerate(result.matches):
        others = sum(match.scores) - match.scores[seat]
        yield match.scores[seat] - others / (len(match.scores) - 1)


def _situations(
    results: list[DealSetResult], leads: list[list[float]], steps: int
) -> list[Situation]:
    """Return the costliest decisions of the matches that the bot lost by most."""
    order = sorted(
        ((lead, at, rotation) for at, row in enumerate(leads) for rotation, lead in enumerate(row)),
        reverse=True,
    )
    situations = []
    for _, at, rotation in order[:COMPARED_MATCHES]:
        path = results[at].matches[rotation].replay
        assert path is not None, "the matches were played with replays"
        replay = Replay.open(path)
        for seat in range(len(replay.names)):
            if seat != rotation:
                costliest = compare(replay, Seat(seat), COMPARED_STEPS * steps).costliest
                situations += [Situation(path, seat, costly) for costly in costliest]
    situations.sort(key=lambda situation: -situation.costly.loss)
    return situations[:MOST_SITUATIONS]


class _AskedBot:
    """A bot that is asked in imagined states.

    It gets no events, so a bot that remembers events answers like one that has just sat down.
    """

    def __init__(self, bot: AnyBot, terms: MatchTerms) -> None:
        self._rules = terms.game.rules
        self._form = form_of(terms)
        self._bot = object_of(copy.deepcopy(bot))
        names = [f"seat {seat}" for seat in range(terms.seats)]
        message = terms_message(terms)
        self._starts = [
            start_of("imagined", message, names, seat, 1, bytes(16)) for seat in range(terms.seats)
        ]
        self._asked = 0
        if isinstance(self._bot, cardarena.Bot):
            self._bot.start = self._starts[0]
            self._bot.started()
        else:
            self._bot.started(self._starts[0])

    def move(self, state: State, seat: Seat) -> Move:
        allowed = self._rules.moves(state, seat)
        if allowed.complete and len(allowed.offered) == 1:
            return allowed.offered[0]
        self._asked += 1  # so that each ask has different dice
        form, start = self._form, self._starts[seat]
        ask = LocalAsk(form, start, self._asked, state, allowed, News(), None, form.clock_ms)
        try:
            if isinstance(self._bot, cardarena.Bot):
                return play.move(ask, self._bot.move(ask))
            (choice,) = self._bot.moves([ask])
            return play.move(ask, choice)
        except Exception:
            return self._rules.fallback(state, seat)


def _response(game: Game, asked: _AskedBot, own: Seat) -> Searcher:
    house = searcher_of(game.id)
    assert house is not None, "the game was checked"
    so_far = getattr(
        import_module(f"arena.games.{game.family}.possible_states"), "hand_so_far", None
    )
    usual = house.rollout or house.policy

    def rollout(state: State, seat: Seat, below: Below) -> Move:
        if seat != own:
            return asked.move(state, seat)
        if so_far is not None:
            offered = game.rules.moves(state, seat).offered
            for passive in (CHECK, CALL):
                if passive in offered:
                    return passive
        return usual(state, seat, below)

    def likelihood(state: State, seat: Seat, below: Below) -> float:  # noqa: ARG001
        assert so_far is not None
        result = 1.0
        for before, player, move in so_far(state):
            if player != seat:
                agrees = asked.move(before, player) == move
                offered = len(game.rules.moves(before, player).offered)
                result *= OTHERWISE / offered + (1 - OTHERWISE) * agrees
        return result

    return replace(
        house,
        rollout=rollout,
        likelihood=None if so_far is None else likelihood,
        look_ahead=None,
        step_time=1.0,  # the bot uses most of the time, not the rules
    )


__all__ = ["BestResponse", "CannotExploit", "Exploited", "Situation", "exploit", "require_searched"]
