"""Keys and sign-in sessions by calls: what is created, listed, revoked and refused."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from arena.api.keys import KeyCalls
from arena.api.sign_in_providers import SignInProviders, read_providers
from arena.bots.intake import SubmissionIntake
from arena.bots.tokens import Tokens, key_id, new_token, token_sha256, well_formed
from arena.errors.refused import Refused
from arena.store import Key, Scope, StoreError, open_store
from cardarena.v1 import keys_pb2
from tests.doubles.calls import Call
from tests.doubles.clocks import Clock
from tests.doubles.provider import provider, providers_file

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
BOT, ORGANISER, OWNER, WORKER = keys_pb2.KeyScope.values()[1:]


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "arena.db") as opened:
        yield opened


@pytest.fixture
def clock():
    return Clock(NOW)


@pytest.fixture
def calls(store, clock):
    organiser = new_token()
    key = Key(key_id(organiser), token_sha256(organiser), Scope.ORGANISER, "org", "", NOW)
    tokens = Tokens(keys=[key], now=clock)
    tokens.look_up_with(lambda: tokens.learn(store.keys().changed_since(tokens.change)) or True)
    calls = KeyCalls(store, tokens, clock)
    calls.organiser = organiser
    return calls


def call(calls, method, token="", **fields):
    """Make a call with a token; the organiser's by default."""
    kind = getattr(keys_pb2, f"{method}Request")
    context = Call(authorization=f"Bearer {token or calls.organiser}")
    return asyncio.run(getattr(calls, method)(kind(**fields), context))


def owner(store, name="ann"):
    """The token of an owner who has registered."""
    intake = SubmissionIntake(Path(), store.registry(), store.keys(), lambda: NOW)
    return intake.register(intake.invite(name, "org"))[1]


def reason(calls, method, token="", **fields):
    with pytest.raises((Refused, StoreError)) as refused:
        call(calls, method, token, **fields)
    return (
        refused.value.reason if isinstance(refused.value, Refused) else refused.value.entry.reason
    )


def create(calls, scope, **fields):
    request = keys_pb2.CreateKeyRequest(scope=scope, **fields)
    return asyncio.run(calls.CreateKey(request, Call()))


# fmt: off
CREATED = [
    (BOT,       {"owner": "ann", "bot": "ann-bot"}, "a bot's"),
    (ORGANISER, {"owner": "olga"},                  "an organiser's"),
    (WORKER,    {"owner": "m1"},                    "a worker's"),
]
REFUSED = [
    (BOT,       {"bot": "new"},                        "UNKNOWN_BOT",   "a new bot without an owner"),
    (BOT,       {"owner": "ann"},                      "BAD_NAME",      "no bot"),
    (ORGANISER, {"owner": "olga", "bot": "b"},         "BAD_NAME",      "a bot that an organiser does not have"),
    (ORGANISER, {"owner": "a\nb"},                     "BAD_NAME",      "a name of two lines"),
    (ORGANISER, {},                                    "BAD_NAME",      "no name"),
    (OWNER,     {"owner": "cid"},                      "UNKNOWN_OWNER", "an owner who has not registered"),
    (0,         {"owner": "olga"},                     "BAD_NAME",      "no scope"),
]
# fmt: on


@pytest.mark.parametrize(("scope", "fields", "why"), CREATED, ids=[row[-1] for row in CREATED])
def test_a_key_is_created_whose_token_is_valid(scope, fields, why, calls, store):
    created = create(calls, scope, **fields)
    assert well_formed(created.token)
    assert created.key.key_id == key_id(created.token)
    assert (created.key.scope, created.key.state) == (scope, keys_pb2.KEY_STATE_VALID)
    holder = Tokens(keys=store.keys().all()).holder(created.token)
    assert (holder.owner, str(holder.scope)) == (fields["owner"], why.removesuffix("'s").split()[1])
    assert list(call(calls, "ListKeys").keys) == [created.key]


@pytest.mark.parametrize(
    ("scope", "fields", "reason", "why"), REFUSED, ids=[row[-1] for row in REFUSED]
)
def test_a_key_is_refused(scope, fields, reason, why, calls, store):
    with pytest.raises(Refused) as refused:
        create(calls, scope, **fields)
    assert refused.value.reason == reason
    assert store.keys().all() == ()


def test_a_known_bot_keeps_its_owner(calls):
    create(calls, BOT, owner="ann", bot="b")
    assert create(calls, BOT, bot="b").key.owner == "ann"
    with pytest.raises(Refused) as refused:
        create(calls, BOT, owner="bob", bot="b")
    assert refused.value.reason == "NAME_TAKEN"


