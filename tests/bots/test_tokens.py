"""What a token looks like, and what is known of one at a given time."""

import string
import zlib
from datetime import UTC, datetime, timedelta

import pytest

from arena.bots import tokens as module
from arena.bots.bot_ids import BotId
from arena.bots.tokens import Tokens, key_id, new_token, token_sha256, well_formed
from arena.errors.refused import Refused
from arena.store import Key, Scope
from tests.doubles.clocks import Clock

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
SECOND, DAY = timedelta(seconds=1), timedelta(days=1)
DIGITS = string.digits + string.ascii_letters


def key(token, bot="alpha", owner="ann", *, change=1, **more):
    scope = Scope.BOT if bot else Scope.ORGANISER
    return Key(
        key_id(token), token_sha256(token), scope, owner, bot, NOW - DAY, changed=change, **more
    )


def reason(tokens, token):
    with pytest.raises(Refused) as refused:
        tokens.bot(token)
    assert token not in str(refused.value)
    return refused.value.reason


# The form.


BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase


@pytest.mark.parametrize("secret", [bytes(32), bytes(31) + b"\x01", b"\xff" * 32, bytes(range(32))])
def test_a_token_is_its_mark_32_random_bytes_and_their_checksum(monkeypatch, secret):
    monkeypatch.setattr(module.secrets, "token_bytes", {32: secret}.get)
    token = new_token()
    assert len(token) == 55
    assert token.startswith("arena_")
    number = check = 0
    for digit in token[6:49]:
        number = number * 62 + BASE62.index(digit)
    for digit in token[49:]:
        check = check * 62 + BASE62.index(digit)
    assert number.to_bytes(32, "big") == secret
    assert check == zlib.crc32(token[:49].encode())


def test_no_two_tokens_are_alike():
    made = {new_token() for _ in range(1000)}
    assert len(made) == len({key_id(token) for token in made}) == 1000
    assert all(well_formed(token) for token in made)


def test_every_slip_of_the_hand_is_told_from_a_token():
    token = new_token()
    slips = {
        token[:at] + other + token[at + 1 :] for at in range(len(token)) for other in DIGITS + "_-"
    }
    slips |= {token[:at] + token[at + 1 :] for at in range(len(token))}
    slips |= {token[:at] + other + token[at:] for at in range(len(token) + 1) for other in DIGITS}
    slips |= {
        token[:at] + token[at + 1] + token[at] + token[at + 2 :] for at in range(len(token) - 1)
    }
    slips |= {token + "\n", " " + token, token.upper(), token.lower(), token[6:], ""}
    slips.discard(token)
    assert len(slips) > 6_000
    assert [slip for slip in slips if well_formed(slip)] == []


@pytest.mark.parametrize("odd", ["arena_" + "\u0660" * 49, "arena_" + "é" * 49, "\udcff" * 55])
def test_digits_of_other_scripts_are_none(odd):
    assert not well_formed(odd)


def test_the_id_of_a_key_leaves_two_hundred_bits_secret():
    token = new_token()
    assert token.startswith("arena_" + key_id(token))
    assert 62 ** (43 - len(key_id(token))) > 2**200


def test_tokens_are_kept_as_their_hashes_alone():
    token, launched = new_token(), new_token()
    tokens = Tokens(keys=[key(token)])
    tokens.add(launched, BotId("crew"))
    tokens.bot(token)
    held = repr(vars(tokens))
    assert key_id(token) in held, "this test looks at what is held"
    assert token[14:] not in held
    assert launched[6:] not in held


def test_a_launched_bots_token_has_the_form_of_all():
    with pytest.raises(ValueError, match="new_token"):
        Tokens().add("hunter2", BotId("crew"))


# The sandbox.

SANDBOXED, KEYED, OTHER, UNSANDBOXED = (new_token() for _ in range(4))
# fmt: off
DOORS = [
    # whose token     by the socket of the sandboxed?   said         why
    (SANDBOXED,          True,                          None,        "a sandboxed bot comes by its socket"),
    (SANDBOXED,          False,                         "NOT_YOURS", "a sandboxed bot's token has got out"),
    (KEYED,           False,                         "NOT_YOURS", "a key of its name, from elsewhere, while it plays"),
    (KEYED,           True,                          "NOT_YOURS", "a key of its name, by the socket"),
    (OTHER,           True,                          "NOT_YOURS", "a sandboxed bot plays for another bot as well"),
    (OTHER,           False,                         None,        "another bot comes from elsewhere"),
    (UNSANDBOXED,        False,                         None,        "a bot that is launched without a sandbox"),
    (UNSANDBOXED,        True,                          "NOT_YOURS", "the same, by the socket"),
    ("guest:visitor", True,                          "NOT_YOURS", "a guest by the socket"),
    ("guest:visitor", False,                         None,        "a guest from elsewhere"),
]
# fmt: on


def sandboxed_tokens():
    keys = [key(KEYED, bot="alpha"), key(OTHER, bot="beta")]
    tokens = Tokens(guests=True, keys=keys)
    tokens.add(SANDBOXED, BotId("alpha"), sandboxed=True)
    tokens.add(UNSANDBOXED, BotId("gamma"))
    return tokens


