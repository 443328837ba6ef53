"""The services of owners and bots over real sockets: journeys, and every bad input with its reason."""

import contextlib
import os
from datetime import UTC, datetime

import grpc
import pytest

from arena.api import bots as service
from arena.bots.logs import logs_folder
from arena.bots.tokens import Tokens, key_id, new_token, token_sha256
from arena.results.qualification_report import Check, QualificationReport
from arena.results.versions import VersionEvent
from arena.store import BotKind, Key, Scope, open_store
from arena.store.versions import QUOTAS
from cardarena.v1 import (
    bots_pb2,
    bots_pb2_grpc,
    competitions_pb2_grpc,
    owners_pb2,
    owners_pb2_grpc,
)
from tests.bots.test_archive import BOT, EVIL, zipped
from tests.doubles.streams import PATIENCE_S, Client, reason_of
from tests.live.running import running

NOW = datetime.now(UTC).replace(microsecond=0)


class Desk:
    """An arena with an organiser, and what one calls of it."""

    def __init__(self, channel, folder, registry, organiser, address):
        self.address = address
        self.owners = owners_pb2_grpc.OwnerServiceStub(channel)
        self.bots = bots_pb2_grpc.BotServiceStub(channel)
        self.competitions = competitions_pb2_grpc.CompetitionServiceStub(channel)
        self.folder, self.registry, self.organiser = folder, registry, organiser

    def call(self, method, request, token):
        metadata = (("authorization", f"Bearer {token}"),)
        return method(request, metadata=metadata, timeout=PATIENCE_S)

    def owner(self, name):
        invited = self.call(
            self.owners.Invite, owners_pb2.InviteRequest(owner=name), self.organiser
        )
        return self.owners.Register(owners_pb2.RegisterRequest(code=invited.code)).token

    def submit(self, token, bot, archive, pieces=4096):
        data = archive if isinstance(archive, bytes) else archive.read_bytes()
        said = [bots_pb2.SubmitVersionRequest(bot=bot)] if bot is not None else []
        said += [
            bots_pb2.SubmitVersionRequest(piece=data[at : at + pieces])
            for at in range(0, len(data), pieces)
        ]
        return self.call(self.bots.SubmitVersion, iter(said), token).version

    def create(self, token, bot, kind=bots_pb2.BOT_KIND_UPLOADED):
        self.call(self.bots.CreateBot, bots_pb2.CreateBotRequest(bot=bot, kind=kind), token)


@contextlib.contextmanager
def open_desk(folder, sandbox="S2"):
    with open_store(folder / "arena.db") as store:
        organiser = new_token()
        key = Key(key_id(organiser), token_sha256(organiser), Scope.ORGANISER, "org", "", NOW)
        store.keys().add(key)
        tokens = Tokens(guests=True, keys=store.keys().all())
        with (
            running(folder, tokens, store.keys(), sandbox=sandbox) as arena,
            Client(arena.address) as client,
        ):
            yield Desk(client.channel, folder, store.registry(), organiser, arena.address)


