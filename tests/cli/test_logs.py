"""The log file: fields in place of texts, bounds, and what it keeps to itself."""

import ast
import json
import logging
import re
from pathlib import Path

import pytest
from grpc._cython import cygrpc

from arena.bots.tokens import key_id, new_token
from arena.cli import logs
from arena.cli.logs import BURST_LINES, LEFT_OUT, LINES_PER_S, Throttle, formatter, log_file
from arena.durable_files import Unwritten

ROOT = Path(__file__).resolve().parents[2]


def record(message, *args, level=logging.INFO, name="arena.x", at_s=100.0, **extra):
    made = {
        "name": name,
        "levelno": level,
        "levelname": logging.getLevelName(level),
        "created": at_s,
    }
    return logging.makeLogRecord({"msg": message, "args": args} | made | extra)


def line(made):
    return json.loads(formatter().format(made))


def test_what_a_line_is_about_stands_in_fields_beside_the_message():
    of_a_library = {"_ray_timestamp_ns": 7}
    fields = {"match": "m1", "seat": 2, "forfeited": False, **of_a_library}
    found = line(record("a bot is at fault", at_s=100.25, **fields))
    assert found == {
        "timestamp": "1970-01-01T00:01:40.250000Z",
        "level": "info",
        "logger": "arena.x",
        "event": "a bot is at fault",
        "match": "m1",
        "seat": 2,
        "forfeited": False,
    }


# fmt: off
CALLS = [
    ('_log.info("a match begins", extra={"match": name})',   [],  "a field"),
    ('_log.info("100 % of it")',                             [],  "a percent sign alone"),
    ("_log.error(self._broken)",                             [],  "a sentence that was made before"),
    ('_log.info("match %s begins", name)',                   [1], "an argument"),
    ('_log.log(20, "match %s begins", name)',                [1], "an argument after the level"),
    ('x = 1\nlogging.getLogger("y").exception("%s", name)',  [2], "another logger"),
    ('_log.info("match %s begins" % name)',                  [1], "put in by hand"),
    ('_log.info(f"match {name} begins")',                    [1], "put in by an f-string"),
    ('_log.info("match {} begins".format(name))',            [1], "put in by format"),
    ('_log.info("match " + name)',                           [1], "added"),
    ('logger.info("match %s begins", name)',                 [1], "a logger of another name"),
    ("math.log(2, 3)",                                       [],  "a logarithm"),
    ("self._log.fixed(context, commitments)",                [],  "a log of another kind"),
]
# fmt: on
METHODS = {"debug", "info", "warning", "error", "critical", "exception", "log"}


def composed(source):
    """Lines of calls that log a message with something put in."""
    for call in ast.walk(ast.parse(source)):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        if call.func.attr not in METHODS:
            continue
        logger = ast.unparse(call.func.value)
        if not re.search(r"\b(_?log(ger)?|getLogger\(.*\))$", logger):
            continue
        message, *arguments = call.args[call.func.attr == "log" :]
        constant = isinstance(message, ast.Constant | ast.Name | ast.Attribute | ast.IfExp)
        if arguments or not constant:
            yield call.lineno


@pytest.mark.parametrize(("source", "lines", "why"), CALLS, ids=[row[2] for row in CALLS])
def test_a_message_with_something_put_in_is_found(source, lines, why):
    assert list(composed(source)) == lines


def test_messages_are_always_the_same_and_what_they_are_about_is_a_field():
    """A match, bot, seat, incident or deal-set can so be searched for by its field."""
    found = {
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "arena").rglob("*.py"))
        for number in composed(path.read_text("utf-8"))
    }
    assert found == set()


def failed(error, name="arena.x"):
    try:
        raise error
    except BaseException as caught:
        made = record("an error in a call", level=logging.ERROR, name=name, incident="i1")
        made.exc_info = (type(caught), caught, caught.__traceback__)
        return formatter().format(made)


def nested():
    try:
        raise KeyError("7h")
    except KeyError as error:
        try:
            raise ValueError("7h is not there") from error
        except ValueError as later:
            return ExceptionGroup("7h", [later, RuntimeError("7h")])


def test_an_error_is_told_by_its_type_and_place_and_not_by_its_text():
    text = failed(nested())
    found = json.loads(text)
    assert found["error"] == "ExceptionGroup"
    types = [each for each in found["trace"] if each.startswith("builtins.")]
    assert types == [
        "builtins.ExceptionGroup",
        "builtins.KeyError",
        "builtins.ValueError",
        "builtins.RuntimeError",
    ]
    assert any(each.startswith(f"  {__file__}:") for each in found["trace"])
    assert found["incident"] == "i1"
    assert "7h" not in text


