"""Steps 1 to 5 of protocol fd1 against its published vectors, and every way not to hold."""

import hashlib
import json
from dataclasses import fields, replace
from pathlib import Path

import pytest

from arena.games.catalogue import GAMES
from arena.referee.deal import (
    NO_COMMITMENT,
    DealTerms,
    Lie,
    bot_commitment,
    context,
    first_pack,
    opened_key,
    plan_hash,
    plan_line,
    rules_hash,
    seal,
    server_commitment,
    setting_texts,
    transcript,
    view_context,
    view_transcript,
)
from arena.testing.deals import RecordedDeals, UnshuffledDeals
from tests.referee.deal.fd2_vectors import PATH, text

GROUPS = json.loads((Path(__file__).parent / "fd1_vectors.json").read_text())
NAMES = [group["name"] for group in GROUPS]


def terms_of(group):
    return DealTerms(
        server_id=group["server_id"],
        deal_set=group["group_id"],
        game=group["game"],
        rules_hash=bytes.fromhex(group["rules_hash"]),
        deck=tuple(group["deck"]),
        boards=len(group["decks"]),
        plan_hash=bytes.fromhex(group["plan_hash"]),
        participants=tuple(group["participants"]),
        log_head=bytes.fromhex(group["log_head"]),
    )


def by_participant(values):
    return {participant: bytes.fromhex(value) for participant, value in values.items()}


def published(group):
    """What `opened_key` takes, as the deal-set's vector has it."""
    return {
        "context": bytes.fromhex(group["ctx"]),
        "server_commitment": bytes.fromhex(group["CS"]),
        "commitments": by_participant(group["commits"]),
        "transcript": bytes.fromhex(group["T"]),
        "secret": bytes.fromhex(group["S"]),
        "entropies": by_participant(group["r"]),
    }


@pytest.mark.parametrize("group", GROUPS, ids=NAMES)
def test_a_context_of_the_vectors(group):
    assert context(terms_of(group)).hex() == group["ctx"]


@pytest.mark.parametrize("group", GROUPS, ids=NAMES)
def test_the_arenas_commitment_of_the_vectors(group):
    secret = bytes.fromhex(group["S"])
    assert server_commitment(bytes.fromhex(group["ctx"]), secret).hex() == group["CS"]


@pytest.mark.parametrize("group", GROUPS, ids=NAMES)
def test_the_bots_commitments_of_the_vectors(group):
    made = {
        participant: bot_commitment(bytes.fromhex(group["ctx"]), participant, entropy)
        if entropy
        else NO_COMMITMENT
        for participant, entropy in by_participant(group["r"]).items()
    }
    assert made == by_participant(group["commits"])


@pytest.mark.parametrize("group", GROUPS, ids=NAMES)
def test_a_transcript_of_the_vectors(group):
    ctx, commitment = bytes.fromhex(group["ctx"]), bytes.fromhex(group["CS"])
    commits = by_participant(group["commits"])
    backwards = dict(sorted(commits.items(), reverse=True))
    assert transcript(ctx, commitment, commits).hex() == group["T"]
    assert transcript(ctx, commitment, backwards).hex() == group["T"]


@pytest.mark.parametrize("group", GROUPS, ids=NAMES)
def test_the_opened_key_of_the_vectors(group):
    assert opened_key(**published(group)).hex() == group["K"]


# Protocol fd2: what each participant is told.

FD2 = json.loads(PATH.read_text("utf-8"))


def test_the_vectors_of_fd2_are_what_is_made_today():
    assert PATH.read_text("utf-8") == text(), "run `python -m tests.referee.deal.fd2_vectors`"


