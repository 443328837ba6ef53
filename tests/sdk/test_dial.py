"""What a bot's SDK dials, and that it sends no token where others can read it."""

import socket

import pytest

import cardarena
from cardarena._dial import Dial, is_local, proxy_to
from tests.doubles.fake_arena import FakeArena
from tests.sdk.messages import redirect, welcome

# fmt: off
ENDPOINTS = [
    ("localhost:7654",            True,  "localhost"),
    ("localhost",                 True,  "localhost without a port"),
    ("127.0.0.1:7654",            True,  "IPv4 loopback"),
    ("127.99.0.1:7654",           True,  "another loopback address"),
    ("[::1]:7654",                True,  "IPv6 loopback"),
    ("::1",                       True,  "IPv6 loopback without a port"),
    ("unix:arena.sock",           True,  "a socket file"),
    ("unix:///tmp/arena.sock",    True,  "a socket file as a URL"),
    ("192.0.2.1:7654",            False, "an address"),
    ("arena.example:7654",        False, "a name"),
    ("arena.example",             False, "a name without a port"),
    ("[2001:db8::1]:7654",        False, "an IPv6 address"),
    ("localhost.example:7654",    False, "a name that begins like localhost"),
    ("127.0.0.1.example:7654",    False, "a name that begins like loopback"),
    ("dns:///localhost:7654",     False, "what only gRPC understands"),
    ("127.0.0.1:7654,192.0.2.1:1", False, "a list of addresses"),
    ("ipv4:127.0.0.1:1,192.0.2.1:1", False, "a list as gRPC writes it"),
    ("",                          False, "nothing"),
]
# fmt: on


@pytest.mark.parametrize(("endpoint", "local", "why"), ENDPOINTS, ids=[r[-1] for r in ENDPOINTS])
def test_what_stays_on_this_machine(endpoint, local, why):
    assert is_local(endpoint) is local


PLAIN = "the token would go to arena.example:1 in plain text"
# fmt: off
ADDRESSES = [
    # address                  how                      what is said
    ("arena.example:1",        {},                      PLAIN),
    ("http://arena.example:1", {},                      PLAIN),
    ("arena.example:1",        {"insecure": True},      None),
    ("arena.example:1",        {"tls": True},           None),
    ("https://arena.example:1", {},                     None),
    ("https://arena.example:1/", {"tls": True},         None),
    ("http://arena.example:1", {"tls": True},           "is plain text, where TLS was asked for"),
    ("http://localhost:1",     {},                      None),
    ("localhost:1",            {"tls": True},           None),
    ("localhost:1",            {"ca_file": "nowhere"},  "cannot read nowhere: No such file or directory"),
    ("localhost:1",            {"ca_file": __file__},   "holds no certificates in PEM"),
    ("localhost:1",            {"client_cert": __file__}, "go together: give both"),
    ("localhost:1",            {"client_cert": __file__, "client_key": __file__}, "are no certificate in PEM with its key"),
]
# fmt: on


@pytest.mark.parametrize(("address", "how", "said"), ADDRESSES)
def test_an_address_is_dialled_or_not(address, how, said):
    if said is None:
        Dial(address, **how).channel(address, ()).close()
        return
    with pytest.raises(cardarena.Misconfigured, match=said):
        Dial(address, **how)


# fmt: off
REDIRECTS = [
    # the arena was at        how                 it says             what is said
    ("localhost:1",           {},                 "localhost:2",      None),
    ("localhost:1",           {},                 "arena.example:1",  PLAIN),
    ("localhost:1",           {"insecure": True}, "arena.example:1",  None),
    ("localhost:1",           {},                 "https://arena.example:1", "needs TLS"),
    ("https://arena.example", {},                 "other.example:1",  None),
    ("https://arena.example", {},                 "https://other.example:1", None),
    ("https://arena.example", {},                 "http://other.example:1", "is plain text"),
    ("https://arena.example", {"insecure": True}, "http://other.example:1", "is plain text"),
    ("https://arena.example", {},                 "http://localhost:1", "is plain text"),
]
# fmt: on


