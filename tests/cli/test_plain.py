"""Text of others never gives orders to a terminal or a log, wherever it is shown."""

import io
import json
import logging
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from arena.cli import main
from arena.cli.logs import formatter
from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import PlainErrors, program, say
from arena.errors import exits
from cardarena.v1 import journal_pb2
from tests.records.matches import bodies_of, retold
from tests.records.test_signing import signed_replay

# fmt: off
CALLED = [
    # argv[0]             on PATH  what hints print        why
    (".venv/bin/arena",   False,   ".venv/bin/arena",      "not on PATH: as it was called"),
    ("/a b/arena",        False,   "'/a b/arena'",         "ready to paste"),
    ("/usr/bin/arena",    True,    "arena",                "on PATH"),
    ("arena/__main__.py", False,   "arena",                "`python -m arena`"),
]
# fmt: on


@pytest.mark.parametrize(
    ("called", "on_path", "printed", "why"), CALLED, ids=[row[-1] for row in CALLED]
)
def test_hints_print_a_command_that_is_found(called, on_path, printed, why, monkeypatch, tmp_path):
    if on_path:
        (tmp_path / "arena").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.argv", [called])
    assert program() == printed


CLI = Path(__file__).parents[2] / "arena" / "cli"

# fmt: off
HOSTILE = [
    pytest.param("\x1b[2J",     id="clears the screen"),
    pytest.param("\x1b]0;x\a",  id="names the window"),
    pytest.param("\x9b31m",     id="colours by one byte of C1"),
    pytest.param("\r",          id="writes over the line"),
    pytest.param("\b\b",        id="writes over what stands before"),
    pytest.param("\x00",        id="ends a text in C"),
    pytest.param("\x7f",        id="rubs out"),
    pytest.param("\u202e",      id="turns the order of letters"),
    pytest.param("\u2066",      id="isolates a run of letters"),
    pytest.param("\u200b",      id="cannot be seen"),
    pytest.param("\u2028",      id="begins a line"),
]
# fmt: on


def assert_harmless(shown):
    """Nothing but text, lines, and the colours that are the command's own."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert all(char.isprintable() or char == "\n" for char in text), repr(shown)


def table(text):
    found = Table(text, title=text, caption=text)
    found.add_row(text)
    return found


DRAWN = {
    "a line": lambda text: Text(text, "bold red"),
    "a line with markup": lambda text: f"[bold]x[/bold] {text}",
    "a cell": table,
    "a title": lambda text: Panel(Text("x"), title=text),
    "a rule": lambda text: Rule(Text(text)),
}


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
@pytest.mark.parametrize("hostile", HOSTILE)
def test_what_is_drawn_is_harmless(hostile, draw):
    file = io.StringIO()
    console = PlainConsole(file=file, force_terminal=True, color_system="standard", width=60)
    console.print(draw(f"a{hostile}b"))
    assert hostile not in file.getvalue()
    assert_harmless(file.getvalue())


def test_colours_and_progress_are_the_commands_own():
    file = io.StringIO()
    console = PlainConsole(file=file, force_terminal=True, color_system="standard")
    console.print(Text("x", "red"))
    with console.status("in play") as status:
        status.update("at its end", spinner="line")
        status._live.refresh()
    assert "\x1b[31mx" in file.getvalue()
    assert "\x1b[2K" in file.getvalue(), "the line is drawn again"
    assert "\N{REPLACEMENT CHARACTER}" not in file.getvalue()


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_line_is_harmless(hostile, capsys):
    say(f"a{hostile}b\nc", err=True)
    assert_harmless(capsys.readouterr().err)


@pytest.mark.parametrize("kind", [click.ClickException, click.UsageError, click.BadParameter])
@pytest.mark.parametrize("hostile", HOSTILE)
def test_an_error_is_harmless(hostile, kind):
    @click.group(cls=PlainErrors)
    def group():
        pass

    @group.command()
    def fails():
        raise kind(f"the bot's last words: a{hostile}b\nc")

    done = CliRunner().invoke(group, ["fails"])
    assert done.exit_code
    assert "last words" in done.output
    assert_harmless(done.output)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_line_of_the_log_is_harmless(hostile):
    record = logging.LogRecord("arena.x", logging.WARNING, "", 0, f"it {hostile}", (), None)
    record.bot, record.reason = hostile, f"a{hostile}"
    line = formatter().format(record)
    assert json.loads(line)["bot"] == hostile
    assert line.isascii()
    assert line.isprintable()


def test_all_output_passes_there():
    assert isinstance(main, PlainErrors)
    for path in CLI.rglob("*.py"):
        text = path.read_text("utf-8")
        if path.name != "console.py":
            assert not re.search(r"(?<!Plain)\bConsole\(", text), f"{path}: use PlainConsole"
        assert "ensure_ascii" not in text, f"{path}: JSON is shown as ASCII"


EVERY = "\x1b[2J\x9b31m\r\u202e\u2066\u2028"


def texts(message):
    """Every text in a message, set or not, as how to set it; lists of texts have one more."""
    for field in message.DESCRIPTOR.fields:
        if field.type == field.TYPE_STRING:
            yield message, field
        elif field.type == field.TYPE_MESSAGE:
            held = getattr(message, field.name)
            if field.is_repeated:
                for each in held[:1]:
                    yield from texts(each)
            elif message.HasField(field.name):
                yield from texts(held)


def set_text(message, field):
    if field.is_repeated:
        getattr(message, field.name).append(EVERY)
    else:
        setattr(message, field.name, f"{getattr(message, field.name)}{EVERY}")


def test_every_text_of_every_record_is_shown_harmless(tmp_path):
    path = signed_replay(tmp_path)
    records = [journal_pb2.Record.FromString(body) for body in bodies_of(path)]
    seen = set()
    for at, record in enumerate(records):
        for number, (_, field) in enumerate(texts(record)):
            if field.full_name in seen:
                continue
            seen.add(field.full_name)

            def change(found, at=at, number=number):
                set_text(*list(texts(found[at]))[number])

            file = tmp_path / "changed.replay"
            file.write_bytes(retold(path, change))
            for command in (["replay", "show"], ["replay", "verify"], ["replay", "export"]):
                assert_harmless(CliRunner().invoke(main, [*command, str(file)]).output)
            assert_harmless(CliRunner().invoke(main, ["match", "why", str(file), "0"]).output)
    assert len(seen) > 10


def test_an_interrupted_command_exits_as_shells_do():
    @click.group(cls=PlainErrors)
    def group():
        pass

    @group.command()
    def waits():
        raise KeyboardInterrupt

    done = CliRunner().invoke(group, ["waits"])
    assert (done.exit_code, done.output) == (exits.INTERRUPTED, "")
