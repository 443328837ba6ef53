"""The page of a bot: its standings by game, opponents, faults and matches."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from arena.store import MatchFilter
from arena.web import plots
from arena.web.addresses import NoSuchPage, slug
from arena.web.page import Page
from arena.web.pages.competition import StandingsRow, standings_rows
from arena.web.pages.lists import Choice, MatchRow, game_choices, match_rows
from arena.web.site_archive import Appearance, SiteArchive, require_game

FAULTS_DRAWN: Final = 20
"""The number of newest matches whose faults are drawn."""


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
        """The path of a bot's page with these filters."""
        path = f"bots/{slug(name)}"
        path += f".vs-{slug(self.opponent)}" if self.opponent else ""
        path += f".{self.game}" if self.game else ""
        return path + ("" if self.chosen is Chosen.ALL else f".{self.chosen}")


def filters(archive: SiteArchive, name: str) -> Iterator[BotFilter]:
    """All filters of a bot's page that pages link to."""
    games = archive.games(name)
    for game in ("", *games) if len(games) > 1 else ("",):
        yield from (BotFilter(chosen, game) for chosen in Chosen)
    yield from (BotFilter(opponent=other) for other in _opponents(archive.appearances(name), name))


@dataclass(frozen=True, slots=True)
class AppearanceRow:
    """A bot in a game of a competition."""

    competition: str
    game: str
    version: str
    """Its version, or a short hash of its files; empty if neither is known."""
    row: StandingsRow
    """The row of the bot in the game's standings."""


@dataclass(frozen=True, slots=True)
class BotView:
    """A bot."""

    bot: str
    competitions: tuple[AppearanceRow, ...]
    """Oldest first."""
    matches: tuple[MatchRow, ...]
    more: bool
    """Whether the list of matches has another page."""


def bot(archive: SiteArchive, name: str, opponent: str, game: str, chosen: str, page: str) -> Page:
    """Make `/bots/NAME`, with all matches, or those with an opponent, of a game, lost or faulted.

    Raises:
      NoSuchPage: if the bot, the opponent or the game does not exist.
    """
    known = archive.bots()
    if name not in known or opponent not in ("", *known):
        others = f", and one named {opponent!r}," if opponent else ""
        raise NoSuchPage(f"no bot named {name!r}{others} has played a match here", "bots")
    if game:
        require_game(game)
    wanted, number = BotFilter(Chosen(chosen or "all"), game, opponent), int(page or 1)
    bots = tuple(filter(None, (name, opponent)))
    asked = MatchFilter(game, bots, faulted=wanted.chosen is Chosen.FAULTED)
    lost_by = name if wanted.chosen is Chosen.LOST else ""
    found, more = archive.matches(asked, page=number, lost_by=lost_by)
    appearances = archive.appearances(name)
    rows = tuple(map(_row, appearances))
    opponents = _opponents(appearances, name)
    pictures = {
        "newest": list({each.game: each for each in rows}.values()),
        "versions": list(_versions(rows)),
        "opponents": opponents,
        "against": {other: BotFilter(opponent=other).path(name) for other in opponents},
        "faults": [
            (each.competition, kind, count)
            for each in rows
            for kind, count in each.row.faults.items()
        ],
        **_drawn_faults(archive, name),
        "opponent": opponent,
        "everybody": BotFilter().path(name),
        "which": [
            Choice(str(each), replace(wanted, chosen=each).path(name), each is wanted.chosen)
            for each in Chosen
        ],
        "games": game_choices(
            archive.games(name), game, lambda other: replace(wanted, game=other).path(name)
        ),
        "path": wanted.path(name),
        "page": number,
    }
    view = BotView(name, rows, match_rows(found), more)
    return Page("bot.html", f"Bot {name}", view, pictures)


def _row(each: Appearance) -> AppearanceRow:
    rows = each.standings["rows"]
    row = standings_rows(rows)[rows.index(each.row)]
    return AppearanceRow(each.competition, each.standings["game"], each.row["version"], row)


def _versions(
    rows: Sequence[AppearanceRow],
) -> Iterator[tuple[str, object, Sequence[AppearanceRow]]]:
    """Each game of several competitions of the bot, with a plot and the rows."""
    for game in dict.fromkeys(each.game for each in rows):
        own = [each for each in rows if each.game == game]
        if len(own) > 1:
            steps = [
                plots.PlottedSkill(
                    each.version or each.competition,
                    each.row.tier,
                    each.row.score,
                    each.row.half_width_95,
                )
                for each in own
            ]
            yield game, plots.versions_plot(steps), own


def _opponents(appearances: Sequence[Appearance], name: str) -> dict[str, tuple[int, int, int]]:
    """The numbers of matches won, drawn and lost against each opponent, in all competitions."""
    met: dict[str, tuple[int, int, int]] = {}
    for pair in (pair for each in appearances for pair in each.standings["pairs"]):
        if name in (pair["bot"], pair["other"]):
            first = name == pair["bot"]
            won, lost = (pair["wins"], pair["losses"]) if first else (pair["losses"], pair["wins"])
            other = pair["other" if first else "bot"]
            before = met.get(other, (0, 0, 0))
            met[other] = before[0] + won, before[1] + pair["draws"], before[2] + lost
    return dict(sorted(met.items()))


def _drawn_faults(archive: SiteArchive, name: str) -> dict[str, object]:
    """The bot's faults in its newest matches with faults: a plot, and counts by kind."""
    drawn = archive.faults(name, FAULTS_DRAWN)
    marks = [
        plots.FaultMark(at, each.decision, each.kind)
        for at, own in enumerate(drawn)
        for each in own
    ]
    counted = dict(sorted(Counter(each.kind for each in marks).items()))
    plot = plots.faults_plot(list(counted), marks, len(drawn)) if marks else None
    return {"faults_plot": plot, "drawn_faults": counted}
