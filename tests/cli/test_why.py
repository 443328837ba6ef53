"""`arena match why`: what an owner types, what the answer is, and one sentence for each mistake."""

import json
import re
import shlex
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.cli import main
from arena.records.journal.journal import Journal
from arena.records.journal.match_log import SeatedAt
from arena.records.read import Replay
from arena.referee.spec import AbortCause, Ending, Outcome
from arena.sandbox.output import OutputLog
from cardarena.v1 import journal_pb2
from tests.records.matches import ILLEGAL, LATE, LEAVE, PLAY, Bot, cut, play, record, retold

ROOT = Path(__file__).parents[2]
RANDOM_BOT = ROOT / "sample_bots" / "random_bot.py"


def why(*arguments):
    return CliRunner().invoke(main, ["match", "why", *(str(each) for each in arguments)])


def said(result):
    return " ".join(result.stdout.split())


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A data folder: a match with faults, one that lies, and one that is damaged."""
    data = tmp_path_factory.mktemp("why")
    bots = [Bot(0), Bot(1, (PLAY, ILLEGAL, LEAVE), note="my note")]
    true = record(data, "abstrac", bots, {"hands": 2}, match_id="m1")
    replays = true.parent
    lie = retold(true, lambda records: records[-2].closed.scores.append(9))
    (replays / "lie.replay").write_bytes(lie)
    (replays / "torn.replay").write_bytes(true.read_bytes()[:-5])
    return data


def test_the_command_for_a_fair_loser_steps_into_the_hand_that_cost_most(tmp_path):
    data = tmp_path / "of ann's"  # a path that a shell would split
    path = record(data, "abstrac", [Bot(0), Bot(1)], {"hands": 4})
    closed = Replay.open(path).closed
    loser = list(closed.places).index(2)
    told = why(path, loser, "--data", data)
    (hand,) = re.findall(r"It lost by its cards and its moves, most in hand (\d+):", said(told))
    command, *costliest = re.findall(r"watch    arena (.*)", told.stdout)
    assert len(costliest) == told.stdout.count("is better by about"), "one for each decision"
    again = re.findall(r"debug    cardarena\.local\.replay\(.*, step=(\d+)\)", told.stdout)
    assert [
        re.search(r"--step (\d+)  # decision \d+$", command)[1] for command in costliest
    ] == again
    assert re.search(r"decision \d+ in hand \d+: it chose .*; .* is better by about", said(told))
    assert CliRunner().invoke(main, shlex.split(costliest[0], comments=True)).exit_code == 0
    shown = CliRunner().invoke(main, shlex.split(command))
    assert shown.exit_code == 0
    assert re.findall(r"[Hh]and (\d+)", shown.stdout)[0] == hand


@pytest.mark.parametrize(
    ("worker", "shown"), [("m1", "; played by worker m1"), ("", "")], ids=["another's", "its own"]
)
def test_the_machine_that_played_a_match_is_named(data, tmp_path, worker, shown):
    true = data / "replays" / "m1.replay"
    change = lambda records: setattr(records[0].opened.played_at, "worker", worker)  # noqa: E731
    path = tmp_path / "m1.replay"
    path.write_bytes(retold(true, change))
    line = said(why(path, "1", "--house", "off"))
    assert f"hands{shown}" in line
    assert ("played by" in line) == bool(shown)
    told = json.loads(why(path, "1", "--house", "off", "--json").stdout)
    assert told["worker"] == (worker or None)


def test_an_opponent_is_described_by_what_is_public(tmp_path):
    path = record(tmp_path, "soko", [Bot(0), Bot(1)], {"hands": 6})
    names = Replay.open(path).names
    told = why(path, 0, "--opponent", names[1], "--house", "off", "--data", tmp_path)
    assert told.exit_code == 0, told.output
    assert f"What {names[1]} does in public, in 1 match:" in told.stdout
    assert re.search(r"bet +acted \w+ +\d+% of \d+ decisions? +\d+% of \d+", told.stdout)
    row = json.loads(
        why(path, 0, "--opponent", 1, "--house", "off", "--json", "--data", tmp_path).stdout
    )["opponent"]["tendencies"][0]
    assert row["times"] <= row["of"]
    assert why(path, 0, "--opponent", "nobody", "--data", tmp_path).exit_code == 1


def test_the_house_bot_is_left_out_if_it_is_not_wanted(data):
    with_it, without = (
        why("m1", "0", "--data", data),
        why("m1", "0", "--data", data, "--house", "off"),
    )
    assert "Beside the house bot" in with_it.stdout
    assert "house" not in without.stdout
    told = [json.loads(why("m1", "0", "--data", data, "--json", "--house", level).stdout)["house"]
            for level in ("search-20ms", "off")]  # fmt: skip
    assert (len(told[0]["par"]), told[1]) == (2, None)


@pytest.mark.parametrize("bot", ["bot 1", "BOT 1", "1"])
def test_a_bot_is_named_or_its_seat(bot, data):
    result = why("m1", bot, "--data", data)
    assert result.exit_code == 0
    for words in (
        "bot 1 at seat 1",
        "made an illegal move",
        "was disconnected",
        "What to do",
        "my note",
    ):
        assert words in said(result)


def test_a_match_is_an_id_or_a_file(data):
    path = data / "replays" / "m1.replay"
    by_id, by_file = why("m1", "1", "--data", data), why(path, "1")
    assert by_id.exit_code == 0
    assert by_id.stdout == by_file.stdout


def test_for_programs(data):
    result = why("m1", "1", "--data", data, "--json")
    told = json.loads(result.stdout)
    assert (told["bot"], told["seat"], told["published"], told["ending"]) == (
        "bot 1",
        1,
        True,
        "forfeit",
    )
    assert [each["kind"] for each in told["faults"]] == ["illegal", "gone"]
    assert told["faults"][0]["view"]["hand"] == 0
    assert told["faults"][1]["forfeited"]
    assert (told["forfeited"], told["forfeited_at_decision"]) == (True, 3)
    assert [each["code"] for each in told["faults"]] == ["F-ILLEGAL-INDEX", "F-GONE-LEFT"]
    assert set(told["advice"]) == {"F-ILLEGAL", "F-GONE-LEFT"}
    replay = Replay.open(data / "replays" / "m1.replay")
    assert told["scores"] == list(replay.closed.scores)


# fmt: off
MISTAKES = [
    (["nosuch", "1"],             "there is no such match: 'nosuch' in",                     "no such match"),
    (["no/such/file", "1"],       "cannot read no/such/file: No such file",                 "no such file"),
    (["../etc/passwd", "1"],      "cannot read ../etc/passwd",                              "out of the folder"),
    (["..", "1"],                 "cannot read ..: Is a directory",                         "no id at all"),
    (["", "1"],                   "'' cannot be the id of a match",                         "nothing"),
    (["m1", "nobody"],            "there was no 'nobody' at match m1: there sat bot 0 (seat 0), bot 1 (seat 1)", "no such bot"),
    (["m1", "2"],                 "there was no '2' at match m1",                           "no such seat"),
    (["m1", "-1"],                "-1",                                                     "a negative seat"),
    (["lie", "1"],                "lie.replay: the scores are said to be",                  "a false replay"),
    (["torn", "1"],               "torn.replay: cut off within",                            "a damaged replay"),
    (["m1"],                      "Missing argument 'BOT'",                                 "whose?"),
]
# fmt: on


@pytest.mark.parametrize(
    ("arguments", "words", "reason"), MISTAKES, ids=[row[2] for row in MISTAKES]
)
def test_a_mistake_gets_one_sentence(arguments, words, reason, data):
    result = why(*arguments, "--data", data)
    assert result.exit_code != 0
    assert words in result.stderr
    assert "Traceback" not in result.output
    assert isinstance(result.exception, SystemExit)


def test_a_bot_that_sat_twice_is_asked_which(data, tmp_path):
    path = data / "replays" / "m1.replay"

    def change(records):
        records[0].opened.entrants[0].name = "bot 1"

    twice = tmp_path / "twice.replay"
    twice.write_bytes(retold(path, change))
    result = why(twice, "bot 1")
    assert (result.exit_code, "sat at the seats 0 and 1: say which" in result.stderr) == (1, True)
    assert why(twice, "1").exit_code == 0


def test_an_aborted_match_names_the_incident_and_where_to_look(data, tmp_path):
    path = record(tmp_path, "abstrac", stop_after_s=1.0, match_id="stopped")

    def change(records):
        records[-2].closed.cause = AbortCause.ERROR.value
        records[-2].closed.incident = "1f2e3d4c"

    path.write_bytes(retold(path, change))
    result = why("stopped", "0", "--data", tmp_path)
    assert "incident 1f2e3d4c in the arena's log (A-ERROR)" in said(result)
    assert f"grep 1f2e3d4c {tmp_path / 'arena.log'}" in result.stdout


# What the bot printed.


def log(path, *lines):
    """A log with lines at their times."""
    path.parent.mkdir(parents=True, exist_ok=True)
    now = None

    def clock():
        return now

    with OutputLog(path, clock) as output:
        for now, text in lines:  # noqa: B007
            output.printed(f"{text}\n".encode())


def times(data):
    """When the bot of seat 1 was asked for what went wrong, by decision; and the day before."""
    replay = Replay.open(data / "replays" / "m1.replay")
    start = datetime.fromtimestamp(replay.opened.start_unix_ms / 1000, UTC)
    return {
        each.decision: start + timedelta(microseconds=each.sent_us)
        for each in replay.decided
        if each.seat == 1
    } | {0: start - timedelta(days=1)}


def test_only_what_the_bot_itself_printed_in_the_match_is_shown(data, tmp_path):
    at = times(data)
    bots = tmp_path / "bots"
    log(bots / "m1" / "bot_1-0.log", (at[0], "yesterday"), (at[2], "my index is 999"))
    log(bots / "m1" / "bot_0-0.log", (at[2], "of the other bot"))
    log(bots / "m1" / "bot_1-x.log", (at[2], "of no instance"))
    log(bots / "m0" / "bot_1-0.log", (at[0], "of an older match"))
    (tmp_path / "replays").mkdir()
    path = tmp_path / "replays" / "m1.replay"
    path.write_bytes((data / "replays" / "m1.replay").read_bytes())
    result = why(path, "1")
    assert "my index is 999" in result.stdout
    assert not re.search("yesterday|other bot|no instance|older", result.stdout)
    assert f"The bot's whole output: {bots / 'm1' / 'bot_1-0.log'}" in result.stdout
    told = json.loads(why(path, "1", "--json").stdout)
    assert [each["text"] for each in told["faults"][0]["printed"]] == ["my index is 999"]
    assert told["logs"] == [str(bots / "m1" / "bot_1-0.log")]


def test_a_bot_that_was_late_in_its_own_queue_to_the_end_is_told_so(tmp_path):
    """No answer could have a note of it: what the bot printed has the wait."""
    record(tmp_path, "abstrac", [Bot(0), Bot(1, (LATE,) * 99)], {"hands": 2}, match_id="m1")
    told = "your bot took 1.8 s of 2.0 s in its own queue: set workers"
    at = times(tmp_path)
    closed = timedelta(seconds=3.05)  # the time for the move and the bank, and grace
    line = f"cardarena: fault in match 1 (abstrac): timeout: no answer in time; {told}"
    log(tmp_path / "bots" / "m1" / "bot_1-0.log", (at[1] + closed, line))
    result = why("m1", "1", "--data", tmp_path)
    assert f"queue {told}" in said(result)
    assert "F-TIMEOUT-QUEUE At decision 1, your bot took" in said(result)
    found = json.loads(why("m1", "1", "--data", tmp_path, "--json").stdout)
    assert (found["faults"][0]["queued"], list(found["advice"])) == (told, ["F-TIMEOUT-QUEUE"])


def test_a_bot_that_hangs_is_told_where_and_not_to_answer_its_asks(tmp_path):
    record(tmp_path, "abstrac", [Bot(0), Bot(1, (LATE,) * 99)], {"hands": 2}, match_id="m1")
    told = "`move` has not returned since decision 1, now at my_bot.py:6"
    line = f"cardarena: fault in match 1 (abstrac): timeout: no answer in time; {told}"
    closed = timedelta(seconds=3.05)
    lines = [(at + closed, line) for _, at in sorted(times(tmp_path).items())[1:]]
    log(tmp_path / "bots" / "m1" / "bot_1-0.log", *lines)
    result = why("m1", "1", "--data", tmp_path)
    assert f"code {told}" in said(result)
    assert f"F-TIMEOUT-HANG {told}." in said(result)
    found = json.loads(why("m1", "1", "--data", tmp_path, "--json").stdout)
    assert (found["faults"][0]["stuck"], list(found["advice"])) == (told, ["F-TIMEOUT-HANG"])


def test_of_many_processes_of_a_bot_the_one_that_sat_there_is_shown(tmp_path):
    seated = (SeatedAt("bot 0", 3, 1), SeatedAt("bot 1", 2, 7))
    with Journal(tmp_path / "journal") as journal:
        played = play(journal, bots=[Bot(0), Bot(1, (ILLEGAL,))])
        journal.match_again(played.log.bodies, seated)
    cut(tmp_path, played)
    at = times(tmp_path)
    for instance in (0, 2, 3):
        log(tmp_path / "bots" / "cup" / f"bot_1-{instance}.log", (at[1], f"process {instance}"))
    result = why("m1", "1", "--data", tmp_path)
    assert re.findall(r"process \d", result.stdout) == ["process 2"]


CRASHING = """
import sys, cardarena
class Crashing(cardarena.Bot):
    asked = 0
    def move(self, ask):
        self.asked += 1
        if self.asked == 3:
            print("I cannot go on", file=sys.stderr)
            sys.stderr.flush()
            import os; os._exit(7)
        return ask.moves[0]