@pytest.fixture(scope="module")
def intake(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(service, "ATTEMPTS", 1_000)  # the rows below share an owner
        with open_desk(tmp_path_factory.mktemp("arena")) as opened:
            yield opened


@pytest.fixture(scope="module")
def ann(intake):
    """Ann's token, who has the bot `uploaded` with one version, and the bot `remote`."""
    token = intake.owner("ann")
    intake.create(token, "uploaded")
    intake.create(token, "remote", bots_pb2.BOT_KIND_REMOTE)
    intake.submit(token, "uploaded", zipped(intake.folder / "bot.zip"))
    logs_folder(intake.folder, intake.registry.version("uploaded", 1)).mkdir(parents=True)
    return token


def refusal(act):
    """What a call is refused with: code, reason and words."""
    with pytest.raises(grpc.RpcError) as raised:
        act()
    code, reason = reason_of(raised.value)
    return code.name, reason, raised.value.details()


def bot_zip(intake, name, **files):
    return zipped(intake.folder / f"{name}.zip", BOT | files)


# Journeys.


def test_an_owner_registers_submits_and_activates(intake):
    token = intake.owner("amy")
    intake.create(token, "amys")
    version = intake.submit(token, "amys", bot_zip(intake, "amys", extra=os.urandom(200_000)))
    assert (version.bot, version.version, version.state) == ("amys", 1, 1)
    assert (intake.folder / "blobs" / version.sha256).exists()
    assert not [*(intake.folder / "uploads").iterdir()]
    report = QualificationReport(
        version.sha256, "q1", 41.0, (Check("soko", passed=False, seats=4, ask=3),)
    )
    intake.registry.keep_report("amys", 1, report.as_json(), now=NOW)
    for event in (VersionEvent.CHECKED, VersionEvent.QUALIFIED):
        intake.registry.record("amys", 1, event, who="arena", now=NOW)
    asked = bots_pb2.GetReportRequest(bot="amys")
    answer = intake.call(intake.bots.GetReport, asked, token)
    (check,) = answer.report.checks
    assert (check.name, check.seats, check.ask, check.passed) == ("soko", 4, 3, False)
    active = bots_pb2.SetVersionStateRequest(
        bot="amys", version=1, state=bots_pb2.VERSION_STATE_ACTIVE
    )
    changed = intake.call(intake.bots.SetVersionState, active, token).version
    assert changed.state == bots_pb2.VERSION_STATE_ACTIVE
    # An organiser may look as well.
    assert intake.call(intake.bots.GetReport, asked, intake.organiser).version == changed


def test_a_remote_bot_gets_a_token_with_which_it_is_the_bot(intake, ann):
    made = intake.call(intake.bots.CreateToken, bots_pb2.CreateTokenRequest(bot="remote"), ann)
    with open_store(intake.folder / "arena.db") as store:
        (key,) = [each for each in store.keys().all() if each.id == made.key_id]
    assert (key.scope, key.owner, key.bot) == (Scope.BOT, "ann", "remote")


def test_logs_are_sent_to_their_owner(intake, ann):
    folder = logs_folder(intake.folder, intake.registry.version("uploaded", 1))
    (folder / "soko.log").write_bytes(b"hello\n" * 30_000)
    (folder / "link.log").symlink_to("/etc/passwd")
    listed = intake.call(intake.bots.ListLogs, bots_pb2.ListLogsRequest(bot="uploaded"), ann)
    assert [(each.log, each.size_bytes) for each in listed.logs] == [("soko.log", 180_000)]
    asked = bots_pb2.GetLogRequest(bot="uploaded", log="soko.log")
    pieces = [*intake.call(intake.bots.GetLog, asked, ann)]
    assert b"".join(each.piece for each in pieces) == b"hello\n" * 30_000
    assert len(pieces) > 1


def test_versions_come_in_pages(intake):
    token = intake.owner("may")
    intake.create(token, "mays", bots_pb2.BOT_KIND_REMOTE)
    for number in range(5):
        intake.registry.dialled_in("mays", str(number), now=NOW)
    found, page_token = [], ""
    while not found or page_token:
        asked = bots_pb2.ListVersionsRequest(bot="mays", page_size=2, page_token=page_token)
        page = intake.call(intake.bots.ListVersions, asked, token)
        found += [each.declared for each in page.versions]
        page_token = page.next_page_token
    assert found == ["4", "3", "2", "1", "0"]


def test_who_is_banned_is_told_why_and_its_token_ends(intake):
    token = intake.owner("eve")
    intake.create(token, "eves")
    asked = owners_pb2.BanRequest(owner="eve", reason="two accounts")
    banned = intake.call(intake.owners.Ban, asked, intake.organiser).owner
    assert (banned.owner, banned.banned) == ("eve", "two accounts")
    # The arena looks at its keys once a second; until then the registry says no.
    code, reason, _ = refusal(lambda: intake.create(token, "more"))
    assert (code, reason) in {
        ("PERMISSION_DENIED", "BANNED"),
        ("UNAUTHENTICATED", "REVOKED_TOKEN"),
    }


# Bad input.


def set_state(state, version=1, bot="uploaded"):
    asked = bots_pb2.SetVersionStateRequest(bot=bot, version=version, state=state)
    return lambda intake, token: intake.call(intake.bots.SetVersionState, asked, token)


def of_bot(method, request):
    return lambda intake, token: [*intake.call(getattr(intake.bots, method), request, token)]


def submitted(bot, **files):
    return lambda intake, token: intake.submit(token, bot, bot_zip(intake, "other", **files))


def manifest(text):
    return submitted("uploaded", **{"bot.toml": text.encode()})


LOG = bots_pb2.GetLogRequest
ROWS = [
    (submitted("nobodys"), "NOT_FOUND", "UNKNOWN_BOT", "no such bot: 'nobodys'"),
    (submitted("bobs"), "NOT_FOUND", "UNKNOWN_BOT", "no such bot: 'bobs'"),
    (submitted("remote"), "FAILED_PRECONDITION", "NOT_UPLOADED", "connects by itself"),
    (submitted("uploaded"), "ALREADY_EXISTS", "SUBMITTED_BEFORE", "uploaded@1, which is submitted"),
    (submitted(None), "INVALID_ARGUMENT", "NO_BOT", "begin with the bot's name"),
    (manifest("games = 1"), "INVALID_ARGUMENT", "BAD_MANIFEST", "command: is missing"),
    (manifest("x = 1\nmemory_mb = 0"), "INVALID_ARGUMENT", "BAD_MANIFEST", "no key 'x'"),
    (
        lambda intake, token: intake.submit(token, "uploaded", b"no zip"),
        "INVALID_ARGUMENT",
        "BAD_ARCHIVE",
        "this is no zip",
    ),
    (
        lambda intake, token: intake.submit(token, "uploaded", bytes(9 << 20), 60_000),
        "INVALID_ARGUMENT",
        "BAD_ARCHIVE",
        "more than 8 MB",
    ),
    (set_state(5), "FAILED_PRECONDITION", "NOT_NOW", "it is submitted and cannot become active"),
    (set_state(3), "INVALID_ARGUMENT", "BAD_STATE", "active, inactive or retired"),
    (set_state(5, version=9), "NOT_FOUND", "UNKNOWN_VERSION", "no such version: uploaded@9"),
    (set_state(5, bot="bobs"), "NOT_FOUND", "UNKNOWN_BOT", "'bobs' (R-UNKNOWN-BOT)"),
    (
        lambda intake, token: intake.create(token, "uploaded"),
        "ALREADY_EXISTS",
        "NAME_TAKEN",
        "has a bot 'uploaded'",
    ),
    (
        lambda intake, token: intake.create(token, "BOBS"),
        "ALREADY_EXISTS",
        "NAME_TAKEN",
        "belongs to the owner 'bob'",
    ),
    (
        lambda intake, token: intake.create(token, "b\u043et"),
        "INVALID_ARGUMENT",
        "BAD_NAME",
        "a name has 1 to 32 letters",
    ),
    (
        lambda intake, token: intake.create(token, "new", 9),
        "INVALID_ARGUMENT",
        "BAD_KIND",
        "neither uploaded nor remote",
    ),
    (
        lambda intake, token: intake.call(
            intake.bots.CreateToken, bots_pb2.CreateTokenRequest(bot="uploaded"), token
        ),
        "FAILED_PRECONDITION",
        "NOT_REMOTE",
        "the arena starts it",
    ),
    (of_bot("GetLog", LOG(bot="uploaded", log="no.log")), "NOT_FOUND", "UNKNOWN_LOG", "no.log"),
    (
        of_bot("GetLog", LOG(bot="uploaded", log="../../arena-key")),
        "NOT_FOUND",
        "UNKNOWN_LOG",
        "arena-key",
    ),
    (of_bot("GetLog", LOG(bot="uploaded", log="link.log")), "NOT_FOUND", "UNKNOWN_LOG", "link"),
    (of_bot("GetLog", LOG(bot="bobs", log="a.log")), "NOT_FOUND", "UNKNOWN_BOT", "bobs"),
    (
        lambda intake, token: intake.call(
            intake.bots.ListVersions,
            bots_pb2.ListVersionsRequest(bot="uploaded", page_token="x"),
            token,
        ),
        "INVALID_ARGUMENT",
        "BAD_PAGE_TOKEN",
        "page token",
    ),
]


@pytest.fixture(scope="module")
def bob(intake):
    token = intake.owner("bob")
    intake.create(token, "bobs")
    return token


@pytest.mark.parametrize(
    ("act", "code", "reason", "sentence"),
    ROWS,
    ids=[f"{reason} {sentence}" for _, _, reason, sentence in ROWS],
)
def test_bad_input_is_refused_in_words(intake, ann, bob, monkeypatch, act, code, reason, sentence):
    monkeypatch.setattr(service, "MAX_ARCHIVE_BYTES", 8 << 20)
    found = refusal(lambda: act(intake, ann))
    assert found[:2] == (code, reason)
    assert sentence in found[2]
    assert str(intake.folder) not in found[2]
    assert not [*(intake.folder / "uploads").iterdir()]


@pytest.mark.parametrize(("made", "sentence", "_why"), EVIL, ids=[row[-1] for row in EVIL])
def test_an_evil_zip_is_refused_over_the_network_and_leaves_nothing(
    intake, ann, tmp_path, made, sentence, _why
):
    before = {*intake.folder.rglob("*")}
    path = made(tmp_path / "evil.zip")
    assert refusal(lambda: intake.submit(ann, "uploaded", path, 60_000))[:2] == (
        "INVALID_ARGUMENT",
        "BAD_ARCHIVE",
    )
    assert {*intake.folder.rglob("*")} == before


BAD_CODES = ["", "AAAA-BBBB-CCCC", "x" * 5_000, "' OR 1=1"]


@pytest.mark.parametrize("code", BAD_CODES, ids=["none", "wrong", "long", "an injection"])
def test_a_wrong_code_makes_no_owner(intake, code):
    request = owners_pb2.RegisterRequest(code=code)
    assert refusal(lambda: intake.owners.Register(request))[:2] == ("PERMISSION_DENIED", "BAD_CODE")


def test_a_code_is_good_once_however_it_is_typed(intake):
    asked = owners_pb2.InviteRequest(owner="liz")
    code = intake.call(intake.owners.Invite, asked, intake.organiser).code
    typed = owners_pb2.RegisterRequest(code=f" {code.lower().replace('-', '')} ")
    assert intake.owners.Register(typed).owner == "liz"
    assert refusal(lambda: intake.owners.Register(typed))[1] == "BAD_CODE"


def test_over_the_quota_one_is_told_when_to_come_back_and_nothing_is_kept(intake):
    token = intake.owner("joe")
    intake.create(token, "joes")
    for number in range(QUOTAS[VersionEvent.SUBMITTED]):
        intake.submit(token, "joes", bot_zip(intake, "joes", n=str(number).encode()))
    before = {*(intake.folder / "blobs").iterdir()}
    with pytest.raises(grpc.RpcError) as raised:
        intake.submit(token, "joes", bot_zip(intake, "joes", n=b"one too many"))
    assert reason_of(raised.value) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "OVER_QUOTA")
    trailers = str(dict(raised.value.trailing_metadata())["grpc-status-details-bin"])
    assert "RetryInfo" in trailers
    assert {*(intake.folder / "blobs").iterdir()} == before


