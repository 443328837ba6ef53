"""Every mistake a person can make gets one clear sentence and a non-zero exit."""

import socket
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.cli import main

ROOT = Path(__file__).parents[2]
BOT = str(ROOT / "sample_bots" / "random_bot.py")


def arena(*arguments):
    return CliRunner().invoke(main, [str(each) for each in arguments])


# fmt: off
MISTAKES = [
    # arguments                                              what is said
    (("play", "nosuch", BOT, BOT),                           "there is no game 'nosuch'; the games are: abstrac"),
    (("play", "klaberjas", BOT, BOT),                        "there is no game 'klaberjas'; did you mean klaberjass?"),
    (("play", "abstrac", BOT),                               "abstrac is played by 2 seats, not 1"),
    (("play", "klaberjass", BOT, BOT, "-o", "hands=3"),      "hands=3 is not a multiple of the 2 seats"),
    (("play", "abstrac", BOT, BOT, "-o", "hands=x"),         "hands is a whole number, not 'x'"),
    (("play", "abstrac", BOT, BOT, "-o", "hands=999"),       "hands is from 0 to 50, not 999"),
    (("play", "abstrac", BOT, BOT, "-o", "speed=9"),         "there is no option 'speed'; the options are: hands, target"),
    (("play", "abstrac", BOT, BOT, "-o", "hands"),           "an option is NAME=VALUE, not 'hands'"),
    (("play", "abstrac", "./nosuch", BOT),                   "the program './nosuch' of the bot './nosuch' does not exist"),
    (("play", "abstrac", "nosuch.py", BOT),                  "the file 'nosuch.py' of the bot 'nosuch.py' does not exist"),
    (("play", "abstrac", "'", BOT),                          "is not well quoted"),
    (("play", "abstrac", f"a={BOT}", f"a={BOT}"),            "two bots are named 'a'"),
    (("play", "abstrac", f"a={BOT}", f"A={BOT}"),            "two bots are named 'a'; name one, as in NAME=COMMAND"),
    (("play", "abstrac", BOT, BOT, "--move", "0"),           "a move needs at least 1 ms"),
    (("play", "abstrac", BOT, BOT, "--bank", "-1"),          "bank_ms is not negative"),
    (("play", "pineapple", BOT, BOT, "-o", "stacks=a,b"),    "stacks is whole numbers with commas between them, such as 3,2, not 'a,b'"),
    (("play", "pineapple", BOT, BOT, "-o", "stacks=9,9,9"),  "stacks=9,9,9 is not one number for each of 2 seats"),
    (("play", "pineapple", BOT, BOT, "-o", "ante=200"),      "ante=200 leaves nothing of a stack of 100 in start_stack"),
    (("play", "chinese_poker", BOT, BOT, "-o", "unit_values=0"), "unit_values is from 1 to 1000, not 0"),
    (("games", "show", "nosuch"),                            "there is no game 'nosuch'"),
    (("tournament", "abstrac", BOT),                         "2 seats need at least 2 bots; there are 1"),
    (("tournament", "democracy", BOT, BOT, "--seats", "6"),  "6 seats need at least 6 bots; there are 2"),
    (("tournament", "abstrac", BOT, BOT, "--deal-sets", "0"), "0 is not in the range"),
    (("serve", "--host", "0.0.0.0"),                         "give --tls-cert and --tls-key, or allow it with --insecure"),
    (("serve", "--host", "0.0.0.0", "--insecure", "--open-hands"), "open hands are for this machine only: leave out --open-hands"),
    (("serve", "--host", "0.0.0.0", "--guests"),             "guests are let in on this machine only"),
    (("serve", "--tls-cert", BOT),                           "TLS needs both --tls-cert and --tls-key"),
    (("serve", "--tls-client-ca", BOT),                      "--tls-client-ca needs --tls-cert and --tls-key"),
    (("serve", "--tls-cert", BOT, "--tls-key", "nosuch"),    "cannot read the key nosuch: No such file"),
    (("serve", "--tls-cert", BOT, "--tls-key", BOT),         "holds no certificate in PEM"),
    (("serve", "--host", f"unix:{BOT}"),                     "there is a file that is no socket"),
    (("keys", "new", "bot", "my/bot", "--owner", "ann"),     "a name has 1 to 32 letters"),
    (("keys", "new", "bot", "my-bot"),                       "'my-bot' is a new bot: name its owner"),
    (("keys", "new", "organiser", "--owner", "a", "--expires", "1y"), "30d are thirty days"),
    (("keys", "revoke", "Xy3kPq9A"),                         "there is no such key: 'Xy3kPq9A'"),
    (("keys", "revoke", "arena_Xy3kPq9A"),                   "never give a token on a command line"),
    (("replay", "show", BOT),                                "is not a replay"),
]
# fmt: on


