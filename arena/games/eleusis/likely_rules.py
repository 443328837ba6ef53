"""Rules that dealers are likely to send, and how well each fits what the table has shown.

A rule is a set of bits. Which cards may come next depends on a *context*, a number that a kind of rule computes from
the mainline; for most kinds it is the last card. Bit 52 · context + face is set if that face is right. Operations on
integers join rules, and a few of them compare a whole hand with a rule. The texts are in the language of
`arena.games.cel`, and the tests evaluate them.

The prior of a rule is an equal share of its family: simple families have few rules.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial, reduce
from itertools import chain, groupby, islice, permutations, repeat, starmap
from operator import and_
from typing import Final, NamedTuple, TypeAlias

from arena.games.cards import Card
from arena.games.cel import ALL_FACES, FACES, CardFace, Rule
from arena.games.eleusis.hidden_rule import LEAST_SHARE, MOST_SHARE
from arena.games.eleusis.messages import Calls, Layout, View

FACE_COUNT: Final = len(ALL_FACES)
_ALL: Final = (1 << FACE_COUNT) - 1
_INDEX: Final = {card: at for at, card in enumerate(FACES)}
SIMPLE_RULES: Final = 1_000
"""The number of rules of each kind, from the first, that count as simple."""
CONTRADICTION: Final = 0.02
"""The factor of a rule's weight for each contradiction. It is above 0, so the nearest rules rank first if none fits."""
_MOST_BEHIND: Final = 4
"""The most contradictions that a rule may have beyond those of the nearest one; others have no weight."""


class Ends(NamedTuple):
    """The part of a mainline that rules depend on: its ends and its length."""

    first: CardFace
    before: CardFace | None
    """The card before the last one; None in a line of one card."""
    last: CardFace
    size: int

    @classmethod
    def of(cls, line: Sequence[CardFace]) -> "Ends":
        return cls(line[0], line[-2] if len(line) > 1 else None, line[-1], len(line))

    def then(self, card: CardFace) -> "Ends":
        return Ends(self.first, self.last, card, self.size + 1)


Context: TypeAlias = Callable[[Ends], int]
"""Returns the number that a kind of rule computes from a mainline."""


class Kind(NamedTuple):
    """Rules that depend on the same part of the mainline."""

    context: Context
    contexts: int


class LikelyRule(NamedTuple):
    """A rule, and the cards that it allows in each context."""

    text: str
    bits: int
    prior: float

    def shares(self, kind: Kind) -> Iterator[float]:
        """Yield the share of the faces that are right, in each context of its kind."""
        for context in range(kind.contexts):
            yield (self.bits >> FACE_COUNT * context & _ALL).bit_count() / FACE_COUNT


class _Part(NamedTuple):
    """A condition, and the pairs of the last card and the next one for which it is true."""

    text: str
    bits: int


def _last(line: Ends) -> int:
    return _INDEX[line.last.card]


def _before(line: Ends) -> int:
    """Return the number of the card before the last one; one more number stands for a line of one card."""
    return FACE_COUNT if line.before is None else _INDEX[line.before.card]


LAST: Final = Kind(_last, FACE_COUNT)
BEFORE: Final = Kind(_before, FACE_COUNT + 1)

_EVERY: Final = (1 << FACE_COUNT * FACE_COUNT) - 1
_ONE_CARD: Final = _ALL << FACE_COUNT * FACE_COUNT
"""The context of a line of one card in `BEFORE`, where all cards are right."""


def _part(text: str) -> _Part:
    rule, bits = Rule.parse(text), 0
    for row, last in enumerate(ALL_FACES):
        bits |= rule.evaluate([last]).allowed << FACE_COUNT * row
    return _Part(text, bits)


def _parts(traits: Sequence[str], of: str) -> list[_Part]:
    return [_part(trait.format(of)) for trait in traits]


def _not(part: _Part) -> _Part:
    return _Part(f"!({part.text})", _EVERY ^ part.bits)


def _both_signs(parts: Sequence[_Part]) -> list[_Part]:
    return [signed for part in parts for signed in (part, _not(part))]


