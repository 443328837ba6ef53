"""The life of a version, event by event; and the hash of what it consists of."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.contents import SubmittedFile, contents_sha256
from arena.results.versions import BEGINNINGS, FOLLOWS, NotNow, VersionEvent, require_follows

LIVES = [
    ("submitted checked qualified active", "the usual way"),
    ("submitted checked qualified active inactive active", "it steps back and comes again"),
    ("submitted checked rejected retired", "it failed a game"),
    ("submitted rejected", "its archive was no archive"),
    ("submitted checked qualified active retired banned", "retired does not save it"),
]
REFUSED = [
    ("qualified", "nothing begins but with a submission"),
    ("submitted qualified", "it was never checked"),
    ("submitted checked active", "it never qualified"),
    ("submitted checked rejected active", "a rejected one is not activated"),
    ("submitted submitted", "it is submitted once"),
    ("submitted checked qualified active active", "it is active already"),
    ("submitted retired active", "retired is for good"),
    ("submitted banned retired", "nothing follows a ban"),
]


def live(words):
    state = None
    for event in map(VersionEvent, words.split()):
        require_follows(state, event)
        state = event


@pytest.mark.parametrize(("words", "reason"), LIVES, ids=[row[1] for row in LIVES])
def test_allowed_histories_of_a_version(words, reason):
    live(words)


@pytest.mark.parametrize(("words", "reason"), REFUSED, ids=[row[1] for row in REFUSED])
def test_refused_histories_of_a_version(words, reason):
    with pytest.raises(NotNow, match="cannot become"):
        live(words)


# fmt: off
CURES = [
    ("submitted active",          "report` says how far it is", "it is not checked yet"),
    ("submitted rejected active", "report` says why",           "it was rejected"),
    ("submitted retired active",  "submit its files again",     "it was withdrawn"),
    ("submitted banned active",   "only nothing \\(",           "a ban has no cure"),
    ("submitted qualified",       "rejected, retired \\(",      "the arena's own step needs none"),
]
# fmt: on


@pytest.mark.parametrize(("words", "text", "why"), CURES, ids=[row[-1] for row in CURES])
def test_who_cannot_activate_a_version_reads_what_helps(words, text, why):
    with pytest.raises(NotNow, match=text):
        live(words)


def test_every_state_but_a_ban_can_be_banned_and_every_one_is_reached():
    assert {state for state, after in FOLLOWS.items() if VersionEvent.BANNED not in after} == {
        VersionEvent.BANNED
    }
    assert set().union(*FOLLOWS.values()) | BEGINNINGS == set(VersionEvent) == set(FOLLOWS)


files = st.lists(
    st.builds(
        SubmittedFile.of,
        st.text("ab/.", min_size=1, max_size=4),
        st.binary(max_size=3),
        executable=st.booleans(),
    ),
    max_size=5,
    unique_by=lambda each: each.path,
)


@given(files, st.randoms(use_true_random=False))
def test_the_order_of_files_does_not_matter(submitted, lots):
    mixed = lots.sample(submitted, len(submitted))
    assert contents_sha256(mixed) == contents_sha256(submitted)


@given(st.lists(files, min_size=2, max_size=4))
def test_other_contents_have_another_hash(submissions):
    for one, other in itertools.combinations(submissions, 2):
        same = sorted(map(repr, one)) == sorted(map(repr, other))
        assert (contents_sha256(one) == contents_sha256(other)) == same


def test_two_files_of_one_path_are_an_error():
    twice = [SubmittedFile.of("bot.py", data) for data in (b"1", b"2")]
    with pytest.raises(ValueError, match="one path"):
        contents_sha256(twice)
