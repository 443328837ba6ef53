"""The home page, and the lists of matches, competitions, bots and workers."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any, Final

from markupsafe import Markup

from arena.api.site_archive import ListedMatch, SiteArchive
from arena.games.catalogue import GAMES, UnknownGame, game_by_id
from arena.games.game import Game
from arena.referee.wire.enums import word_of
from arena.results.deal_sets import HOUSE, PERSON, bot_of, winners
from arena.results.worth import ANY_WORTH, Worth
from arena.web.addresses import NoSuchPage
from arena.web.emblems import symbols
from arena.web.live_table import NO_TABLES, NOTHING_LIVE, Tables, age, live_tree, live_view
from arena.web.names import house_level, seat_names
from arena.web.page import Json, Page
from arena.web.pages.counted import counted, first_rows, first_to_count, standings_rows
from arena.web.pages.filters import (
    BOT_ORDERS,
    ENDINGS,
    FAULTED,
    NO_FILTERS,
    ListFilters,
)
from arena.web.rendering import SITE, game_title, utc
from arena.web.trees import html
from cardarena.v1 import competitions_pb2, lobby_pb2, watch_pb2

HOME_GAME: Final = "klaberjass"
"""The game whose sample hand the home page has."""
HOME_MATCHES: Final = 5
HOME_COMPETITIONS: Final = 3
HOME_LEADERS: Final = 9
_RUNNING_FIRST: Final = {"running": 0, "draft": 2, "paused": 3}
"""The order of competitions on the home page by state; other states are in between."""
HOME_LIVE: Final = 3
"""The number of matches in play on the home page."""
UNFOLDED: Final = 3
"""The matches of one competition that a list shows, where several follow each other."""
LIVE_ENDED: Final = 10
"""The number of ended matches on the page of matches in play."""
LIVE_OF_COMPETITION: Final = 3
"""The maximal number of them from one competition."""


def match_rows(matches: Iterable[ListedMatch]) -> Sequence[Json]:
    """Matches as rows of a list: bots, scores, places and faults are by seat.

    An aborted match has no scores and no places. `ended` is UTC, to the minute; `published` matches have pages; `worth`
    is why a match is worth watching, if there is a reason.
    """
    return [
        {
            "match": match.match_id,
            "game": match.game,
            "bots": list(match.bots),
            "scores": list(match.scores),
            "places": list(match.places),
            "winners": winners(match.bots, match.places),
            "ending": word_of(match, "ending"),
            "faults": [
                {word_of(fault, "kind"): fault.count for fault in seat.counts}
                for seat in match.faults
            ],
            "hands": match.hands,
            "competition": match.competition or None,
            "ended": utc(match.ended_unix_ms) or None,
            "published": match.published,
            "worth": listed.worth or None,
            "costliest_hand": listed.costliest_hand or None,
        }
        for listed in matches
        for match in (listed.match,)
    ]


def require_game(game_id: str) -> Game:
    """Return the game with an id. Raises `NoSuchPage` if this arena has no such game."""
    try:
        return game_by_id(game_id)
    except UnknownGame:
        raise NoSuchPage(f"there is no game {game_id!r}", "games") from None


def played_games(archive: SiteArchive, bot: str = "") -> Sequence[str]:
    """Return the ids of games with ended matches, of one bot or of all, sorted by title."""
    return sorted(archive.games(bot), key=game_title)


@dataclass(frozen=True, slots=True)
class Highlight:
    """The table at the top of the home page."""

    game: str
    names: tuple[str, ...]
    table: Markup
    sentence: Markup
    match: str = ""
    """The id of its match; empty for a sample hand."""
    step: str = ""
    """The step of a finished match; empty for others."""
    number: int = 0
    """The number of the last step of a match in play."""
    hand: int = 0
    """The hand of a finished match, from 1; 0 for others."""
    worth: str = ""
    """Why a finished match is worth watching; empty for others."""


def sample_moment() -> Highlight:
    """Return the sample hand, for a site without matches."""
    from arena.web.sample_hand import NAMES, sample_hand

    table, sentences = sample_hand(HOME_GAME)
    names = NAMES[: game_by_id(HOME_GAME).seats[0]]
    sentence = " ".join(map(html, sentences))
    return Highlight(HOME_GAME, names, Markup(html(table)), Markup(sentence))  # noqa: S704 - `html` escapes


def with_pages(archive: SiteArchive, *, game: str = "", worth: str = "") -> Sequence[ListedMatch]:
    """Return the newest matches that have pages, without those of the arena's own bots alone; `worth` is that of `listed`."""
    wanted = lobby_pb2.MatchFilter(game=game, published=True)
    rows, _ = archive.listed(wanted, worth=worth, by_others=True)
    return [row for row in rows if row.match.published]


