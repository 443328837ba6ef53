"""The files of deals, damaged in the middle: nothing that was told is untold, and nothing is cut silently."""

import hashlib
from collections import Counter

import pytest

from arena.records.deal_book import DEALS_MAGIC, LOG_MAGIC, DealState, read_deals, read_log, scan
from arena.records.journal.deal_log import DAMAGED, LEFT_BYTES
from arena.records.records import read_records
from cardarena.v1 import deals_pb2
from tests.records.test_deal_log import draw, files, fix, open_log  # noqa: F401 - a fixture

SECRETS, PUBLIC = 0, 1
MAGIC = (DEALS_MAGIC, LOG_MAGIC)
KIND = (deals_pb2.DealRecord, deals_pb2.LogEntry)


class Scene:
    """Two deal-sets in play and one that is over, in both files; and what was told of them."""

    def __init__(self, files):  # noqa: F811
        self.files = files
        with open_log(files) as log:
            self.first, self.over = draw(log, "first"), draw(log, "over")
            fix(log, self.first)
            fix(log, self.over)
            log.opened(self.over.context)
            self.second = draw(log, "second")
            fix(log, self.second)
            self.head = log.head
        self.intact = [path.read_bytes() for path in files]

    def records(self, which):
        """Where the records of a file begin and end, and what each says of which deal-set."""
        with self.files[which].open("rb") as file:
            found = list(read_records(file, MAGIC[which]))
        ends = [each.offset for each in found[1:]] + [len(self.intact[which])]
        names = {each.context: each.fair_deal.deal_set for each in self.sets}
        for each, end in zip(found, ends, strict=True):
            message = KIND[which].FromString(each.body)
            kind = message.WhichOneof("body")
            yield each.offset, end, f"{kind} {names[getattr(message, kind).context]}"

    @property
    def sets(self):
        return self.first, self.over, self.second

    def flip(self, which, what, *, byte=12):
        """Flip a bit of the record that says `what`; returns the file's bytes."""
        ((begin, end),) = [at[:2] for at in self.records(which) if at[2] == what]
        data = bytearray(self.intact[which])
        assert begin + byte < end
        data[begin + byte] ^= 4
        self.files[which].write_bytes(bytes(data))
        return bytes(data)


@pytest.fixture
def scene(files):  # noqa: F811
    return Scene(files)


def void_reasons(scene):
    """Why deal-sets are void, as the public log tells whoever reads it behind the damage."""
    found = {}
    with open_log(scene.files) as log:
        for each in scene.sets:
            deal = log.book.get(each.context)
            found[each.fair_deal.deal_set] = "gone" if deal is None else deal.state
    return found


FIXED = DealState.FIXED
# fmt: off
LOST = [
    # the file and record with a flipped bit; the deal-sets that are still in play; the one that is void
    (SECRETS, "drawn first",      {"second"},          None,     "a secret"),
    (SECRETS, "fixed first",      {"second"},          "first",  "what the bots added to one in play"),
    (SECRETS, "drawn over",       {"first", "second"}, None,     "the secret of one that is over"),
    (SECRETS, "fixed over",       {"first", "second"}, None,     "what the bots added to one that is over"),
    (SECRETS, "opened over",      {"first", "second"}, None,     "that one is over"),
    (SECRETS, "drawn second",     {"first"},           None,     "the secret of the last"),
    (SECRETS, "fixed second",     {"first"},           "second", "the last record of all"),
    (PUBLIC,  "committed first",  {"second"},          "first",  "a commitment to one in play"),
    (PUBLIC,  "committed over",   {"first", "second"}, None,     "a commitment to one that is over"),
    (PUBLIC,  "opened over",      {"first", "second"}, None,     "how one was opened"),
    (PUBLIC,  "committed second", {"first"},           "second", "the last entry of all"),
]
# fmt: on


