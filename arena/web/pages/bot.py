"""A bot's page: how good it is in each game, against whom, and its matches."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from arena.store import MatchFilter
from arena.web import plots
from arena.web.archive import Appearance, Archive, title_of
from arena.web.document import Place
from arena.web.pages.lists import (
    bot_link,
    choices,
    game_choices,
    game_link,
    match_json,
    match_table,
    tournament_link,
    turning,
)
from arena.web.pages.tournament import SKILL_HEAD, figure, score
from arena.web.sheet import Sheet, table_of
from arena.web.slugs import slug
from arena.web.trees import Tree, element

FAULTS_DRAWN: Final = 20
"""Matches of which faults are drawn, the newest."""


class Chosen(StrEnum):
    """Which matches of a bot are listed."""

    ALL = "all"
    LOST = "lost"
    FAULTED = "faulted"


@dataclass(frozen=True, slots=True)
class Filter:
    """What of a bot's matches is listed."""

    chosen: Chosen = Chosen.ALL
    game: str = ""
    """Empty for all games."""
    opponent: str = ""
    """Empty for everybody."""

    def path(self, name: str) -> str:
        """The path of a bot's page with this list."""
        path = f"bots/{slug(name)}"
        path += f".vs-{slug(self.opponent)}" if self.opponent else ""
        path += f".{self.game}" if self.game else ""
        return path + ("" if self.chosen is Chosen.ALL else f".{self.chosen}")


EVERYTHING: Final = Filter()


def filters(archive: Archive, name: str) -> Iterator[Filter]:
    """All lists of a bot's page that links lead to."""
    games = archive.games(name)
    for game in ("", *games) if len(games) > 1 else ("",):
        yield from (Filter(chosen, game) for chosen in Chosen)
    met = _records(archive.appearances(name), name)
    yield from (Filter(opponent=other) for other in met)


def bot(
    archive: Archive, place: Place, name: str, wanted: Filter = EVERYTHING, page: int = 1
) -> Sheet | None:
    """Make `/bots/NAME`; None if nobody of this name, or of the opponent's, sat at a table."""
    known = archive.bots()
    if name not in known or wanted.opponent not in ("", *known):
        return None
    appearances = archive.appearances(name)
    bots = tuple(filter(None, (name, wanted.opponent)))
    asked = MatchFilter(wanted.game, bots, faulted=wanted.chosen is Chosen.FAULTED)
    lost_by = name if wanted.chosen is Chosen.LOST else ""
    found, more = archive.matches(asked, page=page, lost_by=lost_by)
    parts: list[Tree] = [*_skills(appearances, place), *_versions(appearances, place)]
    parts += [*_opponents(appearances, name, place), *_faults(archive, name, appearances)]
    parts += [element("h2", "", "Matches"), *_choices(archive, place, name, wanted)]
    if found:
        parts.append(match_table(place, f"Matches, newest first, page {page}", found))
    else:
        parts.append(element("p", "empty", "None."))
    turn = turning(place, wanted.path(name), page, more=more)
    parts += [] if turn is None else [turn]
    return Sheet(
        f"Bot {name}",
        tuple(parts),
        {
            "bot": name,
            "tables": [_appearance_json(each) for each in appearances],
            "matches": match_json(found),
            "more": more,
        },
        heading=("Bot ", element("bdi", "", name)),
    )


def _skills(appearances: Sequence[Appearance], place: Place) -> list[Tree]:
    if not appearances:
        words = "It has not finished a complete deal-set, so no table ranks it."
        return [element("p", "empty", words)]
    newest = {each.headline.game: each for each in appearances}
    rows = [
        (
            game_link(place, game),
            score(each.row),
            "" if each.row.tier is None else str(each.row.tier),
            str(each.row.deal_sets),
            "" if each.row.faults_per_match is None else f"{each.row.faults_per_match:.2f}",
            tournament_link(place, each.headline.name),
        )
        for game, each in newest.items()
    ]
    columns = ("game", SKILL_HEAD, "tier", "deal-sets", "faults a match", "table")
    shown = table_of(
        "Its newest table of each game", columns, rows, numbers=(1, 2, 3, 4), phone=(0, 1, 2)
    )
    return [element("h2", "", "How good it is"), shown]


