"""`arena export matches`: tables and hand histories of many matches."""

import contextlib
import importlib.util
import json
import tracemalloc
from pathlib import Path

import pytest

from arena.envs.actions import ActionSpace
from arena.games.catalogue import game_by_id
from arena.games.notation import Notation
from arena.records.phh import Inexpressible, hand_histories
from arena.records.playback import play_back
from arena.records.read import Replay
from arena.records.tables import COLUMNS, NUMBERS, TableFiles, rows_of
from arena.records.verify import verify
from arena.results.deal_sets import MatchOutcome
from arena.store import StoredMatch, open_store
from arena.store.data_folder import store_path
from tests.cli.test_expected_errors import arena
from tests.records.matches import ILLEGAL, PLAY, Bot, record
from tests.store.made import DEAL_SETS, MATCHES, made

needs_duckdb = pytest.mark.skipif(
    importlib.util.find_spec("duckdb") is None, reason="needs cardarena-engine[research]"
)
needs_openspiel = pytest.mark.skipif(
    importlib.util.find_spec("pyspiel") is None, reason="needs cardarena-engine[research]"
)
GAME = "klaberjass"


@pytest.fixture(scope="module")
def replays(tmp_path_factory):
    """A folder with replays of three games."""
    folder = tmp_path_factory.mktemp("replays")
    for game in (GAME, "crazy_pineapple", "abstrac"):
        bots = [Bot(0, (PLAY, ILLEGAL)), Bot(1)]
        path = record(tmp_path_factory.mktemp(game), game, bots, {"hands": 2})
        path.rename(folder / f"{game}.replay")
    return folder


def exported(folder, *arguments):
    result = arena("export", "matches", folder, *arguments)
    assert result.exit_code == 0, result.output
    return folder


