"""A tournament's page, and the table of a game: standings, pairs, the test's progress, deal-sets."""

import math
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from arena.replay.words import count
from arena.scenes import Viewer
from arena.web import plots
from arena.web.archive import PAGE, Archive, DealSetRecord, State, TournamentRecord, title_of
from arena.web.document import Place
from arena.web.match_paths import match_path
from arena.web.pages.about import value_words
from arena.web.pages.lists import bot_link, game_link, headline_json, tournament_link
from arena.web.sheet import Sheet, table_of
from arena.web.slugs import slug
from arena.web.trees import Element, Tree, element
from arena.web.winners import NO_WINNER, won_mark

if TYPE_CHECKING:
    from arena.anytime.forecast import Forecast
    from arena.ladder.standings import Row

LOOKS: Final = 60
"""Looks of the sequential test that are drawn."""
SKILL_HEAD: Final = "skill, points a match ±\N{NO-BREAK SPACE}95\N{NO-BREAK SPACE}%"
"""What stands above `score`."""
EXPLANATION: Final = (
    "Skill is points a match better than the mean of all, from closed deal-sets, ± its 95 % interval. "
    "Bots of one tier are not told apart: within it the order says nothing."
)


def tournament(archive: Archive, place: Place, name: str) -> Sheet | None:
    """Make `/t/NAME`; None if there is none."""
    record = archive.tournament(name)
    if record is None:
        return None
    head = record.headline
    found = (*_ranking(record, place), *_pairs(record, place), *_test(record))
    about = (_rules(record, place), _faults(record), *_deal_sets(record, place))
    halves = element("div", "halves", element("div", "", *found), element("div", "", *about))
    title = f"Tournament {name}: {title_of(head.game)}"
    return Sheet(title, (_progress(record), halves), as_json(record))


class Order(StrEnum):
    """What the rows of a table stand by."""

    SKILL = "skill"
    BOT = "bot"
    DEAL_SETS = "deal-sets"
    FAULTS = "faults"


_KEYS: Final[Mapping[Order, "Callable[[Row], Any]"]] = {
    Order.BOT: lambda row: row.bot.casefold(),
    Order.DEAL_SETS: lambda row: -row.deal_sets,
    Order.FAULTS: lambda row: -(row.faults_per_match or 0.0),
}


def table_path(game_id: str, order: Order = Order.SKILL) -> str:
    """The path of a game's table, in an order."""
    return f"tables/{game_id}" + ("" if order is Order.SKILL else f".by-{order}")


def table(archive: Archive, place: Place, game_id: str, order: Order = Order.SKILL) -> Sheet | None:
    """Make `/tables/GAME`: the newest tournament of a game; None if the game has had none."""
    found = [each for each in archive.headlines() if each.game == game_id]
    record = archive.tournament(found[0].name) if found else None
    if record is None:
        return None
    whole = element("p", "", "From the tournament ", tournament_link(place, found[0].name), ".")

    def to(column: str, by: Order) -> Tree:
        if by is order:
            return f"{column} ▾"
        return element("a", "", column, href=place.to(table_path(game_id, by)))

    ranking = _ranking(record, place, order, to)
    parts: list[Tree] = [_progress(record), whole, *ranking]
    if len(found) > 1:
        links: list[Tree] = [
            element("li", "", tournament_link(place, each.name)) for each in found[1:]
        ]
        parts.append(
            element("section", "", element("h2", "", "Earlier tables"), element("ul", "", *links))
        )
    return Sheet(f"Table of {title_of(game_id)}", tuple(parts), as_json(record))


def _progress(record: TournamentRecord) -> Element:
    planned = len(record.deal_sets)
    closed, void = record.count(State.CLOSED), record.count(State.VOID)
    words = f"{closed} of {count(planned, 'deal-set')} closed"
    if void:
        words += f", {void} void"
    if closed + void < planned:
        words += ". Only those count here: the others are sealed until their last match ends"
    bar = element("progress", "", value=str(closed), max=str(max(planned, 1)), aria_label=words)
    return element("div", "progress-bar", bar, element("p", "", f"{words}."))


def tier_order(rows: "Sequence[Row]") -> list[str]:
    """The range of ranks that each bot may have: all of its tier share one."""
    spans: dict[int, list[int]] = {}
    for at, row in enumerate(rows, 1):
        if row.tier is not None:
            spans.setdefault(row.tier, []).append(at)
    said = []
    for row in rows:
        own = spans.get(row.tier or 0, [])
        said.append("" if not own else f"{own[0]}" if len(own) == 1 else f"{own[0]}–{own[-1]}")
    return said


