"""Deals by protocol fd1: its published vectors, and what every deal must keep to."""

import ast
import hmac
import json
import os
import pickle
import sys
from collections import Counter
from itertools import combinations, product
from pathlib import Path

import pytest

from arena.games.cards import PACK_52
from arena.referee.deal import KeyedDeals, KeyStream, board_key, deal_set_key, new_key, seeded_key
from arena.referee.deal.streams import encode_parts, hmac_sha256, shuffled

GROUPS = json.loads((Path(__file__).parent / "fd1_vectors.json").read_text())


def each_board():
    for group in GROUPS:
        for board in group["decks"]:
            yield pytest.param(group, board, id=f"{group['name']} board {board['board']}")


@pytest.mark.parametrize("group", GROUPS, ids=[group["name"] for group in GROUPS])
def test_the_key_follows_from_transcript_secret_and_entropy(group):
    entropies = {bot: bytes.fromhex(entropy) for bot, entropy in group["r"].items()}
    key = deal_set_key(bytes.fromhex(group["T"]), bytes.fromhex(group["S"]), entropies)
    assert key.hex() == group["K"]


@pytest.mark.parametrize("group", GROUPS, ids=[group["name"] for group in GROUPS])
def test_the_key_does_not_depend_on_the_order_in_which_bots_are_named(group):
    backwards = {bot: bytes.fromhex(group["r"][bot]) for bot in sorted(group["r"], reverse=True)}
    key = deal_set_key(bytes.fromhex(group["T"]), bytes.fromhex(group["S"]), backwards)
    assert key.hex() == group["K"]


@pytest.mark.parametrize(("group", "board"), list(each_board()))
def test_a_board_of_the_vectors(group, board):
    of_board = board_key(bytes.fromhex(group["K"]), board["board"])
    assert of_board.hex() == board["board_key"]
    deck = KeyStream(of_board, "deck")
    assert list(shuffled(group["deck"], deck)) == board["order"]
    assert deck.rejected == board["rejected"]
    assert KeyStream(of_board, "coin").below(2) == board["coin"]


@pytest.mark.parametrize("key_bytes", [0, 1, 32, 63, 64, 65, 200])
@pytest.mark.parametrize("message_bytes", [0, 1, 55, 64, 5_000])
def test_the_keyed_hash_is_the_libraries(key_bytes, message_bytes):
    key, message = os.urandom(key_bytes), os.urandom(message_bytes)
    assert hmac_sha256(key, message) == hmac.digest(key, message, "sha256")


def test_the_vectors_hold_the_branch_that_rejects():
    rejected = [board["rejected"] for group in GROUPS for board in group["decks"]]
    assert 0 in rejected
    assert max(rejected) > 50


@pytest.mark.parametrize(("group", "board"), list(each_board()))
def test_a_match_is_dealt_what_the_vectors_say(group, board):
    deals = KeyedDeals(bytes.fromhex(group["K"]))
    assert list(deals.shuffle(board["board"], "deck", group["deck"])) == board["order"]


def stream_of(given):
    """A stream of given bytes."""
    stream = KeyStream(b"", "")
    stream._buffer = bytes(given)
    return stream


