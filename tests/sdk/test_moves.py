"""The Python SDK's constructors of moves, bets and cards."""

import importlib
import inspect
import json
import os
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest

from arena.games.catalogue import GAMES
from arena.referee.wire.games import codec_of
from cardarena import (
    Bets,
    _games,
    arlington,
    cards,
    chinese_poker,
    eleusis,
    jam,
    klaberjass,
    loo,
    oklahoma_rummy,
    open_face_chinese_poker,
    pineapple,
    soko,
)
from cardarena.v1.game_pb2 import GameMove

ROOT = Path(__file__).resolve().parents[2]
SDK = ROOT / "clients" / "python"


def test_the_constructors_are_up_to_date(tmp_path):
    subprocess.run([sys.executable, ROOT / "scripts/generate_python.py", tmp_path], check=True)
    fresh, kept = (
        {p.name: p.read_text("utf-8") for p in (folder / "cardarena/moves").glob("*.py")}
        for folder in (tmp_path, SDK)
    )
    assert len(fresh) == len(_games.FAMILIES) + 1
    assert fresh == kept, "run scripts/proto"


def test_what_fields_mean_is_in_the_help_of_every_message_as_in_proto():
    for family in _games.FAMILIES:
        module = importlib.import_module(f"cardarena.{family}")
        for message in (module.View, module.Event, module.Move):
            names = re.findall(r"^(\w+): \S", message.__doc__, re.MULTILINE)
            assert names == [field.name for field in message.DESCRIPTOR.fields], message
    shown = pydoc.render_doc(loo.View, renderer=pydoc.plaintext)
    assert "upcard: The open card, whose suit is trump; if it is `Jc`, there is no Pam" in shown
    assert "  // The open card, whose suit is trump; if it is `Jc`, there is no Pam" in (
        ROOT / "proto/cardarena/games/v1/loo.proto"
    ).read_text("utf-8")


def test_what_fields_of_views_mean_beside_the_pages_is_up_to_date():
    code = "import generate_lists, json; print(json.dumps(generate_lists.fields_of_views()))"
    again = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "scripts", check=True, capture_output=True,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{SDK}"},
    )  # fmt: skip
    texts = json.loads(again.stdout)
    assert len(texts) == len(_games.FAMILIES)
    assert texts == {name: (ROOT / name).read_text("utf-8") for name in texts}, "run scripts/proto"


# fmt: off
MADE = [
    # a constructor                                          the message                                                              why
    (pineapple.moves.raise_(40),                             pineapple.Move(verb=pineapple.RAISE, to=40),                              "a bet"),
    (soko.moves.fold(),                                      soko.Move(verb=soko.FOLD),                                                "a verb that uses nothing"),
    (klaberjass.moves.play("Jh", bela=True),                 klaberjass.Move(verb=klaberjass.PLAY, card="Jh", bela=True),              "a card and a flag"),
    (klaberjass.moves.name("h"),                             klaberjass.Move(verb=klaberjass.NAME, suit="h"),                          "a suit"),
    (chinese_poker.moves.set_(["2c"], ["3c"], ["4c", "5c"]), chinese_poker.Move(verb=chinese_poker.SET, front=["2c"], middle=["3c"], back=["4c", "5c"]), "a setting"),
    (open_face_chinese_poker.moves.place([], ["3c"], []),    open_face_chinese_poker.Move(verb=open_face_chinese_poker.PLACE, middle=["3c"]), "a placing"),
    (eleusis.moves.rule("card.face"),                        eleusis.Move(verb=eleusis.RULE, text="card.face"),                        "a rule"),
    (eleusis.moves.judge(eleusis.OPINION_RIGHT),             eleusis.Move(verb=eleusis.JUDGE, opinion=eleusis.OPINION_RIGHT),          "a card that is left out"),
    (eleusis.moves.judge(eleusis.OPINION_WRONG, "As"),       eleusis.Move(verb=eleusis.JUDGE, opinion=eleusis.OPINION_WRONG, card="As"), "a card that is not"),
    (oklahoma_rummy.moves.meld(oklahoma_rummy.MELD_KIND_SET, ("4s", "4d", "Jk")), oklahoma_rummy.Move(verb=oklahoma_rummy.MELD, kind=oklahoma_rummy.MELD_KIND_SET, cards=["4s", "4d", "Jk"]), "a meld"),
    (oklahoma_rummy.moves.extend(1, "4c"),                   oklahoma_rummy.Move(verb=oklahoma_rummy.EXTEND, index=1, card="4c"),      "an end that a set has not"),
    (oklahoma_rummy.moves.extend(0, "4c", oklahoma_rummy.END_LOW), oklahoma_rummy.Move(verb=oklahoma_rummy.EXTEND, card="4c", end=oklahoma_rummy.END_LOW), "an end that a run has"),
    (arlington.moves.lead_set(["As"]),                       arlington.Move(verb=arlington.LEAD_SET, cards=["As"]),                    "a spectrum that is not named"),
]

