"""Where an arena listens, and that nobody reads along."""

import os
import socket
import ssl
import stat
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import grpc
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

import cardarena
from arena.bots.bot_ids import BotId
from arena.bots.tokens import Tokens, key_id, new_token, token_sha256
from arena.live.listen import CannotServe, is_local, owner_only_files
from arena.live.tls import Certificate, TlsFiles
from arena.store import Key, Scope
from arena.testing.orders import match_request
from cardarena._dial import Dial
from cardarena._redial import StreamEnd
from cardarena.v1 import lobby_pb2, lobby_pb2_grpc
from tests.doubles.certificates import Authority, key_in_pem
from tests.doubles.streams import PATIENCE_S, Client
from tests.live.running import running


@dataclass(frozen=True)
class Papers:
    ca: Authority
    certificate: Path
    key: Path
    bots_certificate: Path
    bots_key: Path
    workers: tuple
    """Certificate and key for another host."""
    stranger: Authority
    """Another authority, with a certificate for a bot."""


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    ca = Authority.make(tmp_path_factory.mktemp("ca"), "ca")
    stranger = Authority.make(tmp_path_factory.mktemp("stranger"), "stranger")
    stranger.sign("bot")
    certificate, key = ca.sign("arena", "IP:127.0.0.1", "DNS:localhost")
    workers = ca.sign("elsewhere", "DNS:arena.example")
    return Papers(ca, certificate, key, *ca.sign("bot"), workers, stranger)


def refusal(folder, **settings):
    with pytest.raises(CannotServe) as raised, running(folder, Tokens(), **settings):
        pass
    return str(raised.value)


# fmt: off
HOSTS = [
    ("127.0.0.1", True, "IPv4 loopback"),   ("127.8.9.1", True, "all of 127/8"),
    ("::1", True, "IPv6 loopback"),         ("[::1]", True, "in brackets"),
    ("localhost", True, "its name"),        ("unix:arena.sock", True, "a socket file"),
    ("0.0.0.0", False, "every address"),    ("::", False, "every address of IPv6"),
    ("192.0.2.1", False, "an address"),     ("arena.example", False, "a name"),
    ("", False, "nothing"),                 ("localhost.example", False, "a name that begins like ours"),
    ("127.0.0.1.example", False, "a name that begins like loopback"),
]
# fmt: on


@pytest.mark.parametrize(("host", "local", "why"), HOSTS, ids=[row[-1] for row in HOSTS])
def test_what_stays_on_this_machine(host, local, why):
    assert is_local(host) is local