@pytest.mark.parametrize(("arguments", "said"), MISTAKES, ids=[row[1] for row in MISTAKES])
def test_a_mistake_is_told_in_a_sentence(arguments, said, tmp_path):
    data = [] if arguments[0] in ("games", "replay") else ["--data", tmp_path]
    outcome = arena(*arguments, *data)
    assert outcome.exit_code != 0
    assert said in outcome.output
    assert "Traceback" not in outcome.output


def test_a_bot_that_ends_before_hello_is_quoted(tmp_path):
    bot = tmp_path / "broken.py"
    bot.write_text("raise SystemExit('I cannot find my model')")
    outcome = arena("play", "abstrac", bot, BOT, "--data", tmp_path / "data")
    assert outcome.exit_code == 1
    assert "the bot 'broken' ended with exit code 1 before it said hello" in outcome.output
    assert "I cannot find my model" in outcome.output


@pytest.mark.parametrize("command", ["serve", "web"])
def test_a_port_in_use_is_said(command, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        outcome = arena(command, "--port", port, "--data", tmp_path)
    assert outcome.exit_code == 1
    said = f"cannot listen on 127.0.0.1:{port}: the port is in use; choose another one"
    assert said in outcome.output


def test_a_folder_that_cannot_be_written_is_said():
    outcome = arena("play", "abstrac", BOT, BOT, "--data", "/proc/nosuch")
    assert outcome.exit_code == 1
    assert "cannot write in /proc/nosuch" in outcome.output


def test_a_damaged_database_is_said(tmp_path):
    (tmp_path / "arena.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)
    outcome = arena("tournament", "abstrac", BOT, f"b={BOT}", "--data", tmp_path)
    assert outcome.exit_code == 1
    assert str(tmp_path / "arena.db") in outcome.output
    assert "Traceback" not in outcome.output


@pytest.mark.slow
def test_another_tournament_in_the_folder_is_said(tmp_path):
    arguments = ("tournament", "abstrac", BOT, f"b={BOT}", "--data", tmp_path, "--deal-sets", 1)
    assert arena(*arguments, "--seed", "one").exit_code == 0
    outcome = arena(*arguments, "--seed", "two")
    assert outcome.exit_code == 1
    said = " ".join(outcome.output.split())
    assert "has another plan: 'abstrac' has seed one, not two: give the same settings" in said
    assert "seed" in outcome.output


@pytest.mark.slow
def test_a_tournament_that_is_done_is_only_shown(tmp_path):
    arguments = ("tournament", "abstrac", BOT, f"b={BOT}", "--data", tmp_path, "--deal-sets", 2)
    first, second = arena(*arguments), arena(*arguments)
    assert (first.exit_code, second.exit_code) == (0, 0)
    with sqlite3.connect(tmp_path / "arena.db") as database:
        assert database.execute("select count(*) from matches").fetchone() == (4,)
    assert len(list((tmp_path / "replays").glob("*.replay"))) == 4
