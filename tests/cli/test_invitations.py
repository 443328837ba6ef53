"""`arena owners invite --csv`: invitations for all names of a file."""

import contextlib
import json
from datetime import UTC, datetime
from types import SimpleNamespace

import grpc
import pytest
from click.testing import CliRunner

from arena.cli import arena_client, main, owners
from arena.cli.arena_client import NoAnswer
from cardarena.v1 import owners_pb2

REFUSED = {
    "taken": NoAnswer("the name is taken", grpc.StatusCode.ALREADY_EXISTS, "NAME_TAKEN"),
    "b@d": NoAnswer("a name has no @", grpc.StatusCode.INVALID_ARGUMENT, "BAD_NAME"),
    "stranger": NoAnswer("no token", grpc.StatusCode.UNAUTHENTICATED, "NO_TOKEN"),
}


class Service:
    """`OwnerService`, which has some names already."""

    def __init__(self):
        self.invited, self.calls = [], 0
        self.away = ()
        """The calls that are not answered, from 1."""

    def Invite(self, request, **_):
        self.calls += 1
        if self.calls in self.away:
            raise NoAnswer("no arena answers", grpc.StatusCode.UNAVAILABLE)
        if request.owner in REFUSED:
            raise REFUSED[request.owner]
        self.invited.append(request.owner)
        return SimpleNamespace(code=f"CODE-{len(self.invited)}")


@pytest.fixture
def invite(monkeypatch, tmp_path):
    """Invite the names of a file; what was printed, and who was invited."""
    service = Service()

    def run(text, *more, encoding="utf-8", away=()):
        service.away = away
        (tmp_path / "class.csv").write_bytes(text.encode(encoding))
        monkeypatch.setattr(arena_client, "channel_of", lambda _: contextlib.nullcontext())
        monkeypatch.setattr(owners, "OwnerServiceStub", lambda _: service)
        words = ["owners", "invite", "--csv", str(tmp_path / "class.csv"), "--token", "t", *more]
        done = CliRunner().invoke(main, words)
        return done, service.invited

    return run


# fmt: off
FILES = [
    # file                                     printed                                               invited                exit  why
    ("ann\nbob\n",                             "ann,CODE-1\nbob,CODE-2\n",                           ["ann", "bob"],        0,    "names"),
    ("Name,mail\nann,a@x\n",                   "Name,code,mail\nann,CODE-1,a@x\n",                   ["ann"],               0,    "a heading and a column"),
    ('\ufeffann\r\n\r\n bob ,"b, c"\r\n',    'ann,CODE-1\nbob,CODE-2,"b, c"\n',                  ["ann", "bob"],        0,    "a spreadsheet's file"),
    ("name;mail\r\nann;a@x\r\n",               "name;code;mail\nann;CODE-1;a@x\n",                   ["ann"],               0,    "semicolons, as Excel writes in many languages"),
    ("ann\ta@x\n",                             "ann\tCODE-1\ta@x\n",                                 ["ann"],               0,    "tabs"),
    ("ann,=1+1,@x\n",                          "ann,CODE-1,'=1+1,'@x\n",                             ["ann"],               0,    "cells that a spreadsheet would compute"),
    ("ann\ntaken\nb@d\nbob\n",                 "ann,CODE-1\nbob,CODE-2\n",                           ["ann", "bob"],        1,    "names that are refused"),
    ("ann\nbob\nANN\n",                        "",                                                   [],                    1,    "a name twice"),
    ("name\n",                                 "",                                                   [],                    1,    "no names"),
    ("ann\nstranger\nbob\n",                   "ann,CODE-1\n",                                       ["ann"],               1,    "a token that is refused"),
]
# fmt: on


@pytest.mark.parametrize(
    ("text", "printed", "invited", "code", "why"), FILES, ids=[row[-1] for row in FILES]
)
def test_a_class_is_invited(invite, text, printed, invited, code, why):
    done, found = invite(text)
    assert (done.stdout, found, done.exit_code) == (printed, invited, code), done.output


def test_a_file_of_another_encoding_is_told_with_the_cure(invite):
    done, found = invite("Jörg\n", encoding="latin-1")
    assert (found, done.exit_code) == ([], 1)
    assert "this is not text in UTF-8, at line 1; save it as UTF-8" in done.stderr


# fmt: off
AWAY = [
    # calls without answer  invited          said   why
    ((1,),                  [],              [],    "without an arena, as at a wrong address, at once"),
    ((2,),                  ["ann", "bob"],  ["no arena answers; trying again for up to 1 s"], "it restarts between two names"),
]
# fmt: on


@pytest.mark.parametrize(("away", "invited", "said", "why"), AWAY, ids=[row[-1] for row in AWAY])
def test_an_arena_that_does_not_answer(invite, monkeypatch, away, invited, said, why):
    monkeypatch.setattr(arena_client, "PATIENCE_S", 1)
    monkeypatch.setattr(arena_client, "POLL_S", 0)
    done, found = invite("ann\nbob\n", away=away)
    assert found == invited, why
    assert [line for line in done.stderr.splitlines() if "again" in line] == said
    assert done.exit_code == (not invited)


def test_who_is_not_invited_is_said_apart_from_the_codes(invite):
    done, _ = invite("ann\ntaken\n")
    assert done.stderr.splitlines() == [
        "line 2: taken is not invited: the name is taken",
        "1 of 2 are invited. They register with: arena owners register localhost:7654 --code CODE",
    ]


def test_a_program_reads_the_codes(invite):
    done, _ = invite("ann\nbob\n", "--json")
    assert json.loads(done.stdout)["invited"][1] == {"owner": "bob", "code": "CODE-2"}


def test_open_invitations_are_listed_with_their_lifetime(monkeypatch):
    hour_ms = 3_600_000
    now_ms = int(datetime(2026, 11, 29, 12, tzinfo=UTC).timestamp() * 1000)
    listed = owners_pb2.ListInvitationsResponse(
        invitations=[
            owners_pb2.InvitationInfo(
                owner=name,
                invited_by="olga",
                created_unix_ms=now_ms - 48 * hour_ms,
                expires_unix_ms=now_ms + hours * hour_ms,
            )
            for name, hours in (("ann", 240), ("bob", -24))
        ]
    )
    stub = SimpleNamespace(ListInvitations=lambda *_, **__: listed)
    monkeypatch.setattr(arena_client, "channel_of", lambda _: contextlib.nullcontext())
    monkeypatch.setattr(owners, "OwnerServiceStub", lambda _: stub)
    monkeypatch.setattr(owners.time, "time", lambda: now_ms / 1000)
    done = CliRunner().invoke(main, ["owners", "invitations", "--token", "t"])
    heads, *rows = done.output.splitlines()
    assert heads.split() == ["owner", "invited", "by", "made", "expires"]
    assert [row.split() for row in rows if row.strip()][:2] == [
        ["ann", "olga", "2026-11-27", "2026-12-09"],
        ["bob", "olga", "2026-11-27", "expired", "2026-11-28"],
    ]


def test_the_lifetime_of_a_code_is_asked_for(invite):
    done, _ = invite("ann\n", "--expires", "366d")
    assert "an invitation is valid for 365d at most" in done.stderr


@pytest.mark.parametrize("words", [(), ("ann", "--csv", "-")], ids=["neither", "both"])
def test_one_owner_or_a_file(words):
    done = CliRunner().invoke(main, ["owners", "invite", *words, "--token", "t"], input="bob\n")
    assert done.exit_code == 2
    assert "give the name of an owner, or a file of names" in done.stderr