@pytest.mark.parametrize("group", FD2, ids=NAMES)
def test_what_each_participant_of_the_vectors_is_told(group):
    ctx, secret = bytes.fromhex(group["ctx"]), bytes.fromhex(group["S"])
    fixed = bytes.fromhex(group["T"])
    for name, salt in by_participant(group["salts"]).items():
        view = view_context(ctx, name, salt)
        assert view.hex() == group["views"][name]
        committed = server_commitment(view, secret)
        assert committed.hex() == group["server_commits"][name]
        entropy = bytes.fromhex(group["r"][name])
        own = bot_commitment(view, name, entropy) if entropy else NO_COMMITMENT
        assert own.hex() == group["commits"][name]
        sealed = seal(view, fixed, salt)
        assert sealed.hex() == group["seals"][name]
        shown = view_transcript(view, committed, name, own, sealed)
        assert shown.hex() == group["view_transcripts"][name]


@pytest.mark.parametrize("group", FD2, ids=NAMES)
def test_the_opened_key_of_the_vectors_of_fd2(group):
    given = {**published(group), "views": by_participant(group["views"])}
    assert opened_key(**given).hex() == group["K"]
    if any(group["r"].values()):
        with pytest.raises(Lie, match="does not open its commitment"):
            opened_key(**given | {"views": None})


def told(group):
    """All that the participants of a group are told before it is over, each on its own."""
    names = ("views", "server_commits", "commits", "seals", "view_transcripts")
    for name in group["views"]:
        yield [value for each in names if any(bytes.fromhex(value := group[each][name]))]


@pytest.mark.parametrize("group", FD2, ids=NAMES)
def test_no_two_participants_are_told_the_same_nor_what_the_public_log_has(group):
    values = [value for each in told(group) for value in each]
    public = [group[name] for name in ("ctx", "CS", "T")]
    assert len({*values, *public}) == len(values) + 3


def test_the_vectors_have_a_bot_that_adds_nothing():
    assert any(not entropy for group in GROUPS for entropy in group["r"].values())


GROUP = next(group for group in GROUPS if group["name"] == "std52-noent")
A, BARE = "a/1", "b/1"
SECRET, ENTROPY = bytes.fromhex(GROUP["S"]), bytes.fromhex(GROUP["r"][A])


def flipped(value):
    return bytes([value[0] ^ 1]) + value[1:]


def both(of_a, of_bare):
    return {A: of_a, BARE: of_bare}


def short(kind):
    """A group whose arena or bot has committed to 31 bytes, which opens as it should."""
    given = published(GROUP)
    if kind == "secret":
        given["secret"] = SECRET[:31]
        given["server_commitment"] = server_commitment(given["context"], SECRET[:31])
    else:
        given["entropies"] = both(ENTROPY[:31], b"")
        commitment = bot_commitment(given["context"], A, ENTROPY[:31])
        given["commitments"] = both(commitment, NO_COMMITMENT)
    given["transcript"] = transcript(
        given["context"], given["server_commitment"], given["commitments"]
    )
    return given


ARENA, BOT = "the arena's secret does not open", f"participant {A} does not open"
COMMITMENT = bytes.fromhex(GROUP["commits"][A])

# fmt: off
LIES = [
    # changed                                             says                        why
    ({"secret": flipped(SECRET)},                         ARENA,                      "another secret"),
    ({"secret": b""},                                     ARENA,                      "no secret"),
    ({"server_commitment": bytes(32)},                    ARENA,                      "another commitment of the arena's"),
    ({"context": bytes(32)},                              ARENA,                      "another context"),
    ({"entropies": both(flipped(ENTROPY), b"")},          BOT,                        "another entropy"),
    ({"entropies": both(b"", b"")},                       BOT,                        "the entropy of a bot that committed left out"),
    ({"entropies": both(ENTROPY, ENTROPY)},               f"participant {BARE} opens entropy that it had not", "entropy for a bare bot"),
    ({"commitments": both(flipped(COMMITMENT), bytes(32))}, BOT,                      "another commitment of a bot's"),
    ({"commitments": both(COMMITMENT, COMMITMENT)},       f"participant {BARE} does not open", "a copied commitment, not opened"),
    ({"commitments": both(COMMITMENT, COMMITMENT), "entropies": both(ENTROPY, ENTROPY)},
                                                          f"participant {BARE} does not open", "a copied commitment, opened alike"),
    ({"transcript": bytes(32)},                           "the transcript is not that", "another transcript"),
    ({"entropies": {A: ENTROPY}},                         "are not those that opened", "a participant that opened nothing"),
    ({"commitments": {A: COMMITMENT}},                    "are not those that opened", "a participant that came late"),
]
# fmt: on