def lines(folder, table, game=GAME):
    files = sorted((folder / table / f"game={game}").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


# Histories of OpenSpiel.


@needs_openspiel
def test_openspiel_replays_a_history_to_the_same_returns(tmp_path):
    """Its returns are the leads of the result, also where a seat faulted."""
    import pyspiel

    for game, seats in (("democracy", 3), (GAME, 2)):
        bots = [Bot(0, (PLAY, ILLEGAL)), *map(Bot, range(1, seats))]
        path = record(tmp_path / game, game, bots, {"hands": seats})
        path.rename(tmp_path / f"{game}.replay")
    result = arena(
        "export", "matches", tmp_path / "out", "--as", "openspiel", "--replays", tmp_path
    )
    assert result.exit_code == 0, result.output
    written = sorted((tmp_path / "out").rglob("*.openspiel"))
    assert [path.parent.name for path in written] == ["democracy", GAME]
    for path in written:
        _, state = pyspiel.deserialize_game_and_state(path.read_text())
        scores = verify(Replay.open(tmp_path / f"{path.parent.name}.replay")).outcome.scores
        others = [(sum(scores) - score) / (len(scores) - 1) for score in scores]
        assert state.is_terminal()
        assert state.returns() == pytest.approx(
            [a - b for a, b in zip(scores, others, strict=True)]
        )
        assert any(state.returns())


@needs_openspiel
def test_a_match_with_a_move_that_is_no_action_has_no_history(replays, tmp_path, monkeypatch):
    monkeypatch.setattr(ActionSpace, "legal", lambda space, view, moves: {})
    result = arena(
        "export", "matches", tmp_path, "--as", "openspiel", "--game", GAME, "--replays", replays
    )
    assert "left out 1 match: no action stands for" in result.stderr
    assert "0 matches in" in result.stderr


# Tables.


def test_a_row_for_each_decision_seat_and_match_with_all_columns(replays, tmp_path):
    folder = exported(tmp_path / "out", "--as", "jsonl", "--replays", replays)
    replay = Replay.open(replays / f"{GAME}.replay")
    (match,), seats, decisions = (lines(folder, table) for table in COLUMNS)
    assert [(row["seat"], row["decision"]) for row in decisions] == [
        (record.seat, record.decision) for record in replay.decided
    ]
    assert [row["bot"] for row in seats] == list(replay.names)
    assert [row["score"] for row in seats] == [sum(row["hand_scores"]) for row in seats]
    assert (match["hands"], match["faults"]) == (2, 1)
    assert [row["fault"] for row in decisions if row["fault"]] == ["illegal"]
    for table in COLUMNS:
        for row in lines(folder, table):
            assert list(row) == list(COLUMNS[table])


def test_only_one_game_is_exported_if_one_is_wanted(replays, tmp_path):
    folder = exported(tmp_path / "out", "--as", "jsonl", "--game", GAME, "--replays", replays)
    assert [path.name for path in (folder / "matches").iterdir()] == [f"game={GAME}"]


# Encoders are tested with all games in tests/envs.
@pytest.mark.parametrize("game", ["jam", "soko", "democracy", "crazy_pineapple_hi_lo"])
def test_tensors_are_read_back_as_the_view_and_the_move(game, tmp_path):
    from arena.envs.codes import Shortened
    from arena.envs.encoders import layout_of, numbers_of

    terms, seats = game_by_id(game), game_by_id(game).seats[0]
    bots = [Bot(seat) for seat in range(seats)]
    replay = Replay.open(record(tmp_path, game, bots, {"hands": seats}))
    spec, notation = replay.spec(), Notation(terms.messages.Move)
    layout = layout_of(spec.terms.game, spec.terms.options, seats)
    rows = [row for table, row in rows_of(replay, numbers_of) if table == "decisions"][:40]
    states = {
        (decision.seat, decision.decision): step.before
        for step in play_back(replay)
        for decision in step.decisions
    }
    for row in rows:
        state = states[row["seat"], row["decision"]]
        view = terms.rules.view(state, row["seat"])
        with contextlib.suppress(Shortened):
            assert layout.read(row["observation"], row["seat"]) == view
        legal = layout.actions.legal(view, terms.rules.moves(state, row["seat"]))
        assert row["legal_actions"] == list(legal)
        if row["action"] is not None:
            assert notation.write(legal[row["action"]]) == row["text"]


def test_matches_of_a_deal_set_that_is_not_complete_are_left_out(replays, tmp_path):
    """The arena has written the replay, but has not published it, because another match of its deal-set is in play."""
    open_match, single = MATCHES[0], "single"
    data = tmp_path / "data"
    (data / "replays").mkdir(parents=True)
    played = (replays / "abstrac.replay").read_bytes()
    for match_id in (open_match.id, single):
        (data / "replays" / f"{match_id}.replay").write_bytes(played)
    with open_store(store_path(data)) as store:
        made(store)
        for match_id, deal_set in ((open_match.id, DEAL_SETS[open_match.id]), (single, "")):
            result = MatchOutcome(
                match_id, (0, 0), (1, 1), "completed", faults=({}, {}), hands=2, decisions=9
            )
            store.matches().record([StoredMatch(result, "abstrac", open_match.bots, deal_set, 1)])
        store.matches().mark_published([single])
    folder = exported(tmp_path / "before", "--as", "jsonl", "--data", data)
    assert len(lines(folder, "matches", "abstrac")) == 1
    with open_store(store_path(data)) as store:
        store.matches().mark_published([open_match.id])
    folder = exported(tmp_path / "after", "--as", "jsonl", "--data", data)
    assert len(lines(folder, "matches", "abstrac")) == 2


def test_a_replay_that_cannot_be_read_is_named_and_the_others_are_exported(replays, tmp_path):
    broken = tmp_path / "replays"
    broken.mkdir()
    whole = (replays / "abstrac.replay").read_bytes()
    (broken / "a.replay").write_bytes(whole[:-40])
    (broken / "b.replay").write_bytes(whole)
    result = arena("export", "matches", tmp_path / "out", "--as", "jsonl", "--replays", broken)
    assert result.exit_code == 1
    assert f"left out {broken / 'a.replay'}: cut off" in result.stderr
    assert len(lines(tmp_path / "out", "matches", "abstrac")) == 1


# fmt: off
MISTAKES = [
    (("--as", "phh", "--tensors"),                      "hand histories have no tensors",      "tensors of hand histories"),
    (("--as", "jsonl", "--replays", ".", "--bot", "a"), "--bot and --competition need an arena", "a bot in a folder of replays"),
    (("--as", "csv"),                                   "'csv' is not one of",                 "a form that there is not"),
]
# fmt: on


@pytest.mark.parametrize(("arguments", "words", "why"), MISTAKES, ids=[row[-1] for row in MISTAKES])
def test_a_mistake_is_explained(arguments, words, why, tmp_path):
    result = arena("export", "matches", tmp_path / "out", *arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())


def test_a_folder_with_tables_is_not_written_over(replays, tmp_path):
    arguments = ("--as", "jsonl", "--replays", replays)
    folder = exported(tmp_path / "out", *arguments)
    again = arena("export", "matches", folder, *arguments)
    assert again.exit_code == 1
    assert "it has tables already; name another folder" in again.stderr


# Files.

ROW = {"match_id": "m", "text": "x" * 1000}


def test_rows_go_to_files_as_they_come(tmp_path):
    with TableFiles(tmp_path, "jsonl", with_numbers=False, part_rows=1000) as files:
        tracemalloc.start()
        try:
            files.add("jam", (("decisions", ROW | {"seat": at}) for at in range(4_500)))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        parts = sorted(path.name for path in (tmp_path / "decisions" / "game=jam").iterdir())
        assert parts[:4] == [f"part-{number:05}.jsonl" for number in range(4)]
        assert parts[4:] == ["part-00004.jsonl.writing"], "a file that is not complete says so"
    assert peak < 500_000, "of 4.5 MB"
    assert [row["seat"] for row in lines(tmp_path, "decisions", "jam")] == list(range(4_500))


@needs_duckdb
def test_parquet_has_the_rows_of_json_lines(replays, tmp_path):
    import duckdb

    arguments = ("--replays", replays, "--tensors")
    as_lines = exported(tmp_path / "lines", "--as", "jsonl", *arguments)
    as_parquet = exported(tmp_path / "parquet", "--as", "parquet", *arguments)
    assert not [path for path in as_parquet.rglob("*") if path.suffix in (".writing", ".making")]
    for table in COLUMNS:
        files = f"{as_parquet}/{table}/game={GAME}/*.parquet"
        found = duckdb.sql(f"select * exclude (game) from read_parquet('{files}')")
        expected = lines(as_lines, table)
        assert found.columns == list(expected[0])
        assert [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()] == expected


@needs_duckdb
def test_the_examples_of_the_page_run_on_an_export(replays, tmp_path, monkeypatch):
    import duckdb

    monkeypatch.chdir(tmp_path)
    exported(Path("data-set"), "--as", "parquet", "--replays", replays, "--tensors")
    page = Path(__file__).resolve().parents[2] / "docs" / "reference" / "data-sets.md"
    blocks = page.read_text("utf-8").split("```")
    (query,) = [block.removeprefix("sql\n") for block in blocks if block.startswith("sql\n")]
    assert duckdb.sql(query).fetchall()
    (program,) = [block.removeprefix("python\n") for block in blocks if block.startswith("python")]
    exec(program, {})


def test_every_column_of_tensors_is_on_a_row(tmp_path):
    from arena.envs.encoders import numbers_of

    replay = Replay.open(record(tmp_path, "jam", [Bot(0), Bot(1)], {"hands": 2}))
    table, row = next(iter(rows_of(replay, numbers_of)))
    assert table == "decisions"
    assert list(row) == [*COLUMNS[table], *NUMBERS]


# Hand histories.

# fmt: off
HANDS = [
    ("pineapple",       2, {"hands": 4},                                                       "two seats, of whom the dealer posts the small blind"),
    ("pineapple",       3, {"hands": 6},                                                       "three seats"),
    ("pineapple",       5, {"hands": 10, "structure": "nolimit"},                              "without a limit"),
    ("crazy_pineapple", 3, {"hands": 9, "structure": "nolimit", "ante": 1},                    "a discard after the flop, and antes"),
    ("crazy_pineapple", 4, {"hands": 8, "stacks": "20,30,9,50"},                               "all-in with stacks that differ"),
    ("crazy_pineapple", 3, {"hands": 12, "format": "freezeout", "start_stack": 12},            "seats that are out"),
]
# fmt: on


@pytest.mark.parametrize(("game", "seats", "options", "why"), HANDS, ids=[row[-1] for row in HANDS])
def test_pokerkit_plays_the_hands_to_the_same_stacks(game, seats, options, why, tmp_path):
    from pokerkit import HandHistory

    bots = [Bot(seat) for seat in range(seats)]
    replay = Replay.open(record(tmp_path, game, bots, options))
    hands = list(hand_histories(replay))
    assert 2 * len(hands) > len(verify(replay).outcome.hand_scores)
    for text in hands:
        history = HandHistory.loads(text)
        *_, end = history
        assert not end.status
        assert list(end.stacks) == history.finishing_stacks
        assert all(len(cards) == 6 for cards in history.user_defined_fields["_dealt"])


def test_a_file_has_the_hands_of_a_match(replays, tmp_path):
    from pokerkit import HandHistory

    result = arena("export", "matches", tmp_path, "--as", "phh", "--replays", replays)
    assert result.exit_code == 0, "matches of other games are no failures"
    assert "left out 1 match: PHH has no Klaberjass" in result.stderr
    (path,) = tmp_path.rglob("*.phhs")
    with path.open("rb") as file:
        assert [history.hand for history in HandHistory.load_all(file)] == [0, 1]


# fmt: off
SILENT = [
    ("soko",                  {},                          "PHH has no Soko",       "stud with other hands than its own"),
    ("crazy_pineapple_hi_lo", {},                          "PHH has no Crazy",      "a pot that is split by low hands"),
    ("pineapple",             {"hands": 2, "max_raises": 4}, "at most 3 raises",    "more raises than hold'em has"),
]
# fmt: on


@pytest.mark.parametrize(
    ("game", "options", "words", "why"), SILENT, ids=[row[-1] for row in SILENT]
)
def test_what_the_format_cannot_say_is_refused(game, options, words, why, tmp_path):
    replay = Replay.open(record(tmp_path, game, [Bot(0), Bot(1)], {"hands": 2} | options))
    with pytest.raises(Inexpressible, match=words):
        list(hand_histories(replay))
