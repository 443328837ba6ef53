"""How fields of events are said."""

from dataclasses import dataclass

import pytest

from arena.games.contract import Seat
from arena.pictures.sentences import by_seat, counted, fill, line, listed, names, sentence
from arena.pictures.vocabulary import Face, Name, Scene, SeatScene, Suit


@dataclass(frozen=True)
class Happened:
    seat: Seat = 1
    other: Seat | None = 0
    winner: int = 1
    card: str = "Td"
    cards: tuple = ("As", "Kh")
    suit: str = "h"
    seats: tuple = (0, 2, 1)
    points: tuple = (12, -5)
    gained: int = 3
    none: int = 0
    word: str = "not_good"
    text: str = "{seat} <b>"


SAID = [
    ("{seat} passes.", (Name(1), " passes."), "a seat by its type"),
    ("{other}", (Name(0),), "a seat that may be absent, and is there"),
    ("{winner:seat}", (Name(1),), "a number that stands for a seat"),
    ("{winner}", ("1",), "a number"),
    ("{card}", (Face("Td"),), "a card"),
    ("{cards}", (Face("As"), " ", Face("Kh")), "cards"),
    ("{suit:suit}", (Suit("h"),), "a suit"),
    ("{seats:seats}", (Name(0), ", ", Name(2), " and ", Name(1)), "seats, in their order"),
    ("{points:each}", (Name(0), " 12", " and ", Name(1), " −5"), "a number for each seat"),
    ("{points:signed}", (Name(0), " +12", " and ", Name(1), " −5"), "the same with its sign"),
    ("{gained:signed}", ("+3",), "one number with its sign"),
    ("{none:signed}", ("0",), "zero, which has no sign"),
    ("{gained:count trick}", ("3 tricks",), "a number of things"),
    ("{word}", ("not good",), "a word of the rules"),
    ("{text:quoted}", ("“{seat} <b>”",), "a bot's own words are no template"),
    ("a {{b}}", ("a ", "{", "b", "}"), "braces that are meant"),
]


@pytest.mark.parametrize(("template", "said", "why"), SAID, ids=[row[2] for row in SAID])
def test_a_field_is_said_by_its_type_or_as_asked(template, said, why):
    result = fill(template, Happened())
    assert result == said or "".join(map(str, result)) == "".join(map(str, said))


@pytest.mark.parametrize("template", ["{nothing}", "{seat:loudly}"])
def test_a_template_with_a_mistake_is_refused(template):
    with pytest.raises(KeyError):
        fill(template, Happened())


def test_words_may_depend_on_the_event():
    words = {Happened: lambda event: "{seat} wins." if event.gained else "{seat} loses."}
    assert sentence(Happened(), words) == (Name(1), " wins.")
    assert sentence(Happened(gained=0), words) == (Name(1), " loses.")


def test_words_may_be_a_line_of_their_own():
    words = {Happened: lambda event: line("{", event.gained, "}")}
    assert sentence(Happened(), words) == ("{", "3", "}")


NUMBERS = [(1, "trick", "1 trick"), (0, "trick", "0 tricks"), (2, "pass", "2 passes")]


@pytest.mark.parametrize(("number", "what", "said"), NUMBERS)
def test_a_number_of_things(number, what, said):
    assert counted(number, what) == said


def test_nobody_has_a_name_of_its_own():
    assert names(()) == ("nobody",)
    assert listed([]) == ()
    assert by_seat((4,)) == (Name(0), " 4")


@pytest.mark.parametrize(
    ("score", "unit"),
    [("1", "point"), ("+1", "point"), ("-1", "point"), ("0", "points"), ("11", "points")],
)
def test_a_unit_is_said_as_many_as_there_are(score, unit):
    seat = SeatScene(Seat(0), score)
    assert Scene((seat,), "points", ()).unit_of(seat) == unit
