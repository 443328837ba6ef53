"""The rules in a minute: every game has pictures and short sentences, of cards that its pack has."""

import re

import pytest

from arena.games.catalogue import GAMES
from arena.pictures import examples
from arena.pictures.examples import examples_of
from arena.pictures.vocabulary import Card, Chips, Gap, Tone, Word
from tests.pictures.looks import cards_in

MOST_WORDS = 25
MISSING_RANKS = {"democracy": {"2"}, "klaberjass": set("23456"), "sixty_six": set("2345678")}
"""Ranks that a game's pack does not have."""


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_a_game_is_told_in_a_minute(game):
    rows = examples_of(game.id)
    assert 4 <= len(rows) <= 8, "write its examples in arena/games/pages/in_a_minute.toml"
    for row in rows:
        assert row.title
        assert row.sentence.endswith(".")
        assert max(len(part.split()) for part in re.split(r"[.;]", row.sentence)) <= MOST_WORDS
        assert not {code[0] for code in cards_in(row.groups)} & MISSING_RANKS.get(game.id, set())


def test_a_new_game_has_none():
    assert examples_of("bridge") == ()


@pytest.mark.parametrize(
    ("written", "item"),
    [
        pytest.param("Td", Card("Td"), id="a card"),
        pytest.param("Td*:turned_up", Card("Td", Tone.MARKED, ("turned up",)), id="with a caption"),
        pytest.param("##", Card(None), id="a back"),
        pytest.param("--", Gap(), id="a free place"),
        pytest.param("+20~:laid", Chips(20, ("laid",), Tone.DIM), id="chips"),
        pytest.param('"no card"!', Word(("no card",), Tone.WRONG), id="words"),
    ],
)
def test_a_picture_is_written_as(written, item, monkeypatch):
    monkeypatch.setattr(examples, "_all", lambda: {"any": [("", f"As {written} | 2h", "")]})
    (row,) = examples_of("any")
    assert row.groups == ((Card("As"), item), (Card("2h"),))


@pytest.mark.parametrize("written", ["1z", "Td:caption*", "+x", '"open'])
def test_what_is_no_picture_is_refused(written, monkeypatch):
    monkeypatch.setattr(examples, "_all", lambda: {"any": [("", written, "")]})
    with pytest.raises(ValueError, match="is no"):
        examples_of("any")
