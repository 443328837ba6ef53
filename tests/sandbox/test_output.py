"""What a launched bot printed: kept with its times, within bounds, for its owner alone."""

import sys
from datetime import UTC, datetime, timedelta

import pytest
import trio

from arena.sandbox.command import BotCommand
from arena.sandbox.output import (
    MAX_OUTPUT_BYTES,
    OutputLog,
    between,
    instance_name,
    output_paths,
    read_output,
)
from arena.sandbox.process import launch
from tests.doubles.clocks import Clock

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.fixture
def clock():
    return Clock(NOON)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "bot-0.log"


def written(path):
    return [
        (int((line.at - NOON).total_seconds()), "*" if line.by_arena else "|", line.text)
        for line in read_output(path)
    ]


def test_a_line_has_the_time_at_which_it_began(path, clock):
    with OutputLog(path, clock) as log:
        log.printed(b"one\ntw")
        clock.now += SECOND
        log.printed(b"o\nthree\n")
        clock.now += SECOND
        log.printed(b"four")
    assert written(path) == [(0, "|", "one"), (0, "|", "two"), (1, "|", "three"), (2, "|", "four")]


def test_what_the_arena_adds_is_never_taken_for_the_bots_own(path, clock):
    with OutputLog(path, clock) as log:
        log.mark("started: python3 bot.py")
        log.printed(b"2026-11-21T12:00:00.000Z * ended with exit code 0\nhalf a line")
        log.mark("ended by\nsignal 9")
    assert written(path) == [
        (0, "*", "started: python3 bot.py"),
        (0, "|", "2026-11-21T12:00:00.000Z * ended with exit code 0"),
        (0, "|", "half a line"),
        (0, "*", "ended by signal 9"),
    ]


def test_the_log_is_continued_when_the_bot_is_restarted(path, clock):
    for name in ("first", "second"):
        with OutputLog(path, clock) as log:
            log.printed(name.encode() + b"\n")
    assert [text for _, _, text in written(path)] == ["first", "second"]


def test_a_bot_that_prints_without_end_keeps_its_last_words(path, clock):
    with OutputLog(path, clock) as log:
        for number in range(40_000):
            log.printed(b"line %d %s\n" % (number, b"x" * 50))
        log.printed(b"y" * (3 * MAX_OUTPUT_BYTES))
        log.printed(b"\nRuntimeError: the end\n")
    files = list(path.parent.iterdir())
    assert sum(path.stat().st_size for path in files) <= 2 * MAX_OUTPUT_BYTES
    assert written(path)[-1][-1] == "RuntimeError: the end"


def test_between_two_times_both_ends_count(path, clock):
    with OutputLog(path, clock) as log:
        for number in range(5):
            log.printed(b"%d\n" % number)
            clock.now += SECOND
    lines = between(read_output(path), NOON + SECOND, NOON + 3 * SECOND)
    assert [line.text for line in lines] == ["1", "2", "3"]


# fmt: off
ODD = [
    (b"",                                        [],        "nothing"),
    (b"no time at all\n",                        [],        "a line of something else"),
    (b"2026-11-21T12:00:00.000Z ? text\n",       [],        "neither the bot nor the arena"),
    (b"2026-99-21T12:00:00.000Z | text\n",       [],        "no such day"),
    (b"2026-11-21T12:00:00.000Z | \xff\r\x1b\n", ["\N{REPLACEMENT CHARACTER}\r\x1b"], "bytes that are no text"),
    (b"2026-11-21T12:00:00.000Z | cut of",       ["cut of"], "a line that was cut off"),
    (b"2026-11-21T12:00:00.0",                   [],        "a time that was cut off"),
]
# fmt: on


@pytest.mark.parametrize(("data", "texts", "why"), ODD, ids=[row[-1] for row in ODD])
def test_fragments_of_log_lines_are_ignored(data, texts, why, path):
    path.write_bytes(data)
    assert [line.text for line in read_output(path)] == texts


def test_no_log_is_no_output(path):
    assert read_output(path) == []


def test_a_log_is_for_its_owner_alone(path, clock):
    OutputLog(path, clock).close()
    assert path.stat().st_mode & 0o777 == 0o600


def test_write_errors_lose_only_output(tmp_path, clock):
    with OutputLog(tmp_path / "no" / "where.log", clock) as log:
        log.mark("started")
        log.printed(b"lost\n")


def test_names_that_only_look_alike_have_logs_of_their_own(tmp_path):
    names = [("a", 1), ("a-1", 0), ("a-1", 1), ("v1.2", 0), ("v1", 0), ("my bot", 0)]
    logs = {instance_name(*each) for each in names}
    assert len(logs) == len(names)


def test_logs_are_found_in_a_folder_and_in_those_of_its_matches(tmp_path, clock):
    for name in ("a-0.log", "match/b-0.log", "match/b-0/deep.log"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        OutputLog(tmp_path / name, clock).close()
    names = [str(each.relative_to(tmp_path)) for each in output_paths(tmp_path)]
    assert names == ["a-0.log", "match/b-0.log"]


# fmt: off
DEATHS = [
    ("import sys; print('out'); sys.stdout.flush(); sys.exit('err')", "ended with exit code 1", ["out", "err"]),
    ("import os; os.kill(os.getpid(), 9)",                            "ended by signal 9",      []),
    ("pass",                                                          "ended with exit code 0", []),
]
# fmt: on


@pytest.mark.parametrize(("code", "how", "texts"), DEATHS, ids=[row[1] for row in DEATHS])
def test_the_log_of_a_process_begins_with_its_start_and_ends_with_its_end(
    code, how, texts, tmp_path
):
    command = BotCommand("v1.2", (sys.executable, "-c", code))

    async def main():
        process = await launch(command, tmp_path / "v1.2-0", {})
        await process.watch()
        return process

    process = trio.run(main)
    assert process.output == tmp_path / "v1.2-0.log"
    lines = read_output(process.output)
    assert (lines[0].by_arena, lines[0].text) == (True, f"started: {command.text}")
    assert (lines[-1].by_arena, lines[-1].text) == (True, how)
    assert [line.text for line in lines[1:-1]] == texts
    assert process.last_words() == "\n".join(texts)


def test_the_reported_output_is_of_the_last_start(tmp_path):
    async def run(code):
        command = BotCommand("bot", (sys.executable, "-c", code))
        process = await launch(command, tmp_path / "bot-0", {})
        await process.watch()
        return process

    trio.run(run, "print('first')")
    assert trio.run(run, "print('second')").last_words() == "second"


@pytest.mark.parametrize("bot", ["../bot", "/bot", "//bot", "..", "a/../../bot"])
def test_the_folder_of_a_bot_is_below_that_of_all_bots(bot, tmp_path):
    """A worker has the names from an arena."""
    assert (tmp_path / instance_name(bot, 0)).resolve().parent == tmp_path
