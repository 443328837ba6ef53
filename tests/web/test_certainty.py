"""What pages say of two bots: words and colours of one test."""

import pytest

from arena.web.pages.certainty import certainty, tier_lead

LEVEL, MIXED = (0.0, 0.0, 0.0), (1.0, -2.0, 4.0)
# fmt: off
SHOWN = [
    # chance  margins  tiers above  words  colour   why
    (0.999,   MIXED,   1,           ">99", "h8",    "in a higher tier"),
    (0.94,    MIXED,   1,           "94",  "h8",    "a higher tier, whatever the chance"),
    (0.001,   MIXED,   -2,          "<1",  "h0",    "in a lower tier"),
    (0.999,   MIXED,   0,           ">95", "h6",    "a chance alone has not the colour of a decision"),
    (0.001,   MIXED,   0,           "<5",  "h2",    "the same, from the other side"),
    (0.5,     MIXED,   0,           "50",  "h4",    "level"),
    (0.0,     LEVEL,   0,           "?",   "none",  "two copies of a bot: nothing varies"),
    (0.75,    (),      0,           "75",  "h6",    "they have not met, and others compare them"),
    (None,    MIXED,   0,           "?",   "none",  "too few deal-sets"),
]
# fmt: on


@pytest.mark.parametrize(
    ("chance", "margins", "lead", "words", "css"),
    [row[:5] for row in SHOWN],
    ids=[row[5] for row in SHOWN],
)
def test_a_chance_has_words_and_a_colour(chance, margins, lead, words, css):
    assert certainty(chance, margins, lead) == (words, css)


# fmt: off
LEADS = [
    # tiers     lead  why
    ((1, 3),    2,    "two tiers above"),
    ((2, 1),    -1,   "below"),
    ((1, 1),    0,    "one tier, which the page says cannot be told apart"),
    ((1, None), 0,    "a bot that is not ranked"),
]
# fmt: on


@pytest.mark.parametrize(("tiers", "lead", "why"), LEADS, ids=[row[2] for row in LEADS])
def test_bots_are_told_apart_as_their_tiers_say(tiers, lead, why):
    rows = [{"bot": bot, "tier": tier} for bot, tier in zip(("ann", "bob"), tiers, strict=True)]
    assert tier_lead(rows, "ann", "bob") == lead
