"""A move that names a set of cards means the same in whatever order a bot names them.

The rules make it one move, so state, events, journal and replay have one way to
write it. Where an order does mean something, the table says what.
"""

import random
from typing import get_args, get_origin, get_type_hints

import pytest
import trio
from trio.testing import MockClock

from arena.games.arlington.messages import LeadSet, Overplay
from arena.games.catalogue import GAMES, game_by_id
from arena.games.chinese_poker.messages import Set
from arena.games.eleusis.messages import Play
from arena.games.loo.messages import Exchange
from arena.games.notation import Notation
from arena.games.oklahoma_rummy.melds import MeldKind
from arena.games.oklahoma_rummy.messages import Meld, TakePile
from arena.games.open_face_chinese_poker.messages import Place
from arena.local.turns import turns
from arena.referee.seat import Answer
from arena.referee.wire.games import codec_of
from arena.testing.deals import SeededDeals
from arena.testing.referee import MemoryLedger, Reply, Scripted, play, seeded_spec
from cardarena.v1 import game_pb2

# fmt: off
SETS = [
    # game                       move       fields that name sets        what they are
    ("loo",                      Exchange,  ("cards",),                  "discards"),
    ("arlington",                LeadSet,   ("cards",),                  "a set that is led"),
    ("arlington",                Overplay,  ("cards",),                  "a set that beats another"),
    ("chinese_poker",            Set,       ("front", "middle", "back"), "rows"),
    ("open_face_chinese_poker",  Place,     ("front", "middle", "back"), "rows that are filled"),
    ("oklahoma_rummy",           Meld,      ("cards",),                  "a meld, if it is a set"),
    ("oklahoma_rummy",           TakePile,  ("cards",),                  "a meld with the top discard"),
]
ORDERS = [
    # game            move      field    what its order says
    ("oklahoma_rummy", Meld,     "cards", "a run's: what each 2 stands for (R5)"),
    ("oklahoma_rummy", TakePile, "cards", "a run's: what each 2 stands for (R5)"),
    ("eleusis",        Play,     "cards", "which card follows which"),
]
# fmt: on
GAMES_WITH_SETS = sorted({row[0] for row in SETS})
MATCHES = {"loo": 2, "arlington": 2, "oklahoma_rummy": 3}
"""Matches looked at; one where every match has a set at every turn."""


def test_every_move_that_names_cards_is_in_the_tables():
    found = {
        (game.family, cls, name)
        for game in GAMES
        for cls in get_args(game.messages.Move) or (game.messages.Move,)
        for name, hint in get_type_hints(cls).items()
        if get_origin(hint) is tuple
    }
    sets = {(family, cls, name) for family, cls, names, _ in SETS for name in names}
    assert found == sets | {row[:3] for row in ORDERS}


def sets_in(game, move):
    """The fields of a move that name more than one card of which the order means nothing."""
    if game.family == "oklahoma_rummy" and getattr(move, "kind", None) is MeldKind.RUN:
        return ()
    names = next((row[2] for row in SETS if row[:2] == (game.family, type(move))), ())
    return [name for name in names if len(set(getattr(move, name))) > 1]


def named_otherwise(game, move, draw):
    """What a bot sends that names the cards of a move in another order."""
    message = game_pb2.GameMove.FromString(codec_of(game).game_move(move))
    for name in sets_in(game, move):
        field = getattr(getattr(message, game.family), name)
        cards = list(field)
        while list(field) == cards:
            draw.shuffle(cards)
        del field[:]
        field.extend(cards)
    return message


def moments(game, seats, seed, draw):
    """A match by random players that like to name cards: states and seats that choose a set."""
    rules, deals = game.rules, SeededDeals(f"any order {seed}")

    def choose(state, seat):
        moves = rules.moves(state, seat)
        some = [*moves.offered, *(moves.sample(draw.randrange) for _ in range(3))]
        sets = [move for move in some if sets_in(game, move)]
        return draw.choice(sets or some)

    for turn in turns(rules, game.options({"hands": seats}, seats), seats, deals, choose):
        if turn.chosen:
            yield turn.before, turn.chosen, deals


