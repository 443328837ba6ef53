"""Likely rules of Eleusis: what their bits say is what their texts say, and the table tells them apart."""

import random

import pytest

from arena.games.cel import ALL_FACES, FACES, Rule
from arena.games.eleusis.likely_rules import (
    CONTRADICTION,
    FACE_COUNT,
    Ends,
    Shown,
    beliefs,
    likely_rules,
    shown_by,
)
from arena.games.eleusis.messages import Calls, Layout
from arena.games.eleusis.work import EXAMPLES

KINDS = likely_rules()
EVERY_FACE = (1 << FACE_COUNT) - 1


def test_bits_and_text_of_a_rule_say_the_same():
    chance = random.Random(1)
    for kind, rules in KINDS:
        for rule in chance.sample(rules, min(len(rules), 60)):
            parsed = Rule.parse(rule.text)
            for _ in range(4):
                line = chance.choices(ALL_FACES, k=chance.randrange(1, 12))
                result = parsed.evaluate(line)
                assert result.failed is None, rule.text
                said = rule.bits >> FACE_COUNT * kind.context(Ends.of(line)) & EVERY_FACE
                assert said == result.allowed, rule.text


def test_each_rule_is_there_once_and_all_priors_are_one_at_most():
    for _, rules in KINDS:
        assert len({rule.bits for rule in rules}) == len(rules)
    assert 0.5 < sum(rule.prior for _, rules in KINDS for rule in rules) <= 1


TRUE_RULES = [
    *EXAMPLES,
    "card.parity != last.parity",
    "abs(card.rank - last.rank) <= 3",
    "card.suit != last.suit && card.rank != last.rank",
    'last.color == "R" ? card.parity == 1 : card.parity == 0',
    "last.rank > 5 ? card.parity != last.parity : card.rank > 7",
    "size(line) < 2 || card.color != line[size(line) - 2].color",
]


@pytest.mark.parametrize("text", TRUE_RULES)
def test_the_rule_is_known_after_many_cards(text):
    """What it says of the next card is what the likeliest rule says; its text may be another."""
    rule, chance = Rule.parse(text), random.Random(text)
    line, shown = ["7h"], []
    for _ in range(120):
        card = chance.choice(ALL_FACES).card
        right = rule.allows(card, line)
        shown.append(Shown(len(line), (card,), right))
        line += [card] * right
    _, kind, likeliest = beliefs(tuple(line), tuple(shown)).rules[0]
    for _ in range(20):
        line.append(chance.choice(rule.legal(line)))
        faces = [FACES[card] for card in line]
        said = likeliest.bits >> FACE_COUNT * kind.context(Ends.of(faces)) & EVERY_FACE
        assert said == rule.evaluate(faces).allowed


def texts(found):
    return {rule.text for _, _, rule in found.rules}


COLOR = "!(card.color == last.color)"
PLAYS = [
    # after 7h           is alternation of colors likelier than before, or less likely?
    (("8s",), True, True, "a right card that it allows"),
    (("8h",), True, False, "a right card that it forbids"),
    (("8h",), False, True, "a wrong card that it forbids"),
    (("8s",), False, False, "a wrong card that it allows"),
    (("8s", "9s"), False, True, "a wrong string, of which it forbids a card"),
    (("8s", "9h", "2c"), False, False, "a wrong string of which it allows all cards"),
]


def weight_of(text, shown):
    return sum(weight for weight, _, rule in beliefs(("7h",), shown).rules if rule.text == text)


@pytest.mark.parametrize(
    ("cards", "right", "likelier", "why"), PLAYS, ids=[row[3] for row in PLAYS]
)
def test_a_play_speaks_for_a_rule_or_against_it(cards, right, likelier, why):
    before = weight_of(COLOR, ())
    after = weight_of(COLOR, (Shown(1, cards, right),))
    assert after > before if likelier else after < before / 10


def allows(kind, rule, play):
    """Return whether a rule allows all cards of a play after the beginning of the line."""
    faces = [FACES[card] for card in (*LINE[: play.after], *play.cards)]
    lines = [
        (Ends.of(faces[:at]), ALL_FACES.index(faces[at])) for at in range(play.after, len(faces))
    ]
    return all(rule.bits >> FACE_COUNT * kind.context(line) + face & 1 for line, face in lines)


LINE = ("7h", "8s", "9d")


def test_a_rule_weighs_its_prior_and_less_by_each_contradiction():
    right = [Shown(at, (LINE[at],), right=True) for at in (1, 2)]
    wrong = [
        Shown(3, cards, right=False) for cards in (("2c",), ("Kd",), ("3c", "4h"), ("5s", "6d"))
    ]
    result = beliefs(LINE, (*right, *wrong), (COLOR,))
    weights = {}
    for kind, rules in KINDS:
        for rule in rules:
            against = sum(allows(kind, rule, play) != play.right for play in (*right, *wrong))
            if rule.text != COLOR and against <= 4:
                weights[rule.text, kind] = rule.prior * CONTRADICTION**against
    total = sum(weights.values())
    likeliest = sorted(weights.values(), reverse=True)[: len(result.rules)]
    assert [weight for weight, _, _ in result.rules] == pytest.approx(
        [x / total for x in likeliest]
    )
    for weight, kind, rule in result.rules:
        assert weight == pytest.approx(weights[rule.text, kind] / total)


def test_a_rule_that_was_guessed_in_vain_is_out():
    assert COLOR in texts(beliefs(("7h",), ()))
    assert COLOR not in texts(beliefs(("7h",), (), (COLOR,)))


@pytest.mark.parametrize("disputed", [1, 40])
def test_where_no_rule_fits_the_nearest_is_the_likeliest(disputed):
    """Some cards were right and wrong at the same place, which contradicts every rule."""
    line = tuple(random.Random(1).sample(list(FACES), 50))
    right = [Shown(n, (card,), right=True) for n, card in enumerate(line) if n]
    result = beliefs(line, (*right, *(play._replace(right=False) for play in right[:disputed])))
    assert result.contradictions >= disputed
    assert 0 < sum(weight for weight, _, _ in result.rules) <= 1.0001


def test_the_layout_and_the_no_plays_tell_what_is_right():
    layout = Layout(("7h", "8s", "9d"), (0, 1, 1), (("2c", "3c"),), (2,), (1,))
    calls = Calls((2, 3), (("4c", "4c", "5c"), ("9d", "Kd")), (2, 1), (True, False))
    assert set(shown_by(layout, calls)) == {
        Shown(1, ("8s",), right=True),
        Shown(2, ("9d",), right=True),
        Shown(2, ("2c", "3c"), right=False),
        Shown(3, ("4c",), right=False),
        Shown(3, ("5c",), right=False),
    }
