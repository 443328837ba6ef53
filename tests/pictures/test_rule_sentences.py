"""The rule of Eleusis in words."""

import pytest

from arena.games.eleusis import messages as eleusis
from arena.games.eleusis.hidden_rule import EXAMPLES
from arena.pictures.eleusis import SENTENCES
from arena.pictures.rule_sentences import LONGEST, rule_words
from arena.pictures.sentences import sentence
from arena.web.rich_text import spoken

# fmt: off
RULES = [
    # rule, words, reason
    ("card.color != last.color",
     "the card's colour is not the last card's colour",
     "two fields"),
    ("card.rank == last.rank + 2 || card.rank == last.rank - 2",
     "the card's rank is the last card's rank plus 2 or the card's rank is the last card's rank minus 2",
     "tighter parts need no parentheses"),
    ("(size(line) % 5 < 2) == (card.color == line[0].color)",
     ("both or neither of: (the remainder of the number of cards in the line divided by 5 is less than 2); "
     "(the card's colour is the colour of the first card of the line)"),
     "conditions that are compared"),
    ('card.suit == {"s":"c","c":"d"}[last.suit]',
     "the card's suit is the one for the last card's suit (clubs for spades, diamonds for clubs)",
     "a map, with letters by the field"),
    ('last.color == "R" ? card.rank > 6 : card.rank <= 11',
     ("if (the last card's colour is red), then (the card's rank is more than 6), otherwise "
     "(the card's rank is at most 11 (jack))"),
     "a condition, and ranks that are court cards"),
    ("!card.face && (card.parity == 1 || card.face != last.face)",
     ("not (the card is a face card) and (the card's parity is odd or one and not the other of: "
     "the card is a face card; the last card is a face card)"),
     "a looser part is in parentheses"),
    ('card.suit in ["h", "d"]', "the card's suit is one of hearts, diamonds", "a list"),
    ("true && card.suit in []", "true and the card's suit is one of nothing", "an empty list"),
    ("line.all(c, c.suit != card.suit)", "for every c of the line: c's suit is not the card's suit", "all"),
    ("line.exists_one(c, c.face)", "for exactly one c of the line: c is a face card", "exactly one"),
    ("size(line.filter(c, c.color == card.color)) > 2",
     "the number of elements of (every c of the line with: c's colour is the card's colour) is more than 2",
     "the size of something else"),
    ("abs(card.rank - last.rank) <= 3",
     "the absolute value of (the card's rank minus the last card's rank) is at most 3",
     "a function"),
    ("-card.rank < 2 - (3 - last.rank)",
     "minus the card's rank is less than 2 minus (3 minus the last card's rank)",
     "parentheses that matter"),
    ("card.rank == line[2].rank", "the card's rank is the rank of card 3 of the line", "a place, from 1"),
    ("line[size(line) - 1].face",
     "element (the number of cards in the line minus 1), from 0, of the line is a face card",
     "a computed place, from 0"),
    ("card.rank ==", "", "no rule"),
    (" || ".join(["card.rank == last.rank"] * 12), "", "words too long to help"),
]
# fmt: on


@pytest.mark.parametrize(("rule", "words", "why"), RULES, ids=[row[2] for row in RULES])
def test_a_rule_is_said_in_words(rule, words, why):
    assert rule_words(rule) == words


@pytest.mark.parametrize("rule", EXAMPLES)
def test_the_examples_have_words(rule):
    assert 0 < len(rule_words(rule)) <= LONGEST


def test_the_end_of_a_hand_says_the_rule_as_code_and_in_words():
    event = eleusis.HandScored(
        hand=0,
        end=eleusis.End.GUESS,
        rule=EXAMPLES[0],
        by_arena=False,
        scores=(1, 2),
        totals=(1, 2),
    )
    said = spoken(sentence(event, SENTENCES), ("ann", "bob"))
    words = "a card is right if the card's colour is not the last card's colour."
    assert f"“card.color != last.color”: {words}" in said


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (0, "That is so, and “bob” has no cards left."),
        (1, "That is so: “bob” gets a new hand of 1 card."),
        (9, "That is so: “bob” gets a new hand of 9 cards."),
    ],
)
def test_a_new_hand_after_a_true_no_play(size, said):
    event = eleusis.NoPlayResolved(
        1, right=True, card=None, penalty=0, hand_size=size, expelled=False
    )
    assert spoken(sentence(event, SENTENCES), ("ann", "bob")) == said