def varied(archive: SiteArchive, most: int, game: str = "") -> Sequence[ListedMatch]:
    """Return the newest matches worth watching, so that kinds and competitions repeat as rarely as possible."""
    left = [row for kind in Worth for row in with_pages(archive, game=game, worth=kind)]
    left.sort(key=lambda row: -row.match.ended_unix_ms)
    chosen: list[ListedMatch] = []
    taken: Counter[str] = Counter()
    while left and len(chosen) < most:
        row = min(left, key=lambda row: taken[row.worth] + taken[row.match.competition])
        left.remove(row)
        chosen.append(row)
        taken.update((row.worth, row.match.competition))
    return chosen


def match_to_show(archive: SiteArchive) -> ListedMatch | None:
    """Return the closest or costliest of the newest matches with pictures, otherwise the newest."""
    for worth in (Worth.COSTLIEST, Worth.CLOSEST, ANY_WORTH, ""):
        if rows := with_pages(archive, worth=worth):
            return rows[0]
    return None


def home(
    archive: SiteArchive,
    in_play: watch_pb2.ListLiveResponse | None = NOTHING_LIVE,
    moment: Highlight | None = None,
) -> Page:
    """Make `/`; `in_play` is None if no arena answers."""
    now = live_view(in_play)["matches"][:HOME_LIVE]
    worth, newest = varied(archive, HOME_MATCHES), with_pages(archive)
    shown = {row.match.match_id: row for row in (*worth, *newest)}
    newest_first, led, ends = archive.competitions(), leaders(archive), archive.last_ends()
    in_order = sorted(newest_first, key=lambda info: _RUNNING_FIRST.get(word_of(info, "state"), 1))
    running = [progress(archive, info.name, ends) for info in in_order[:HOME_COMPETITIONS]]
    view = {
        "live": now,
        "competitions": [row["competition"] for row in running],
        "matches": match_rows([*shown.values()][:HOME_MATCHES]),
    }
    pictures = {
        "moment": moment or sample_moment(),
        "best_row": None if moment else match_to_show(archive),
        "best": view["matches"],
        "leaders": sorted(led, key=lambda one: -one["row"]["deal_sets"])[:HOME_LEADERS],
        "all_led": len(led),
        "running": running,
        "competitions": len(in_order),
        "bots": len(known_bots(archive)),
        "games": GAMES,
    }
    return Page("home.html", SITE, view, pictures, feed="matches")


def progress(archive: SiteArchive, name: str, ends: Mapping[str, int]) -> Json:
    """Return a competition in a list, with its leader, its progress and the end of its last match.

    A competition without a closed deal-set has no leader. `ends` is `SiteArchive.last_ends`.
    """
    public = archive.competition(name)
    deal_sets = [deal_set for game in public.games for deal_set in game.deal_sets]
    closed = sum(deal_set["state"] == "closed" for deal_set in deal_sets)
    first = first_rows(public.games[0].standings) if closed else ()
    return {
        "competition": public.info,
        "games": [game.game for game in public.info.games],
        "state": word_of(public.info, "state"),
        "closed": closed,
        "planned": sum(deal_set["state"] != "void" for deal_set in deal_sets),
        "leaders": [row["bot"] for row in first],
        "ended": utc(ends.get(name, 0)),
    }


def leaders(archive: SiteArchive) -> Sequence[Json]:
    """Return the first bots of the standings that count for each game by skill, for readers who look for the best bots."""
    return [
        {"game": game, "competition": name, "row": first[0], "others": len(first) - 1}
        for game, (name, results) in sorted(
            counted(archive).items(), key=lambda one: game_title(one[0])
        )
        if results.standings["ranked_by"] == "skill" and (first := first_rows(results.standings))
    ]


def live(
    archive: SiteArchive,
    in_play: watch_pb2.ListLiveResponse | None = NOTHING_LIVE,
    now_unix_ms: int = 0,
    tables: Tables = NO_TABLES,
) -> Page:
    """Make `/live`; `now_unix_ms` is the time of ages, `tables` are the cards on those in play."""
    view = live_view(in_play, ended_rows(archive, now_unix_ms))
    about = "Matches in play now, and those that ended last."
    return Page(
        "live.html",
        "Live",
        view,
        {"live_tree": live_tree, "emblem_symbols": symbols(), "tables": tables},
        about,
    )


