"""`arena keys`, and an arena that runs while keys are made and revoked."""

import base64
import json
import os
import re
import signal
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
import pytest
from click.testing import CliRunner

from arena.bots.tokens import key_id, new_token, token_sha256, well_formed
from arena.cli import main
from arena.sandbox.output import read_output
from arena.store import Key, Scope, open_store
from cardarena.v1 import lobby_pb2
from tests.cli.serving import ended, served
from tests.doubles.streams import Client, eventually, reason_of

ROOT = Path(__file__).parents[2]
BOT = str(ROOT / "sample_bots" / "random_bot.py")


@pytest.fixture
def arena(tmp_path):
    """The command with a folder of the test's own."""

    def invoke(*arguments):
        data = ["--data", str(tmp_path / "data")]
        return CliRunner().invoke(main, [*map(str, arguments), *data])

    return invoke


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


def listed(arena):
    return json.loads(arena("keys", "list", "--json").stdout)["keys"]


# Making.


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bot", "my-bot", "--owner", "ann"), "for the bot 'my-bot' of 'ann'"),
        (("organiser", "--owner", "ann"), "for the organiser 'ann'"),
    ],
    ids=["a bot's", "an organiser's"],
)
def test_the_token_alone_is_on_stdout(arena, arguments, said):
    made = arena("keys", "new", *arguments)
    assert made.exit_code == 0
    token = made.stdout.removesuffix("\n")
    assert well_formed(token)
    assert made.stderr == f"Key {key_id(token)} {said}. Its token is shown only now:\n"


@pytest.mark.parametrize("json_too", [(), ("--json",)], ids=["words", "JSON"])
def test_a_token_file_is_for_its_owner_alone_and_is_no_other(arena, tmp_path, json_too):
    path = tmp_path / "token"
    old_umask = os.umask(0)
    try:
        made = arena("keys", "new", "worker", "m1", "--to", str(path), *json_too)
    finally:
        os.umask(old_umask)
    token = path.read_text().removesuffix("\n")
    assert well_formed(token)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert token[14:] not in made.output
    again = arena("keys", "new", "worker", "m2", "--to", str(path))
    assert "exists: name another file" in again.output
    assert [key["owner"] for key in listed(arena)] == ["m1"], "no key is made whose token is lost"


def test_no_token_file_is_left_by_a_call_that_is_refused(arena, tmp_path):
    assert arena("keys", "new", "bot", "b", "--to", str(tmp_path / "token")).exit_code == 1
    assert not (tmp_path / "token").exists()


def test_a_token_is_never_shown_again(arena, data):
    token = arena("keys", "new", "bot", "my-bot", "--owner", "ann").stdout.strip()
    for arguments in (("list",), ("list", "--json"), ("revoke", key_id(token)), ("list",)):
        shown = arena("keys", *arguments).output
        assert token[14:] not in shown
    assert key_id(token) in shown


def test_the_key_as_json(arena):
    made = json.loads(arena("keys", "new", "bot", "b", "--owner", "ann", "--json").stdout)
    token, key = made["token"], made["key"]
    assert well_formed(token)
    assert key == listed(arena)[0]
    assert (key["key_id"], key["scope"], key["bot"]) == (key_id(token), "KEY_SCOPE_BOT", "b")
    assert (key["owner"], key["state"]) == ("ann", "KEY_STATE_VALID")
    assert key["expires_unix_ms"] == "0"


# fmt: off
LIFETIMES = [
    ("30d", timedelta(days=30)), ("2w", timedelta(weeks=2)), ("12h", timedelta(hours=12)),
    ("90m", timedelta(minutes=90)), ("99999w", timedelta(weeks=99_999)),
]
# fmt: on


@pytest.mark.parametrize(("text", "lifetime"), LIFETIMES, ids=[row[0] for row in LIFETIMES])
def test_a_key_expires(arena, text, lifetime):
    before = datetime.now(UTC).replace(microsecond=0)
    made = arena("keys", "new", "bot", "b", "--owner", "ann", "--expires", text, "--json")
    expires_ms = int(json.loads(made.stdout)["key"]["expires_unix_ms"])
    expires = datetime.fromtimestamp(expires_ms / 1000, UTC)
    assert before + lifetime <= expires <= datetime.now(UTC) + lifetime


