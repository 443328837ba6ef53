"""Tables of commands on terminals of 80 and 100 columns: no cell is cut, and numbers and ids stay whole."""

import io
import re
from pathlib import Path

import pytest

from arena.cli.competition_play import print_summary
from arena.cli.terminal.console import PlainConsole, print_table
from arena.games.catalogue import GAMES

ROOT = Path(__file__).parents[2]
ID, NAME, SENTENCE = (
    "18fc642493823e2f5430",
    "random_bot_of_the_second_year",
    "it was away for an hour, twice",
)


def printed(width, print_, *arguments, **options):
    console = PlainConsole(file=io.StringIO(), width=width)
    print_(*arguments, console=console, **options)
    return console.file.getvalue()


def pieces(text):
    """All that is printed, without blanks, in which a broken word cannot be told from a whole one."""
    return re.sub(r"[\s━┃┏┓┡╇┩│└┴┘┳─]", "", text)


# fmt: off
TABLES = [
    # heads                                                   row                                                              wrapped          of the command
    (("competition", "format", "state", "bots", "official"),  ("crazy_pineapple_hi_lo", "round_robin", "finished", 12, 3),     (),              "competition list"),
    (("seed", "bot", "owner", "kind", "games", ""),           (1, NAME, "ann", "submitted", "klaberjass, loo", SENTENCE),      ("games", ""),   "competition show"),
    (("id", "scope", "bot", "owner", "state", "made", "last used"), ("jsojlhnA", "organiser", NAME, "a_teacher_of_two_classes", "expires 2026-12-24", "2026-11-29", "2026-11-29"), (), "keys list"),
    (("owners", "", "deal-sets", "each gains, points a table", "first gains from second", ""), ("a_teacher_of_two_classes", NAME, 120, "+1.20 (p 0.0002)", "+0.70 (p 0.03)", "look into it"), (), "competition collusion"),
    (("bot", "deal-sets", "more in the first play", "p", ""), (NAME, 1_000, "+12.25", "0.00012", "look into it"),             (),              "competition spot-checks"),
    (("ended (UTC)", "match", "game", "bots and scores", "ending", "replay"), ("2026-11-29 12:00:00", ID, "crazy_pineapple_hi_lo", f"{NAME} 12, ann 3", "completed, 2 faults", "yes"), ("bots and scores", "ending", "replay"), "match list"),
    (("version", "state", "since", "sha256", ""),             ("12", "qualified", "2026-11-29 12:00", 64 * "a", SENTENCE),     ("version", "state", "since", "sha256", ""), "bots history"),
    (("id", "first", "second", "state", "deal-sets", "the first is", "core-minutes"), (12, f"{NAME}@2", f"{NAME}@1", "decided", "120 of 2000", "not decided", "12.5"), ("first", "second"), "comparisons list"),
]
# fmt: on


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("framed", [False, True], ids=["plain", "framed"])
@pytest.mark.parametrize(
    ("heads", "row", "wrapped", "command"), TABLES, ids=[row[-1] for row in TABLES]
)
def test_no_cell_is_cut(heads, row, wrapped, command, width, framed):
    text = printed(width, print_table, heads, [row], wrapped=wrapped, framed=framed)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    letters = sorted(pieces("".join(map(str, [*heads, *row]))))
    assert sorted(pieces(text)) == letters
    for cell in (*heads, *row):
        for word in str(cell).split():
            if len(word) <= 8:
                assert re.search(rf"(?<![^\s│┃]){re.escape(word)}(?![^\s│┃])", text), word


def test_an_empty_table_has_its_heads():
    assert printed(80, print_table, ("bot", "score"), []).split() == ["bot", "score"]


def summarised(games=GAMES):
    """Standings of a competition of each game, with long names and large scores."""
    bots = ["pineapple", "first", "random"]
    for game in games:
        rows = [
            {"bot": bot, "tier": 1, "score": 189.94 - at, "half_width_95": 1234.56}
            for at, bot in enumerate(bots)
        ]
        yield {"competition": game.id, "games": [{"game": game.id, "seats": 2, "rows": rows}]}


@pytest.mark.parametrize("width", [80, 100])
def test_the_summary_of_all_games_has_whole_names_and_scores(width):
    text = printed(width, print_summary, list(summarised()))
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    for game in GAMES:
        assert re.search(rf"^{game.id} ", text, re.MULTILINE), "the name of a competition, to type"
    assert text.count("+189.9 ± 1234.6") == len(GAMES)


def test_tables_are_made_in_two_modules():
    """Standings leave out whole columns; all other tables go through `print_table`."""
    made_in = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "arena" / "cli").rglob("*.py")
        if re.search(r"\bTable\(", path.read_text("utf-8"))
    }
    assert made_in == {"arena/cli/terminal/console.py", "arena/cli/terminal/standings.py"}
