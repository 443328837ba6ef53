"""The list of matches in play as a tree, which the page contains and its script rebuilds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from arena.records.phrases import count
from arena.web.addresses import PLAYED, match_path, slug
from arena.web.emblems import emblem_use
from arena.web.names import is_of_house_alone, seat_names
from arena.web.page import Json
from arena.web.rendering import game_title, utc
from arena.web.trees import Element, Tree, element
from cardarena.v1 import watch_pb2

NO_ARENA: Final = (
    "No arena answers. This page shows the matches in play when one does, without a reload."
)
ARENA_BUSY: Final = "The arena is busy, and has not said yet what is in play. This page shows it when the arena does, without a reload."
NOTHING_PLAYED: Final = "There are no matches in play that spectators may see."
NOTHING_LIVE: Final = watch_pb2.ListLiveResponse()
"""The answer of an arena without matches in play, which exported pages show."""
UNKNOWN_LIVE: Final = watch_pb2.ListLiveResponse()
"""Stands for the answer of an arena that runs, and has not answered yet. It is known by its identity."""
BROADCAST: Final = (
    "Matches of a deal-set are public when the deal-set is complete. They play here as they were "
    "played, without their result, and the next one follows."
)
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"))


MOST_PICTURED: Final = 6
"""The number of newest matches in play whose tables the list shows."""


class TableNow(NamedTuple):
    """The part of a table in play that a list shows."""

    score: str
    """The scores by seat, as the picture has them."""
    cards: Tree | None
    """A few cards in the middle; None if there are none."""


Tables: TypeAlias = Mapping[str, TableNow]
"""Tables by the id of the match, for some matches only."""
NO_TABLES: Final[Tables] = {}


def pictured(in_play: watch_pb2.ListLiveResponse | None) -> Sequence[str]:
    """Return the ids of the matches in play whose tables the list shows."""
    matches = () if in_play is None else in_play.matches
    return [one.match_id for one in matches if not is_of_house_alone(one.bots)][:MOST_PICTURED]


def live_view(in_play: watch_pb2.ListLiveResponse | None, ended: Sequence[Json] = ()) -> Json:
    """Return the matches in play, and those that ended last (`ended_rows` of `arena.web.pages.lists`).

    `in_play` is None if no arena answers. Hands count from 1. A sealed row has the number of matches of a game in
    open deal-sets. A match of a deal-set has ended here when its deal-set has closed.
    """
    listed = NOTHING_LIVE if in_play is None else in_play
    return {
        "arena": in_play is not None,
        "busy": in_play is UNKNOWN_LIVE,
        "matches": [
            {
                "match": match.match_id,
                "game": match.game,
                "bots": list(seat_names(match.bots)),
                "hand": match.hand + 1,
                "hands_open": match.hands_open,
            }
            for match in listed.matches
            if not is_of_house_alone(match.bots)
        ],
        "sealed": [
            {"game": game.game, "tables": game.matches, "deal_sets": game.deal_sets}
            for game in listed.sealed
        ],
        "ended": ended,
    }


def live_tree(
    to: Callable[[str], str], view: Json, tables: Tables, *, may_play: bool = True
) -> Element:
    """Return the list, with links made by `to`. An exported list has no link to a game against the house."""
    parts: list[Tree] = [_title("In play")]
    if view["matches"]:
        rows = []
        for row in view["matches"]:
            now = tables.get(row["match"], TableNow("", None))
            address = to(f"m/{slug(row['match'])}/live")
            marks = (
                now.score,
                f"hand {row['hand']}",
                "hands are open" if row["hands_open"] else "",
            )
            rows.append(_row(to, address, row, *marks, cards=now.cards))
        parts.append(_list("Matches in play, newest first", rows))
    else:
        doors = element(
            "div",
            "actions",
            element("a", "button", "Play Klaberjass", href="/play/?game=klaberjass")
            if may_play
            else None,
            element("a", "button quiet", "Matches that have ended", href=to("matches")),
        )
        why = ARENA_BUSY if view["busy"] else NOTHING_PLAYED if view["arena"] else NO_ARENA
        parts.append(element("div", "empty-state", element("p", "", why), doors))
    if view["sealed"]:
        parts.append(_title("Sealed"))
        parts.append(_list("Sealed matches by game", map(_sealed, view["sealed"])))
    if view["ended"]:
        parts.append(_title("Played last"))
        parts.append(element("p", "note", BROADCAST))
        rows = [
            _row(to, to(match_path(row["match"])) + PLAYED, row, _when(row))
            for row in view["ended"]
        ]
        parts.append(_list("Matches that ended last", rows))
        parts.append(element("a", "", "all matches", href=to("matches")))
    return element("div", "live-list", *parts)


def _title(text: str) -> Element:
    return element("div", "title-row", element("h2", "", text))


def _sealed(row: Json) -> Element:
    """Return the matches of a game whose deal-sets are open; nothing of them is public yet."""
    words = (
        f"{count(row['tables'], 'table')} of {game_title(row['game'])} "
        f"{'is' if row['tables'] == 1 else 'are'} being played: public when "
        f"{'their deal-set closes' if row['deal_sets'] == 1 else 'their deal-sets close'}"
    )
    return element("li", "match-line", emblem_use(row["game"]), element("div", "", words))


def age(ended_unix_ms: int, now_unix_ms: int) -> str:
    """Return how long ago a match ended, in steps of 10 s, then of a minute, an hour and a day; without the present time, return the time in UTC."""
    past_s = (now_unix_ms - ended_unix_ms) // 1000
    if past_s < 0:
        return utc(ended_unix_ms)
    if past_s < 10:
        return "just now"
    unit_s, name = next((unit for unit in _UNITS if past_s >= unit[0]), (10, ""))
    return f"{past_s // unit_s} {name} ago" if name else f"{past_s // 10 * 10} s ago"


def _when(row: Json) -> Element:
    """Return how long ago a match ended; its time is shown on hover."""
    time = utc(row["ended_unix_ms"])
    return element(
        "time", "", row["played"], datetime=f"{time.replace(' ', 'T')}Z", title=f"{time} UTC"
    )


def _list(label: str, rows: Iterable[Element]) -> Element:
    return element("ul", "rows", *rows, aria_label=label)


def _row(
    to: Callable[[str], str], address: str, row: Json, *marks: Tree, cards: Tree | None = None
) -> Element:
    """Return the row of a match: bots, game, marks such as the number of the hand, cards of its table, and the link to its pictures."""
    bots = (
        part
        for at, name in enumerate(row["bots"])
        for part in (" – " if at else "", element("bdi", "name", name))
    )
    game = element("a", "", game_title(row["game"]), href=to(f"games/{row['game']}"))
    competition = row.get("competition")
    event = competition and element(
        "a", "", competition, href=to(f"competitions/{slug(competition)}")
    )
    meta = (element("span", "", mark) for mark in marks if mark)
    label = f"watch {row['game']}: {', '.join(row['bots'])}"
    return element(
        "li",
        "match-line",
        emblem_use(row["game"]),
        element(
            "div",
            "",
            element("span", "said-line", *bots),
            element("span", "meta", game, *meta, event or None),
            cards and element("span", "glimpse", cards),
        ),
        element("a", "button quiet small", "Watch", href=address, aria_label=label),
    )
