"""The page of a bot: its standings by game, opponents, faults and matches."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from arena.api.pair_tests import margins_over
from arena.api.site_archive import Appearance, ListedMatch, SiteArchive, is_played_by
from arena.referee.wire.enums import word_of
from arena.results.deal_sets import bot_of, winners
from arena.web import plots
from arena.web.addresses import NoSuchPage, slug
from arena.web.badge import badge_svg
from arena.web.names import house_level
from arena.web.page import Json, Page
from arena.web.pages.certainty import certainty, tier_lead
from arena.web.pages.competition import spark
from arena.web.pages.counted import counted, standings_rows
from arena.web.pages.filters import Filter, game_choices
from arena.web.pages.lists import (
    known_bots,
    match_rows,
    played_games,
    require_game,
)
from arena.web.rendering import game_title, milliseconds, option_value, skill
from cardarena.v1 import lobby_pb2

FAULTS_DRAWN: Final = 20
"""The number of newest matches whose faults are drawn."""
SHOWN: Final = 10
"""The number of matches that the page without filters shows at first."""
TIMED: Final = 5
"""The number of newest matches whose decisions are timed."""
PERCENTILES: Final = (0.5, 0.9, 0.99)
STRIPPED: Final = 16
"""The number of latest deal-sets against an opponent whose margins are drawn."""


class Chosen(StrEnum):
    """A filter of a bot's matches."""

    ALL = "all"
    LOST = "lost"
    FAULTED = "faulted"


@dataclass(frozen=True, slots=True)
class BotFilter:
    """The filters of a bot's matches; empty ones do not apply."""

    chosen: Chosen = Chosen.ALL
    game: str = ""
    opponent: str = ""

    def path(self, name: str) -> str:
        """Return the path of a bot's page with these filters."""
        path = f"bots/{slug(name)}"
        path += f".vs-{slug(self.opponent)}" if self.opponent else ""
        path += f".{self.game}" if self.game else ""
        return path + ("" if self.chosen is Chosen.ALL else f".{self.chosen}")


def paths(archive: SiteArchive) -> Iterator[str]:
    """Yield the paths of the pages of all bots, with all filters that pages link to."""
    for name in dict.fromkeys((*archive.bots(), *known_bots(archive))):
        games = played_games(archive, name)
        for game in ("", *games) if len(games) > 1 else ("",):
            yield from (BotFilter(chosen, game).path(name) for chosen in Chosen)
        for row in _opponents(archive.appearances(name), name):
            yield str(row["path"])