def ended_rows(archive: SiteArchive, now_unix_ms: int) -> Sequence[Json]:
    """Return the public matches that ended last and have pages, newest first, so that no competition fills the list; `played` is the time since then, see `age`."""
    of: Counter[str] = Counter()
    chosen: dict[str, lobby_pb2.MatchInfo] = {}
    for match in (row.match for row in with_pages(archive)):
        of[match.competition] += 1
        if not match.competition or of[match.competition] <= LIVE_OF_COMPETITION:
            chosen[match.match_id] = match
    if len(chosen) < LIVE_ENDED:
        chosen |= {row.match.match_id: row.match for row in varied(archive, LIVE_ENDED)}
    matches = sorted(chosen.values(), key=lambda match: -match.ended_unix_ms)[:LIVE_ENDED]
    return [
        {
            "match": match.match_id,
            "game": match.game,
            "bots": list(seat_names(match.bots)),
            "competition": match.competition or None,
            "ended_unix_ms": match.ended_unix_ms,
            "played": age(match.ended_unix_ms, now_unix_ms),
        }
        for match in matches
    ]


def matches_path(game: str = "") -> str:
    """Return the path of the list of matches of one game, or of all."""
    return f"matches.{game}" if game else "matches"


def matches_paths(archive: SiteArchive) -> Iterator[str]:
    """Yield the paths of all lists of matches."""
    games = played_games(archive)
    yield from map(matches_path, ("", *games) if len(games) > 1 else ("",))


def matches(archive: SiteArchive, game: str, page: str, wanted: ListFilters = NO_FILTERS) -> Page:
    """Make `/matches`, of one game, with the filters `wanted`.

    Raises `NoSuchPage` if there is no such game, or the list has no such page.
    """
    game = game or wanted.game
    if game:
        require_game(game)
    number = int(page or 1)
    asked = lobby_pb2.MatchFilter(
        game=game,
        bots=(wanted.bot,) if wanted.bot else (),
        competition=wanted.competition,
        faulted=wanted.ending == FAULTED,
    )
    rows, more = archive.listed(
        asked,
        page=number,
        worth=wanted.ending if wanted.ending in (ANY_WORTH, *Worth) else "",
        most_margin=float(wanted.margin) if wanted.margin.isdecimal() else None,
        by_others=not wanted.bot,
    )
    if number > 1 and not rows:
        raise NoSuchPage(f"the list of matches has no page {number}", "matches")
    of_game = f" of {game_title(game)}" if game else ""
    shown = match_rows(rows)
    best = () if number > 1 or wanted.query() else varied(archive, HOME_MATCHES, game)
    pictures = {
        "best": match_rows(best),
        "of_game": of_game,
        "wanted": wanted,
        "kinds": [
            (words, replace(wanted, ending=kind).query(), kind == wanted.ending)
            for kind, words in ENDINGS
        ],
        "days": [
            (day, folded([*of_day]))
            for day, of_day in groupby(shown, lambda row: _day(row["ended"]))
        ],
        "competitions": [info.name for info in archive.competitions()],
        "all_games": GAMES,
        "chosen_game": game,
        "path": matches_path(game),
        "query": wanted.query(),
        "page": number,
    }
    view = {"matches": shown, "more": more}
    about = f"Ended matches{of_game}: who won, by how much, and which are worth watching."
    return Page("matches.html", f"Matches{of_game}", view, pictures, about, feed="matches")


def folded(rows: Sequence[Json]) -> Sequence[tuple[Sequence[Json], Sequence[Json]]]:
    """Matches of a list in groups: those that are shown, and those of the same competition that are folded away below them."""
    groups: list[tuple[list[Json], list[Json]]] = [([], [])]
    shown: Counter[str] = Counter()
    for competition, together in groupby(rows, lambda row: row["competition"]):
        of_one = [*together]
        most = max(1, UNFOLDED - shown[competition])
        if not competition or len(of_one) <= most + 1:
            most = len(of_one)
        shown[competition] += most
        if groups[-1][1]:
            groups.append(([], []))
        groups[-1][0].extend(of_one[:most])
        groups[-1][1].extend(of_one[most:])
    return groups


def _day(ended: str | None) -> str:
    """Return the date of an end, as in `22 November 2026`."""
    day = datetime.fromisoformat(ended) if ended else None
    return f"{day.day} {day:%B %Y}" if day else "Earlier"


