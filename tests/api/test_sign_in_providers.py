"""Sign-in with a provider: its file, who is confirmed, and what is not taken for a confirmation."""

import time
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc.jwk import OctKey, RSAKey

from arena.api.sign_in_providers import ANSWER_S, AT_ONCE, LASTS_S, SignInProviders, read_providers
from arena.errors.refused import Refused
from arena.validation import InvalidInput
from tests.doubles.clocks import Clock
from tests.doubles.provider import KEY, PASSWORD, provider, providers_file

BACK = "https://arena.example/signin/from/campus"
BROWSER = "the hash of a cookie"
CLIENT = 'client_id = "a"\nclient_secret = "b"\n'

# fmt: off
FILES = [
    # text                                                    problem                                          why
    ("[campus]\nissuer = 'https://a.example'",                "campus: client_id: is missing",                  "it cannot identify itself"),
    (f"[campus]\n{CLIENT}issuer = 'http://a.example'",        "campus: issuer: should be an address that begins with https://", "others can read it"),
    (f"[campus]\n{CLIENT}",                                   "campus: should have `issuer`, or else `authorize`, `token` and `user`", "nowhere to sign in"),
    (f"[campus]\n{CLIENT}user = 'https://a.example/u'",       "campus: should have `issuer`, or else `authorize`, `token` and `user`", "half of OAuth 2"),
    (f"[campus]\n{CLIENT}isuer = 'https://a.example'",        "campus: there is no key 'isuer'; did you mean issuer?", "a mistyped key"),
    ("campus = 1",                                            "campus: should be a table with a name of letters, digits and -", "no table"),
    (f"['a/b']\n{CLIENT}issuer = 'https://a.example'",        "a/b: should be a table with a name of letters, digits and -", "a name that is no part of an address"),
    ("[campus",                                               "this is not TOML: ",                            "no TOML"),
]
# fmt: on


@pytest.mark.parametrize(("text", "problem"), [r[:2] for r in FILES], ids=[r[2] for r in FILES])
def test_what_is_wrong_with_the_file_is_said_at_its_place(text, problem):
    with pytest.raises(InvalidInput) as raised:
        read_providers(text)
    assert str(raised.value).startswith(problem)


def test_github_needs_no_more_than_a_client():
    github = read_providers(f"[github]\n{CLIENT}")["github"]
    assert (github.title, github.user) == ("GitHub", "https://api.github.com/user")


@pytest.fixture
def campus():
    with provider() as it:
        yield it


@pytest.fixture
def clock():
    return Clock(time.time())


@pytest.fixture
def providers(campus, clock):
    return SignInProviders(read_providers(providers_file(campus.address)), clock)


def come_back(campus, providers, name="campus", **person):
    """Begin, agree, and return what comes back: state and code."""
    back = campus.consent(providers.begin(name, BACK, BROWSER), **person)
    asked = parse_qs(urlsplit(back).query)
    return asked["state"][0], asked["code"][0]


@pytest.mark.parametrize("name", ["campus", "git"], ids=["OpenID Connect", "OAuth 2"])
def test_who_signed_in_is_known_by_the_id_there(campus, providers, name):
    def signed_in(**person):
        return providers.finish(name, BACK, BROWSER, *come_back(campus, providers, name, **person))

    first = signed_in(person="rosa", subject="42")
    assert first.label == f"{providers.titles[name]}: rosa"
    assert signed_in(person="renamed", subject="42").hash == first.hash
    assert signed_in(person="rosa", subject="43").hash != first.hash


def test_people_of_two_providers_differ(campus, providers):
    hashes = {
        providers.finish(name, BACK, BROWSER, *come_back(campus, providers, name)).hash
        for name in ("campus", "git")
    }
    assert len(hashes) == 2


OTHER_KEY = RSAKey.generate_key(2048, {"kid": "k1"}, auto_kid=False)
SHARED = OctKey.import_key(PASSWORD * 2, {"kid": "k1"})
# fmt: off
FORGED = [
    # claims                            header                            key               why
    ({"nonce": "of another sign-in"},   {},                               KEY,              "another sign-in's token"),
    ({"nonce": None},                   {},                               KEY,              "a token of no sign-in"),
    ({"aud": "another client"},         {},                               KEY,              "a token for another site"),
    ({"aud": "another", "azp": "arena-client"}, {},                       KEY,              "for another site, at our wish"),
    ({"aud": ["another client"]},       {},                               KEY,              "for other sites"),
    ({"iss": "https://evil.example"},   {},                               KEY,              "of another issuer"),
    ({"exp": 1_000},                    {},                               KEY,              "an expired token"),
    ({"exp": None},                     {},                               KEY,              "a token without an end"),
    ({},                                {},                               OTHER_KEY,        "signed by another key"),
    ({},                                {"alg": "none"},                  KEY,              "not signed"),
    ({},                                {"alg": "HS256"},                 SHARED,           "signed by a shared secret"),
]
# fmt: on