def test_what_is_sent_again_and_again_is_not_looked_at_any_more(tmp_path, monkeypatch):
    monkeypatch.setattr(service, "ATTEMPTS", 2)
    with open_desk(tmp_path) as intake:
        token = intake.owner("ann")
        intake.create(token, "uploaded")
        for _ in range(2):
            assert refusal(lambda: intake.submit(token, "uploaded", b"x"))[1] == "BAD_ARCHIVE"
        assert refusal(lambda: intake.submit(token, "uploaded", b"x"))[1] == "OVER_QUOTA"


@pytest.mark.parametrize("sandbox", ["", "S0", "S1"])
def test_where_there_is_no_sandbox_nothing_is_taken_in(tmp_path, sandbox):
    with open_desk(tmp_path, sandbox) as intake:
        token = intake.owner("ann")
        intake.create(token, "uploaded")
        act = lambda: intake.submit(token, "uploaded", zipped(tmp_path / "bot.zip"))  # noqa: E731
        assert refusal(act)[:2] == ("FAILED_PRECONDITION", "NO_SANDBOX")
        assert not (tmp_path / "blobs").exists()


def test_an_upload_that_stops_is_given_up_and_leaves_nothing(intake, ann, monkeypatch):
    monkeypatch.setattr("arena.api.admission.calls.REQUEST_S", 0.2)

    def stalling():
        yield bots_pb2.SubmitVersionRequest(bot="uploaded")
        yield bots_pb2.SubmitVersionRequest(piece=b"PK")
        import threading

        threading.Event().wait(3)

    found = refusal(lambda: intake.call(intake.bots.SubmitVersion, stalling(), ann))
    assert found[:2] == ("DEADLINE_EXCEEDED", "TOO_SLOW")
    assert not [*(intake.folder / "uploads").iterdir()]


def test_uploads_of_a_process_that_was_killed_are_cleared_away(tmp_path):
    (tmp_path / "uploads").mkdir()
    (tmp_path / "uploads" / "left").write_bytes(b"half")
    with open_desk(tmp_path):
        assert not (tmp_path / "uploads").exists()


def test_bots_of_the_registry_are_of_two_kinds():
    assert {*service._KINDS.values()} == {BotKind.UPLOADED, BotKind.REMOTE}