@pytest.mark.parametrize("game_id", GAMES_WITH_SETS)
def test_another_order_is_the_same_move(game_id):
    game, draw = game_by_id(game_id), random.Random(game_id)
    rules, codec, notation = game.rules, codec_of(game), Notation(game.messages.Move)
    seen = set()
    for seed in range(MATCHES.get(game_id, 1)):
        for state, chosen, deals in moments(game, game.seats[0], seed, draw):
            others = []
            for seat, move in chosen:
                again = move
                if sets_in(game, move):
                    sent = named_otherwise(game, move, draw)
                    assert sent.SerializeToString() != codec.game_move(move)
                    again = codec.read_move(sent)
                    assert again == move
                    assert again in rules.moves(state, seat)
                    assert codec.game_move(again) == codec.game_move(move)
                    assert notation.write(again) == notation.write(move)
                    seen.add(type(move))
                others.append((seat, again))
            if any(sets_in(game, move) for _, move in chosen):
                assert rules.step(state, tuple(others), deals) == rules.step(state, chosen, deals)
    assert seen == {row[1] for row in SETS if row[0] == game_id}


@pytest.mark.parametrize("game_id", GAMES_WITH_SETS)
def test_a_match_of_bots_that_name_cards_in_any_order_is_the_same_match(game_id):
    """Asks, journal and result are those of bots that answer with the index."""
    game = game_by_id(game_id)
    spec = seeded_spec(game_id, game.seats[0], {"hands": game.seats[0]})

    def bot(seat, answer):
        def script(ask):
            draw = random.Random(f"{seat} {ask.decision}")
            offered = ask.moves.offered
            sets = [at for at, move in enumerate(offered) if sets_in(game, move)]
            at = draw.choice(sets or range(len(offered)))
            return Reply(answer(at, offered[at], draw))

        return Scripted(script)

    def played(answer):
        bots, ledger = [bot(seat, answer) for seat in range(game.seats[0])], MemoryLedger()
        clock = MockClock(autojump_threshold=0)
        outcome = trio.run(lambda: play(spec, bots, ledger), clock=clock)
        # Seats that are asked together answer in an order of trio's own.
        decisions = sorted((one.seat, one.decision, one.game_move) for one in ledger.decisions)
        assert all(one.fault is None for one in ledger.decisions)
        return outcome.scores, decisions, [[(e.decision, e.body) for e in b.asked] for b in bots]

    by_index = played(lambda at, move, draw: Answer(index=at))
    by_cards = played(lambda at, move, draw: Answer(move=named_otherwise(game, move, draw)))
    assert by_cards == by_index


# fmt: off
MELDS = [
    # cards                named              why
    (("7h", "7s", "2c"),   ("2c", "7s", "7h"), "a set with a 2 in front"),
    (("7h", "7h", "7s"),   ("7h", "7s", "7h"), "a set with twins"),
    (("2c", "2d", "2h"),   ("2h", "2c", "2d"), "a set of 2s alone"),
]
# fmt: on


@pytest.mark.parametrize(("cards", "named", "why"), MELDS, ids=[row[-1] for row in MELDS])
@pytest.mark.parametrize("make", [Meld, TakePile])
def test_a_set_of_oklahoma_rummy_is_a_set(make, cards, named, why):
    assert make(MeldKind.SET, named) == make(MeldKind.SET, cards)


def test_only_2s_change_places_in_a_run():
    """R5: a run is named from low to high."""
    assert Meld(MeldKind.RUN, ("2d", "5h", "2c")) == Meld(MeldKind.RUN, ("2c", "5h", "2d"))
    assert Meld(MeldKind.RUN, ("2c", "5h", "6h")) != Meld(MeldKind.RUN, ("5h", "6h", "2c"))


@pytest.mark.parametrize(
    "words", [("zz", "Kh", "Ah"), ("Kh", "", "Ah"), ("Kh", "Kh", "Ah"), ("zz", "yy")]
)
@pytest.mark.parametrize(
    "make",
    [
        Exchange,
        lambda cards: LeadSet(cards, None),
        Overplay,
        lambda cards: Set(cards, (), ()),
        lambda cards: Place((), cards, ()),
        lambda cards: Meld(MeldKind.SET, cards),
    ],
    ids=["loo", "arlington led", "arlington", "chinese poker", "open face", "oklahoma rummy"],
)
def test_words_that_are_no_cards_have_one_order_too(make, words):
    """A bot may send anything; that is for the rules to refuse, and not to fail on."""
    assert make(words) == make(words[::-1])