_MAIN_TRAITS: Final = ('{}.color == "R"', "{}.parity == 1", "{}.face", "{}.rank > 7")
_TRAITS: Final = (
    *_MAIN_TRAITS,
    *(f'{{}}.suit == "{suit}"' for suit in "shdc"),
    *(f"{{}}.rank > {rank}" for rank in (3, 4, 5, 6, 8, 9, 10)),
    '{}.suit in ["s", "h"]',
    '{}.suit in ["s", "d"]',
    "{}.rank % 3 == 0",
    "{}.rank in [2, 3, 5, 7, 11, 13]",
)
_MAIN_RELATIONS: Final = (
    "card.color == last.color",
    "card.parity == last.parity",
    "card.suit == last.suit",
    "card.rank > last.rank",
    "card.rank < last.rank",
    "card.rank == last.rank",
    *(f"abs(card.rank - last.rank) <= {most}" for most in (2, 3, 4)),
)


def _relations() -> Iterator[str]:
    yield "card.face == last.face"
    for step in range(1, 7):
        yield f"card.rank == last.rank + {step} || card.rank == last.rank - {step}"
        yield f"abs(card.rank - last.rank) <= {step}"
    for step in range(1, 13):
        yield f"(card.rank - last.rank + 13) % 13 == {step}"
        yield f"(card.rank - last.rank + 12) % 13 < {step}"
    for divisor in (3, 4, 5):
        for rest in range(divisor):
            yield f"(card.rank + last.rank) % {divisor} == {rest}"
    for one, two, three in permutations("hdc"):
        following = f'{{"s":"{one}","{one}":"{two}","{two}":"{three}","{three}":"s"}}'
        yield f"card.suit == {following}[last.suit]"


def _joined(one: _Part, other: _Part) -> Iterator[_Part]:
    yield _Part(f"{_bracketed(one)} && {_bracketed(other)}", one.bits & other.bits)
    yield _Part(f"{_bracketed(one)} || {_bracketed(other)}", one.bits | other.bits)


def _bracketed(part: _Part) -> str:
    return f"({part.text})"


def _alike(traits: Sequence[str]) -> list[_Part]:
    """Return the rules by which the next card has a trait if the last one has another trait, or if it lacks it."""
    cards = _parts(traits, "card")
    return [
        _Part(f"({last.text}) {sign} ({card.text})", last.bits ^ card.bits ^ flip)
        for last in _parts(traits, "last")
        for card in cards
        for sign, flip in (("==", _EVERY), ("!=", 0))
    ]


_Family: TypeAlias = tuple[float, Kind, list[_Part]]


def _families() -> Iterator[_Family]:
    main_relations = [_part(text) for text in _MAIN_RELATIONS]
    relations = [*main_relations, *(_part(text) for text in _relations())]
    yield 0.2, LAST, _both_signs(main_relations)
    yield 0.2, LAST, _alike(_MAIN_TRAITS)
    yield 0.15, LAST, _both_signs(relations)
    alike = _alike(_TRAITS)
    yield 0.1, LAST, alike
    yield 0.03, LAST, _both_signs(_parts(_TRAITS, "card"))
    for trait in _MAIN_TRAITS:
        yield from _by_place(trait)
    main = _both_signs([*main_relations, *_parts(_MAIN_TRAITS, "card")])
    joined = [
        part for at, one in enumerate(main) for other in main[:at] for part in _joined(one, other)
    ]
    yield 0.1, LAST, joined
    chosen = [
        _Part(
            f"{test.text} ? {_bracketed(one)} : {_bracketed(other)}",
            test.bits & one.bits | (_EVERY ^ test.bits) & other.bits,
        )
        for test in _parts(_TRAITS, "last")
        for one in main
        for other in main
    ]
    yield 0.1, LAST, chosen
    before = [
        _Part(
            f"size(line) < 2 || ({part.text.replace('last.', 'line[size(line) - 2].')})",
            part.bits | _ONE_CARD,
        )
        for part in (*_both_signs(relations), *alike)
    ]
    yield 0.04, BEFORE, before


_PERIODS: Final = range(2, 8)