def test_a_lifetime_ends_and_is_never_longer_than_can_be_written(calls):
    week_s = 7 * 86_400
    key = create(calls, ORGANISER, owner="olga", lifetime_s=week_s).key
    assert key.expires_unix_ms == (NOW + timedelta(weeks=1)).timestamp() * 1000
    longest = create(calls, ORGANISER, owner="olga", lifetime_s=2**64 - 1).key
    assert longest.expires_unix_ms == (NOW + timedelta(weeks=99_999)).timestamp() * 1000


def test_a_key_is_revoked_once_and_an_unknown_one_never(calls):
    key = create(calls, ORGANISER, owner="olga").key
    for _ in range(2):
        revoked = call(calls, "RevokeKey", key_id=key.key_id).key
        assert revoked.state == keys_pb2.KEY_STATE_REVOKED
        assert revoked.revoked_unix_ms == NOW.timestamp() * 1000
    assert reason(calls, "RevokeKey", key_id="00000000") == "UNKNOWN_KEY"


# Sign-in sessions.


def holder(calls, token):
    return calls._tokens.holder(token)


@pytest.mark.parametrize(
    ("scope", "lasts"),
    [
        pytest.param(OWNER, timedelta(days=14), id="an owner's"),
        pytest.param(ORGANISER, timedelta(hours=12), id="an organiser's, who can do more harm"),
    ],
)
def test_a_session_permits_what_its_key_permits_until_it_ends(calls, store, clock, scope, lasts):
    token = owner(store) if scope == OWNER else create(calls, scope, owner="olga").token
    signed_in = call(calls, "SignIn", token, label="Firefox\n on Linux" + "x" * 200)
    assert signed_in.token != token
    assert signed_in.key.signed_in_with == key_id(token)
    assert signed_in.key.label == ("Firefox on Linux" + "x" * 200)[:100]
    assert holder(calls, signed_in.token) == holder(calls, token)
    assert call(calls, "GetKey", signed_in.token).key == signed_in.key
    clock.now += lasts
    with pytest.raises(Refused, match="expired"):
        holder(calls, signed_in.token)
    assert holder(calls, token)


def test_a_session_ends_with_its_key_at_the_latest(calls):
    key = create(calls, ORGANISER, owner="olga", lifetime_s=60)
    session = call(calls, "SignIn", key.token).key
    assert session.expires_unix_ms == key.key.expires_unix_ms


def test_a_session_cannot_be_renewed_by_itself(calls, store):
    session = call(calls, "SignIn", owner(store)).token
    assert reason(calls, "SignIn", session) == "WRONG_SCOPE"


@pytest.mark.parametrize("ended", ["session", "key", "owner"])
def test_a_session_is_revoked_alone_with_its_key_and_with_its_owner(calls, store, ended):
    key = owner(store)
    session, other = (call(calls, "SignIn", key).token for _ in range(2))
    if ended == "owner":
        store.registry().ban("ann", reason="x", who="org", now=NOW)
    else:
        call(calls, "RevokeKey", key, key_id=key_id(session if ended == "session" else key))
    calls._tokens.learn(store.keys().changed_since(calls._tokens.change))
    with pytest.raises(Refused, match="revoked"):
        holder(calls, session)
    if ended == "session":
        assert holder(calls, other)
        assert holder(calls, key)
    else:
        with pytest.raises(Refused, match="revoked"):
            holder(calls, other)


def test_a_key_that_was_revoked_just_now_cannot_sign_in(calls, store):
    key = owner(store)
    assert holder(calls, key)
    store.keys().revoke(key_id(key), NOW)
    assert holder(calls, key), "the arena has not read it yet"
    assert reason(calls, "SignIn", key) == "REVOKED_TOKEN"


def test_a_session_is_known_and_ended_at_once_however_often_keys_are_looked_up(calls, store):
    key = owner(store)
    assert holder(calls, key)
    calls._tokens.look_up_with(lambda: False)
    session = call(calls, "SignIn", key).token
    assert holder(calls, session)
    call(calls, "RevokeKey", session, key_id=key_id(session))
    with pytest.raises(Refused, match="revoked"):
        holder(calls, session)


def test_an_owner_has_at_most_twenty_sessions_and_begins_thirty_in_an_hour(calls, store):
    key = owner(store)
    sessions = [call(calls, "SignIn", key).token for _ in range(30)]
    states = {key.key_id: key.state for key in call(calls, "ListKeys", key).keys}
    assert [states[key_id(session)] for session in sessions] == [
        *[keys_pb2.KEY_STATE_REVOKED] * 10,
        *[keys_pb2.KEY_STATE_VALID] * 20,
    ]
    assert reason(calls, "SignIn", key) == "OVER_QUOTA"
    assert call(calls, "SignIn", owner(store, "bob")), "the quota is each owner's"