def _ranking(
    record: TournamentRecord,
    place: Place,
    order: Order = Order.SKILL,
    head: Callable[[str, Order], Tree] = lambda column, _: column,
) -> list[Tree]:
    """The standings; `head` makes the heads of columns that they may stand by."""
    found = record.standings
    rows = found.rows
    ranked: list[Sequence[Tree]] = []
    ruled = []
    in_order = list(zip(rows, tier_order(rows), strict=True))
    if order is not Order.SKILL:
        in_order.sort(key=lambda ranked: _KEYS[order](ranked[0]))
    for at, (row, rank) in enumerate(in_order):
        if order is Order.SKILL and at and row.tier != rows[at - 1].tier:
            ruled.append(at)
        ranked.append(
            (
                rank,
                bot_link(place, row.bot),
                score(row),
                "" if row.tier is None else str(row.tier),
                str(row.deal_sets),
                str(record.records.of_bot[row.bot]),
                f"{row.faults_per_match:.2f}" if row.faults_per_match is not None else "",
            )
        )
    columns = (
        "rank",
        head("bot", Order.BOT),
        head(SKILL_HEAD, Order.SKILL),
        "tier",
        head("deal-sets", Order.DEAL_SETS),
        "w-d-l",
        head("faults a match", Order.FAULTS),
    )
    parts: list[Tree] = [element("h2", "", "Standings")]
    if found.problem:
        parts.append(element("p", "problem", found.problem))
    standing = [plots.Standing(row.bot, row.tier, row.score, row.half_width) for row in rows]
    parts += [
        table_of(
            "Standings", columns, ranked, numbers=(2, 3, 4, 5, 6), phone=(1, 2, 3), ruled=ruled
        ),
        element("p", "note", EXPLANATION),
        figure(
            plots.standings_plot(standing),
            "Skill in points a match, with its 95 % interval; a line rules off tiers.",
        ),
    ]
    return parts


def score(row: "Row") -> str:
    """A bot's score with its interval."""
    if row.score is None:
        return "not ranked"
    return f"{row.score:+.2f}" + ("" if row.half_width is None else f" ± {row.half_width:.2f}")


def figure(plot: Element, words: str) -> Element:
    """A plot and what it shows."""
    return element("figure", "", plot, element("figcaption", "", words))


def _pairs(record: TournamentRecord, place: Place) -> list[Tree]:
    rows, better = record.standings.rows, record.standings.better
    bots = [row.bot for row in rows][:PAGE]
    if len(bots) < 2:
        return []
    cells: list[Sequence[Tree]] = []
    for at, bot in enumerate(bots):
        cells.append(
            (
                bot_link(place, bot),
                *(
                    (
                        ""
                        if one == at
                        else "not met"
                        if chance is None
                        else f"{plots.chance_words(chance)} %"
                    )
                    for one, chance in enumerate(better[at][: len(bots)])
                ),
            )
        )
    shown = [row[: len(bots)] for row in better[: len(bots)]]
    caption = "Chance that the bot of the row is better than that of the column"
    return [
        element("h2", "", "Each against each"),
        figure(plots.pairs_plot(bots, shown), f"{caption}, in %. Grey: it cannot be told."),
        table_of(
            caption,
            ("bot", *(element("bdi", "", bot) for bot in bots)),
            cells,
            numbers=range(1, len(bots) + 1),
        ),
    ]


def _test(record: TournamentRecord) -> list[Tree]:
    """The sequential test of the two best that met."""
    from arena.anytime.verdict import verdict  # with numpy, which no other page needs

    order = [row.bot for row in record.standings.rows]
    pairs = [
        (one, other)
        for at, one in enumerate(order)
        for other in order[at + 1 :]
        if len(record.margins.get((min(one, other), max(one, other)), ())) > 1
    ]
    if not pairs:
        return []
    one, other = pairs[0]
    sign = 1 if one < other else -1
    margins = [sign * each for each in record.margins[min(one, other), max(one, other)]]
    looks = sorted({*range(1, len(margins) + 1, math.ceil(len(margins) / LOOKS)), len(margins)})
    path = []
    for look in looks:
        told = verdict(margins[:look], record.bound)
        path.append(plots.Progress(look, told.mean, told.low, told.high))
    last = verdict(margins, record.bound)
    needed = "" if last.needed is None else f" {_more(last.needed)}"
    said = (
        f"{last.decision.value}, {last.mean:+.2f} points a deal-set, {_band(last.low, last.high)}."
    )
    rows = [
        (str(each.deal_sets), f"{each.mean:+.2f}", _end(each.low), _end(each.high))
        for each in path[-10:]
    ]
    words: tuple[Tree, ...] = (
        "Is ",
        element("bdi", "", one),
        " better than ",
        element("bdi", "", other),
        "?",
    )
    return [
        element("h2", "", *words),
        element("p", "", f"By now: {said}{needed} The band may be looked at after every deal-set."),
        figure(
            plots.progress_plot(one, other, path),
            "The estimate and its band after every deal-set; decided once the band leaves zero.",
        ),
        table_of(
            "The last looks, in points a deal-set",
            ("deal-sets", "mean", "low", "high"),
            rows,
            numbers=range(4),
        ),
    ]