def _by_place(trait: str) -> Iterator[_Family]:
    """Return the rules by which cards with a trait and cards without it alternate."""
    shown, first = trait.format("card"), trait.format("line[0]")
    have = _part(shown).bits & _ALL
    lack = _ALL ^ have
    for period in _PERIODS:

        def context(line: Ends, period: int = period) -> int:
            return 2 * (line.size % period) + (have >> _INDEX[line.first.card] & 1)

        parts = []
        for part in range(1, period):
            as_first = other = 0
            for place in range(period):
                for starter in (False, True):
                    at = FACE_COUNT * (2 * place + starter)
                    as_first |= (have if (place < part) == starter else lack) << at
                    other |= (have if place < part else lack) << at
            test = f"size(line) % {period} < {part}"
            parts += [
                _Part(f"({test}) == (({shown}) == ({first}))", as_first),
                _Part(f"({test}) == ({shown})", other),
            ]
        yield 0.08 / len(_MAIN_TRAITS) / len(_PERIODS), Kind(context, 2 * period), parts


@cache
def likely_rules() -> tuple[tuple[Kind, tuple[LikelyRule, ...]], ...]:
    """Return all rules by kind, each once, without those that allow too few or too many cards (R4)."""
    rules: dict[Kind, dict[int, LikelyRule]] = {}
    for prior, kind, parts in _families():
        by_bits = rules.setdefault(kind, {})
        bits = FACE_COUNT * kind.contexts
        for part in parts:
            if (
                part.bits not in by_bits
                and LEAST_SHARE <= part.bits.bit_count() / bits <= MOST_SHARE
            ):
                by_bits[part.bits] = LikelyRule(part.text, part.bits, prior / len(parts))
    return tuple((kind, tuple(by_bits.values())) for kind, by_bits in rules.items())


class Shown(NamedTuple):
    """Cards that were played one after the other, and whether all were right."""

    after: int
    """The number of cards of the mainline before."""
    cards: tuple[Card, ...]
    right: bool


def shown_by(layout: Layout, calls: Calls) -> tuple[Shown, ...]:
    """Return the plays and no-plays that limit the rule."""
    units = [
        Shown(place, (card,), right=True) for place, card in enumerate(layout.mainline) if place
    ]
    units += [
        Shown(after + 1, cards, right=False)
        for after, cards in zip(layout.side_after, layout.sidelines, strict=True)
    ]
    for hand, after, right in zip(calls.hands, calls.after, calls.right, strict=True):
        if right:  # a false no-play shows no more than the card that joined the mainline
            units += [Shown(after + 1, (card,), right=False) for card in dict.fromkeys(hand)]
    return tuple(units)


@dataclass(frozen=True)
class Beliefs:
    """Rules in order of their probability, the likeliest first."""

    rules: tuple[tuple[float, Kind, LikelyRule], ...]
    """The likeliest rules with their shares of the weight of all."""
    contradictions: int
    """The number of plays that contradict the nearest rule."""

    @property
    def text(self) -> str:
        return self.rules[0][2].text

    def allowed(self, line: Ends, most: int) -> list[int]:
        """Return the bits of the right faces after a line, by each of the `most` likeliest rules."""
        contexts: dict[Context, int] = {}
        results = []
        for _, kind, rule in self.rules[:most]:
            context = contexts.get(kind.context)
            if context is None:
                context = contexts[kind.context] = FACE_COUNT * kind.context(line)
            results.append(rule.bits >> context & _ALL)
        return results


_KEPT: Final = 300
"""The number of rules in `Beliefs` at most."""


