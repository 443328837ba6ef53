"""Dice: what follows from what, what nobody can know, and that twins get the same luck."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from arena.games.catalogue import GAMES, game_by_id
from arena.house.bot import HouseBot
from arena.referee.deal import COMMON, DICE_BYTES, KeyedDeals, dice_of, seeded_key
from arena.referee.deal.streams import board_key, encode_parts, hmac_sha256
from arena.sandbox.house_levels import STEPS
from cardarena import Ask, Bot, local
from cardarena.v1.play_pb2 import Ask as AskMessage
from cardarena.v1.play_pb2 import MatchStart
from tests.live.dealing import order_of
from tests.rows import EACH_GAME, slow_unless
from tests.test_sample_bots import bot_of, load

KEY = seeded_key("dice")
VECTORS = json.loads((Path(__file__).parent / "dice_vectors.json").read_text("utf-8"))


def ask_of(dice, decision, match=1):
    message = AskMessage(ask_id=1, match=match, decision=decision)
    message.jam.SetInParent()
    start = MatchStart(match=match, dice=dice)
    return Ask(message, start, "jam", before=None, now_s=lambda: 0.0)


@pytest.mark.parametrize("vector", VECTORS["dice"], ids=lambda each: f"table {each['table']}")
def test_dice_follow_from_the_key(vector):
    key = bytes.fromhex(vector["key"])
    dice = dice_of(key, vector["table"], len(vector["seats"]))
    assert [each.hex() for each in dice.seats] == vector["seats"]
    for seat, own in enumerate(dice.seats):
        numbers = vector["table"].to_bytes(4, "big"), seat.to_bytes(4, "big")
        assert own == hmac_sha256(key, encode_parts(b"fd1", b"dice", *numbers))[:DICE_BYTES]


@pytest.mark.parametrize(
    "vector", VECTORS["seeds"], ids=lambda each: f"decision {each['decision']}"
)
def test_the_seed_of_a_decision_follows_from_the_dice(vector):
    ask = ask_of(bytes.fromhex(vector["dice"]), vector["decision"])
    assert ask.seed.hex() == vector["seed"]
    assert ask.random.getrandbits(64) == vector["python"]


def test_random_numbers_of_a_decision_go_on():
    ask = ask_of(bytes(16), 1)
    assert ask.random.random() != ask.random.random()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ((b"", 1, 1), (b"", 1, 1), True),
        ((b"", 1, 1), (b"", 2, 1), False),
        ((b"", 1, 1), (b"", 1, 2), False),
    ],
    ids=["a decision has one seed", "decisions differ", "matches and seats differ"],
)
def test_without_dice_of_the_arena_the_sdk_draws_some(one, other, same):
    assert (ask_of(*one).seed == ask_of(*other).seed) is same


def test_no_two_seats_or_tables_have_the_same_dice():
    dice = [each for table in range(9) for each in dice_of(KEY, table, 6).seats]
    assert len({*dice}) == len(dice) == 54


def test_the_dice_of_a_seat_depend_on_neither_the_number_of_seats_nor_who_sits_there():
    assert dice_of(KEY, COMMON, 6).seats[:2] == dice_of(KEY, COMMON, 2).seats


def test_dice_have_a_label_that_nothing_else_derives_from():
    """Under the label of boards the dice of table 0 would be the start of a board's key."""
    boards = [board_key(KEY, board)[:DICE_BYTES] for board in range(8)]
    dice = [each for table in range(8) for each in dice_of(KEY, table, 8).seats]
    assert not {*boards} & {*dice}


def test_dice_and_cards_are_independent():
    """Whether the first byte of the dice is even says nothing of the first card: 2,000 keys, p > .001."""
    table = {}
    for at in range(2000):
        key = seeded_key(f"independent {at}")
        card = KeyedDeals(key).shuffle(0, "deck", tuple(range(4)))[0]
        even = dice_of(key, COMMON, 1).seats[0][0] % 2
        table[card, even] = table.get((card, even), 0) + 1
    chi2 = sum((count - 250) ** 2 / 250 for count in table.values())
    assert len(table) == 8
    assert chi2 < 24.32  # 7 degrees of freedom


@pytest.mark.parametrize(
    ("common", "tables"),
    [(True, [0, 0]), (False, [1, 2])],
    ids=["the same at all tables", "a table has its own"],
)
def test_the_table_of_dice_follows_from_the_order(common, tables):
    order = replace(order_of("ann", "bob"), common_dice=common)
    assert [order.dice_table(match_id) for match_id in order.match_ids] == tables


LEVELS = ["random", "sample", "search-20ms"]


def twin(game, kind):
    """The sample bot of a game, or the house bot of a level."""
    if kind in LEVELS:
        return type("HouseBot", (HouseBot,), {"level": kind})
    return bot_of(load(f"{game_by_id(game).family}.py"))


@pytest.mark.parametrize(
    ("game", "kind"),
    slow_unless(
        lambda game, kind: game == "sixty_six" or (game == "jam" and kind != "search-20ms"),
        [(game.id, kind) for game in GAMES for kind in ["sample bot", *LEVELS]],
        EACH_GAME,
    ),
)
def test_twins_have_margin_0(game, kind, monkeypatch):
    """Two versions without a difference score the same over the rotations of a deal-set."""
    monkeypatch.setitem(STEPS, "search-20ms", 60)  # what it draws counts, not how much it searches
    seats = game_by_id(game).seats[0]
    totals = [0] * seats
    for rotation in range(seats):
        bots = [twin(game, kind)] * seats
        scores = local.play(game, bots, options={"hands": seats}, seed="twins").scores
        for seat, score in enumerate(scores):
            totals[(seat - rotation) % seats] += score
    assert len({*totals}) == 1


def test_a_bot_that_draws_elsewhere_is_no_twin():
    """So the test of twins can fail."""

    class OwnChance(Bot):
        def move(self, ask):
            return random.choice(ask.moves)

    assert len({local.play("jam", [OwnChance] * 2, seed="twins").scores for _ in range(12)}) > 1