MALFORMED = [
    # what is written                                                what is said                                why
    (lambda: pineapple.moves.raise_(1.5),                            "to is 1.5: a whole number",                "half a chip"),
    (lambda: pineapple.moves.raise_(-1),                             "to is -1: a whole number",                 "less than nothing"),
    (lambda: pineapple.moves.raise_(2**32),                          "to is 4294967296: a whole number",         "more than the arena can be told"),
    (lambda: pineapple.moves.raise_(True),                           "to is True: a whole number",               "a flag for a number"),
    (lambda: pineapple.moves.raise_(None),                           "to is None: a whole number",               "nothing for a number"),
    (lambda: pineapple.moves.discard("10h"),                         "'10h' is no card",                         "a card of three characters"),
    (lambda: pineapple.moves.discard(""),                            "'' is no card",                            "no card"),
    (lambda: pineapple.moves.discard(None),                          "None is no card",                          "nothing for a card"),
    (lambda: eleusis.moves.play(["As", "Zz"]),                       "'Zz' is no card",                          "one card of two"),
    (lambda: eleusis.moves.play("AsKd"),                             "'A' is no card",                           "a text for a list of cards"),
    (lambda: eleusis.moves.judge(eleusis.OPINION_WRONG, "X"),        "'X' is no card",                           "no card where one may be left out"),
    (lambda: chinese_poker.moves.set_(["2c"], ["3c"], ["4x"]),       "'4x' is no card",                          "one card of a setting"),
    (lambda: klaberjass.moves.name("x"),                             "'x' is no suit",                           "no suit"),
    (lambda: jam.moves.draw(0),                                      "source is 0: one of JAM_SOURCE_",          "a source that is not named"),
    (lambda: jam.moves.draw(99),                                     "source is 99: one of JAM_SOURCE_",         "no source"),
    (lambda: oklahoma_rummy.moves.extend(1, "4c", 7),                "end is 7: one of OKLAHOMA_RUMMY_END_",     "no end where one may be left out"),
]
# fmt: on


@pytest.mark.parametrize(("made", "move", "why"), MADE, ids=[row[-1] for row in MADE])
def test_a_constructor_sets_what_its_verb_uses_and_nothing_else(made, move, why):
    assert made == move, why


@pytest.mark.parametrize(("make", "said", "why"), MALFORMED, ids=[row[-1] for row in MALFORMED])
def test_no_move_is_malformed(make, said, why):
    with pytest.raises(ValueError, match=said):
        make()


def constructors():
    """Every constructor of every family, with its game."""
    games = {game.family: game for game in GAMES}
    for family, game in games.items():
        module = importlib.import_module(f"cardarena.moves.{family}")
        short = importlib.import_module(f"cardarena.{family}")
        assert short.moves is module
        for name, make in inspect.getmembers(module, inspect.isfunction):
            if name != "bets":
                yield pytest.param(game, short, make, id=f"{family}.{name}")


def given(short, parameter):
    """An argument of the parameter's kind."""
    name = parameter.name
    if name in ("cards", "front", "middle", "back"):
        return ["As", "Jk"]
    if parameter.annotation is bool:
        return True
    if "card" in name:
        return "Td"
    if name in ("suit", "text"):
        return {"suit": "h", "text": "card.face"}[name]
    field = short.Move.DESCRIPTOR.fields_by_name[name]
    return 1 if field.enum_type is None else field.enum_type.values[1].number


@pytest.mark.parametrize(("game", "short", "make"), list(constructors()))
def test_the_arena_reads_what_any_constructor_makes(game, short, make):
    """With all that it may be given, and with no more than it must be."""
    parameters = inspect.signature(make).parameters.values()
    needed = [each for each in parameters if each.default is inspect.Parameter.empty]
    for chosen in (parameters, needed):
        move = make(**{each.name: given(short, each) for each in chosen})
        codec_of(game).read_move(GameMove(**{game.family: move}))


def test_there_is_a_constructor_for_every_verb():
    for family in _games.FAMILIES:
        short = importlib.import_module(f"cardarena.{family}")
        made = {
            make(
                **{
                    name: given(short, each)
                    for name, each in inspect.signature(make).parameters.items()
                }
            ).verb
            for name, make in inspect.getmembers(short.moves, inspect.isfunction)
            if name != "bets"
        }
        assert made == {number for number in short.Verb.values() if number}, family


# fmt: off
BETS = [
    # to     may   nearest  why
    (3,      False, 4,      "less than the least"),
    (4,      True,  4,      "the least"),
    (9,      True,  9,      "between"),
    (9.4,    False, 9,      "no whole chips"),
    (40,     True,  40,     "the most"),
    (41,     False, 40,     "more than the most"),
]
# fmt: on


@pytest.mark.parametrize(("to", "may", "nearest", "why"), BETS, ids=[row[-1] for row in BETS])
@pytest.mark.parametrize("game", [soko, pineapple], ids=["soko", "pineapple"])
def test_bets_are_those_of_the_view(game, to, may, nearest, why):
    bets = game.bets(game.View(min_to=4, max_to=40))
    assert bets == Bets(4, 40)
    assert (to in bets) == may
    assert bets.nearest(to) == nearest, why
    if may:
        assert bets.at(to) == to
    else:
        with pytest.raises(ValueError, match="it may come to 4 to 40"):
            bets.at(to)


def test_who_may_make_no_bet_has_no_range():
    assert soko.bets(soko.View()) is None
    assert pineapple.bets(pineapple.View()) is None


def test_cards_are_read_and_sorted():
    hand = cards.parse("As Kd2cJk 2d")
    assert sorted(hand, key=cards.order) == ["2c", "2d", "Kd", "As", "Jk"]
    assert cards.of_suit(hand, "d") == ["Kd", "2d"]
    assert (cards.rank("Td"), cards.suit("Td"), cards.rank("Jk"), cards.suit("Jk")) == (
        8,
        1,
        -1,
        -1,
    )


@pytest.mark.parametrize("text", ["1c", "Ax", "A", "AsK", "jk", "asKd"])
def test_what_is_no_card_is_told(text):
    with pytest.raises(ValueError, match="is no card"):
        cards.parse(text)