def test_sessions_that_ended_long_ago_are_removed_and_no_change_is_numbered_twice(
    calls, store, clock
):
    key = owner(store)
    session = call(calls, "SignIn", key).token
    call(calls, "RevokeKey", key, key_id=key_id(session))
    last = calls._tokens.change
    calls._tokens.learn(store.keys().changed_since(last))
    clock.now += timedelta(days=2)
    new = call(calls, "SignIn", key).token
    assert [key.key_id for key in call(calls, "ListKeys", key).keys] == [key_id(key), key_id(new)]
    assert holder(calls, new), "its change is later than all that were read"


def test_owners_see_and_revoke_their_own_keys_alone(calls, store):
    ann, bob = owner(store), owner(store, "bob")
    create(calls, BOT, owner="ann", bot="ann-bot")
    create(calls, ORGANISER, owner="ann")
    bobs = call(calls, "SignIn", bob).token
    listed = call(calls, "ListKeys", ann).keys
    assert [(key.owner, key.bot, key.scope) for key in listed] == [
        ("ann", "", OWNER),
        ("ann", "ann-bot", BOT),
    ]
    for other in (bob, bobs):
        assert reason(calls, "RevokeKey", ann, key_id=key_id(other)) == "UNKNOWN_KEY"
    assert len(call(calls, "ListKeys").keys) == 5
    assert call(calls, "RevokeKey", key_id=key_id(bob)), "an organiser revokes any"


# Identities at providers.


@pytest.fixture
def signed_in_at(calls):
    """Signs a person in at a provider, and returns the answer."""
    with provider() as campus:
        calls._providers = SignInProviders(read_providers(providers_file(campus.address)))
        about = {"provider": "campus", "redirect_uri": "https://a.example/b", "browser": "b"}

        def signed_in(subject="42"):
            address = call(calls, "BeginSignIn", **about).authorization_url
            back = parse_qs(urlsplit(campus.consent(address, subject=subject)).query)
            return call(
                calls, "FinishSignIn", **about, state=back["state"][0], code=back["code"][0]
            )

        yield signed_in


def test_an_identity_that_was_linked_by_a_key_signs_its_owner_in(calls, store, signed_in_at):
    ann = owner(store)
    unknown = signed_in_at()
    assert not unknown.HasField("signed_in")
    linked = call(calls, "LinkIdentity", ann, proof=unknown.proof, browser="b").key
    assert (linked.owner, linked.scope, linked.label) == ("ann", OWNER, "Campus login: rosa")
    known = signed_in_at().signed_in
    assert (known.key.owner, known.key.signed_in_with) == ("ann", linked.key_id)
    assert call(calls, "GetKey", known.token).key.owner == "ann"
    assert linked.key_id in [key.key_id for key in call(calls, "ListKeys", ann).keys]


def test_a_link_that_is_revoked_ends_its_sessions_and_can_be_made_anew(calls, store, signed_in_at):
    ann = owner(store)
    linked = call(calls, "LinkIdentity", ann, proof=signed_in_at().proof, browser="b").key
    session = signed_in_at().signed_in.token
    call(calls, "RevokeKey", ann, key_id=linked.key_id)
    with pytest.raises(Refused) as refused:
        Tokens(keys=store.keys().all()).holder(session)
    assert refused.value.reason == "REVOKED_TOKEN"
    again = signed_in_at()
    assert not again.HasField("signed_in")
    call(calls, "LinkIdentity", ann, proof=again.proof, browser="b")
    assert signed_in_at().signed_in.key.owner == "ann"


def test_an_identity_is_linked_to_one_owner_by_a_key_and_not_by_a_session(
    calls, store, signed_in_at
):
    ann, bob = owner(store), owner(store, "bob")
    proof = signed_in_at().proof
    session = call(calls, "SignIn", bob).token
    link = {"proof": proof, "browser": "b"}
    assert reason(calls, "LinkIdentity", session, **link) == "WRONG_SCOPE"
    call(calls, "LinkIdentity", ann, **link)
    assert reason(calls, "LinkIdentity", bob, **link) == "LINKED_ALREADY"


def test_a_ban_ends_the_links_of_an_owner(calls, store, signed_in_at):
    ann = owner(store)
    call(calls, "LinkIdentity", ann, proof=signed_in_at().proof, browser="b")
    store.registry().ban("ann", reason="cheats", who="org", now=NOW)
    assert not signed_in_at().HasField("signed_in")
