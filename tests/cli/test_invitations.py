"""`arena owners invite --csv`: invitations for all names of a file."""

import contextlib
import json
from types import SimpleNamespace

import grpc
import pytest
from click.testing import CliRunner

from arena.cli import arena_client, main, owners
from arena.cli.arena_client import NoAnswer

REFUSED = {
    "taken": NoAnswer("the name is taken", grpc.StatusCode.ALREADY_EXISTS, "NAME_TAKEN"),
    "b@d": NoAnswer("a name has no @", grpc.StatusCode.INVALID_ARGUMENT, "BAD_NAME"),
    "stranger": NoAnswer("no token", grpc.StatusCode.UNAUTHENTICATED, "NO_TOKEN"),
}


class Service:
    """`OwnerService`, which has some names already."""

    def __init__(self):
        self.invited = []

    def Invite(self, request, **_):
        if request.owner in REFUSED:
            raise REFUSED[request.owner]
        self.invited.append(request.owner)
        return SimpleNamespace(code=f"CODE-{len(self.invited)}")


@pytest.fixture
def invite(monkeypatch, tmp_path):
    """Invite the names of a file; what was printed, and who was invited."""
    service = Service()

    def run(text, *more):
        (tmp_path / "class.csv").write_bytes(text.encode("utf-8"))
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
    ("Name,mail\nann,a@x\n",                   "ann,CODE-1,a@x\n",                                   ["ann"],               0,    "a heading and a column"),
    ('\ufeffann\r\n\r\n bob ,"b, c"\r\n',    'ann,CODE-1\nbob,CODE-2,"b, c"\n',                  ["ann", "bob"],        0,    "a spreadsheet's file"),
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


def test_who_is_not_invited_is_said_apart_from_the_codes(invite):
    done, _ = invite("ann\ntaken\n")
    assert done.stderr.splitlines() == [
        "taken is not invited: the name is taken",
        "1 of 2 are invited. They register with: arena owners register localhost:7654 --code CODE",
    ]


def test_a_program_reads_the_codes(invite):
    done, _ = invite("ann\nbob\n", "--json")
    assert json.loads(done.stdout)["invited"][1] == {"owner": "bob", "code": "CODE-2"}


@pytest.mark.parametrize("words", [(), ("ann", "--csv", "-")], ids=["neither", "both"])
def test_one_owner_or_a_file(words):
    done = CliRunner().invoke(main, ["owners", "invite", *words, "--token", "t"], input="bob\n")
    assert done.exit_code == 2
    assert "give the name of an owner, or a file of names" in done.stderr
