"""Standings on narrow terminals: columns are left out by importance, and no bot's name is cut."""

import io

import pytest
from rich.console import Console

from arena.cli.terminal import standings as show
from arena.contests.standings import live_standings, official_standings
from arena.results.record import Out
from tests.contests.played import Played, toml

NAMES = ["random_bot_of_the_first_year", "random_bot_of_the_second_year", "ann", "bob", "cid"]


def printed(drawn, width=80):
    console = Console(file=io.StringIO(), width=width)
    console.print(drawn)
    return console.file.getvalue()


def faulty(row):
    return row | {"faults": {"timeout": 12, "illegal": 3}, "note": "out in round 2, on points"}


@pytest.fixture(scope="module")
def game():
    """Official standings of a Swiss, with all columns but those of forfeits."""
    run = Played(toml("swiss", deal_sets=4), NAMES).run()
    (game,) = official_standings(run.record, 1)["games"]
    return game | {"rows": [faulty(row) for row in game["rows"]]}


def heads(text):
    line = next(line for line in text.splitlines() if " bot " in line)
    return line.strip().replace("± ", "±_").split()


# fmt: off
WIDTHS = [
    # width  heads                                                                            left out
    (200, ["place", "points", "tier", "bot", "skill", "±_95", "%", "±_all", "deal-sets", "w-d-l", "faults"], ""),
    (110, ["place", "points", "bot", "skill", "±_95", "%", "deal-sets", "w-d-l", "faults"],   "± all, tier"),
    (80,  ["place", "points", "bot", "skill", "±_95", "%", "faults"],                         "± all, tier, deal-sets, w-d-l, notes"),
    (50,  ["place", "points", "bot"],                                                         "± all, tier, deal-sets, w-d-l, notes, faults, ± 95 %, skill"),
    (20,  ["bot"],                                                                            "± all, tier, deal-sets, w-d-l, notes, faults, ± 95 %, skill, points, place"),
]
# fmt: on


@pytest.mark.parametrize(("width", "shown", "left_out"), WIDTHS, ids=[str(w) for w, *_ in WIDTHS])
def test_columns_are_left_out_by_importance_and_this_is_said(game, width, shown, left_out):
    text = printed(show.standings_table(game, width), width)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    if width > 20:
        assert heads(text) == shown
    said = f"Left out at this width: {left_out}; {show.SEE_WIDE}"
    assert (said in " ".join(text.split())) == bool(left_out)


def test_a_problem_and_what_is_left_out_are_two_sentences(game):
    text = printed(show.standings_table(game | {"problem": "too few deal-sets"}, 80), 80)
    assert "too few deal-sets. Left out at this width:" in " ".join(text.split())


@pytest.mark.parametrize("width", range(40, 130, 2))
@pytest.mark.parametrize(
    "cells",
    [
        {"faults": {}},
        {"faults": {"timeout": 12, "illegal": 3}},
        {"faults": {}, "half_width_95": None},
    ],
    ids=["no fault", "faults", "no interval"],
)
def test_no_head_and_no_word_is_broken(game, width, cells):
    rows = [row | cells | {"note": ""} for row in game["rows"]]
    text = printed(show.standings_table(game | {"rows": rows}, width), width)
    table = text.split("Skill:")[0]
    known = "place points tier bot skill ± 95 % all deal-sets w-d-l faults 12 timeout, 3 illegal"
    words = {word for word in table.split() if word.isalpha() or word.endswith(",")}
    assert words <= {*known.split(), *NAMES, "Sixty-Six,", "seats"}


@pytest.mark.parametrize("width", [200, 80, 50])
def test_no_name_is_cut(game, width):
    for table in (show.standings_table(game, width), show.head_to_head_table(game, width)):
        if table is not None:
            lines = printed(table, width)
            assert [name for name in NAMES if name not in lines] == []
            assert "…" not in lines


def test_a_name_that_does_not_fit_alone_takes_several_lines(game):
    text = printed(show.standings_table(game, 20), 20)
    assert "random_bot_of_the_first_year" in "".join(text.split())


# fmt: off
TABLES = [
    # width  head of the table                     why
    (200,   "random_bot_of_the_second_year",       "names as heads"),
    (80,    " 1 ",                                 "numbers as heads"),
    (40,    None,                                  "nothing fits"),
]
# fmt: on


@pytest.mark.parametrize(("width", "head", "why"), TABLES, ids=[row[-1] for row in TABLES])
def test_records_of_each_two_have_names_then_numbers_as_heads(game, width, head, why, capsys):
    table = show.head_to_head_table(game, width)
    if head is None:
        assert table is None
        show.print_head_to_head(game, Console(width=width))
        assert (
            f"Head to head of 5 bots does not fit at this width; {show.SEE_WIDE}"
            in capsys.readouterr().out
        )
        return
    assert head in next(line for line in printed(table, width).splitlines() if "w-d-l of" in line)


def after_disqualification(deal_sets):
    run = Played(toml("round_robin", deal_sets=deal_sets), ["ann", "bob", "cid"]).run()
    run.go_out("bob", Out.DISQUALIFIED)
    return live_standings(run.record)


# fmt: off
INTERVALS = [
    (1, True,  "one deal-set is left"),
    (2, False, "two are left"),
]
# fmt: on


@pytest.mark.parametrize(("deal_sets", "empty", "why"), INTERVALS, ids=[r[-1] for r in INTERVALS])
def test_why_an_interval_is_empty_after_a_disqualification_is_said(deal_sets, empty, why, capsys):
    found = after_disqualification(deal_sets)
    (game,) = found["games"]
    assert [row["half_width_95"] is None for row in game["rows"]] == [empty, empty]
    assert (show.NO_INTERVAL in " ".join(printed(show.standings_table(game)).split())) == empty
    show.print_standings(found)
    assert "bob is disqualified, and its deal-sets do not count: asked" in capsys.readouterr().out


def test_wide_standings_have_all_columns_whatever_the_terminal(game, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    found = {
        "competition": "c",
        "live": False,
        "number": 1,
        "games": [game],
        "overall": None,
        "out": [],
    }
    show.print_standings(found, wide=True)
    wide = capsys.readouterr().out
    show.print_standings(found)
    narrow = capsys.readouterr().out
    assert ("± all" in wide.split("Skill:")[0], show.SEE_WIDE in " ".join(wide.split())) == (
        True,
        False,
    )
    assert show.SEE_WIDE in " ".join(narrow.split())


@pytest.mark.parametrize("was_played", [False, True], ids=["nothing was played", "all was"])
def test_head_to_head_needs_something_played(capsys, was_played):
    run = Played(toml("round_robin", deal_sets=1), NAMES)
    show.print_standings(live_standings((run.run() if was_played else run).record), wide=True)
    text = capsys.readouterr().out
    assert all(name in text for name in NAMES)
    assert ("Head to head" in text) == was_played