@pytest.mark.parametrize(("changed", "says", "why"), LIES, ids=[row[-1] for row in LIES])
def test_what_does_not_hold_is_named(changed, says, why):
    with pytest.raises(Lie, match=says):
        opened_key(**published(GROUP) | changed)


@pytest.mark.parametrize("kind", ["secret", "entropy"])
def test_what_can_be_guessed_is_refused_though_it_opens(kind):
    with pytest.raises(Lie, match=r"31 bytes|does not open"):
        opened_key(**short(kind))


CHANGED = {
    "server_id": "arena.exampl",
    "deal_set": "g",
    "game": "std52",
    "rules_hash": bytes(32),
    "deck": tuple(GROUP["deck"][::-1]),
    "boards": 2,
    "plan_hash": bytes(32),
    "participants": (A, "c/1"),
    "log_head": b"\1" * 32,
}


@pytest.mark.parametrize("name", [field.name for field in fields(DealTerms)])
def test_every_term_is_in_the_context(name):
    terms = terms_of(GROUP)
    assert context(replace(terms, **{name: CHANGED[name]})) != context(terms)


@pytest.mark.parametrize("participants", [("b", "a"), ("a", "a")], ids=["unsorted", "twice"])
def test_participants_are_named_in_one_way_only(participants):
    with pytest.raises(ValueError, match="sorted and all different"):
        context(replace(terms_of(GROUP), participants=participants))


def spelled(*parts):
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def test_the_rules_hash_is_over_game_version_and_sorted_options():
    settings = setting_texts({"hands": 4, "ante": True, "cut": "short", "blind": False})
    by_hand = spelled(
        b"fd1",
        b"rules",
        b"jam",
        b"\0\0\0\2",
        spelled(b"ante=true", b"blind=false", b"cut=short", b"hands=4"),
    )
    assert rules_hash("jam", 2, settings) == hashlib.sha256(by_hand).digest()


# fmt: off
OTHER_RULES = [
    ("loo", 2, {"hands": "4"},              "another game"),
    ("jam", 1, {"hands": "4"},              "another version"),
    ("jam", 2, {"hands": "8"},              "another value"),
    ("jam", 2, {"hand": "s4"},              "another name"),
    ("jam", 2, {},                          "an option less"),
    ("jam", 2, {"hands": "4", "ante": "1"}, "an option more"),
]
# fmt: on


@pytest.mark.parametrize(
    ("game", "version", "settings", "why"), OTHER_RULES, ids=[row[-1] for row in OTHER_RULES]
)
def test_other_rules_have_another_hash(game, version, settings, why):
    assert rules_hash(game, version, settings) != rules_hash("jam", 2, {"hands": "4"})


def test_a_plan_is_salted():
    by_hand = spelled(b"fd1", b"plan", b"m1 0 a/0", b"salt")
    assert plan_hash("m1 0 a/0", b"salt") == hashlib.sha256(by_hand).digest()
    assert plan_hash("m1 0 a/0", b"other") != plan_hash("m1 0 a/0", b"salt")


def test_a_plan_names_bots_so_that_no_name_can_pass_for_two():
    assert plan_line("m1", 2, [("big bot", 0), ("a/0 b", 1)]) == "m1 2 big%20bot/0 a%2F0%20b/1"


@pytest.mark.parametrize("game", GAMES, ids=[game.id for game in GAMES])
def test_the_first_pack_is_that_of_the_first_shuffle(game):
    """Deals that note what they are handed and leave it as it is agree, in every game."""

    seats = game.seats[0]
    options, noted = game.options({}, seats), RecordedDeals(UnshuffledDeals())
    game.rules.start(options, seats, noted)
    assert (
        first_pack(game.rules, options, seats)
        == (*[shuffle.cards for shuffle in noted.shuffles], ())[0]
    )
