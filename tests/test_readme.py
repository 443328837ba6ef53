"""The README's commands work as they are printed, from top to bottom, in a new folder."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import click
import pytest

from arena.cli import main
from arena.games.catalogue import GAMES
from tests.doubles.certificates import Authority

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
PATIENCE_S = 120
TRIED_ELSEWHERE = {
    "scripts/setup": "tests/test_install.py",
    "scripts/demo": "scripts/bare-tree runs it",
    "scripts/test": "it is what runs this",
    "pip install ./clients/python '.[server,web]'": "tests/test_install.py",
    "pip install --find-links dist/1.0.0-rc1 'cardarena-engine[server,web]'": "tests/test_release.py",
    "uvx --find-links dist/1.0.0-rc1 --from 'cardarena-engine[server,web]' arena games": "tried by hand on 2026-11-25",
}
COUNTING = [
    "README.md",
    "arena/web/templates/api.html",
    "docs/environments.md",
    "docs/research.md",
    "docs/sdk-authors.md",
    "docs/sdks.md",
    "llms.txt",
]
"""Where the number of games stands in words."""
STAYS = {"arena serve": "The arena listens on", "my_bot.py": "welcome", "random_bot.py": "welcome"}
"""What goes on until it is stopped, and the words by which it has begun."""


def commands():
    """The lines of shell in the README, those within sentences too, in order."""
    text = re.sub(r"```python\n.*?```", "", README, flags=re.DOTALL)
    for line in text.splitlines():
        if line.startswith("    "):
            yield line.strip().partition("  #")[0].strip()
        else:
            yield from re.findall(r"`(\.venv/bin/arena [^`]*)`", line)


def named_commands():
    """The words after `arena` wherever the README names one of its commands as code."""
    return re.findall(r"(?:^    |`)(?:\.venv/bin/)?arena (\w[^`\n]*)", README, re.MULTILINE)


def test_what_its_commands_need_is_made_by_its_first_one():
    assert next(commands()) == "scripts/setup"


@pytest.mark.parametrize("words", named_commands())
def test_every_command_that_it_names_exists(words):
    context, command = click.Context(main, info_name="arena"), main
    for word in words.split():
        if not isinstance(command, click.Group) or word.startswith("-"):
            break
        command = command.get_command(context, word)
        assert command is not None, word
    assert not isinstance(command, click.Group) or command.default


@pytest.mark.parametrize("name", COUNTING)
def test_the_number_of_games_is_right(name):
    tens = ("fif", "six", "seven", "eigh", "nine")
    ones = ("", "-one", "-two", "-three", "-four", "-five", "-six", "-seven", "-eight", "-nine")
    words = [f"{one}teen" for one in tens] + [f"twenty{one}" for one in ones]
    written = set(
        re.findall(rf"\b({'|'.join(words)}) games", (ROOT / name).read_text("utf-8").lower())
    )
    assert written == {words[len(GAMES) - 15]}


def test_it_names_commands():
    assert len(named_commands()) >= 13


class Shell:
    """A folder in which the README's commands are typed."""

    def __init__(self, folder):
        self.folder = folder
        self.tokens = []
        self.running = []
        bin_folder = folder / ".venv" / "bin"
        bin_folder.mkdir(parents=True)
        for name, what in (("python", ""), ("arena", " -m arena")):
            program = bin_folder / name
            program.write_text(f'#!/bin/sh\nexec {sys.executable}{what} "$@"\n')
            program.chmod(0o755)
        (folder / "sample_bots").symlink_to(ROOT / "sample_bots")
        (bot,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
        (folder / "my_bot.py").write_text(bot)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        certificates = folder / "made"
        certificates.mkdir()
        ca = Authority.make(certificates, "ca")
        certificate, key = ca.sign("arena", "IP:127.0.0.1")
        (folder / "arena.crt").write_bytes(certificate.read_bytes() + ca.file.read_bytes())
        (folder / "arena.key").write_bytes(key.read_bytes())
        self.environment = {
            **os.environ,
            "ARENA_PORT": str(self.port),
            "CARDARENA_ADDRESS": f"127.0.0.1:{self.port}",
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "clients/python")]),
        }

    def type(self, command):
        """Run a command to its end, or until it has begun, if it is one that stays."""
        began = next((words for name, words in STAYS.items() if name in command), None)
        if re.search(r"arena (play|tournament|match)", command):
            began = None
        line = command.replace("HOST:7654", f"127.0.0.1:{self.port}")
        if "arena_…" in line:
            token = self.tokens["my_bot.py" not in line]
            line = line.replace("arena_…", token)
        if began is None:
            self._to_its_end(line)
        else:
            self._stays(line, began)

    def _to_its_end(self, line):
        if " serve" not in line and any(p in line for p in ("tournament", "verify", "keys new")):
            self.stop()  # as who reads on has done
        done = subprocess.run(
            line, shell=True, cwd=self.folder, env=self.environment, capture_output=True,
            text=True, check=False, timeout=PATIENCE_S,
        )  # fmt: skip
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr, f"{line}\n{done.stderr}"
        if "keys new" in line:
            self.tokens.append(done.stdout.strip())

    def _stays(self, line, began):
        process = subprocess.Popen(
            f"exec {line}" if "=" not in line.split()[0] else f"export {line.split()[0]}; exec "
            + line.partition(" ")[2],
            shell=True, cwd=self.folder, env=self.environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self.running.append(process)
        timer = threading.Timer(PATIENCE_S, process.kill)
        timer.start()
        said = []
        try:
            for text in process.stdout:
                said.append(text)
                if began in text:
                    return
        finally:
            timer.cancel()
        pytest.fail(f"{line} ended, or did not begin:\n{''.join(said)}")

    def stop(self, number=signal.SIGINT):
        """Ctrl-C, for all that goes on."""
        for process in self.running:
            process.send_signal(number)
        for process in self.running:
            rest, _ = process.communicate(timeout=PATIENCE_S)
            assert "Traceback" not in rest, rest
        self.running.clear()


@pytest.mark.slow
def test_every_command_works_as_it_is_printed(tmp_path):
    typed = [each for each in commands() if each not in TRIED_ELSEWHERE]
    assert len(typed) >= 13
    with ExitStack() as stack:
        shell = Shell(tmp_path)
        stack.callback(lambda: shell.stop(signal.SIGKILL))
        for command in typed:
            shell.type(command)
        shell.stop()


def test_what_is_tried_elsewhere_is_in_the_readme():
    assert set(TRIED_ELSEWHERE) <= set(commands())
