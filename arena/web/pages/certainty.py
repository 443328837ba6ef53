"""The certainty of standings about two bots: the test that determines words and colours, the chance, and the test's plot."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from arena.api.pair_tests import margins_over
from arena.api.public_competition import GameResults
from arena.web import plots
from arena.web.addresses import slug
from arena.web.page import Json
from arena.web.rendering import signed

MOST_COMPARED: Final = 20
"""The maximal number of bots of a table of pairs."""
_LIKELY: Final = 0.8
"""The chance whose shade is the strongest for two bots that are not separated."""


class Certainty(NamedTuple):
    """The words and the colour for the chance that a bot is better than another."""

    words: str
    """The chance in %; `?` if the deal-sets in which they met have no differences."""
    css: str


def certainty(chance: float | None, margins: Sequence[float], lead: int = 0) -> Certainty:
    """Return the words and the colour of a chance; the colour is that of a decision only if a tier leads, see `tier_lead`.

    Two copies of one bot are equal in each deal-set: nothing varies, and their chance is a rounding error.
    """
    if chance is None or (margins and not any(margins)):
        return Certainty("?", "none")
    if lead:
        return Certainty(plots.chance_words(chance), "h8" if lead > 0 else "h0")
    words = ">95" if chance > 0.95 else "<5" if chance < 0.05 else f"{100 * chance:.0f}"
    return Certainty(words, plots.shade(min(max(chance, 1 - _LIKELY), _LIKELY)))


def tier_lead(rows: Sequence[Json], one: str, other: str) -> int:
    """Return the number of tiers by which a bot of standings is above another; 0 if they share one or a bot has none."""
    tiers = {row["bot"]: row["tier"] for row in rows}
    own, others = tiers.get(one), tiers.get(other)
    return others - own if own and others else 0


def chances(pairs: Sequence[Json]) -> Mapping[str, Mapping[str, float]]:
    """Return the chance of a bot to be better than another one, by both names; pairs that met only."""
    of_bots: dict[str, dict[str, float]] = {}
    for pair in pairs:
        if pair["chance"] is not None:
            of_bots.setdefault(pair["bot"], {})[pair["other"]] = pair["chance"]
            of_bots.setdefault(pair["other"], {})[pair["bot"]] = 1 - pair["chance"]
    return of_bots


def pairs_table(
    rows: Sequence[Json], better: Mapping[str, Mapping[str, float]], results: GameResults
) -> Json | None:
    """Return the chance that each bot is better than each other one, as the cells of a table."""
    bots = [row["bot"] for row in rows if row["score"] is not None][:MOST_COMPARED]
    if len(bots) < 2:
        return None

    def cell(one: str, other: str) -> Json:
        if one == other:
            return {"text": "", "css": "self", "path": ""}
        chance, margins = better.get(one, {}).get(other), margins_over(results.margins, one, other)
        if chance is None and not margins:
            return {"text": "·", "css": "none", "path": ""}
        words, css = certainty(chance, margins, tier_lead(rows, one, other))
        path = f"bots/{slug(one)}.vs-{slug(other)}"
        spoken = f"{one} is better than {other} with {words} %"
        if words == "?":
            spoken = f"{one} has met {other}, and no chance is known yet"
        return {"text": words, "css": css, "path": path, "spoken": spoken}

    return {"bots": bots, "cells": [[cell(one, other) for other in bots] for one in bots]}


def challenger_rows(results: GameResults, challenger: str) -> Sequence[Json]:
    """Return the results of a gauntlet's challenger against each opponent: matches, margins and a sentence's verb."""
    rows = []
    for pair in results.standings["pairs"]:
        if challenger not in (pair["bot"], pair["other"]):
            continue
        first = challenger == pair["bot"]
        other = pair["other" if first else "bot"]
        won, lost = (pair["wins"], pair["losses"]) if first else (pair["losses"], pair["wins"])
        margins = margins_over(results.margins, challenger, other)
        label = f"margins of {challenger} over {other} in {len(margins)} deal-sets"
        rows.append(
            {
                "other": other,
                "verb": "beat" if won > lost else "lost to" if lost > won else "drew with",
                "score": f"{won}–{lost}" + (f", {pair['draws']} drawn" if pair["draws"] else ""),
                "strip": plots.strip(margins, label),
                "path": f"bots/{slug(challenger)}.vs-{slug(other)}",
            }
        )
    return rows


def shown_test(results: GameResults) -> Json | None:
    """Return the sequential test of the two best bots that met: its verdict, plot and last points."""
    test = results.test
    if test is None:
        return None
    one, other, unit = test["one"], test["other"], results.standings["margins_in"]
    path = [plots.PlottedTest(*point) for point in test["path"]]
    last = path[-1]
    is_bounded = math.isfinite(last.low) and math.isfinite(last.high)
    band = f"from {signed(last.low)} to {signed(last.high)}" if is_bounded else "without a band yet"
    verdict = f"{test['decision'].capitalize()}: {signed(last.mean)} {unit}, {band}."
    return {
        "one": one,
        "other": other,
        "verdict": verdict,
        "beside": _beside(results.standings["rows"], test),
        "rows": [
            (str(tested.deal_sets), signed(tested.mean), _end(tested.low), _end(tested.high))
            for tested in path[-10:]
        ],
        "margins_in": unit,
        "plot": plots.progress_plot(one, other, path, unit),
    }


def _beside(rows: Sequence[Json], test: Json) -> str:
    """Return why the test of two bots alone differs from the tiers, if it does; otherwise the forecast of the decision."""
    tiers: dict[str, Any] = {row["bot"]: row["tier"] for row in rows}
    is_one_tier = tiers.get(test["one"]) == tiers.get(test["other"])
    decided = test["decision"] in ("better", "worse")
    if decided and is_one_tier:
        return "The standings compare all pairs at once, which takes more, and keep the two in one tier."
    if not decided and not is_one_tier:
        return "The standings also use the deal-sets against others, which put the two in different tiers."
    if test["more"]:
        return f"The two alone need about {test['more']:,} more deal-sets to be told apart."
    return ""


def _end(value: float) -> str:
    """Return an end of a band; early bands are unbounded."""
    return signed(value) if math.isfinite(value) else "open"