@pytest.mark.parametrize("text", ["", "30", "d", "0d", "-1d", "1.5d", "30 d", "1y", "100000d"])
def test_a_time_that_is_none_is_refused(arena, text):
    made = arena("keys", "new", "bot", "b", "--owner", "ann", "--expires", text)
    assert made.exit_code == 2
    assert "30d are thirty days" in made.output


def test_a_known_bot_needs_no_owner_said_again(arena):
    arena("keys", "new", "bot", "my-bot", "--owner", "ann")
    assert "of 'ann'" in arena("keys", "new", "bot", "my-bot").stderr
    refused = arena("keys", "new", "bot", "my-bot", "--owner", "bob")
    assert refused.exit_code == 1
    assert refused.output == (
        "Error: the name is taken: 'my-bot' belongs to the owner 'ann' (R-NAME-TAKEN)\n"
    )


# Listing and revoking.


def test_the_list_says_what_became_of_each_key(arena, data):
    data.mkdir()
    now = datetime.now(UTC)
    with open_store(data / "arena.db") as store:
        for name, expires in (("late", now - timedelta(days=1)), ("soon", now + timedelta(days=9))):
            token = new_token()
            digest = token_sha256(token)
            store.keys().add(Key(key_id(token), digest, Scope.BOT, "ann", name, now, expires))
    gone = arena("keys", "new", "bot", "gone", "--owner", "ann").stdout
    arena("keys", "new", "organiser", "--owner", "bob")
    assert arena("keys", "revoke", key_id(gone)).exit_code == 0
    states = {key["bot"]: key["state"].removeprefix("KEY_STATE_") for key in listed(arena)}
    assert states == {"late": "EXPIRED", "soon": "VALID", "gone": "REVOKED", "": "VALID"}
    table = arena("keys", "list").output
    for line in (r"bot +late +ann +expired", r"bot +soon +ann +valid to", r"organiser +bob +valid"):
        assert re.search(line, table)


def test_no_keys_are_said_to_be_none(arena, data):
    data.mkdir()
    assert arena("keys", "list").output == "There are no keys.\n"
    assert listed(arena) == []


def test_several_keys_are_revoked_and_again_is_no_mistake(arena):
    ids = [key_id(arena("keys", "new", "bot", f"b{n}", "--owner", "ann").stdout) for n in (1, 2)]
    for _ in range(2):
        revoked = arena("keys", "revoke", *ids)
        assert revoked.exit_code == 0
        assert [line.split()[2] for line in revoked.stderr.splitlines()] == ids
    assert [key["state"] for key in listed(arena)] == ["KEY_STATE_REVOKED"] * 2


def test_a_token_on_the_command_line_is_not_said_back(arena):
    token = arena("keys", "new", "bot", "b", "--owner", "ann").stdout.strip()
    refused = arena("keys", "revoke", token)
    assert refused.exit_code == 2
    assert token[14:] not in refused.output


@pytest.mark.parametrize(
    "path", [(), ("new",), ("new", "bot"), ("new", "organiser"), ("list",), ("revoke",)]
)
def test_every_command_has_help(path):
    shown = CliRunner().invoke(main, ["keys", *path, "--help"])
    assert shown.exit_code == 0
    assert "arena keys" in shown.output


# A running arena.


def list_games(client, token):
    metadata = (("authorization", f"Bearer {token}"),)
    try:
        return len(client.lobby.ListGames(lobby_pb2.ListGamesRequest(), metadata=metadata).games)
    except grpc.RpcError as error:
        return reason_of(error)[1]


def forms_of(token):
    """The ways in which a token's secret could be written somewhere."""
    number = 0
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    for digit in token[6:49]:
        number = number * 62 + digits.index(digit)
    raw = number.to_bytes(32, "big")
    whole = base64.b64encode(token.encode()).rstrip(b"=")
    return {
        "its text": token[14:].encode(),
        "its text from the start": token[:24].encode(),
        "the hexadecimal of its text": token[14:].encode().hex().encode(),
        "its random bytes": raw,
        "their hexadecimal": raw.hex().encode(),
        "their base64": base64.b64encode(raw)[:40],
        "its base64": whole[4:64],
    }