@pytest.mark.parametrize("byte", [1, 12], ids=["its length", "its body"])
@pytest.mark.parametrize(
    ("which", "what", "in_play", "void", "why"), LOST, ids=[row[-1] for row in LOST]
)
def test_what_one_flipped_bit_costs(which, what, in_play, void, why, byte, scene):
    damaged = scene.flip(which, what, byte=byte)
    keys = {each.fair_deal.deal_set: each.key for each in scene.sets}
    for start in range(3):
        with open_log(scene.files) as log:
            name = scene.files[which].name
            assert any(each.startswith(f"{name}: ") for each in log.damage), "it is said"
            assert not any("were moved" in each for each in log.damage)
            live = {each.fair_deal.deal_set: each.opening.key for each in log.live}
            assert live == {each: keys[each] for each in in_play}, start
    assert scene.files[which].read_bytes().startswith(damaged), "nothing is cut off"
    assert not list(scene.files[which].parent.glob("*.torn-*"))
    # Whoever reads the log behind the damage finds who is to blame, once.
    reasons = Counter(void_reason(entry) for entry in behind(scene))
    assert reasons == Counter({f"{void}: {DAMAGED}": 1} if void else {})


def behind(scene):
    """All entries of the public log that can be read."""
    found = []
    scan(scene.files[PUBLIC], LOG_MAGIC, found.append, lost=lambda: None)
    return [entry for entry in map(deals_pb2.LogEntry.FromString, found) if void_reason(entry)]


def void_reason(entry):
    names = {"first", "over", "second"}
    if not entry.opened.void_reason:
        return ""
    (name,) = [n for n in names if hashlib.sha256(n.encode()).digest() == entry.opened.secret]
    return f"{name}: {entry.opened.void_reason}"


@pytest.mark.parametrize("what", ["committed first", "committed over"])
def test_the_head_of_a_damaged_log_is_the_one_that_was_sent(what, scene):
    """New deal-sets follow the head of all that was told, so that who has a copy sees no break."""
    scene.flip(PUBLIC, what)
    with open_log(scene.files) as log:
        void = what == "committed first"  # then an entry follows that closes it
        assert (log.head == scene.head) is not void
        new = draw(log, "new")
        told = log.head
    with open_log(scene.files) as log:
        assert log.head != told  # it was not fixed, and is void
        assert (new.fair_deal.log_head == scene.head) is not void
    # With the damaged entry as it was, all heads fit: nothing else was changed.
    mended = bytearray(scene.files[PUBLIC].read_bytes())
    mended[: len(scene.intact[PUBLIC])] = scene.intact[PUBLIC]
    scene.files[PUBLIC].write_bytes(bytes(mended))
    whole = read_log(scene.files[PUBLIC])
    assert whole.damage == []
    for each in (*scene.sets, new):
        assert whole.heads[each.context] == each.fair_deal.log_head


def test_the_packs_of_matches_are_found_behind_damage(scene):
    scene.flip(SECRETS, "drawn first")
    book = read_deals(scene.files[SECRETS])
    assert book.damage
    assert book.opening(scene.second.opened).key == scene.second.key
    assert book.opening(scene.first.opened) is None


def test_what_is_written_behind_damage_at_the_very_end_is_found_again(scene):
    scene.flip(SECRETS, "fixed second")
    with open_log(scene.files) as log:
        new = draw(log, "new")
        fix(log, new)
    with open_log(scene.files) as log:
        assert {each.fair_deal.deal_set for each in log.live} == {"first", "new"}
        assert log.book.opening(new.opened).key == new.key


def test_damage_that_is_too_long_to_be_read_past_is_moved_away_and_said(scene):
    noise = bytes(LEFT_BYTES + 1)
    scene.files[SECRETS].write_bytes(scene.intact[SECRETS] + noise)
    with open_log(scene.files) as log:
        assert [each for each in log.damage if f"the last {len(noise)} bytes were moved" in each]
        assert {each.fair_deal.deal_set for each in log.live} == {"first", "second"}
    assert read_deals(scene.files[SECRETS]).damage == []


def test_a_reader_of_the_public_log_trusts_nothing_behind_damage(scene):
    """It cannot know what is missing there; so it stops, and says where."""
    scene.flip(PUBLIC, "committed over")
    log = read_log(scene.files[PUBLIC])
    assert [name for name in log.damage if "commitments: the record at byte" in name]
    assert log.committed.keys() == {scene.first.context}