def _end(value: float) -> str:
    """An end of a band; early ones may be anywhere."""
    return f"{value:+.2f}" if math.isfinite(value) else "open"


def _band(low: float, high: float) -> str:
    if math.isfinite(low) and math.isfinite(high):
        return f"from {low:+.2f} to {high:+.2f}"
    return "and too early for a band"


def _more(needed: "Forecast") -> str:
    return f"About {needed.likely} more deal-sets decide it." if needed.likely else ""


def _faults(record: TournamentRecord) -> Element:
    rows: list[Sequence[Tree]] = [
        (row.bot, kind, str(number))
        for row in record.standings.rows
        for kind, number in row.faults.items()
    ]
    if not rows:
        return element("section", "", element("h2", "", "Faults"), element("p", "", "None so far."))
    return element(
        "section",
        "",
        element("h2", "", "Faults"),
        table_of("Faults by bot", ("bot", "kind", "how often"), rows, numbers=(2,)),
    )


def _deal_sets(record: TournamentRecord, place: Place) -> list[Tree]:
    shown = record.deal_sets[:PAGE]
    rows = [
        (str(each.number), ", ".join(each.bots), each.state.value, _watch(each, place))
        for each in shown
    ]
    parts: list[Tree] = [
        element("h2", "", "Deal-sets"),
        table_of(
            "Deal-sets", ("number", "bots", "state", "matches"), rows, numbers=(0,), phone=(0, 2, 3)
        ),
    ]
    if len(record.deal_sets) > len(shown):
        link = element(
            "a", "", "The JSON", href=place.to(f"t/{slug(record.headline.name)}", ".json")
        )
        parts.append(element("p", "", link, f" has all {len(record.deal_sets)}."))
    return parts


def _watch(deal_set: DealSetRecord, place: Place) -> Tree:
    lines: list[Tree] = []
    for at, (match_id, won) in enumerate(zip(deal_set.matches, deal_set.winners, strict=True), 1):
        address = place.to(match_path(match_id, Viewer.ALL, 0))
        label = f"watch table {at} of deal-set {deal_set.number}"
        link = element("a", "", f"table\N{NO-BREAK SPACE}{at}", href=address, aria_label=label)
        lines.append(element("div", "", link, ": ", *_winners(won)))
    if lines:
        return element("div", "", *lines)
    return "sealed" if deal_set.state is State.OPEN else ""


def _winners(won: Sequence[str]) -> list[Tree]:
    if not won:
        return [NO_WINNER]
    said: list[Tree] = []
    for bot in won:
        said += [element("bdi", "", bot), " "]
    return [*said, won_mark(len(won))]


def _rules(record: TournamentRecord, place: Place) -> Element:
    terms, head = record.terms, record.headline
    options = ", ".join(f"{name} {value_words(each)}" for name, each in terms["options"].items())
    clock = terms["time_control"]
    fair = "fair" if not terms["seeded"] else "seeded, so they are repeatable and no fair deals"
    facts: list[tuple[str, Tree]] = [
        ("Game", game_link(place, head.game)),
        ("Rules version", str(terms["rules_version"])),
        ("Seats", str(head.seats)),
        ("Options", options or "none"),
        (
            "Time",
            f"{clock['move_ms'] / 1000:g} s a move, {clock['bank_ms'] / 1000:g} s in the bank",
        ),
        ("Deals", fair),
        ("Begun", head.created.replace("T", " ")[:16] + " UTC"),
        ("The same in a terminal", element("code", "", f"arena standings {head.name}")),
    ]
    made: list[Tree] = []
    for name, value in facts:
        made += [element("dt", "", name), element("dd", "", value)]
    return element("section", "", element("h2", "", "What is played"), element("dl", "", *made))


def as_json(record: TournamentRecord) -> Mapping[str, Any]:
    """A tournament as values for JSON."""
    found = record.standings
    return {
        **headline_json(record.headline),
        "terms": dict(record.terms),
        "deal_sets": [
            {
                "number": each.number,
                "bots": list(each.bots),
                "state": each.state.value,
                "matches": list(each.matches),
                "winners": list(map(list, each.winners)),
            }
            for each in record.deal_sets
        ],
        "problem": found.problem,
        "standings": [
            {
                "bot": row.bot,
                "rank": rank,
                "score": row.score,
                "half_width_95": row.half_width,
                "tier": row.tier,
                "deal_sets": row.deal_sets,
                "matches": row.matches,
                "faults": dict(row.faults),
            }
            for row, rank in zip(found.rows, tier_order(found.rows), strict=True)
        ],
        "better": [list(chances) for chances in found.better],
    }
