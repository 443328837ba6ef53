"""The list of matches in play as a tree, which the page contains and its script rebuilds."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Self

from arena.replay.phrases import count
from arena.web.addresses import PLAYED, match_path, slug
from arena.web.rendering import game_title
from arena.web.site_archive import utc
from arena.web.trees import Element, Tree, element
from cardarena.v1 import watch_pb2

NO_ARENA: Final = (
    "No arena answers. This page shows the matches in play when one does, without a reload. "
    "The list of matches has those that have ended."
)
NOTHING_PLAYED: Final = "There are no matches in play that spectators may see."
NOTHING_LIVE: Final = watch_pb2.ListLiveResponse()
"""The answer of an arena without matches in play, which exported pages show."""
BROADCAST: Final = (
    "Matches of a deal-set are public when the deal-set is complete. They play here as they were "
    "played, without their result, and the next one follows."
)
_MINUTE_S: Final = 60
_HOUR_S: Final = 3_600
_IN_PLAY: Final = (("match", ""), ("game", ""), ("bots", ""), ("hand", "number"))
_ENDED: Final = (("match", ""), ("game", ""), ("bots", ""), ("played", ""))
_HANDS_OPEN: Final = element("span", "soft", " (hands are open)")


@dataclass(frozen=True, slots=True)
class LiveRow:
    """A match in play."""

    match: str
    game: str
    bots: tuple[str, ...]
    hand: int
    """From 1."""
    hands_open: bool


@dataclass(frozen=True, slots=True)
class SealedRow:
    """The number of sealed matches of a game: those of open deal-sets."""

    game: str
    tables: int
    deal_sets: int


@dataclass(frozen=True, slots=True)
class EndedRow:
    """A match that has ended and is public, to be watched as it was played."""

    match: str
    game: str
    bots: tuple[str, ...]
    competition: str | None
    ended_unix_ms: int
    played: str
    """How long ago it ended, see `age`."""


@dataclass(frozen=True, slots=True)
class LiveView:
    """The matches in play, and those that ended last."""

    arena: bool
    """Whether an arena answers; if not, the lists are empty."""
    matches: tuple[LiveRow, ...] = ()
    sealed: tuple[SealedRow, ...] = ()
    ended: tuple[EndedRow, ...] = ()
    """Newest first. A match of a deal-set is here when its deal-set has closed."""

    @classmethod
    def of(cls, found: watch_pb2.ListLiveResponse | None, ended: tuple[EndedRow, ...] = ()) -> Self:
        """The view of an arena's answer; None if no arena answers."""
        if found is None:
            return cls(arena=False, ended=ended)
        matches = (
            LiveRow(each.match_id, each.game, tuple(each.bots), each.hand + 1, each.hands_open)
            for each in found.matches
        )
        sealed = (SealedRow(each.game, each.matches, each.deal_sets) for each in found.sealed)
        return cls(arena=True, matches=tuple(matches), sealed=tuple(sealed), ended=ended)


def live_tree(to: Callable[[str], str], view: LiveView, at: str = "") -> Element:
    """The list, with links made by `to`; `at` is the time of day of the list, empty for none."""
    parts: list[Tree] = []
    if view.matches:
        parts.append(_table("Matches in play, newest first", _IN_PLAY, _rows(to, view.matches)))
    else:
        parts.append(element("p", "empty", NOTHING_PLAYED if view.arena else NO_ARENA))
    for each in view.sealed:
        words = (
            f"Sealed: {count(each.tables, 'table')} of {game_title(each.game)} in "
            f"{count(each.deal_sets, 'deal-set')}; they open when their deal-set ends."
        )
        parts.append(element("p", "", words))
    if at and (view.matches or view.sealed):
        parts.append(element("p", "note", f"At {at} UTC."))
    if view.ended:
        parts.append(element("h2", "", "Played last"))
        parts.append(element("p", "note", BROADCAST))
        parts.append(_table("Matches that ended last", _ENDED, _ended_rows(to, view.ended)))
    return element("div", "", *parts)


def age(ended_unix_ms: int, now_unix_ms: int) -> str:
    """How long ago a match ended, in steps of 10 s and then of a minute; after an hour the time, UTC."""
    past_s = (now_unix_ms - ended_unix_ms) // 1000
    if not 0 <= past_s < _HOUR_S:
        return utc(ended_unix_ms)
    if past_s < _MINUTE_S:
        return f"{past_s // 10 * 10} s ago" if past_s >= 10 else "just now"
    return f"{past_s // _MINUTE_S} min ago"


def _table(label: str, heads: Sequence[tuple[str, str]], rows: Iterable[Element]) -> Element:
    columns = (element("th", css, text, scope="col") for text, css in heads)
    head = element("thead", "", element("tr", "", *columns))
    made = element("table", "", head, element("tbody", "", *rows))
    return element("div", "wide", made, role="region", aria_label=label, tabindex="0")


def _rows(to: Callable[[str], str], found: Iterable[LiveRow]) -> Iterator[Element]:
    for each in found:
        bots = element("td", "", ", ".join(each.bots), _HANDS_OPEN if each.hands_open else None)
        address = to(f"m/{slug(each.match)}/live")
        yield _row(to, address, each, bots, element("td", "number", str(each.hand)))


def _ended_rows(to: Callable[[str], str], found: Iterable[EndedRow]) -> Iterator[Element]:
    for each in found:
        bots = element("td", "", ", ".join(each.bots))
        address = to(match_path(each.match)) + PLAYED
        yield _row(to, address, each, bots, element("td", "", each.played))


def _row(
    to: Callable[[str], str], address: str, match: LiveRow | EndedRow, *cells: Element
) -> Element:
    label = f"watch {match.game}: {', '.join(match.bots)}"
    watch = element("a", "", "watch", href=address, aria_label=label)
    game = element("a", "", game_title(match.game), href=to(f"games/{match.game}"))
    return element("tr", "", element("td", "", watch), element("td", "", game), *cells)