cardarena.run(Crashing)
"""


@pytest.mark.slow
def test_a_launched_bot_that_dies_finds_its_last_words(tmp_path):
    (tmp_path / "crashing.py").write_text(CRASHING)
    data = tmp_path / "data"
    bots = [f"a bot={tmp_path / 'crashing.py'}", RANDOM_BOT]
    command = [str(each) for each in ("play", "abstrac", *bots, "--data", data)]
    played = CliRunner().invoke(main, command)
    (proposed,) = re.findall("^Ask why: arena match why (.*)$", played.stdout, re.MULTILINE)
    result = why(*shlex.split(proposed))
    for words in (
        "It forfeited at its decision 3",
        "I cannot go on",
        "(process: ended with exit code 7)",
        "What to do F-GONE-LEFT Read what it printed last",
    ):
        assert words in said(result)


# Matches without a replay.


def unpublished(folder, decisions, *, end=None, **changes):
    """A journal that holds a match up to some decisions; its end if there is one."""
    with Journal(folder / "elsewhere") as journal:
        played = play(journal, bots=[Bot(0), Bot(1, (PLAY, ILLEGAL))], **changes)
    opened, *decided, closed = played.log.bodies
    return [opened, *decided[:decisions], *([closed] if end is None else end)]


def journal_of(folder, bodies, *, ordered_again=False):
    journal = Journal(folder / "journal")
    ordered = journal_pb2.Ordered(match_id="m1", ordered_again=ordered_again)
    journal.append(journal_pb2.Record(ordered=ordered).SerializeToString())
    seated = (SeatedAt("bot 0", 0, 1), SeatedAt("bot 1", 0, 1))
    journal.match_again(bodies, seated)
    journal.flush()
    return journal


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_match_in_play_is_said_to_be_and_left_alone(tmp_path):
    with journal_of(tmp_path, unpublished(tmp_path, 6, end=())):
        before = files(tmp_path)
        result = why("m1", "1", "--data", tmp_path)
        assert files(tmp_path) == before
    assert result.exit_code == 0
    assert "Match m1 is in play." in result.stdout
    own = int(
        re.search(r"bot 1 \(seat 1\) has made (\d+) decisions, with 1 fault", said(result))[1]
    )
    assert 2 <= own < 6
    assert "decision 2: it made an illegal move (F-ILLEGAL-INDEX: index 999" in result.stdout


# fmt: off
CUT_SHORT = [
    (False, "continues when the arena is started again"),
    (True,  "continues when the command that plays it is run again"),
]
# fmt: on


@pytest.mark.parametrize(("ordered_again", "words"), CUT_SHORT, ids=["alone", "of a tournament"])
def test_a_match_that_was_cut_short_is_said_to_be(ordered_again, words, tmp_path):
    journal_of(tmp_path, unpublished(tmp_path, 6, end=()), ordered_again=ordered_again).close()
    result = why("m1", "bot 1", "--data", tmp_path)
    assert re.search(r"Match m1 is suspended since \d{4}-\d\d-\d\d", result.stdout)
    assert words in said(result)
    assert json.loads(why("m1", "1", "--data", tmp_path, "--json").stdout)["state"] == "suspended"


def test_a_torn_end_of_a_journal_hides_nothing_before_it(tmp_path):
    journal_of(tmp_path, unpublished(tmp_path, 6, end=())).close()
    (segment,) = (tmp_path / "journal").glob("*.journal")
    with segment.open("ab") as file:
        file.write(b"\x99\x00\x00\x00torn")
    assert "is suspended since" in why("m1", "1", "--data", tmp_path).stdout


def test_a_match_that_goes_on_in_a_later_journal_is_told_by_that(tmp_path):
    bodies = unpublished(tmp_path, 6, end=())
    journal_of(tmp_path, bodies).close()
    with journal_of(tmp_path, bodies):
        assert "is in play" in why("m1", "1", "--data", tmp_path).stdout


def test_a_match_that_is_played_again_is_told_by_the_last_time(tmp_path):
    """It had come further before it was aborted than it has now."""
    bodies = unpublished(tmp_path, 6, end=(), deal_set="cup-7")
    journal_of(tmp_path, bodies).close()
    with journal_of(tmp_path, bodies[:3]):
        assert "is in play" in why("m1", "1", "--data", tmp_path).stdout


def test_a_match_that_was_cut_short_while_it_was_written_again_has_lost_nothing(tmp_path):
    bodies = unpublished(tmp_path, 6, end=())
    journal_of(tmp_path, bodies).close()
    journal_of(tmp_path, bodies[:3]).close()
    told = json.loads(why("m1", "1", "--data", tmp_path, "--json").stdout)
    assert (told["state"], len(told["faults"])) == ("suspended", 1)


def test_matches_of_one_journal_are_told_apart(tmp_path):
    with Journal(tmp_path / "journal") as journal:
        logs = [
            play(journal, bots=[Bot(0), Bot(1, (deed,))], match_id=name, deal_set="cup-7").log
            for name, deed in (("m1", ILLEGAL), ("m11", PLAY))
        ]
        told = [
            json.loads(why(name, "1", "--data", tmp_path, "--json").stdout)
            for name in ("m1", "m11")
        ]
    assert [len(each["faults"]) for each in told] == [1, 0]
    for each, log in zip(told, logs, strict=True):
        records = [journal_pb2.Record.FromString(body).decided for body in log.bodies]
        assert each["decisions"] == sum(record.seat == 1 for record in records if record.decision)


def test_a_match_whose_deal_set_is_open_keeps_its_cards(tmp_path):
    bodies = unpublished(tmp_path, 999, deal_set="cup-7")
    with journal_of(tmp_path, bodies):
        result = why("m1", "1", "--data", tmp_path)
    assert "Match m1 has ended: bot 1 (seat 1) is placed" in said(result)
    assert "Its deal-set cup-7 is still open" in said(result)
    assert "take" not in result.stdout


def test_an_aborted_match_of_a_deal_set_is_played_again(tmp_path):
    outcome = Outcome("m1", Ending.ABORTED, (), (), (), (), 6, AbortCause.ERROR, "1f2e3d4c")
    closed = journal_pb2.Closed(
        ending=outcome.ending.value, cause=outcome.cause.value, incident=outcome.incident
    )
    end = (journal_pb2.Record(match=1, closed=closed).SerializeToString(),)
    journal_of(tmp_path, unpublished(tmp_path, 6, end=end, deal_set="cup-7")).close()
    result = why("m1", "1", "--data", tmp_path)
    assert "incident 1f2e3d4c" in said(result)
    assert "It is played again as part of the deal-set cup-7." in said(result)


def test_a_match_without_its_replay_is_not_lost(tmp_path):
    journal_of(tmp_path, unpublished(tmp_path, 999)).close()
    result = why("m1", "1", "--data", tmp_path)
    assert "Its replay was not written" in said(result)


def test_who_did_not_sit_there_is_told_who_did_before_the_end_as_well(tmp_path):
    with journal_of(tmp_path, unpublished(tmp_path, 6, end=())):
        result = why("m1", "nobody", "--data", tmp_path)
    assert result.exit_code == 1
    assert "there sat bot 0 (seat 0), bot 1 (seat 1)" in result.stderr


def test_the_python_that_runs_the_tests_has_the_command():
    result = CliRunner().invoke(main, ["match", "--help"])
    assert re.search(r"^  why ", result.stdout, re.MULTILINE), sys.executable
