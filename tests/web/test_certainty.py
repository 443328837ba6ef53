"""What pages say of two bots: words and colours of one test."""

import pytest

from arena.web.pages.certainty import certainty, decided_pairs

LEVEL, MIXED = (0.0, 0.0, 0.0), (1.0, -2.0, 4.0)
# fmt: off
SHOWN = [
    # chance  margins  apart   words  colour   why
    (0.999,   MIXED,   True,   ">99", "h8",    "told apart"),
    (0.96,    MIXED,   True,   "96",  "h8",    "told apart, whatever the chance"),
    (0.001,   MIXED,   True,   "<1",  "h0",    "told apart, and worse"),
    (0.999,   MIXED,   False,  ">95", "h6",    "a chance alone has not the colour of a decision"),
    (0.001,   MIXED,   False,  "<5",  "h2",    "the same, from the other side"),
    (0.5,     MIXED,   False,  "50",  "h4",    "level"),
    (0.0,     LEVEL,   False,  "?",   "none",  "two copies of a bot: nothing varies"),
    (0.75,    (),      False,  "75",  "h6",    "they have not met, and others compare them"),
    (None,    MIXED,   False,  "?",   "none",  "too few deal-sets"),
]
# fmt: on


@pytest.mark.parametrize(
    ("chance", "margins", "apart", "words", "css"),
    [row[:5] for row in SHOWN],
    ids=[row[5] for row in SHOWN],
)
def test_a_chance_has_words_and_a_colour(chance, margins, apart, words, css):
    assert certainty(chance, margins, decided=apart) == (words, css)


# fmt: off
APART = [
    # tiers   decided  told apart  why
    ((1, 2),  "ann",   True,       "the test decides, and the tiers differ"),
    ((1, 1),  "ann",   False,      "one tier, which the page says cannot be told apart"),
    ((1, 2),  None,    False,      "the test does not decide, which the page says beside its plot"),
]
# fmt: on


@pytest.mark.parametrize(
    ("tiers", "better", "apart"), [row[:3] for row in APART], ids=[row[3] for row in APART]
)
def test_bots_are_told_apart_as_the_words_of_the_page_say(tiers, better, apart):
    rows = [{"bot": bot, "tier": tier} for bot, tier in zip(("ann", "bob"), tiers, strict=True)]
    found = decided_pairs(
        {"rows": rows, "pairs": [{"bot": "ann", "other": "bob", "better": better}]}
    )
    assert found == ({frozenset(("ann", "bob"))} if apart else frozenset())