def test_what_the_system_says_of_a_file_is_told():
    assert "builtins.OSError: No space left" in failed(OSError(28, "No space left on device"))


def test_an_error_that_led_to_itself_ends():
    error = ValueError("x")
    error.__context__ = RuntimeError("y")
    error.__context__.__context__ = error
    assert "ValueError" in failed(error)


def test_of_what_libraries_say_the_first_line_is_kept():
    said = "Task exception was never retrieved\nfuture: <Task exception=ValueError('7h')>"
    assert line(record(said, name="asyncio"))["event"] == "Task exception was never retrieved"
    assert line(record("one\ntwo", name="arena.x"))["event"] == "one\ntwo"


def test_of_a_token_its_public_part_is_kept():
    token = new_token()
    text = formatter().format(record("got %s", token, peer=f"ipv4 {token}!"))
    assert token not in text
    assert text.count(f"arena_{key_id(token)}...") == 2


def test_what_is_no_text_is_told_by_its_type():
    found = line(record("x", state=object(), path=Path("/a/b"), cards=frozenset({"7h"})))
    assert (found["state"], found["path"], found["cards"]) == ("<object>", "/a/b", "<frozenset>")


# Bounds.


def let_through(throttle, made):
    return [bool(throttle.filter(each)) for each in made]


def test_lines_of_one_kind_are_bounded_and_the_next_tells_how_many_were_left_out():
    throttle = Throttle()
    burst = [record("refused %s", at) for at in range(BURST_LINES + 5)]
    assert sum(let_through(throttle, burst)) == BURST_LINES
    assert let_through(throttle, [record("another kind")]) == [True]
    soon = [record("refused %s", "x", at_s=100.0 + 1.5 / LINES_PER_S) for _ in range(2)]
    assert let_through(throttle, soon) == [True, False]
    assert line(soon[0])[LEFT_OUT] == 5
    later = record("refused %s", "x", at_s=10_000.0)
    assert throttle.filter(later)
    assert line(later)[LEFT_OUT] == 1


def test_a_clock_that_is_set_back_stops_no_lines_for_good():
    throttle = Throttle()
    assert throttle.filter(record("x", at_s=100.0))
    assert throttle.filter(record("x", at_s=50.0))
    assert sum(let_through(throttle, [record("x", at_s=50.0)] * BURST_LINES)) < BURST_LINES
    assert throttle.filter(record("x", at_s=51.0))


def test_errors_are_never_left_out():
    made = [record("incident %s", at, level=logging.ERROR) for at in range(BURST_LINES * 3)]
    assert all(let_through(Throttle(), made))


# fmt: off
LEVELS = [
    # logger                  error                       level      why
    ("grpc._cython.cygrpc",   cygrpc.ExecuteBatchError(), "warning", "a client that was gone before the last words of its call"),
    ("grpc._cython.cygrpc",   ValueError(),               "error",   "anything else that gRPC meets"),
    ("arena.app.arena_process",      cygrpc.ExecuteBatchError(), "error",   "what the arena itself says is an error"),
]
# fmt: on


@pytest.mark.parametrize(
    ("logger", "error", "level", "why"), LEVELS, ids=[row[-1] for row in LEVELS]
)
def test_an_error_is_one_of_the_arena(tmp_path, logger, error, level, why):
    handler = log_file(tmp_path)
    made = logging.LogRecord(logger, logging.ERROR, "", 0, "x", (), (type(error), error, None))
    try:
        handler.handle(made)
    finally:
        handler.close()
    assert json.loads((tmp_path / "arena.log").read_text("utf-8"))["level"] == level, why


def test_kinds_are_bounded(monkeypatch):
    monkeypatch.setattr(logs, "MAX_KINDS", 3)
    throttle = Throttle()
    for at in range(10):
        throttle.filter(record(f"kind {at}"))
        assert len(throttle._kinds) <= 3


def test_a_full_log_is_kept_beside_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(logs, "MAX_LOG_BYTES", 400)
    handler = log_file(tmp_path)
    try:
        for at in range(40):
            handler.handle(record("line %d", at))
    finally:
        handler.close()
    names = sorted(each.name for each in tmp_path.iterdir())
    assert names == ["arena.log", "arena.log.1", "arena.log.2", "arena.log.3"]
    assert all(each.stat().st_size <= 400 for each in tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(Unwritten, match="cannot write in"):
        log_file(tmp_path / "file" / "data")