def test_a_draw_from_one_byte_is_exactly_uniform():
    """Each of the 256 bytes is tried: every result comes up equally often, and no more
    bytes are rejected than do not fill a last span of n.
    """
    for n in range(2, 257):
        drawn, rejected = Counter(), 0
        for value in range(256):
            stream = stream_of([value, 0])
            result = stream.below(n)
            if stream.rejected:
                rejected += 1
            else:
                drawn[result] += 1
        assert set(drawn) == set(range(n)), n
        assert set(drawn.values()) == {256 // n}, n
        assert rejected == 256 % n, n


# fmt: off
DRAWS = [
    # n       bytes                  drawn     used  why
    (1,       [],                    0,         0,   "one outcome needs no byte"),
    (2,       [255],                 1,         1,   "one byte holds 1"),
    (52,      [207],                 51,        1,   "the last value below 4 x 52"),
    (52,      [208, 51],             51,        2,   "the first value that is rejected"),
    (52,      [255, 208, 5],         5,         3,   "rejected as often as it takes"),
    (256,     [255],                 255,       1,   "one byte holds 255, and nothing is rejected"),
    (257,     [1, 0],                256,       2,   "two bytes, the first counts more"),
    (257,     [255, 255, 0, 7],      7,         4,   "65,535 is 255 x 257: the last span is cut"),
    (65_536,  [255, 255],            65_535,    2,   "two bytes hold 65,535"),
    (65_537,  [1, 0, 0],             65_536,    3,   "three bytes"),
]
# fmt: on


@pytest.mark.parametrize(("n", "given", "drawn", "used", "why"), DRAWS, ids=[r[-1] for r in DRAWS])
def test_a_draw_takes_the_fewest_bytes(n, given, drawn, used, why):
    stream = stream_of(given)
    assert stream.below(n) == drawn
    assert stream._at == used


@pytest.mark.parametrize("n", [0, -1])
def test_nothing_is_drawn_from_an_empty_range(n):
    with pytest.raises(ValueError, match="positive"):
        stream_of([1]).below(n)


@pytest.mark.parametrize("n", [0, 1, 2, 52, 256, 257, 600])
def test_descending_draws_are_those_of_below(n):
    """They reject and use up the same bytes, from the middle of a block too."""
    quick, plain = (KeyStream(b"key", "deck") for _ in range(2))
    for stream in (quick, plain):
        stream.below(1_000_000)
    assert quick.descend(n) == [plain.below(span) for span in range(n, 1, -1)]
    assert quick.rejected == plain.rejected
    assert quick.below(256) == plain.below(256)


def test_a_shuffle_reaches_every_order_once(monkeypatch):
    """Fisher and Yates of four cards: 4 x 3 x 2 choices, 24 different orders."""
    every = []
    for choices in product(range(4), range(3), range(2)):
        monkeypatch.setattr(KeyStream, "descend", lambda *_, of=choices: [*of])
        every.append(shuffled("ABCD", KeyStream(bytes(32), "deck")))
    assert len(set(every)) == 24
    assert all(sorted(order) == ["A", "B", "C", "D"] for order in every)


# fmt: off
WHERE = [
    (seeded_key("1"), 0, "deck",      "a deal"),
    (seeded_key("2"), 0, "deck",      "another seed"),
    (seeded_key("1"), 1, "deck",      "another hand"),
    (seeded_key("1"), 0, "rebuild 1", "another label"),
    (seeded_key("1"), 0, "deck ",     "a label that is almost the same"),
    (seeded_key(""),  0, "deck",      "an empty seed"),
    (new_key(),       0, "deck",      "a fresh key"),
    (new_key(),       0, "deck",      "another fresh key"),
]
# fmt: on


@pytest.mark.parametrize(("one", "other"), list(combinations(WHERE, 2)), ids=lambda row: row[-1])
def test_deals_at_different_places_have_nothing_in_common(one, other):
    first, second = (
        KeyedDeals(key).shuffle(hand, label, PACK_52) for key, hand, label, _ in (one, other)
    )
    assert first != second
    in_place = sum(a == b for a, b in zip(first, second, strict=True))
    assert in_place < 10  # of independent orders one in 10 million has as many


def test_a_deal_is_the_same_whatever_was_dealt_before():
    fresh, used = KeyedDeals(seeded_key("1")), KeyedDeals(seeded_key("1"))
    for hand, label in product(range(5), ("deck", "rebuild 1")):
        used.shuffle(hand, label, PACK_52)
    assert fresh.shuffle(3, "deck", PACK_52) == used.shuffle(3, "deck", PACK_52)


def test_lists_of_parts_are_joined_without_ambiguity():
    lists = [(), (b"",), (b"", b""), (b"ab",), (b"a", b"b"), (b"", b"ab"), (b"\0\0\0\1a",)]
    assert len({encode_parts(*parts) for parts in lists}) == len(lists)


# Where chance comes from.

FOLDER = Path(sys.modules[KeyStream.__module__].__file__).parent
KNOWN = {"arena", "collections", "dataclasses", "hashlib", "hmac", "os", "typing", "urllib"}


def imported(path):
    """The packages that a module imports."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.partition(".")[0]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_chance_comes_from_nowhere_else(path):
    """Neither from a generator that can be predicted, nor from a clock, nor from the process."""
    assert set(imported(path)) <= KNOWN
    drawn = {node.attr for node in ast.walk(ast.parse(path.read_text("utf-8"))) if of_os(node)}
    assert drawn <= {"urandom"}


def of_os(node):
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
    )


def test_no_key_is_known_before(monkeypatch):
    """All of its 256 bits are the system's, and none is left out."""
    asked = []

    def drawn(size):
        asked.append(size)
        return given

    monkeypatch.setattr(os, "urandom", drawn)
    keys = set()
    for at in range(32):
        given = bytes(at) + b"\x01" + bytes(31 - at)
        keys.add(new_key())
    assert asked == [32] * 32
    assert len(keys) == 32


def test_the_deals_of_a_match_cross_processes():
    """Compiled as well, where a class is not made again without its arguments."""
    deals = KeyedDeals(b"k" * 32)
    again = pickle.loads(pickle.dumps(deals))
    assert again.shuffle(1, "pack", PACK_52) == deals.shuffle(1, "pack", PACK_52)
