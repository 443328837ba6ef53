"""The one-line notation: a table of lines, and no value that it cannot carry."""

from dataclasses import dataclass
from enum import StrEnum

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.games.cards import CANONICAL
from arena.games.contract import Seat
from arena.games.notation import Notation, NotationError


class Suit(StrEnum):
    CLUBS = "clubs"
    NO_TRUMP = "no trump"
    YES = "yes"


@dataclass(frozen=True, slots=True)
class Take:
    count: int


@dataclass(frozen=True, slots=True)
class PassOn:
    pass


@dataclass(frozen=True, slots=True)
class Heap:
    owner: Seat | None
    cards: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bid:
    suit: Suit | None
    double: bool
    text: str
    words: tuple[str, ...]
    counts: tuple[int, ...]
    rows: tuple[tuple[str, ...], ...]
    heaps: tuple[Heap, ...]


@dataclass(frozen=True, slots=True)
class Say:
    text: str | None


NOTATION = Notation(Take | PassOn | Bid | Say)


def bid(**fields):
    plain = {"suit": None, "double": False, "text": "x", "words": (), "counts": ()}
    return Bid(**{**plain, "rows": (), "heaps": (), **fields})


def line(**fields):
    plain = {"suit": "-", "double": "no", "text": "x", "words": "()", "counts": "()"}
    words = {**plain, "rows": "()", "heaps": "()", **fields}
    return "bid " + " ".join(f"{name}={word}" for name, word in words.items())


# fmt: off
LINES = [
    (Take(3),                                 "take 3",                   "one field alone"),
    (Take(-3),                                "take -3",                  "below zero"),
    (PassOn(),                                "pass_on",                  "no field"),
    (Say("As"),                               "say As",                   "a card"),
    (Say(None),                               "say -",                    "nothing said"),
    (Say("-"),                                'say "-"',                  "a dash said"),
    (Say(""),                                 'say ""',                   "an empty text"),
    (Say("a b"),                              'say "a b"',                "a text with a space"),
    (Say("As9d"),                             'say "As9d"',               "a text like two cards"),
    (Say('a\n"b'),                           'say "a\\n\\"b"',           "a text of two lines"),
    (bid(),                                   line(),                     "fields by name"),
    (bid(double=True),                        line(double="yes"),         "truth"),
    (bid(suit=Suit.CLUBS),                    line(suit="clubs"),         "an enum"),
    (bid(suit=Suit.NO_TRUMP),                 line(suit='"no trump"'),    "an enum of two words"),
    (bid(suit=Suit.YES),                      line(suit='"yes"'),         "an enum like a truth"),
    (bid(words=("As", "Jk", "Td")),           line(words="AsJkTd"),       "cards together"),
    (bid(words=("As", "ace")),                line(words="As,ace"),       "cards and words"),
    (bid(words=("AsJk",)),                    line(words='"AsJk"'),       "a word like two cards"),
    (bid(words=("()",)),                      line(words='"()"'),         "a word like an empty list"),
    (bid(words=("",)),                        line(words='""'),           "a list of one empty word"),
    (bid(words=('a"b', "c,d")),               line(words=r'"a\"b","c,d"'), "quotes and commas"),
    (bid(counts=(1, -2)),                     line(counts="1,-2"),        "numbers"),
    (bid(rows=(("As", "9d"), (), ("Kh",))),   line(rows="As9d/()/Kh"),    "lists of cards"),
    (bid(rows=(("As", "9d"),)),               line(rows="As9d/"),         "a list of one list"),
    (bid(rows=((),)),                         line(rows="()/"),           "a list of an empty list"),
    (bid(rows=(("a/b", "c"), ("d",))),        line(rows='"a/b",c/d'),     "a slash in a word"),
    (bid(heaps=(Heap(Seat(1), ("As",)),)),    line(heaps="{1;As}"),       "a nested class"),
    (bid(heaps=(Heap(None, ()), Heap(Seat(0), ("a;}b",)))),
                                              line(heaps='{-;()},{0;"a;}b"}'), "two, with braces"),
]
# fmt: on


@pytest.mark.parametrize(("value", "text", "why"), LINES, ids=[row[-1] for row in LINES])
def test_a_value_is_written_and_read_as(value, text, why):
    assert NOTATION.write(value) == text
    assert NOTATION.read(text) == value
    assert NOTATION.read(f"  {text} \n") == value


# fmt: off
UNREADABLE = [
    ("",                          "none of: take, pass_on", "nothing"),
    ("fold",                      "'fold' is none of",      "a verb that there is not"),
    ("take",                      "whole number expected",  "a field is missing"),
    ("take three",                "whole number expected",  "a word for a number"),
    ("take 1.0",                  "whole number expected",  "a fraction"),
    ("take 1 2",                  "whole number expected",  "two for one"),
    ("take " + "9" * 5000,        "whole number expected",  "a number without end"),
    ("take ٣",                    "whole number expected",  "a digit of another script"),
    ("pass_on 1",                 "0 fields",               "a field too many"),
    ("bid 1",                     "7 fields",               "fields are missing"),
    (line().replace("suit", "s"), "suit= expected",         "another name"),
    (line(suit="hearts"),         "clubs, no trump",        "an enum that there is not"),
    (line(double="maybe"),        "yes or no",              "neither yes nor no"),
    (line(heaps="1;As"),          "braces expected",        "a class without braces"),
    (line(heaps="{1}"),           "2 values",               "a class with too little"),
    (line(text='"a'),             "fields",                 "a quote that does not end"),
    ('say "a" b"',                "not quoted text",        "a quote that ends too soon"),
]
# fmt: on


@pytest.mark.parametrize(("text", "why_not", "why"), UNREADABLE, ids=[r[-1] for r in UNREADABLE])
def test_a_line_is_refused(text, why_not, why):
    with pytest.raises(NotationError, match=why_not):
        NOTATION.read(text)


texts = st.text() | st.sampled_from([*CANONICAL]) | st.text('AsKd9h-()yesno,;/{}"\\ ', max_size=8)
words = st.lists(texts, max_size=4).map(tuple)
heaps = st.builds(Heap, st.none() | st.integers(0, 9), words)
values = (
    st.builds(Take, st.integers(-(2**63), 2**63 - 1))
    | st.builds(Say, st.none() | texts)
    | st.builds(
        Bid,
        st.none() | st.sampled_from(Suit),
        st.booleans(),
        texts,
        words,
        st.lists(st.integers(-99, 99), max_size=3).map(tuple),
        st.lists(words, max_size=3).map(tuple),
        st.lists(heaps, max_size=3).map(tuple),
    )
)


@given(values)
@example(bid(words=("As", "")))
def test_every_value_is_read_back(value):
    text = NOTATION.write(value)
    assert "\n" not in text
    assert NOTATION.read(text) == value


@given(st.text())
def test_any_line_is_read_or_refused(text):
    try:
        value = NOTATION.read(text)
    except NotationError:
        return
    assert NOTATION.read(NOTATION.write(value)) == value