@pytest.mark.parametrize(
    ("token", "sandboxed", "said", "why"), DOORS, ids=[row[-1] for row in DOORS]
)
def test_a_sandboxed_bot_comes_by_its_socket_and_nobody_else_for_it(token, sandboxed, said, why):
    tokens = sandboxed_tokens()
    if said is None:
        tokens.bot(token, sandboxed=sandboxed)
    else:
        with pytest.raises(Refused) as refused:
            tokens.bot(token, sandboxed=sandboxed)
        assert refused.value.reason == said


def test_the_notes_of_a_launched_bot_are_published_while_it_runs():
    tokens = Tokens()
    tokens.add(SANDBOXED, BotId("alpha"), publishes_notes=True)
    assert tokens.publishes_notes(SANDBOXED)
    assert not tokens.publishes_notes(UNSANDBOXED)
    tokens.drop(SANDBOXED)
    assert not tokens.publishes_notes(SANDBOXED)


def test_a_sandboxed_bots_token_is_good_for_no_call_but_its_stream():
    with pytest.raises(Refused) as refused:
        sandboxed_tokens().holder(SANDBOXED)
    assert refused.value.reason == "NOT_YOURS"


def test_once_its_process_has_ended_its_owner_may_dial_in_again_and_its_token_is_unknown():
    tokens = sandboxed_tokens()
    tokens.drop(SANDBOXED)
    assert tokens.bot(KEYED) == BotId("alpha")
    assert reason(tokens, SANDBOXED) == "UNKNOWN_TOKEN"
    tokens.drop(SANDBOXED)  # nothing is left to be dropped


# Time.

# fmt: off
TIMES = [
    # expires         revoked      after        what is said      why
    (None,            None,        1000 * DAY,  None,             "a key that does not expire"),
    (NOW + DAY,       None,        DAY - SECOND, None,            "the second before it expires"),
    (NOW + DAY,       None,        DAY,         "EXPIRED_TOKEN",  "the moment it expires"),
    (NOW + DAY,       NOW - DAY,   2 * DAY,     "REVOKED_TOKEN",  "revoked before it expired"),
    (None,            NOW - DAY,   0 * DAY,     "REVOKED_TOKEN",  "revoked"),
]
# fmt: on


@pytest.mark.parametrize(
    ("expires", "revoked", "after", "said", "why"), TIMES, ids=[row[-1] for row in TIMES]
)
def test_a_token_at_a_time(expires, revoked, after, said, why):
    token = new_token()
    tokens = Tokens(keys=[key(token, expires=expires, revoked=revoked)], now=lambda: NOW + after)
    if said is None:
        assert tokens.bot(token) == BotId("alpha")
    else:
        assert reason(tokens, token) == said


def test_a_key_is_noted_as_used_once_a_day():
    token, other, clock = new_token(), new_token(), Clock(NOW)
    tokens = Tokens(keys=[key(token), key(other, used=NOW.date())], now=clock)
    told = []
    for _ in range(3):
        tokens.bot(token)
        tokens.bot(other)
        told.append(tokens.used_keys())
    clock.now += DAY
    tokens.bot(token)
    tokens.bot(other)
    told.append(tokens.used_keys())
    both = {key_id(token), key_id(other)}
    assert told == [{key_id(token)}, set(), set(), both]


def test_a_refused_token_was_not_used():
    token = new_token()
    tokens = Tokens(keys=[key(token, revoked=NOW)], now=Clock(NOW))
    reason(tokens, token)
    assert tokens.used_keys() == frozenset()


# What changes.


def test_of_two_looks_that_cross_the_newer_one_counts():
    token = new_token()
    tokens = Tokens(now=Clock(NOW))
    tokens.learn([key(token, change=6, revoked=NOW)])
    tokens.learn([key(token, change=5)])
    assert reason(tokens, token) == "REVOKED_TOKEN"
    assert tokens.change == 6


# fmt: off
DOUBTS = [
    # what happens                                            whose streams are closed   why
    (lambda t, k, c: None,                                       set(),      "nothing"),
    (lambda t, k, c: t.learn([key(k, change=9, revoked=NOW)]),   {"alpha"},  "its key is revoked"),
    (lambda t, k, c: t.learn([key(new_token(), change=9)]),      set(),      "it gets another key"),
    (lambda t, k, c: t.learn([key(new_token(), "new", change=9)]), set(),    "another bot gets one"),
    (lambda t, k, c: t.learn([key(new_token(), "", change=9, revoked=NOW)]), set(), "an organiser's is revoked"),
    (lambda t, k, c: t.learn([key(new_token(), "Visitor", change=9)]), {"visitor"}, "a guest's name is claimed for a bot"),
    (lambda t, k, c: t.learn([key(new_token(), "", "VISITOR", change=9)]), {"visitor"}, "a guest's name is claimed for an owner"),
    (lambda t, k, c: setattr(c, "now", NOW + DAY),               {"alpha"},  "its key expires"),
    (lambda t, k, c: setattr(c, "now", NOW + DAY - SECOND),      set(),      "its key is about to expire"),
]
# fmt: on