def bot(archive: SiteArchive, name: str, opponent: str, game: str, chosen: str, page: str) -> Page:
    """Make `/bots/NAME`, with all matches, or those with an opponent, of a game, lost or faulted.

    Raises `NoSuchPage` if the bot, the opponent, the game or the page of the list does not exist.
    """
    known = {*archive.bots(), *known_bots(archive)}
    if name not in known or opponent not in ("", *known):
        others = f", and one named {opponent!r}," if opponent else ""
        raise NoSuchPage(f"no bot named {name!r}{others} has played a match here", "bots")
    if game:
        require_game(game)
    wanted, number = BotFilter(Chosen(chosen or "all"), game, opponent), int(page or 1)
    asked = lobby_pb2.MatchFilter(
        game=game,
        bots=tuple(filter(None, (name, opponent))),
        faulted=wanted.chosen is Chosen.FAULTED,
        lost_by=name if wanted.chosen is Chosen.LOST else "",
    )
    matches, more = archive.listed(asked, page=number)
    if number > 1 and not matches:
        raise NoSuchPage(f"the list of matches of {name!r} has no page {number}", "bots")
    appearances = archive.appearances(name)
    rows = list(map(_row, appearances))
    count = {(game_id, one.competition) for game_id, one in counted(archive).items()}
    newest = [
        {
            **_row(appearance),
            "bar": plots.bars(standings_rows(appearance.standings["rows"]))[appearance.row["bot"]],
            "spark": spark(appearance.margins, appearance.row["bot"]),
            "rung": rung(appearance.row, appearance.standings["rows"]),
        }
        for appearance in sorted(
            (one for one in appearances if one.row["deal_sets"]),
            key=lambda one: (
                one.row["score"] is None,
                (one.standings["game"], one.competition) not in count,
                -one.row["deal_sets"],
            ),
        )
    ]
    profile = archive.profile(name)
    entered = [
        (info, entrant)
        for info in archive.competitions()
        for entrant in info.bots
        if bot_of(entrant.bot) == name
    ]
    pictures = {
        "profile": profile,
        "active": next((v["number"] for v in profile["versions"] if v["state"] == "active"), None)
        if profile
        else None,
        "stats": _stats(newest),
        "newest": newest,
        "versions": list(_versions(appearances)),
        "entered": [
            info.name
            for info, _ in entered
            if word_of(info, "state") in ("draft", "running")
            and info.name not in {row["competition"] for row in newest}
        ],
        "best": match_rows(_costliest(matches, name)) if wanted == BotFilter() else (),
        "level": house_level(name),
        "most": SHOWN if wanted == BotFilter() and number == 1 else len(matches),
        "limits": {info.name: entrant.away for info, entrant in entered if entrant.away},
        "opponents": _opponents(appearances, name),
        "faults": [
            (row["competition"], kind, count)
            for row in rows
            for kind, count in row["row"]["faults"].items()
        ],
        **_drawn_faults(archive, name),
        "times": _times(archive, name),
        "opponent": opponent,
        "everybody": BotFilter().path(name),
        "which": [
            Filter(str(choice), replace(wanted, chosen=choice).path(name), choice is wanted.chosen)
            for choice in Chosen
        ],
        "games": game_choices(
            played_games(archive, name), game, lambda other: replace(wanted, game=other).path(name)
        ),
        "path": wanted.path(name),
        "page": number,
    }
    view = {
        "bot": name,
        "profile": profile,
        "competitions": rows,
        "matches": match_rows(matches),
        "more": more,
    }
    about = f"Skill, matches, opponents and faults of the bot {name}."
    preview = f"previews/bots/{slug(name)}"
    return Page("bot.html", f"Bot {name}", view, pictures, about, preview, f"bots/{slug(name)}")


def _stats(newest: Sequence[Json]) -> Sequence[tuple[str, str]]:
    """Return the figures at the top of the page, each with what it counts."""
    if not newest:
        return ()
    first = newest[0]
    place = [(first["row"]["place"], "place")] if first["row"]["place"] else []
    matches = sum(row["row"]["matches"] for row in newest)
    return [
        (skill(first["row"]), f"skill at {game_title(first['game'])}"),
        *place,
        (f"{matches:,}", "matches in competitions"),
    ]


def rung(own: Json, rows: Sequence[Json]) -> str:
    """Return the strongest of the arena's own bots that is in a lower tier of the same standings; empty if there is none."""
    from arena.sandbox.house_levels import HOUSE_BOTS  # the process of watchers does without

    tiers = {row["bot"]: row["tier"] for row in rows}
    beaten = [bot for bot in HOUSE_BOTS if own["tier"] and (tiers.get(bot) or 0) > own["tier"]]
    return beaten[-1] if beaten else ""


def badge_of(archive: SiteArchive, name: str, game: str) -> str:
    """Return the badge of a bot in the standings of a game that count, otherwise in its newest ones, as SVG.

    Raises `NoSuchPage` if it is in none.
    """
    of_game = [row for row in archive.appearances(name) if row.standings["game"] == game]
    if not of_game:
        raise NoSuchPage(f"no bot named {name!r} is in standings of {game!r}", "bots")
    counts = counted(archive, game).get(game)
    appearance = next(
        (row for row in of_game if counts and row.competition == counts.competition), of_game[-1]
    )
    stands, rows = appearance.row, appearance.standings["rows"]
    place = f"place {stands['place']} of {len(rows)}" if stands["place"] else "no place yet"
    above = rung(stands, rows)
    return badge_svg(game_title(game), place + (f", above {above}" if above else ""))


def _costliest(matches: Sequence[ListedMatch], name: str) -> Iterator[ListedMatch]:
    """Yield the matches, one won and one lost, with the costliest hand, of the game that the bot has recently played most.

    A draw of all seats is neither.
    """
    known = [row for row in matches if row.costliest_hand and row.match.published]
    game = Counter(row.match.game for row in known).most_common(1)
    for won in (True, False):
        rows = [
            row
            for row in known
            if row.match.game == game[0][0]
            and (first := winners(row.match.bots, row.match.places))
            and won == any(is_played_by(bot, name) for bot in first)
        ]
        if rows:
            yield max(rows, key=lambda row: row.cost)


