"""Overall standings: bots ranked across games, from the games that they play.

A score in a game is a difference to the mean of the game's ranked bots. Divided by the spread of these scores it has no
unit, and games count alike. The overall score is the mean over the games of a bot, so a game that it does not enter costs
nothing and gives nothing.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from arena.results.deal_sets import bot_of

BY_SKILL: Final = ("ladder", "round_robin", "gauntlet")
"""The formats that rank bots by skill."""
LEAST_GAMES: Final = 3
"""The fewest games of a bot with a place: a score from fewer says little about other games."""
WIDEST: Final = 2.0
"""The widest ± of a bot with a place: a wider interval spans all scores."""


@dataclass(frozen=True, slots=True)
class GameScore:
    """The score of a bot in one game."""

    bot: str
    score: float
    half_width: float | None
    """The ± of its 95 % interval; None if it is not known."""


@dataclass(frozen=True, slots=True)
class OverallRow:
    """The row of one bot."""

    bot: str
    score: float
    """The mean over its games, in spreads."""
    half_width: float | None
    """The ± of the 95 % interval; None if that of a game is not known. Games count as independent, and spreads as known."""
    by_game: Mapping[str, float]
    """Its score in each game that it plays, in spreads."""

    @property
    def presence(self) -> int:
        """The number of its games."""
        return len(self.by_game)

    def as_json(self) -> dict[str, Any]:
        return {
            "bot": self.bot,
            "score": round(self.score, 3),
            "half_width_95": None if self.half_width is None else round(self.half_width, 3),
            "games": self.presence,
            "by_game": {game: round(score, 3) for game, score in self.by_game.items()},
        }


class OverallStandings(NamedTuple):
    """The bots of several games, the best first."""

    placed: Sequence[OverallRow]
    without_place: Sequence[OverallRow]
    """The bots in too few games, or with a score that is too uncertain."""

    def as_json(self) -> dict[str, Any]:
        return {
            "rows": [row.as_json() for row in self.placed],
            "without_place": [row.as_json() for row in self.without_place],
        }


def overall_standings(
    games: Mapping[str, Sequence[GameScore]], *, least_games: int = LEAST_GAMES
) -> OverallStandings:
    """Rank the bots of several games.

    A game with fewer than two bots, or in which all scores are equal, compares no bots and is left out.

    Args:
      games: The ranked bots of each game, one row for each bot.
      least_games: Bots with fewer games have no place.
    """
    scores: dict[str, dict[str, float]] = {}
    errors: dict[str, list[float | None]] = {}
    for game, rows in games.items():
        width = spread([row.score for row in rows])
        if not width:
            continue
        mean = math.fsum(row.score for row in rows) / len(rows)
        for row in rows:
            scores.setdefault(row.bot, {})[game] = (row.score - mean) / width
            error = None if row.half_width is None else row.half_width / width
            errors.setdefault(row.bot, []).append(error)
    ranked = [
        OverallRow(bot, math.fsum(of_bot.values()) / len(of_bot), _mean_error(errors[bot]), of_bot)
        for bot, of_bot in scores.items()
    ]
    ranked.sort(key=lambda row: (-row.score, -row.presence, row.bot))
    placed = [
        row
        for row in ranked
        if row.presence >= least_games and row.half_width is not None and row.half_width <= WIDEST
    ]
    return OverallStandings(placed, [row for row in ranked if row not in placed])


def rank_of_standings(format_: str, state: str) -> int:
    """Return the rank of standings of a game; those count that have the lowest rank, and are the newest of that rank, among those that rank two bots.

    A ladder that is not over is first, because it has the most deal-sets; then formats that rank by skill, then the
    others.
    """
    if format_ == "ladder" and state in ("running", "paused"):
        return 0
    return 1 if format_ in BY_SKILL else 2


def newest_scores(
    competitions: Iterable[tuple[Collection[str], Callable[[], Mapping[str, Any]]]],
) -> dict[str, list[GameScore]]:
    """Return the scores of each game in the first competition that ranks two bots in it, as `scores_of`.

    Args:
      competitions: The competitions in the order of `rank_of_standings`: the ids of the games, and
        a function that reads the standings, which is called if one of these games has no scores.
        Standings are those of `arena competition show --json`.
    """
    chosen: dict[str, list[GameScore]] = {}
    for ids, read in competitions:
        if chosen.keys() >= set(ids):
            continue
        for game in read()["games"]:
            if len(scores := scores_of(game)) > 1:
                chosen.setdefault(game["game"], scores)
    return chosen


def scores_of(standings: Mapping[str, Any]) -> list[GameScore]:
    """Return the scores of the bots that standings of a game rank; versions of a bot count as one, by the better of them."""
    best: dict[str, GameScore] = {}
    for row in standings["rows"]:
        if row["score"] is None:
            continue
        bot = bot_of(row["bot"])
        score = GameScore(bot, row["score"], row["half_width_95"])
        best[bot] = max(score, best.get(bot, score), key=lambda one: one.score)
    return list(best.values())


def spread(scores: Sequence[float]) -> float:
    """Return the standard deviation of a game's scores; 0 for fewer than two."""
    if len(scores) < 2:
        return 0.0
    mean = math.fsum(scores) / len(scores)
    return math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / len(scores))


def _mean_error(errors: Sequence[float | None]) -> float | None:
    known = [error for error in errors if error is not None]
    return math.hypot(*known) / len(known) if len(known) == len(errors) else None