# Plain text.


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_plain_text_does_not_leave_this_machine(tmp_path, host):
    said = refusal(tmp_path, host=host)
    assert said == (
        f"other machines can reach {host}, and anyone on the network can read tokens and cards in "
        "plain text: give --tls-cert and --tls-key, or allow it with --insecure"
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0"])
def test_plain_text_needs_this_machine_or_the_option(tmp_path, host):
    token = new_token()
    tokens = Tokens()
    tokens.add(token, BotId("alpha"))
    with running(tmp_path, tokens, host=host, insecure=host == "0.0.0.0") as arena:
        name, _, port = arena.address.rpartition(":")
        assert name == host
        with Client(f"127.0.0.1:{port}") as client:
            client.stream(token).expect("welcome")


def test_an_ipv6_address_is_written_as_bots_dial_it(tmp_path):
    with running(tmp_path, Tokens(guests=True), host="::1") as arena:
        assert arena.address.startswith("[::1]:")
        with Client(arena.address) as client:
            client.stream("guest:alpha").expect("welcome")


def test_a_socket_file_is_open_to_its_user_alone(tmp_path):
    path = tmp_path / "arena.sock"
    with running(tmp_path / "data", Tokens(guests=True), host=f"unix:{path}") as arena:
        assert arena.address == f"unix:{path}"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with Client(arena.address) as client:
            client.stream("guest:alpha").expect("welcome")
        said = refusal(tmp_path / "other", host=f"unix:{path}")
        assert said == f"cannot listen on {path}: another server does"
        with Client(arena.address) as client:
            client.stream("guest:alpha").expect("welcome")


def test_a_socket_file_that_a_killed_server_left_is_used_again(tmp_path):
    path = tmp_path / "arena.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    host = f"unix:{path}"
    with (
        running(tmp_path, Tokens(guests=True), host=host) as arena,
        Client(arena.address) as client,
    ):
        client.stream("guest:alpha").expect("welcome")


def test_a_relative_socket_file_has_an_absolute_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with running(tmp_path / "data", Tokens(guests=True), host="unix:arena.sock") as arena:
        assert arena.address == f"unix:{tmp_path}/arena.sock"
        with Client(arena.address) as client:
            client.stream("guest:alpha").expect("welcome")


def test_a_socket_file_that_cannot_be(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    assert "there is a file that is no socket" in refusal(tmp_path / "a", host=f"unix:{file}")
    assert file.read_text() == "mine"
    nowhere = tmp_path / "nowhere" / "arena.sock"
    assert "its folder does not exist" in refusal(tmp_path / "b", host=f"unix:{nowhere}")
    long = tmp_path / ("x" * 120)
    assert "the path is too long" in refusal(tmp_path / "c", host=f"unix:{long}")


# The files of TLS.


ENCRYPTED = "holds no private key in PEM, or an encrypted one, which cannot be used"
# fmt: off
SPOILT = [
    # certificate   key           clients'   what is said
    ("nowhere",     "arena.key",  None,      "cannot read the certificate {nowhere}: No such file or directory"),
    ("arena.crt",   "nowhere",    None,      "cannot read the key {nowhere}: No such file or directory"),
    ("folder",      "arena.key",  None,      "cannot read the certificate {folder}: Is a directory"),
    ("garbage",     "arena.key",  None,      "{garbage} holds no certificate in PEM"),
    ("arena.crt",   "garbage",    None,      "{garbage} " + ENCRYPTED),
    ("arena.crt",   "locked.key", None,      "{locked.key} " + ENCRYPTED),
    ("arena.crt",   "bot.key",    None,      "the key in {bot.key} is not that of the certificate in {arena.crt}"),
    ("arena.crt",   "arena.key",  "nowhere", "cannot read the client CA {nowhere}: No such file or directory"),
    ("arena.crt",   "arena.key",  "garbage", "{garbage} holds no certificates in PEM"),
]
# fmt: on


@pytest.mark.parametrize(("certificate", "key", "client_ca", "said"), SPOILT)
def test_a_wrong_file_is_reported_at_the_start(papers, tmp_path, certificate, key, client_ca, said):
    folder = papers.ca.folder
    (folder / "folder").mkdir(exist_ok=True)
    (folder / "garbage").write_text("-----BEGIN NOTHING-----\n")
    private = serialization.load_pem_private_key(papers.key.read_bytes(), None)
    (folder / "locked.key").write_bytes(key_in_pem(private, b"x"))
    tls = TlsFiles(folder / certificate, folder / key, client_ca and folder / client_ca)
    for name in ("nowhere", "folder", "garbage", "locked.key", "bot.key", "arena.crt"):
        said = said.replace("{" + name + "}", str(folder / name))
    assert refusal(tmp_path, tls=tls) == said


# TLS on the wire.


def outcome(address, **how):
    """What the lobby says to a client that dials so; the reason if it says nothing."""
    with Dial(address, **{name: value and str(value) for name, value in how.items()}).channel(
        address, [("grpc.use_local_subchannel_pool", 1)]
    ) as channel:
        lobby = lobby_pb2_grpc.LobbyServiceStub(channel)
        try:
            return len(lobby.ListGames(lobby_pb2.ListGamesRequest(), timeout=PATIENCE_S).games)
        except grpc.RpcError as error:
            failed = error
    assert failed.code() is grpc.StatusCode.UNAVAILABLE, failed.details()
    return failed.details()


def mistake(details):
    """What the SDK and the commands say of a connection that failed."""
    code = grpc.StatusCode.UNAVAILABLE
    return StreamEnd(code, details, welcomed=False, lived_s=0.0).tls_mistake


def test_clients_verify_the_certificate_of_the_arena(papers, tmp_path):
    tls = TlsFiles(papers.certificate, papers.key)
    with running(tmp_path, Tokens(guests=True), tls=tls) as arena:
        assert outcome(f"https://{arena.address}", ca_file=papers.ca.file) == 19
        assert outcome(arena.address, ca_file=papers.ca.file) == 19
        assert "CERTIFICATE_VERIFY_FAILED" in outcome(f"https://{arena.address}")
        stranger = papers.stranger.file
        assert "CERTIFICATE_VERIFY_FAILED" in outcome(arena.address, ca_file=stranger)
        assert mistake(outcome(arena.address)).startswith("it closed the connection at once")


def test_tls_to_an_arena_without_it_is_named(papers, tmp_path):
    with running(tmp_path, Tokens(guests=True)) as arena:
        details = outcome(f"https://{arena.address}", ca_file=papers.ca.file)
    assert mistake(details) == "it has no TLS: write its address without https://"


def served_certificate(address):
    host, _, port = address.rpartition(":")
    return ssl.get_server_certificate((host, int(port)), timeout=PATIENCE_S).strip()


def test_a_renewed_certificate_is_used_without_a_restart(tmp_path):
    ca = Authority.make(tmp_path, "ca")
    tls = TlsFiles(*ca.sign("arena", "IP:127.0.0.1"))
    with running(tmp_path / "data", Tokens(guests=True), tls=tls) as arena:
        before = tls.certificate.read_text().strip()
        assert served_certificate(arena.address) == before
        ca.sign("arena", "IP:127.0.0.1", days=90)
        renewed = tls.certificate.read_text().strip()
        assert served_certificate(arena.address) == renewed != before
        assert outcome(arena.address, ca_file=ca.file) == 19


# fmt: off
HALF_RENEWED = [
    # what stands in the files                     reason
    (lambda tls: tls.key.write_text("-----BEGIN"), "a key that is being written"),
    (lambda tls: tls.key.unlink(),                 "no key"),
    (lambda tls: tls.certificate.write_text(""),   "an empty certificate"),
    (lambda tls: tls.key.write_bytes(key_in_pem(ec.generate_private_key(ec.SECP256R1()))), "a key of another certificate"),
]
# fmt: on


@pytest.mark.parametrize(("spoil", "reason"), HALF_RENEWED, ids=[row[-1] for row in HALF_RENEWED])
def test_files_that_do_not_fit_leave_the_certificate_before(spoil, reason, tmp_path, caplog):
    ca = Authority.make(tmp_path, "ca")
    tls = TlsFiles(*ca.sign("arena", "IP:127.0.0.1"))
    certificate = Certificate(tls)
    before, expires = certificate.renewed(), certificate.expires_unix_s
    spoil(tls)
    assert [certificate.renewed() for _ in range(3)] == [before] * 3
    assert len(caplog.records) == 1, "it is logged once"
    ca.sign("arena", "IP:127.0.0.1", days=90)
    assert certificate.renewed() is not before
    assert certificate.expires_unix_s > expires


def test_a_certificate_for_another_host_is_not_believed(papers, tmp_path):
    with running(tmp_path, Tokens(guests=True), tls=TlsFiles(*papers.workers)) as arena:
        said = outcome(arena.address, ca_file=papers.ca.file)
    assert "127.0.0.1 is not in peer certificate" in str(said)


def test_an_arena_may_ask_its_clients_for_certificates(papers, tmp_path):
    tls = TlsFiles(papers.certificate, papers.key, papers.ca.file)
    mine = {"client_cert": papers.bots_certificate, "client_key": papers.bots_key}
    stranger = papers.stranger
    theirs = {"client_cert": stranger.certificate("bot"), "client_key": stranger.key("bot")}
    with running(tmp_path, Tokens(guests=True), tls=tls) as arena:
        assert outcome(arena.address, ca_file=papers.ca.file, **mine) == 19
        assert outcome(arena.address, ca_file=papers.ca.file) != 19
        assert outcome(arena.address, ca_file=papers.ca.file, **theirs) != 19


def test_bots_play_over_tls(papers, tmp_path, monkeypatch):
    """From hello to the end of the arena: the SDK, its files from the environment."""
    monkeypatch.setenv("CARDARENA_CA", str(papers.ca.file))
    bots, organiser = {"alpha": new_token(), "beta": new_token()}, new_token()
    made = datetime(2026, 11, 21, tzinfo=UTC)
    digest = token_sha256(organiser)
    tokens = Tokens(keys=[Key(key_id(organiser), digest, Scope.ORGANISER, "ann", "", made)])
    for name, token in bots.items():
        tokens.add(token, BotId(name))
    ended = threading.Event()

    class First(cardarena.Bot):
        def move(self, ask):
            return ask.moves[0]

        def ended(self, end):
            ended.set()

    def play(address, token):
        cardarena.play(First, address=address, token=token, once=True)

    with running(tmp_path, tokens, tls=TlsFiles(papers.certificate, papers.key)) as arena:
        address = f"https://{arena.address}"
        threads = [threading.Thread(target=play, args=(address, each)) for each in bots.values()]
        for thread in threads:
            thread.start()
        request = match_request("abstrac", bots)
        metadata = (("authorization", f"Bearer {organiser}"),)
        with Dial(address).channel(address, ()) as channel:
            lobby = lobby_pb2_grpc.LobbyServiceStub(channel)
            until(lambda: [bot.connected for bot in arena.sessions] == [True, True])
            lobby.CreateMatch(request, metadata=metadata)
        assert ended.wait(PATIENCE_S)
    for thread in threads:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def test_two_threads_that_make_owner_only_files_leave_the_umask_as_it_was(tmp_path):
    """The umask is the process's: each thread would put back what the other had set."""
    inside, leaves = threading.Event(), threading.Event()

    def make():
        with owner_only_files():
            inside.set()
            leaves.wait(PATIENCE_S)

    thread = threading.Thread(target=make)
    before = os.umask(0o022)
    try:
        with owner_only_files():
            thread.start()
            inside.wait(0.1)
        leaves.set()
        thread.join(PATIENCE_S)
        (tmp_path / "file").touch()
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o644
    finally:
        os.umask(before)


def until(true):
    """Wait for what other threads do."""
    pause = threading.Event()
    for _ in range(int(PATIENCE_S / 0.02)):
        if true():
            return
        pause.wait(0.02)
    raise AssertionError("it never came")