@pytest.mark.parametrize(
    ("claims", "header", "key"), [r[:3] for r in FORGED], ids=[r[3] for r in FORGED]
)
def test_an_id_token_confirms_nobody_if_it_is(campus, providers, claims, header, key):
    back = come_back(campus, providers)
    campus.claims, campus.header, campus.key = claims, campus.header | header, key
    assert refused(providers.finish, "campus", BACK, BROWSER, *back) == "NOT_CONFIRMED"


def refused(act, *given):
    with pytest.raises(Refused) as raised:
        act(*given)
    assert "<b>" not in raised.value.text
    assert PASSWORD not in raised.value.text
    return raised.value.reason


def test_what_comes_back_is_taken_from_the_browser_that_began_alone(campus, providers):
    state, code = come_back(campus, providers)
    finish = providers.finish
    assert refused(finish, "campus", BACK, "another", state, code) == "NOT_CONFIRMED"
    assert refused(finish, "git", BACK, BROWSER, state, code) == "NOT_CONFIRMED"
    assert refused(finish, "campus", f"{BACK}/x", BROWSER, state, code) == "NOT_CONFIRMED"
    assert refused(finish, "campus", BACK, BROWSER, f"0{state}", code) == "NOT_CONFIRMED"
    assert refused(finish, "campus", BACK, BROWSER, "", code) == "NOT_CONFIRMED"
    assert finish("campus", BACK, BROWSER, state, code)
    assert refused(finish, "campus", BACK, BROWSER, state, code) == "NOT_CONFIRMED"


def test_a_sign_in_ends_within_ten_minutes(campus, providers, clock):
    state, code = come_back(campus, providers)
    clock.now += LASTS_S + 1
    assert refused(providers.finish, "campus", BACK, BROWSER, state, code) == "NOT_CONFIRMED"


# fmt: off
AWAY = [
    # path                                  answer                                       why
    ("/.well-known/openid-configuration",   (500, {}),                                   "it fails"),
    ("/.well-known/openid-configuration",   (200, b"<html>"),                            "it answers with a page"),
    ("/.well-known/openid-configuration",   (200, {"issuer": "https://evil.example"}),   "it is another one"),
    ("/.well-known/openid-configuration",   (200, []),                                   "it describes nothing"),
    ("/token",                              (502, b"bad gateway"),                       "it exchanges no code"),
    ("/token",                              (200, {"access_token": "x", "token_type": "Bearer"}), "it names nobody"),
    ("/keys",                               (404, {}),                                   "it has no keys"),
]
# fmt: on


@pytest.mark.parametrize(("path", "answer"), [r[:2] for r in AWAY], ids=[r[2] for r in AWAY])
def test_a_provider_that_does_not_work_is_away(campus, providers, path, answer):
    campus.answers[path] = answer
    assert (
        refused(lambda: providers.finish("campus", BACK, BROWSER, *come_back(campus, providers)))
        == "PROVIDER_AWAY"
    )
    del campus.answers[path]
    assert providers.finish("campus", BACK, BROWSER, *come_back(campus, providers))


def test_few_sign_ins_wait_for_providers_at_a_time(campus, providers):
    for _ in range(AT_ONCE):
        assert providers._at_once.acquire(blocking=False)
    with pytest.raises(Refused) as raised:
        providers.begin("campus", BACK, BROWSER)
    assert (raised.value.reason, raised.value.retry_s) == ("BUSY", ANSWER_S)


def test_a_proof_is_of_one_browser_for_ten_minutes(campus, providers, clock):
    identity = providers.finish("campus", BACK, BROWSER, *come_back(campus, providers))
    proof = providers.proof(identity, BROWSER)
    assert providers.proven(proof, BROWSER) == identity
    for forged in ("", "x", f"x{proof}", proof + "0"):
        assert refused(providers.proven, forged, BROWSER) == "NOT_CONFIRMED"
    assert refused(providers.proven, proof, "another") == "NOT_CONFIRMED"
    clock.now += LASTS_S + 1
    assert refused(providers.proven, proof, BROWSER) == "NOT_CONFIRMED"
