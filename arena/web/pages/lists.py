"""Home and the lists: what has been played, by whom, in which games."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from arena.games.catalogue import GAMES
from arena.replay.words import count
from arena.scenes import Viewer
from arena.store import MatchFilter, StoredMatch
from arena.web.archive import Archive, Headline, faults_of, title_of, utc
from arena.web.document import SITE, Place
from arena.web.match_paths import match_path
from arena.web.sheet import Sheet, table_of
from arena.web.slugs import slug
from arena.web.trees import Element, Tree, element
from arena.web.winners import NO_WINNER, winning_seats, won_mark
from cardarena.v1 import watch_pb2

WHAT_THIS_IS = (
    "Bots play card games against each other here. A seat is shown only what it may know, every "
    "deal can be checked, and the tables say how sure they are."
)
NO_ARENA = (
    "No arena answers here now. What is played is shown once one does, without a reload; "
    "what was played stands in the lists."
)
NOTHING_PLAYED = "Nothing is played now that may be watched."
TO_PLAY_ONE = ".venv/bin/arena serve\n.venv/bin/arena match abstrac MyBot RandomBot"


def bot_link(place: Place, bot: str) -> Element:
    """A bot by its name."""
    return element("a", "", element("bdi", "", bot), href=place.to(f"bots/{slug(bot)}"))


def game_link(place: Place, game_id: str) -> Element:
    """A game by its title."""
    return element("a", "", title_of(game_id), href=place.to(f"games/{slug(game_id)}"))


def tournament_link(place: Place, name: str) -> Element:
    """A tournament by its name."""
    return element("a", "", element("bdi", "", name), href=place.to(f"t/{slug(name)}"))


def match_table(place: Place, caption: str, found: Sequence[StoredMatch]) -> Element:
    """Matches, a line each."""
    rows: list[Sequence[Tree]] = []
    for each in found:
        faults = faults_of(each)
        watch: Tree = element("span", "none", "no replay")
        if each.published:
            address = place.to(match_path(each.outcome.match_id, Viewer.ALL, 0))
            label = f"watch {each.game}: {', '.join(each.bots)}"
            watch = element("a", "", "watch", href=address, aria_label=label)
        rows.append(
            (
                watch,
                game_link(place, each.game),
                _scores(place, each),
                each.outcome.ending + (f", {count(faults, 'fault')}" if faults else ""),
                element("time", "", utc(each.ended_unix_ms)),
            )
        )
    columns = ("match", "game", "bots and scores", "ending", "ended (UTC)")
    return table_of(caption, columns, rows, phone=(0, 1, 2))


def _scores(place: Place, match: StoredMatch) -> Element:
    parts: list[Tree] = []
    scores = match.outcome.scores or (None,) * len(match.bots)
    won = winning_seats(match.outcome.places)
    for at, (bot, score) in enumerate(zip(match.bots, scores, strict=True)):
        parts += [", "] if at else []
        parts.append(bot_link(place, bot))
        parts += [f" {score:+g}"] if score is not None else []
        parts += [" ", won_mark(len(won))] if at in won else []
    if match.outcome.places and not won:
        parts += [" ", NO_WINNER]
    return element("span", "", *parts)


def match_json(found: Sequence[StoredMatch]) -> list[dict[str, Any]]:
    """Matches as values for JSON."""
    return [
        {
            "match": each.outcome.match_id,
            "game": each.game,
            "bots": list(each.bots),
            "scores": list(each.outcome.scores),
            "places": list(each.outcome.places),
            "winners": [each.bots[seat] for seat in winning_seats(each.outcome.places)],
            "ending": each.outcome.ending,
            "faults": [dict(kinds) for kinds in each.outcome.faults],
            "tournament": each.tournament or None,
            "ended": utc(each.ended_unix_ms) or None,
            "published": each.published,
        }
        for each in found
    ]


def _tournaments(
    place: Place, caption: str, found: Sequence[Headline], columns: int = 5
) -> Element:
    """A table of tournaments, with as many of its columns as there is room for."""
    rows = [
        (
            tournament_link(place, each.name),
            game_link(place, each.game),
            ", ".join(each.bots),
            str(each.seats),
            element("time", "", each.created.replace("T", " ")[:16]),
        )
        for each in found
    ]
    return table_of(
        caption,
        ("table", "game", "bots", "seats", "begun (UTC)")[:columns],
        [row[:columns] for row in rows],
        numbers=(3,),
        phone=(0, 1),
    )


def headline_json(each: Headline) -> dict[str, Any]:
    """A tournament in a line, as values for JSON."""
    return {
        "tournament": each.name,
        "game": each.game,
        "seats": each.seats,
        "bots": list(each.bots),
        "begun": each.created,
    }


NOTHING_LIVE: Final = watch_pb2.ListLiveResponse()
"""What is told of an arena that plays nothing, and of pages that no arena stands behind."""
HOME_LIVE: Final = 3
"""Matches in play that the home page shows."""


def home(
    archive: Archive, place: Place, found: watch_pb2.ListLiveResponse | None = NOTHING_LIVE
) -> Sheet:
    """Make `/`; `found` is what is played now."""
    matches, _ = archive.matches()
    tournaments = archive.headlines()
    lead: list[Tree] = [element("p", "lead", WHAT_THIS_IS)]
    if not matches and not tournaments:
        lead += [
            element(
                "p", "empty", "No match has been played here yet. These two commands play one:"
            ),
            element("pre", "", element("code", "", TO_PLAY_ONE), tabindex="0"),
        ]
    more = element("p", "", element("a", "", "all that is played now", href=place.to("live")))
    rows: Tree = element("p", "empty", NOTHING_PLAYED if found is not None else NO_ARENA)
    if found is not None and found.matches:
        rows = live_table(place, "The newest three in play", found.matches[:HOME_LIVE])
    sections: list[Tree] = [element("section", "", element("h2", "", "Live"), rows, more)]
    if tournaments:
        more = element("p", "", element("a", "", "all tables", href=place.to("tables")))
        newest = _tournaments(place, "The three newest", tournaments[:3], 3)
        sections.append(element("section", "", element("h2", "", "Tables"), newest, more))
    if matches:
        newest = match_table(place, "The five that ended last", matches[:5])
        more = element("p", "", element("a", "", "all matches", href=place.to("matches")))
        sections.append(element("section", "", element("h2", "", "Matches"), newest, more))
    data = {
        "live": live_json(found)["matches"][:HOME_LIVE],
        "tables": [headline_json(each) for each in tournaments[:3]],
        "matches": match_json(matches[:5]),
    }
    return Sheet(SITE, (*lead, element("div", "front", *sections)), data)


def turning(place: Place, path: str, page: int, *, more: bool) -> Tree | None:
    """Links to the pages of a list before and after; None if there is but one."""
    links: list[Tree] = []
    if page > 1:
        before = path if page == 2 else f"{path}.{page - 1}"
        links.append(element("a", "", "‹ newer", href=place.to(before), rel="prev"))
    if more:
        links.append(element("a", "", "older ›", href=place.to(f"{path}.{page + 1}"), rel="next"))
    if not links:
        return None
    return element("nav", "turning", f"page {page} ", *links, aria_label="pages of the list")


def choices(label: str, links: Sequence[tuple[str, str, bool]]) -> Element:
    """Links of which one is chosen: its words, its address, and whether it is the one."""
    rows = []
    for words, address, chosen in links:
        here = {"aria_current": "page"} if chosen else {}
        rows.append(element("li", "", element("a", "", words, href=address, **here)))
    return element("ul", "eyes", *rows, aria_label=label)


def game_choices(
    place: Place, games: Sequence[str], chosen: str, path_of: Callable[[str], str]
) -> Element | None:
    """Links to a list of each game; None where there is nothing to choose."""
    if len(games) < 2 and not chosen:
        return None
    rows = [("all games", place.to(path_of("")), not chosen)]
    rows += [(title_of(game), place.to(path_of(game)), game == chosen) for game in games]
    return choices("which game", rows)


def matches_path(game: str = "") -> str:
    """The path of the list of matches, of one game or of all."""
    return f"matches.{game}" if game else "matches"


def matches(archive: Archive, place: Place, page: int, game: str = "") -> Sheet:
    """Make `/matches`."""
    found, more = archive.matches(MatchFilter(game=game), page=page)
    of_what = f" of {title_of(game)}" if game else ""
    parts: list[Tree] = []
    offered = game_choices(place, archive.games(), game, matches_path)
    parts += [] if offered is None else [offered]
    if found:
        parts.append(match_table(place, f"Matches{of_what}, newest first, page {page}", found))
    else:
        parts.append(element("p", "empty", f"No match{of_what} has ended here yet."))
    turn = turning(place, matches_path(game), page, more=more)
    parts += [] if turn is None else [turn]
    return Sheet(f"Matches{of_what}", tuple(parts), {"matches": match_json(found), "more": more})


def tables(archive: Archive, place: Place) -> Sheet:
    """Make `/tables`."""
    found = archive.headlines()
    parts: list[Tree] = [
        element(
            "p",
            "",
            "A table ranks bots by complete deal-sets: each is played at as many tables as there are "
            "seats, so that everybody has had every hand.",
        )
    ]
    if found:
        parts.append(_tournaments(place, "Tables, newest first", found))
    else:
        parts.append(element("p", "empty", "No tournament has been played here yet."))
    return Sheet("Tables", tuple(parts), {"tables": [headline_json(each) for each in found]})


def bots(archive: Archive, place: Place) -> Sheet:
    """Make `/bots`."""
    by_bot: dict[str, list[Headline]] = {bot: [] for bot in archive.bots()}
    for each in archive.headlines():
        for bot in each.bots:
            by_bot.setdefault(bot, []).append(each)
    rows = [
        (bot_link(place, bot), str(len({each.game for each in own})), str(len(own)))
        for bot, own in sorted(by_bot.items())
    ]
    parts: tuple[Tree, ...] = (element("p", "empty", "No bot has sat at a table here yet."),)
    if rows:
        parts = (table_of("Bots by name", ("bot", "rated games", "tables"), rows, numbers=(1, 2)),)
    data = [{"bot": bot, "tables": [each.name for each in own]} for bot, own in by_bot.items()]
    return Sheet("Bots", parts, {"bots": data})


def games(place: Place) -> Sheet:
    """Make `/games`."""
    rows = [(game_link(place, game.id), _seats(game.seats), game.summary) for game in GAMES]
    data = [
        {
            "game": game.id,
            "title": game.title,
            "seats": list(game.seats),
            "rules_version": game.rules_version,
            "summary": game.summary,
        }
        for game in GAMES
    ]
    shown = table_of("The games", ("game", "seats", "what it is"), rows)
    return Sheet("Games", (shown,), {"games": data})


def _seats(seats: Sequence[int]) -> str:
    low, high = seats[0], seats[-1]
    return f"{low}" if low == high else f"{low}–{high}"


_HANDS_OPEN: Final = element("span", "soft", " (hands are open)")


def live_table(place: Place, caption: str, found: Iterable[watch_pb2.LiveMatch]) -> Element:
    """Matches in play, a line each."""
    rows = [
        (
            element(
                "a",
                "",
                "watch",
                href=place.to(f"m/{slug(each.match_id)}/live"),
                aria_label=f"watch {each.game}: {', '.join(each.bots)}",
            ),
            game_link(place, each.game),
            element("span", "", ", ".join(each.bots), _HANDS_OPEN if each.hands_open else None),
            str(each.hand + 1),
        )
        for each in found
    ]
    return table_of(caption, ("match", "game", "bots", "hand"), rows, numbers=(3,))


def live_rows(place: Place, found: watch_pb2.ListLiveResponse | None, at: str = "") -> Element:
    """What is played now; `at` is the time that it is true of, if there is any.

    Nothing is known of it where there is no arena, which is None.
    """
    if found is None:
        return element("div", "", element("p", "empty", NO_ARENA))
    parts: list[Tree] = []
    if found.matches:
        parts.append(live_table(place, "Played now, newest first", found.matches))
    else:
        parts.append(element("p", "empty", NOTHING_PLAYED))
    for each in found.sealed:
        words = (
            f"Sealed: {count(each.tables, 'table')} of {title_of(each.game)} in "
            f"{count(each.deal_sets, 'deal-set')}; they open when the last of a deal-set ends."
        )
        parts.append(element("p", "", words))
    if at and (found.matches or found.sealed):
        parts.append(element("p", "note", f"As it was at {at} UTC."))
    return element("div", "", *parts)


def live_sheet(
    archive: Archive, place: Place, found: watch_pb2.ListLiveResponse | None, at: str = ""
) -> Sheet:
    """Make `/live`, which follows by itself where there is a feed."""
    parts: list[Tree] = [
        element(
            "div",
            "",
            element("div", "", live_rows(place, found, at), id="list"),
            element("p", "hidden", "", id="state", aria_live="polite"),
            data_feed="live/feed",
            id="live",
        )
    ]
    ended, _ = archive.matches()
    if ended:
        parts += [element("h2", "", "Ended last"), match_table(place, "Ended last", ended[:5])]
    return Sheet("Live", tuple(parts), live_json(found), scripts=("live.js",))


def live_json(found: watch_pb2.ListLiveResponse | None) -> dict[str, Any]:
    """What is live as values for JSON."""
    if found is None:
        return {"arena": False, "matches": [], "sealed": []}
    return {
        "arena": True,
        "matches": [
            {
                "match": each.match_id,
                "game": each.game,
                "bots": list(each.bots),
                "hand": each.hand + 1,
                "hands_open": each.hands_open,
            }
            for each in found.matches
        ],
        "sealed": [
            {"game": each.game, "tables": each.tables, "deal_sets": each.deal_sets}
            for each in found.sealed
        ],
    }
