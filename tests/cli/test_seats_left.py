"""Forfeits are shown in standings and in the result of one match."""

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from arena.app.author_matches import SeriesGame
from arena.cli.play import _as_json, _print
from arena.cli.terminal import standings as show
from arena.errors import faults
from arena.games.catalogue import game_by_id
from arena.records.phrases import BY_FALLBACK
from arena.referee.spec import Ending, Fault, FaultKind, Outcome, SeatConduct


def row(bot, place, score, skill, forfeited, **more):
    return {
        "bot": bot, "version": "", "place": place, "points": None, "note": "", "tier": place,
        "score": score, "half_width_95": 1.5, "half_width_95_together": None, "skill": skill,
        "forfeited": forfeited, "deal_sets": 8, "matches": 16, "wins": 1, "draws": 0, "losses": 15,
        "faults": {}, "opponents_met": None, "opponents": None, "present_h": None, **more,
    }  # fmt: skip


STAYED = row("ann", 1, 4.0, 4.0, 0.0)
FORFEITED = row("bob", 2, -30.25, 6.0, 0.75, faults={"malformed": 120})


def standings(*rows):
    return {
        "game": "klaberjass", "seats": 2, "rows": list(rows), "pairs": [], "problem": "",
        "deal_sets": {"complete": 8, "planned": 8, "within_teams": 0}, "forfeit_points": 42.0, "fallback_skill": 11.0,
        "ranked_by": "skill", "needed": None,
    }  # fmt: skip


def printed(drawn, width=100):
    console = Console(file=io.StringIO(), width=width)
    console.print(drawn)
    return console.file.getvalue()


def test_standings_show_the_score_the_skill_beside_it_and_what_forfeits_cost():
    text = printed(show.standings_table(standings(STAYED, FORFEITED)))
    head, ann, bob = (
        next(li for li in text.splitlines() if w in li) for w in ("tier", "ann", "bob")
    )
    assert head.split()[:4] == ["place", "tier", "bot", "score"]
    assert "forfeited" in head
    assert ann.split() == ["1", "1", "ann", "+4.00", "1.50", "+4.00", "8", "1-0-15"]
    assert bob.split()[:8] == ["2", "2", "bob", "-30.25", "1.50", "+6.00", "75%", "8"]
    assert "the worse of the result and -42.00" in " ".join(text.split())


def test_below_what_deal_sets_decide_the_standings_say_so():
    text = printed(show.standings_table(standings(STAYED) | {"needed": 1234}))
    said = "Not enough deal-sets yet to call one bot better than another: about 1,234 more."
    assert said in " ".join(text.split())


def test_a_row_of_a_ladder_has_whom_it_met_and_how_long_it_was_there():
    ladder = standings(
        row("ann@2", 1, 4.0, 4.0, 0.0, opponents_met=12, opponents=15, present_h=40.2)
    )
    head, cells = (
        re.split("  +", line.strip())
        for line in printed(show.standings_table(ladder), width=150).splitlines()
        if "ann@2" in line or line.strip().startswith("place")
    )
    found = dict(zip(head, cells, strict=False))
    assert (found["met"], found["present"]) == ("12 of 15", "40.2 h")


def test_numbers_are_whole_on_a_narrow_terminal():
    assert "-30.25" in printed(show.standings_table(standings(STAYED, FORFEITED)), width=80)


def test_where_no_bot_forfeited_nothing_is_said_of_it():
    text = printed(show.standings_table(standings(STAYED)))
    assert "score" not in text
    assert "forfeit" not in text
    assert "42" not in text


OUTCOME = Outcome(
    "m1",
    Ending.FORFEIT,
    (300, 100),
    (2, 1),
    (),
    (),
    80,
    conduct=(SeatConduct(40, 30, forfeited=True), SeatConduct(40, 0, forfeited=False)),
)
FORFEITS = [
    # the last fault of the one that forfeited, what is said of it
    pytest.param(
        Fault(0, FaultKind.MALFORMED, 12, "neither an index nor a move"),
        f"bob forfeited at its decision 12: fault number 10, which is the limit. {BY_FALLBACK}",
        id="by the limit of faults",
    ),
    pytest.param(
        Fault(0, FaultKind.GONE, 3, "the bot had left"),
        "bob forfeited at its decision 3: the bot had left (F-GONE-LEFT). ",
        id="by leaving",
    ),
    pytest.param(
        Fault(0, FaultKind.TIMEOUT, 1, faults.UNOPENED.text()),
        f"bob forfeited at its decision 1: {faults.UNOPENED.message()}. ",
        id="before the deal",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("fault", "said"), FORFEITS)
def test_one_match_says_who_forfeited_and_why_it_is_last(fault, said, capsys):
    game = game_by_id("klaberjass")
    outcome = replace(OUTCOME, faults=(fault,))
    _print(game, SeriesGame(("bob", "ann"), outcome), Path("r"), 10)
    text = capsys.readouterr().out
    assert said in text
    (row,) = [line for line in text.splitlines() if "│ bob" in line]
    assert "forfeited" in row
    assert _as_json(game, ["bob", "ann"], outcome, Path("r"))["forfeited"] == [True, False]


def test_one_match_in_which_all_stayed_says_nothing_of_it(capsys):
    stayed = tuple(replace(seat, forfeited=False) for seat in OUTCOME.conduct)
    played = SeriesGame(("bob", "ann"), replace(OUTCOME, conduct=stayed))
    _print(game_by_id("klaberjass"), played, Path("r"), 10)
    assert "forfeit" not in capsys.readouterr().out