@pytest.mark.slow
def test_an_arena_notices_keys_while_it_runs_and_nothing_it_writes_holds_a_token(arena, data):
    early = arena("keys", "new", "bot", "early", "--owner", "ann").stdout.strip()
    seen = []
    with served(data, "--no-guests") as (address, process):
        late = arena("keys", "new", "bot", "late", "--owner", "ann").stdout.strip()
        organiser = arena("keys", "new", "organiser", "--owner", "ann").stdout.strip()
        unknown = new_token()
        slip = early[:30] + ("a" if early[30] != "a" else "b") + early[31:]
        with Client(address) as client:
            stream, other = client.stream(early), client.stream(late)
            stream.expect("welcome")
            other.expect("welcome")
            assert [list_games(client, token) for token in (early, late, organiser)] == [19] * 3
            assert list_games(client, unknown) == "UNKNOWN_TOKEN"
            assert list_games(client, slip) == "BAD_TOKEN"
            assert reason_of(client.stream(organiser).error())[1] == "WRONG_SCOPE"
            # Words that are not understood, after and before the token was said.
            other.send(b"\xff" + late.encode())
            client.stream().send(b"\xff" + late.encode())
            assert arena("keys", "revoke", key_id(early)).exit_code == 0
            assert reason_of(stream.error())[1] == "KEYS_CHANGED"
            assert reason_of(client.stream(early).error())[1] == "REVOKED_TOKEN"
            assert list_games(client, late) == 19
            seen += [data_of(path) for path in sorted(data.rglob("*"))]
        # What was used is noted as keys are looked for, once the file is not being written.
        eventually(lambda: used(arena)["early"])
        command_line = Path(f"/proc/{process.pid}/cmdline").read_bytes()
        process.send_signal(signal.SIGTERM)
        printed = "".join(ended(process))
        assert process.returncode == 0, printed
    seen += [data_of(path) for path in sorted(data.rglob("*"))]
    seen += [("the command line", command_line), ("the terminal", printed.encode())]
    dump = b"".join(text for _, text in seen)
    assert key_id(early).encode() in dump, "the files of this arena are looked at"
    assert token_sha256(early).hex().encode() in dump
    assert any(name == "arena.log" for name, _ in seen)
    for token in (early, late, organiser, unknown, slip):
        for form, needle in forms_of(token).items():
            assert [name for name, text in seen if needle in text] == [], form


def used(arena):
    return {key["bot"]: key["last_used"] is not None for key in listed(arena)}


def data_of(path):
    return path.name, path.read_bytes() if path.is_file() else b""


@pytest.mark.slow
@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_a_launched_bot_is_told_its_token_where_no_process_list_shows_it(
    arena, tmp_path, data, sandbox
):
    bot = tmp_path / "tells.py"
    bot.write_text(
        "import os, pathlib\n"
        "for pid in ('self', os.getppid()):\n"  # in a sandbox, that is what built it
        "    try:\n"
        "        print(pathlib.Path(f'/proc/{pid}/cmdline').read_bytes())\n"
        "    except PermissionError:\n"  # S1 hides even a bot's own entry
        "        print('hidden')\n"
        "print(os.environ['CARDARENA_TOKEN'])\n"
        "raise SystemExit('that is all')\n"
    )
    outcome = arena("play", "abstrac", f"a={bot}", BOT, "--sandbox", sandbox)
    assert "that is all" in outcome.output
    (log,) = data.rglob("a-0.log")
    said = [line.text for line in read_output(log) if not line.by_arena]
    *command_lines, token, _ = said
    assert well_formed(token)
    hides = sandbox == "auto" and command_lines == ["hidden", "hidden"]
    assert hides or str(bot) in command_lines[0]
    assert not any(token[14:] in line for line in command_lines)