def competitions(archive: SiteArchive, wanted: ListFilters = NO_FILTERS) -> Page:
    """Make `/competitions`, with the filters `wanted`."""
    ends = archive.last_ends()
    rows = [progress(archive, info.name, ends) for info in archive.competitions()]
    shown = [row for row in rows if wanted.game in ("", *row["games"])]
    pictures = {
        "parts_of": [
            (title, [row for row in shown if row["state"] == state])
            for title, state in (
                ("Running", "running"),
                ("Coming", "draft"),
                ("Finished", "finished"),
                ("Paused", "paused"),
            )
        ],
        "all_games": GAMES,
        "chosen_game": wanted.game,
    }
    view = {"competitions": [row["competition"] for row in rows]}
    about = "Competitions: who leads, and how far each is."
    return Page("competitions.html", "Competitions", view, pictures, about)


def known_bots(archive: SiteArchive) -> Mapping[str, Sequence[str]]:
    """Return the bots with pages, except the arena's own bots and people, each with the versions that have played."""
    bots: dict[str, list[str]] = {}
    for player in archive.bots():
        if player not in (HOUSE, PERSON):
            versions = bots.setdefault(bot_of(player), [])
            if player != bot_of(player):
                versions.append(player)
    return dict(sorted(bots.items()))


_BOT_KEYS: Final[Mapping[str, Callable[[Json], Any]]] = {
    "name": lambda row: row["bot"].casefold(),
    "owner": lambda row: (not row["owner"], row["owner"].casefold()),
    "competitions": lambda row: -len(row["competitions"]),
}


def bots(archive: SiteArchive, wanted: ListFilters = NO_FILTERS) -> Page:
    """Make `/bots`, with the filters `wanted`."""
    entered: dict[str, list[competitions_pb2.CompetitionInfo]] = {}
    best, owners = _best_places(archive, wanted.game), archive.owners()
    for info in first_to_count(archive):
        for entrant in info.bots:
            entered.setdefault(bot_of(entrant.bot), []).append(info)
    rows: list[Json] = [
        {
            "bot": bot,
            "owner": owners.get(bot, ""),
            "house": bool(house_level(bot)),
            "versions": versions,
            "games": sorted({game.game for info in entered.get(bot, ()) for game in info.games}),
            "competitions": [info.name for info in entered.get(bot, ())],
            "best": best.get(bot),
        }
        for bot, versions in known_bots(archive).items()
    ]
    rows = [
        row
        for row in rows
        if (not wanted.game or wanted.game in row["games"]) and wanted.owner in ("", row["owner"])
    ]
    rows.sort(key=lambda row: by_place(row["best"]))
    if wanted.order in _BOT_KEYS:
        rows.sort(key=_BOT_KEYS[wanted.order])
    pictures = {
        "wanted": wanted,
        "query": wanted.query(),
        "owners": sorted(set(owners.values())),
        "orders": BOT_ORDERS,
        "all_games": GAMES,
    }
    about = "All bots, with their owners, best places, games and competitions."
    return Page("bots.html", "Bots", {"bots": rows}, pictures, about)


def _best_places(archive: SiteArchive, only: str = "") -> Mapping[str, Json]:
    """Return the best place of each ranked bot in the standings that count for each game, or for one `only`."""
    best: dict[str, Json] = {}
    for game, (competition, results) in counted(archive, only).items():
        rows = standings_rows(results.standings["rows"])
        for row in rows:
            bot = bot_of(row["bot"])
            stands = {
                "game": game,
                "competition": competition,
                "place": row["place"],
                "ranked": sum(bool(other["place"]) for other in rows),
                "score": row["score"],
                "half_width_95": row["half_width_95"],
            }
            if row["place"] and by_place(stands) < by_place(best.get(bot)):
                best[bot] = stands
    return best


def by_place(stands: Json | None) -> tuple[float, int]:
    """Sort key of places: the share of bots that surely rank no lower; among bots that cannot be separated none leads."""
    if stands is None:
        return math.inf, 0
    first, _, last = stands["place"].partition("–")
    return int(last or first) / stands["ranked"], int(first)


def workers(archive: SiteArchive) -> Page:
    """Make `/workers`, for organisers: workers and last incidents of the arena that runs in the data folder, or why its workers are not known."""
    # Imported here, because only organisers have this page.
    from arena.api.arena_status import NoStatus, last_incidents, status_of_folder

    problem = "the arena serves no metrics, which have its status: start it without --no-metrics"
    page = None
    try:
        page = status_of_folder(archive.data).page
    except NoStatus as error:
        problem = str(error)
    view = {
        "problem": "" if page else problem,
        "workers": page.workers if page else (),
        "placements": page.placements if page else (),
        "incidents": last_incidents(archive.data)[::-1],
    }
    return Page("workers.html", "Workers and incidents", view)