def _versions(appearances: Sequence[Appearance], place: Place) -> list[Tree]:
    by_game: dict[str, list[Appearance]] = {}
    for each in appearances:
        by_game.setdefault(each.headline.game, []).append(each)
    parts: list[Tree] = []
    for game, own in by_game.items():
        if len(own) < 2:
            continue
        steps = [
            plots.Standing(
                each.version or each.headline.name,
                each.row.tier,
                each.row.score,
                each.row.half_width,
            )
            for each in own
        ]
        rows = [
            (
                tournament_link(place, each.headline.name),
                each.version or "not known",
                score(each.row),
            )
            for each in own
        ]
        parts += [
            element("h2", "", f"{title_of(game)} by version"),
            figure(
                plots.versions_plot(steps),
                "Skill in points a match at each table, oldest first, with 95 % bars.",
            ),
            table_of(
                f"{title_of(game)} by version",
                ("table", "version", SKILL_HEAD),
                rows,
                numbers=(2,),
            ),
        ]
    return parts


def _records(appearances: Sequence[Appearance], name: str) -> Mapping[str, Sequence[int]]:
    """Wins, draws and losses against each other bot, over all tables."""
    met: dict[str, list[int]] = {}
    for each in appearances:
        for (one, other), record in each.records.of_pair.items():
            if one == name:
                counts = met.setdefault(other, [0, 0, 0])
                for at, number in enumerate((record.wins, record.draws, record.losses)):
                    counts[at] += number
    return met


def _opponents(appearances: Sequence[Appearance], name: str, place: Place) -> list[Tree]:
    met = _records(appearances, name)
    if not met:
        return []
    rows: list[Sequence[Tree]] = [
        (
            bot_link(place, other),
            *map(str, counts),
            element(
                "a",
                "",
                "matches",
                href=place.to(Filter(opponent=other).path(name)),
                aria_label=f"matches against {other}",
            ),
        )
        for other, counts in sorted(met.items())
    ]
    columns = ("bot", "won", "drawn", "lost", "all of them")
    return [
        element("h2", "", "Opponents"),
        table_of("Against each other bot", columns, rows, numbers=(1, 2, 3)),
    ]


def _faults(archive: Archive, name: str, appearances: Sequence[Appearance]) -> list[Tree]:
    rows = [
        (each.headline.name, kind, str(number))
        for each in appearances
        for kind, number in each.row.faults.items()
    ]
    drawn = archive.faults(name, FAULTS_DRAWN)
    parts: list[Tree] = []
    if rows:
        parts.append(
            table_of("Faults at tables", ("table", "kind", "how often"), rows, numbers=(2,))
        )
    if drawn:
        marks = [
            plots.FaultMark(at, each.decision, each.kind)
            for at, own in enumerate(drawn)
            for each in own
        ]
        kinds = sorted({each.kind for each in marks})
        plot = plots.faults_plot(kinds, marks, len(drawn))
        parts.append(figure(plot, "Its faults in the newest matches with one, by decision."))
        counted = Counter(each.kind for each in marks)
        rows_drawn = [(kind, str(number)) for kind, number in sorted(counted.items())]
        parts.append(
            table_of("Faults that are drawn", ("kind", "how often"), rows_drawn, numbers=(1,))
        )
    return [element("h2", "", "Faults"), *parts] if parts else []


def _choices(archive: Archive, place: Place, name: str, wanted: Filter) -> list[Tree]:
    if wanted.opponent:
        everybody = element("a", "", "against everybody", href=place.to(EVERYTHING.path(name)))
        words = ("Against ", element("bdi", "", wanted.opponent), " only; ", everybody, ".")
        return [element("p", "", *words)]
    which = [
        (each.value, place.to(replace(wanted, chosen=each).path(name)), each is wanted.chosen)
        for each in Chosen
    ]
    made: list[Tree] = [choices("which matches", which)]
    games = game_choices(
        place, archive.games(name), wanted.game, lambda game: replace(wanted, game=game).path(name)
    )
    return made if games is None else [games, *made]


def _appearance_json(each: Appearance) -> Mapping[str, Any]:
    return {
        "table": each.headline.name,
        "game": each.headline.game,
        "version": each.version,
        "score": each.row.score,
        "half_width_95": each.row.half_width,
        "tier": each.row.tier,
        "deal_sets": each.row.deal_sets,
        "faults": dict(each.row.faults),
    }
