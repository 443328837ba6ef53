"""The list of matches in play as a tree, which the page contains and its script rebuilds."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

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
_MINUTE_S: Final = 60
_HOUR_S: Final = 3_600


def live_view(in_play: watch_pb2.ListLiveResponse | None, ended: Sequence[Json] = ()) -> Json:
    """The matches in play, and those that ended last (`ended_rows` of `arena.web.pages.lists`).

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


def live_tree(to: Callable[[str], str], view: Json, at: str = "") -> Element:
    """The list, with links made by `to`; `at` is the time of day of the list, empty for none."""
    parts: list[Tree] = [_title("In play")]
    if view["matches"]:
        rows = (
            _row(
                to,
                to(f"m/{slug(row['match'])}/live"),
                row,
                f"hand {row['hand']}",
                "hands are open" if row["hands_open"] else "",
            )
            for row in view["matches"]
        )
        parts.append(_list("Matches in play, newest first", rows))
    else:
        doors = element(
            "div",
            "actions",
            element("a", "button", "Play Klaberjass", href="/play/?game=klaberjass"),
            element("a", "button quiet", "Matches that have ended", href=to("matches")),
        )
        parts.append(element("div", "empty-state", element("p", "", _why_empty(view)), doors))
    if view["sealed"]:
        parts.append(_title("Sealed", f"at {at} UTC" if at else ""))
        parts.append(_list("Sealed matches by game", map(_sealed, view["sealed"])))
    if view["ended"]:
        parts.append(_title("Played last"))
        parts.append(element("p", "note", BROADCAST))
        rows = (
            _row(to, to(match_path(row["match"])) + PLAYED, row, row["played"])
            for row in view["ended"]
        )
        parts.append(_list("Matches that ended last", rows))
        parts.append(element("a", "", "all matches", href=to("matches")))
    return element("div", "live-list", *parts)


def _title(text: str, more: str = "") -> Element:
    return element("div", "title-row", element("h2", "", text), element("span", "note", more))


def _sealed(row: Json) -> Element:
    """The matches of a game whose deal-sets are open; nothing of them is public yet."""
    words = (
        f"{count(row['tables'], 'table')} of {game_title(row['game'])}: public when "
        f"{count(row['deal_sets'], 'deal-set')} {'is' if row['deal_sets'] == 1 else 'are'} complete"
    )
    return element("li", "match-line", emblem_use(row["game"]), element("div", "", words))


def _why_empty(view: Json) -> str:
    if view["busy"]:
        return ARENA_BUSY
    return NOTHING_PLAYED if view["arena"] else NO_ARENA


def age(ended_unix_ms: int, now_unix_ms: int) -> str:
    """How long ago a match ended, in steps of 10 s and then of a minute; after an hour the time, UTC."""
    past_s = (now_unix_ms - ended_unix_ms) // 1000
    if not 0 <= past_s < _HOUR_S:
        return utc(ended_unix_ms)
    if past_s < _MINUTE_S:
        return f"{past_s // 10 * 10} s ago" if past_s >= 10 else "just now"
    return f"{past_s // _MINUTE_S} min ago"


def _list(label: str, rows: Iterable[Element]) -> Element:
    return element("ul", "rows", *rows, aria_label=label)


def _row(to: Callable[[str], str], address: str, row: Json, *marks: str) -> Element:
    """A match: who plays, the game, marks such as the number of the hand, and the link to its pictures."""
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
        ),
        element("a", "button quiet small", "Watch", href=address, aria_label=label),
    )
