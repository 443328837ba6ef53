"""Overall standings: from the games that a bot plays, each game alike."""

import math
import random
import statistics

import pytest

from arena.contests.plan import CompetitionKind
from arena.contests.standings import RANKED_BY, RankingRule
from arena.results.overall import (
    BY_SKILL,
    GameScore,
    newest_scores,
    overall_standings,
    rank_of_standings,
)


def rows(**scores):
    return [GameScore(bot, score, 1.0) for bot, score in scores.items()]


def ranked(games):
    standings = overall_standings(games)
    return {row.bot: row for row in (*standings.placed, *standings.without_place)}


# fmt: off
RULES = [
    # games                                                          scores of the bots               why
    ({"a": rows(ann=2, bob=-2)},                                     {"ann": 1, "bob": -1},           "in spreads"),
    ({"a": rows(ann=2, bob=-2), "b": rows(ann=-90, bob=90)},         {"ann": 0, "bob": 0},            "games count alike, whatever their points"),
    ({"a": rows(ann=2, bob=-2), "b": rows(ann=7, bob=3)},            {"ann": 1, "bob": -1},           "about the mean of the game"),
    ({"a": rows(ann=2, bob=-2), "b": rows(bob=1, cat=-1)},           {"ann": 1, "bob": 0, "cat": -1}, "a game not entered costs nothing"),
    ({"a": rows(ann=2, bob=-2), "b": rows(ann=5)},                   {"ann": 1, "bob": -1},           "alone in a game"),
    ({"a": rows(ann=2, bob=-2), "b": rows(ann=5, bob=5)},            {"ann": 1, "bob": -1},           "a game that tells nobody apart"),
    ({},                                                             {},                              "no game"),
]
# fmt: on


@pytest.mark.parametrize(("games", "scores", "why"), RULES, ids=[row[-1] for row in RULES])
def test_a_score_is_the_mean_of_the_games_played(games, scores, why):
    assert {bot: row.score for bot, row in ranked(games).items()} == pytest.approx(scores)


def test_intervals_and_presence_are_those_of_the_games_played():
    games = {"a": rows(ann=2, bob=-2), "b": rows(ann=4, bob=-4, cat=0)}
    made = ranked(games)
    width = math.sqrt(32 / 3)
    assert made["ann"].half_width == pytest.approx(math.hypot(1 / 2, 1 / width) / 2)
    assert made["cat"].half_width == pytest.approx(1 / width)
    assert (made["ann"].presence, made["cat"].presence) == (2, 1)
    games["b"].append(GameScore("dan", 0.0, None))
    assert ranked(games)["dan"].half_width is None


def with_width(bot, half_width):
    return [GameScore(bot, 1.0, half_width), GameScore("other", -1.0, half_width)]


# fmt: off
PLACES = [
    # games of ann  ± in each  options             has a place  why
    (3,             1.0,       {},                 True,        "enough games, and sure enough"),
    (2,             1.0,       {},                 False,       "too few games"),
    (2,             1.0,       {"least_games": 2}, True,        "enough for whom it asks"),
    (3,             3.5,       {},                 False,       "an interval wider than 2"),
    (3,             None,      {},                 False,       "an interval that is not known"),
]
# fmt: on


@pytest.mark.parametrize(
    ("games", "half_width", "options", "placed", "why"), PLACES, ids=[row[-1] for row in PLACES]
)
def test_which_bots_have_a_place(games, half_width, options, placed, why):
    given = {str(number): with_width("ann", half_width) for number in range(games)}
    standings = overall_standings(given, **options)
    assert ("ann" in {row.bot for row in standings.placed}) == placed
    assert ("ann" in {row.bot for row in standings.without_place}) != placed


def of(game, **scores):
    shown = [
        {"bot": bot.replace("_", "@"), "score": score, "half_width_95": 1.0}
        for bot, score in scores.items()
    ]
    return [game], lambda: {"games": [{"game": game, "rows": shown}]}


def test_scores_are_of_the_newest_competition_that_ranks_two_bots():
    newer, older = of("jam", ann=1.0, bob=None), of("jam", ann=3.0, bob=-3.0)
    assert newest_scores([newer, older])["jam"] == rows(ann=3.0, bob=-3.0)
    assert newest_scores([older, (["jam"], None)])["jam"] == rows(ann=3.0, bob=-3.0)
    assert newest_scores([newer]) == {}


# fmt: off
COUNT = [
    # counts before            this                      why
    (("ladder", "running"),    ("round_robin", "running"), "a ladder has the most deal-sets"),
    (("ladder", "paused"),     ("round_robin", "finished"), "also one that waits"),
    (("gauntlet", "finished"), ("swiss", "running"),     "skill is compared across competitions, points are not"),
    (("ladder", "finished"),   ("knockout", "running"),  "a ladder that is over ranks by skill too"),
]
# fmt: on


@pytest.mark.parametrize(("first", "second", "why"), COUNT, ids=[row[-1] for row in COUNT])
def test_standings_count_in_an_order(first, second, why):
    assert rank_of_standings(*first) < rank_of_standings(*second)


def test_formats_by_skill_are_those_of_standings():
    assert set(BY_SKILL) == {
        form or CompetitionKind.LADDER
        for form, rule in RANKED_BY.items()
        if rule is RankingRule.SKILL
    }


def test_versions_of_a_bot_count_as_one_by_the_better():
    given = of("jam", ann_1=1.0, ann_2=3.0, bob=-3.0)
    assert newest_scores([given])["jam"] == rows(ann=3.0, bob=-3.0)


def intervals(chance, presence):
    """Whether the interval of each bot holds, where each of 12 bots plays a share of 8 games.

    General skill has a standard deviation of 1, that in a game departs from it by 0.6 and is measured with an error of 0.3.
    """
    general = {f"bot {at}": chance.gauss(0, 1) for at in range(12)}
    games, true = {}, {}
    for game in "abcdefgh":
        skill = {
            bot: chance.gauss(of, 0.6) for bot, of in general.items() if chance.random() < presence
        }
        games[game] = [
            GameScore(bot, chance.gauss(of, 0.3), 1.96 * 0.3) for bot, of in skill.items()
        ]
        if len(skill) > 1:
            mean, unit = (
                statistics.fmean(skill.values()),
                statistics.pstdev(row.score for row in games[game]),
            )
            true[game] = {bot: (of - mean) / unit for bot, of in skill.items()}
    for row in overall_standings(games, least_games=1).placed:
        yield (
            abs(row.score - statistics.fmean(true[game][row.bot] for game in row.by_game))
            <= row.half_width
        )


@pytest.mark.parametrize("presence", [1.0, 0.5])
def test_intervals_hold_as_often_as_they_say(presence):
    chance = random.Random("overall")
    held = [holds for _ in range(60) for holds in intervals(chance, presence)]
    assert statistics.fmean(held) > 0.93