@lru_cache(maxsize=64)
def beliefs(
    line: tuple[Card, ...],
    shown: tuple[Shown, ...],
    refuted: tuple[str, ...] = (),
    most_rules: int | None = None,
) -> Beliefs:
    """Weigh likely rules by what was shown, without the `refuted` ones, which were guessed.

    `most_rules` limits the rules of each kind to the simplest.
    """
    faces = [FACES[card] for card in line]
    ends = [Ends.of(faces[:size]) for size in range(1, len(faces) + 1)]
    played = [(_places(ends[unit.after - 1], unit.cards), unit.right) for unit in shown]
    least = len(line) + len(shown)
    weighed: list[tuple[int, list[tuple[int, int]]]] = []
    kinds = likely_rules()
    for at, (_, rules) in enumerate(kinds):
        agreeing, sets = partial(_agreeing, at, most_rules), list[int]()
        among = every = (1 << len(rules[:most_rules])) - 1
        single = set[tuple[int, bool]]()
        for cards, was_right in played:
            places = [contexts[at] + index for contexts, index in cards]
            if was_right or len(cards) == 1:
                single.update((place, was_right) for place in places)
            else:
                sets.append(reduce(and_, map(agreeing, places)))
        sets += [agreeing(place) ^ (every if was_right else 0) for place, was_right in single]
        for text in refuted:
            among &= ~(1 << _numbers(at).get(text, len(rules)))
        levels = [*islice(_by_count(sets, among), _MOST_BEHIND + 1)]
        least = min([least, *(against for against, _ in levels)])
        weighed.append((at, levels))
    weights = [
        (prior * CONTRADICTION ** (against - least), at, members & of_prior)
        for at, levels in weighed
        for prior, of_prior in _priors(at)
        for against, members in levels
        if against <= least + _MOST_BEHIND
    ]
    weights.sort(key=lambda each: -each[0])
    counts = ((weight, members.bit_count()) for weight, _, members in weights)
    total = sum(chain.from_iterable(starmap(repeat, counts)))
    likeliest = (
        (weight / total, kinds[at][0], kinds[at][1][number])
        for weight, at, members in weights
        for number in _places_of(members)
    )
    return Beliefs(tuple(islice(likeliest, _KEPT)), least)


# A set of rules is an integer, of which bit `n` stands for rule `n` of a kind. A few operations then weigh thousands of
# rules.


@cache
def _rows(at: int, most_rules: int | None) -> tuple[bytes, int]:
    """Return the bits of the rules of a kind, the last rule first, and the number of bytes of a rule."""
    kind, rules = likely_rules()[at]
    width = -(-FACE_COUNT * kind.contexts // 8)
    return b"".join(
        rule.bits.to_bytes(width, "little") for rule in reversed(rules[:most_rules])
    ), width


_DIGITS: Final = [bytes(b"01"[byte >> bit & 1] for byte in range(256)) for bit in range(8)]


@cache
def _agreeing(at: int, most_rules: int | None, place: int) -> int:
    """Return the rules of a kind that have the bit `place`."""
    rows, width = _rows(at, most_rules)
    return int(rows[place // 8 :: width].translate(_DIGITS[place % 8]), 2)


@cache
def _numbers(at: int) -> dict[str, int]:
    return {rule.text: number for number, rule in enumerate(likely_rules()[at][1])}


@cache
def _priors(at: int) -> tuple[tuple[float, int], ...]:
    """Return the priors of a kind in the order of its rules, each with the rules that have it."""
    numbered = groupby(enumerate(likely_rules()[at][1]), key=lambda rule: rule[1].prior)
    return tuple((prior, sum(1 << number for number, _ in rules)) for prior, rules in numbered)


def _by_count(sets: Sequence[int], among: int) -> Iterator[tuple[int, int]]:
    """Yield the rules that are in equally many of the sets, with that number, the fewest first."""
    digits = list[int]()  # of the number of each rule, in binary, the lowest first
    for members in sets:
        carry = members
        for at, digit in enumerate(digits):
            digits[at], carry = digit ^ carry, digit & carry
            if not carry:
                break
        digits += [carry] if carry else []
    while among:
        count, fewest = 0, among
        for at, digit in reversed([*enumerate(digits)]):
            if fewer := fewest & ~digit:
                fewest = fewer
            else:
                count += 1 << at
        yield count, fewest
        among &= ~fewest


def _places_of(bits: int) -> Iterator[int]:
    while bits:
        yield (bits & -bits).bit_length() - 1
        bits &= bits - 1


def _places(line: Ends, cards: Sequence[Card]) -> list[tuple[tuple[int, ...], int]]:
    """Return the first bits of the contexts before each card, by kind, and the index of the card."""
    places = []
    for card in cards:
        places.append((_first_bits(line), _INDEX[card]))
        line = line.then(FACES[card])
    return places


@lru_cache(maxsize=1024)
def _first_bits(line: Ends) -> tuple[int, ...]:
    return tuple(FACE_COUNT * kind.context(line) for kind, _ in likely_rules())


def beliefs_of(view: View, most_rules: int | None = None) -> Beliefs:
    """Return the likely rules, given all that a view shows of the rule."""
    shown = shown_by(view.layout, view.calls)
    return beliefs(view.layout.mainline, shown, view.guesses.texts, most_rules)