def _times(archive: SiteArchive, name: str) -> Json | None:
    """Return the bot's times of decisions, in milliseconds, in its newest matches; None without decisions."""
    matches = archive.conduct(name, TIMED, faulted=False)
    times = sorted(ms for match in matches for ms in match.times_ms)
    if not times:
        return None
    at = {share: times[min(len(times) - 1, int(share * len(times)))] for share in PERCENTILES}
    return {
        "decisions": len(times),
        "matches": len(matches),
        "percentiles": [
            (milliseconds(ms), f"{share:.0%} take at most") for share, ms in at.items()
        ],
        "longest": milliseconds(times[-1]),
        "plot": plots.times_plot(times),
    }


def _row(appearance: Appearance) -> Json:
    """Return the bot in a game of a competition, and its version, or a short hash of its files; empty if neither is known."""
    rows = appearance.standings["rows"]
    return {
        "competition": appearance.competition,
        "game": appearance.standings["game"],
        "version": appearance.row["version"],
        "row": standings_rows(rows)[rows.index(appearance.row)],
    }


def _label(row: Json) -> str:
    """Return a registered version, or the competition if the version is only a hash."""
    return str(row["version"] if "@" in row["version"] else row["competition"])


def _versions(
    appearances: Sequence[Appearance],
) -> Iterator[tuple[str, object, Sequence[Json]]]:
    """Yield the title, plot and rows of competitions that ranked the bot with the same game, seats and options.

    Others have another unit: a match of more hands has more points.
    """
    alike: dict[str, list[Appearance]] = {}
    for appearance in appearances:
        if appearance.row["score"] is not None:
            unit = [appearance.terms[key] for key in ("game", "seats", "options")]
            alike.setdefault(json.dumps(unit, sort_keys=True), []).append(appearance)
    for together in alike.values():
        if len(together) > 1:
            rows, terms = list(map(_row, together)), together[0].terms
            options = (f"{name} {option_value(value)}" for name, value in terms["options"].items())
            title = ", ".join((game_title(terms["game"]), *options))
            words = [{"words": f"{_label(row)}: {skill(row['row'])}"} for row in rows]
            steps = [(_label(row), row["row"]) for row in rows]
            yield title, plots.versions_plot(steps), words


def _opponents(appearances: Sequence[Appearance], name: str) -> Sequence[Json]:
    """Return the opponents in all competitions: matches won, drawn and lost, and the newest margins and chance."""
    met: dict[str, dict[str, Any]] = {}
    for appearance in appearances:
        player = appearance.row["bot"]
        for pair in appearance.standings["pairs"]:
            if player not in (pair["bot"], pair["other"]):
                continue
            first = player == pair["bot"]
            other = pair["other" if first else "bot"]
            of_other = met.setdefault(
                other,
                {"bot": other, "counts": [0, 0, 0], "path": BotFilter(opponent=other).path(name)},
            )
            won, lost = (pair["wins"], pair["losses"]) if first else (pair["losses"], pair["wins"])
            for at, number in enumerate((won, pair["draws"], lost)):
                of_other["counts"][at] += number
            of_pair = margins_over(appearance.margins, player, other)
            label = f"margins over {other} in the last {min(len(of_pair), STRIPPED)} deal-sets"
            of_other["strip"] = plots.strip(of_pair[-STRIPPED:], label)
            chance = pair["chance"]
            of_other["chance"] = certainty(
                chance if first or chance is None else 1 - chance,
                of_pair,
                tier_lead(appearance.standings["rows"], player, other),
            ).words
    return sorted(met.values(), key=lambda row: str(row["bot"]))


def _drawn_faults(archive: SiteArchive, name: str) -> dict[str, object]:
    """Return the bot's faults in its newest matches with faults: a plot, and counts by kind in words."""
    matches = archive.conduct(name, FAULTS_DRAWN, faulted=True)
    drawn = [match.faults for match in matches if match.faults]
    marks = [
        plots.FaultMark(at, decision, kind)
        for at, faults in enumerate(drawn)
        for decision, kind in faults
    ]
    counted = dict(sorted(Counter(mark.kind for mark in marks).items()))
    plot = plots.faults_plot(list(counted), marks, len(drawn))
    words = ", ".join(f"{number} {kind}" for kind, number in counted.items())
    return {"faults_plot": plot, "drawn_faults": words}
