"""Who left is said: in the table of a tournament and in that of one match."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from arena.cli import standings as show
from arena.cli.play import _as_json, _print
from arena.cli.series import Played
from arena.games.catalogue import game_by_id
from arena.ladder.head_to_head import Record, Records
from arena.ladder.standings import Row, Standings
from arena.referee import Ending, FaultKind
from arena.referee.spec import Fault, Outcome, SeatConduct

STAYED = Row("ann", 4.0, 1.5, 4.0, 0.0, 8, 1, 16, {})
LEFT = Row("bob", -30.25, 2.5, 6.0, 0.75, 8, 2, 16, {"malformed": 120})


def standings(*rows):
    better = ((None, 0.999), (0.001, None))
    return Standings(rows, better, 8, 8, "", 42.0, 11.0)


def printed(drawn, width=100):
    console = Console(file=io.StringIO(), width=width)
    console.print(drawn)
    return console.file.getvalue()


def test_a_table_shows_the_score_the_skill_beside_it_and_what_leaving_costs():
    text = printed(show.table(standings(STAYED, LEFT), "Klaberjass"))
    head, _, ann, bob = text.splitlines()[2:6]
    assert [word.strip() for word in head.split("┃")[1:6]] == [
        "tier",
        "bot",
        "score",
        "± 95 %",
        "skill",
    ]
    assert [word.strip() for word in ann.split("│")[1:8]] == [
        "1",
        "ann",
        "+4.00",
        "1.50",
        "+4.00",
        "",
        "8",
    ]
    assert [word.strip() for word in bob.split("│")[1:8]] == [
        "2",
        "bob",
        "-30.25",
        "2.50",
        "+6.00",
        "75%",
        "8",
    ]
    assert "the worse of what the table came to and -42.00" in " ".join(text.split())


def test_numbers_are_whole_on_a_narrow_terminal():
    assert "-30.25" in printed(show.table(standings(STAYED, LEFT), "Klaberjass"), width=80)


def test_where_nobody_lapsed_the_table_is_as_plain_as_ever():
    text = printed(show.table(standings(STAYED), "Klaberjass"))
    assert "score" not in text
    assert "left" not in text
    assert "42" not in text


NONE = Record(0, 0, 0)
RECORDS = Records({"ann": NONE, "bob": NONE}, {})


def test_json_has_it_all_whoever_left():
    told = show.as_json(standings(STAYED, LEFT), RECORDS)
    assert json.loads(json.dumps(told)) == told
    assert (told["walkover"], told["fallback_skill"]) == (42, 11)
    assert (
        told["standings"][1].items()
        >= {
            "bot": "bob",
            "tier": 2,
            "score": -30.25,
            "half_width_95": 2.5,
            "skill": 6,
            "left": 0.75,
            "deal_sets": 8,
            "matches": 16,
            "faults": {"malformed": 120},
        }.items()
    )


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
        "bob forfeited at its decision 12 (fault number 10, which is the limit): the fallback played "
        "its seat to the end, and it is placed behind all that stayed.",
        id="by the limit of faults",
    ),
    pytest.param(
        Fault(0, FaultKind.GONE, 3, "the bot had left"),
        "bob forfeited at its decision 3 (the bot had left): ",
        id="by leaving",
    ),
    pytest.param(
        Fault(0, FaultKind.TIMEOUT, 1, "it did not open its commitment"),
        "bob forfeited at its decision 1 (it did not open its commitment): ",
        id="before the deal",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("fault", "said"), FORFEITS)
def test_one_match_says_who_forfeited_and_why_it_is_last(fault, said, capsys):
    game = game_by_id("klaberjass")
    outcome = replace(OUTCOME, faults=(fault,))
    _print(game, Played(("bob", "ann"), outcome), Path("r"), 10)
    text = capsys.readouterr().out
    assert said in text
    (row,) = [line for line in text.splitlines() if "│ bob" in line]
    assert "forfeited" in row
    assert _as_json(game, ["bob", "ann"], outcome, Path("r"))["forfeited"] == [True, False]


def test_one_match_in_which_all_stayed_says_nothing_of_it(capsys):
    stayed = tuple(replace(seat, forfeited=False) for seat in OUTCOME.conduct)
    played = Played(("bob", "ann"), replace(OUTCOME, conduct=stayed))
    _print(game_by_id("klaberjass"), played, Path("r"), 10)
    assert "forfeit" not in capsys.readouterr().out