@pytest.mark.parametrize(
    "over",
    [{"expires": NOW - DAY}, {"revoked": NOW - DAY}, {"expires": NOW}],
    ids=["expired", "revoked", "expires as the arena starts"],
)
def test_a_key_that_was_over_before_the_arena_began_closes_nobodys_stream(over):
    """Its bot may have come with another key, before the first look at what has changed."""
    good = new_token()
    tokens = Tokens(keys=[key(new_token(), **over), key(good, change=2)], now=Clock(NOW))
    assert tokens.bot(good).name == "alpha"
    assert tokens.doubtful() == frozenset()


@pytest.mark.parametrize(("happens", "closed", "why"), DOUBTS, ids=[row[-1] for row in DOUBTS])
def test_whose_stream_is_closed_when(happens, closed, why):
    token, clock = new_token(), Clock(NOW)
    tokens = Tokens(guests=True, keys=[key(token, expires=NOW + DAY)], now=clock)
    tokens.bot("guest:visitor")
    assert tokens.doubtful() == frozenset()
    happens(tokens, token, clock)
    assert {bot.name for bot in tokens.doubtful()} == closed
    assert tokens.doubtful() == frozenset(), "each is told once"


def test_two_guests_do_not_share_a_name_in_two_spellings():
    tokens = Tokens(guests=True)
    assert tokens.bot("guest:Visitor") == BotId("Visitor")
    assert tokens.bot("guest:Visitor") == BotId("Visitor")
    assert reason(tokens, "guest:visitor") == "NOT_YOURS"
    assert reason(tokens, "guest:Vis1tor") == "NOT_YOURS"


def test_no_guest_takes_a_reserved_name():
    assert reason(Tokens(guests=True), "guest:arena") == "NOT_YOURS"


# fmt: off
BOUND = [
    # first            here    second            let in  why
    ("guest:ann:s3",   True,   "guest:ann:s3",   True,   "the same secret, as after a loss of the line"),
    ("guest:ann:s3",   True,   "guest:ann:s4",   False,  "another secret"),
    ("guest:ann:s3",   True,   "guest:ann",      False,  "the name alone"),
    ("guest:ann:s3",   True,   "guest:ann:",     False,  "an empty secret"),
    ("guest:ann",      True,   "guest:ann:s4",   False,  "a secret, where the stream has none"),
    ("guest:ann",      True,   "guest:ann",      True,   "no secret both times: the name is anybody's"),
    ("guest:ann:s3",   False,  "guest:ann:s4",   True,   "no stream is open: its process was started again"),
    ("guest:ann:s3",   True,   "guest:bob:s4",   True,   "another name"),
]
# fmt: on


@pytest.mark.parametrize(
    ("first", "here", "second", "let_in", "why"), BOUND, ids=[row[-1] for row in BOUND]
)
def test_a_guests_name_is_bound_to_its_secret_while_its_stream_is_open(
    first, here, second, let_in, why
):
    tokens = Tokens(guests=True)
    tokens.bot(first)
    tokens.bind_guest(first, here=False)
    assert tokens.bot(second).name in ("ann", "bob")
    if let_in:
        tokens.bind_guest(second, here=here)
        return
    for _ in range(2):
        with pytest.raises(Refused) as refused:
            tokens.bind_guest(second, here=here)
        assert refused.value.reason == "NOT_YOURS"
        assert "s3" not in refused.value.text
    tokens.bind_guest(first, here=here)


@pytest.mark.parametrize("secret", ["a b", "s:t", "\u00e9", "x" * 65])
def test_a_guests_secret_has_a_form(secret):
    assert reason(Tokens(guests=True), f"guest:ann:{secret}") == "BAD_NAME"


def test_a_key_that_was_made_just_now_is_looked_up():
    token = new_token()
    tokens = Tokens()

    def look_up():
        tokens.learn([key(token)])
        return True

    tokens.look_up_with(look_up)
    assert tokens.bot(token) == BotId("alpha")
    assert reason(tokens, new_token()) == "UNKNOWN_TOKEN"


def test_a_slip_of_the_hand_is_not_looked_up():
    tokens = Tokens()
    tokens.look_up_with(lambda: pytest.fail("it was looked up"))
    assert reason(tokens, new_token()[:-1]) == "BAD_TOKEN"


def test_a_bot_without_a_token_is_told_to_set_one_where_no_guests_are_admitted():
    """The SDKs call themselves guests then: that is no slip of the hand."""
    with pytest.raises(Refused, match=r"set CARDARENA_TOKEN.*R-NO-TOKEN"):
        Tokens().bot("guest:MyBot:0123456789abcdef0123456789abcdef")


def test_an_unknown_token_is_not_called_unknown_while_nobody_can_look():
    tokens = Tokens()
    tokens.look_up_with(lambda: False)
    assert reason(tokens, new_token()) == "KEYS_BUSY"
