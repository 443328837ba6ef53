"""The page checks what the arena signed: its files, and what bots were shown."""

import json

import pytest

from arena.records.records import CHAIN_START, chained
from arena.records.signing import ArenaKey, replay_statement, transcript_statement
from cardarena.v1 import journal_pb2
from tests.browser.fair_matches import played, seeded, written
from tests.browser.node import failures
from tests.browser.test_receipts import receipt_of

KEY, OTHER_KEY = ArenaKey.new(), ArenaKey.new()


def signed(made, key=KEY, statement=replay_statement):
    """The match's replay with the arena's signature."""
    made.records[-1].revealed.public_key = key.public_key
    written(made.records)  # makes the chain fit
    chain = CHAIN_START
    for record in made.records:
        chain = chained(chain, record.SerializeToString())
    signature = key.sign(statement(chain))
    made.records.append(journal_pb2.Record(match=1, signed=journal_pb2.Signed(signature=signature)))
    return made


def texts(report, state):
    return [each["text"] for each in report["checks"] if each["state"] == state]


@pytest.mark.parametrize("made", [played, seeded], ids=["a fair deal", "a seeded match"])
def test_a_signed_file_says_by_which_key(node, made):
    plain, report = node.examine(made().replay), node.examine(signed(made()).replay)
    assert report["verdict"] == plain["verdict"]
    assert any(KEY.public_key.hex() in text for text in texts(report, "pass"))
    assert any("is not signed" in text for text in texts(plain, "info"))
    assert ["Arena’s public key", KEY.public_key.hex()] in report["hashes"]


def another_name(made):
    made.records[0].opened.entrants[0].version = "2.0"


def another_end(made):
    made.records[-3].closed.end_us += 1


def another_key(made):
    made.records[-2].revealed.public_key = OTHER_KEY.public_key


def no_key(made):
    made.records[-2].revealed.public_key = b"\1" * 31


def a_flipped_bit(made):
    signature = bytearray(made.records[-1].signed.signature)
    signature[40] ^= 1
    made.records[-1].signed.signature = bytes(signature)


def no_signature(made):
    made.records[-1].signed.signature = b""


CHANGES = [another_name, another_end, another_key, no_key, a_flipped_bit, no_signature]


@pytest.mark.parametrize("change", CHANGES, ids=[each.__name__ for each in CHANGES])
def test_a_file_that_was_changed_after_it_was_signed_is_told(node, change):
    made = signed(played())
    change(made)
    report = node.examine(made.replay)
    assert report["verdict"] == "lie"
    assert any("The signature is not of this file" in text for text in failures(report))


def test_a_signature_for_transcripts_is_none_for_files(node):
    report = node.examine(signed(played(), statement=transcript_statement).replay)
    assert any("The signature is not of this file" in text for text in failures(report))


# fmt: off
DAMAGE = [
    (lambda records: records.pop(),                                        "the arena’s signature",       "no signature"),
    (lambda records: setattr(records[-2].revealed, "public_key", b""),     "does not name the arena’s key", "no key"),
    (lambda records: records.append(records[-1]),                          "is out of place",             "two signatures"),
    (lambda records: records.insert(0, records.pop()),                     "is out of place",             "a signature first"),
]
# fmt: on


@pytest.mark.parametrize(("change", "said", "why"), DAMAGE, ids=[row[-1] for row in DAMAGE])
def test_a_signature_out_of_place_is_damage(node, change, said, why):
    made = signed(played())
    change(made.records)
    assert said in node.examine(made.replay)["damaged"]


def receipt(made, key=KEY, statement=transcript_statement, **fields):
    """Alpha's, with a signature of what it was shown."""
    shown = bytes.fromhex(fields.get("transcript") or json.loads(receipt_of(made))["transcript"])
    signature = key.sign(statement(shown)).hex()
    signs = {"public_key": key.public_key.hex(), "signature": signature}
    return receipt_of(made, **(signs | fields))


def test_a_signed_receipt_bears_a_signed_replay_out(node):
    made = signed(played())
    report = node.examine(made.replay, receipts=[receipt(made)])
    assert report["verdict"] == "fair"
    assert any("holds the arena’s signature of its transcript" in t for t in texts(report, "pass"))


def test_a_second_story_that_the_arena_signed_is_proved(node):
    made = signed(played())
    report = node.examine(made.replay, receipts=[receipt(made, transcript="11" * 32)])
    assert report["verdict"] == "lie"
    assert any("holds the arena’s signature of its transcript" in t for t in texts(report, "pass"))
    (failure,) = failures(report)
    assert "holds another transcript" in failure


# fmt: off
RECEIPTS = [
    ({"key": OTHER_KEY},                 "names another key of the arena", "another key"),
    ({"statement": replay_statement},    "that the arena did not sign",    "a signature for replays"),
    ({"signature": "00" * 64},           "that the arena did not sign",    "a signature of nothing"),
    ({"signature": ""},                  "that the arena did not sign",    "no signature"),
    ({"signature": None},                "that the arena did not sign",    "a signature that never came"),
    ({"signature": "xy"},                "of another kind",                "no digits"),
    ({"public_key": 7},                  "of another kind",                "a number"),
]
# fmt: on


@pytest.mark.parametrize(("fields", "said", "why"), RECEIPTS, ids=[row[-1] for row in RECEIPTS])
def test_a_receipt_with_a_wrong_signature_is_told(node, fields, said, why):
    made = signed(played())
    report = node.examine(made.replay, receipts=[receipt(made, **fields)])
    assert report["verdict"] == "lie"
    assert any(said in text for text in failures(report))


def test_a_browser_without_ed25519_says_so_and_accuses_nobody(node):
    made = signed(played())
    report = node.examine(made.replay, receipts=[receipt(made)], older=True)
    assert report["verdict"] == "fair"
    assert any("this browser cannot check that" in text for text in texts(report, "note"))
    assert not any(KEY.public_key.hex() in text for text in texts(report, "pass"))