@pytest.mark.parametrize(("address", "how", "endpoint", "said"), REDIRECTS)
def test_a_redirect_is_followed_or_not(address, how, endpoint, said):
    dial = Dial(address, **how)
    if said is None:
        dial.channel(endpoint, ()).close()
        return
    with pytest.raises(cardarena.Misconfigured, match=said):
        dial.channel(endpoint, ())


@pytest.fixture
def proxies(monkeypatch):
    for name in ("grpc_proxy", "https_proxy", "http_proxy", "no_grpc_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize("variable", ["grpc_proxy", "https_proxy", "http_proxy"])
def test_no_proxy_is_between_a_bot_and_its_own_machine(variable, proxies):
    def script(arena, stream, hello):
        yield welcome()

    proxies.setenv(variable, "http://127.0.0.1:9")
    with FakeArena(script) as arena:
        cardarena.play(First, address=arena.address, token="me", once=True)


THROUGH = " through the proxy http://proxy.example:3128 of the variable http_proxy"
# fmt: off
PROXIED = [
    # address                  no_proxy         said       why
    ("arena.example:1",        "",              THROUGH,   "another machine; the password is not shown"),
    ("https://arena.example:1", "other.example", THROUGH,  "which is no exception"),
    ("arena.example:1",        "x, .example",   "",        "an exception by its end"),
    ("https://localhost:1",    "",              "",        "this machine"),
    ("unix:arena.sock",        "",              "",        "a socket file"),
]
# fmt: on


@pytest.mark.parametrize(
    ("address", "direct", "said", "why"), PROXIED, ids=[row[-1] for row in PROXIED]
)
def test_a_proxy_is_named(address, direct, said, why, proxies):
    proxies.setenv("http_proxy", "http://me:secret@proxy.example:3128")
    proxies.setenv("no_proxy", direct)
    assert proxy_to(address) == said


def test_files_in_the_environment_are_for_tls_alone(monkeypatch):
    monkeypatch.setenv("CARDARENA_CA", "nowhere")
    Dial("localhost:1")
    with pytest.raises(cardarena.Misconfigured, match="cannot read nowhere"):
        Dial("https://localhost:1")


class First(cardarena.Bot):
    def move(self, ask):
        return ask.moves[0]


def test_a_bot_that_would_show_its_token_ends_before_it_dials(capsys, monkeypatch):
    def dials(*arguments, **more):
        pytest.fail("it dialled")

    monkeypatch.setattr("cardarena._dial.grpc.insecure_channel", dials)
    monkeypatch.setattr(socket, "getaddrinfo", dials)
    with pytest.raises(SystemExit) as ended:
        cardarena.run(First, argv=["--address", "arena.example:1", "--token", "my secret"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith(f"cardarena: {PLAIN}")
    assert "my secret" not in said


@pytest.mark.slow
def test_an_arena_cannot_lead_a_bot_to_where_its_token_would_be_read():
    def script(arena, stream, hello):
        yield welcome()
        yield redirect("arena.example:1")

    with FakeArena(script) as arena, pytest.raises(cardarena.Misconfigured, match=PLAIN):
        cardarena.play(First, address=arena.address, token="me", once=True)


def test_the_options_of_a_bots_program_reach_the_dial(monkeypatch):
    given = {}

    class Seen(Exception):
        pass

    def dial(address, **how):
        given.update(how, address=address)
        raise Seen

    monkeypatch.setattr("cardarena._run.Dial", dial)
    files = ["--ca", "a.pem", "--client-cert", "b.pem", "--client-key", "c.pem"]
    with pytest.raises(Seen):
        cardarena.run(First, argv=["--address", "h:1", "--tls", "--insecure", *files])
    assert given == {
        "address": "h:1",
        "tls": True,
        "insecure": True,
        "ca_file": "a.pem",
        "client_cert": "b.pem",
        "client_key": "c.pem",
    }
