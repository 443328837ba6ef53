"""The rule language of Eleusis: any text, from noise to rules that are as dear as can be."""

import sys

import cel
from hypothesis import strategies as st

from arena.games.cel import (
    DECK_ORDER,
    FACES,
    MAX_COST,
    MAX_LENGTH,
    EvaluationFailed,
    Rule,
    RuleError,
    RuleFailed,
)
from arena.games.eleusis.work import EXAMPLES
from tests.fuzz.target import Target, check_sentence
from tests.fuzz.wild import mutated
from tests.games.cel.test_language import FAILURES, VALUES
from tests.games.cel.test_oracle import DIFFERENT, Writer, theirs

LINES = (["7h"], ["As", "Kh", "2d", "Tc", "9s"], list(DECK_ORDER))
CALLS_PER_COST = 12
"""Function calls that one unit of cost may stand for: looking through a list of eight is one."""
CALLS_OF_A_CARD = 3_000
"""What a card may take beside: a rule has 200 nodes."""


class Calls:
    """Counts the functions that are called, in place of seconds, which differ every time."""

    def __enter__(self):
        self.count = 0
        sys.setprofile(self._called)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def _called(self, frame, event, argument):
        if event in ("call", "c_call"):
            self.count += 1


def check_rule(data):
    """Any text is a rule or not one, and what it does is bounded and always the same."""
    text = data.decode("utf-8", "replace")
    rule, said = _read(text)
    if rule is None:
        assert _read(text) == (None, said)
        return
    assert rule == Rule(text)
    assert hash(rule) == hash(Rule(text))
    for line in LINES:
        faces = [FACES[card] for card in line]
        with Calls() as calls:
            found = rule.evaluate(faces)
        assert calls.count <= CALLS_PER_COST * found.cost + 52 * CALLS_OF_A_CARD
        # What is spent last may go beyond the limit by one value that is built.
        assert found.dearest <= MAX_COST + MAX_LENGTH + 500
        assert found.cost <= 52 * found.dearest
        again = Rule(text).evaluate(faces)
        assert (again.allowed, again.cost) == (found.allowed, found.cost)
        if found.dearest > MAX_COST:
            break  # longer lines take no longer
    _check_oracle(rule, text)


def _read(text):
    """The rule of a text, or None and what is wrong with it."""
    try:
        return Rule(text), ""
    except RuleError as error:
        check_sentence(error)
        _check_place(error.position, text)
        return None, str(error)


def _check_place(position, text):
    assert 1 <= position <= len(text) + 1


_MACROS = (".all(", ".exists(", "||", "&&")
_APART = ("abs", "==", "!=", "{", "-(", "--", "- -", "in")


def _check_oracle(rule, text):
    """Where both engines know all of it, the other one says the same."""
    if text in DIFFERENT or any(part in text for part in _APART):
        return
    try:
        program = cel.compile(text)
    except ValueError:
        return
    for card in ("As", "7d"):
        try:
            mine = rule.allows(card, LINES[1])
        except EvaluationFailed:
            mine = "error"
        except RuleFailed:
            return  # too dear here, where the other has no limit
        other = theirs(program, card, LINES[1])
        if mine != other == "error" and any(macro in text for macro in _MACROS):
            continue  # an error that is absorbed here
        assert mine == other, (text, card)


WORDS = (
    *("card", "last", "line", "card.rank", "last.suit", "card.color", "card.face", "x", "y"),
    *("size(line)", "abs(", "size(", "line.all(x, ", "line.exists(x, ", "line.map(x, "),
    *("line.filter(x, ", ".exists_one(y, ", ")", "(", "[", "]", "{", "}", ",", ":", "?", "."),
    *("+", "-", "*", "/", "%", "!", "&&", "||", "==", "!=", "<", "<=", ">", ">=", " in "),
    *("0", "1", "7", "9223372036854775807", "-9223372036854775808", "9" * 40, "'s'", '"R"'),
    *("true", "false", "null", "//", "'\\n'", "'", "line + line", "line[0]", "x.rank"),
)

DEAR = (
    "line.all(a, line.all(b, line.all(c, a.rank + b.rank + c.rank > 0)))",
    "line.map(a, line).map(b, b + b).exists(c, c == line + line)",
    "[line.map(a, a.suit + a.suit)].all(l, line.all(x, x.suit + x.suit in l + l + l + l))",
    "[['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa']].all(l, l.map(s, s[0] + s[0]).all(t, t + t == t + t))",
    "[[1]].map(a, a + a).map(a, a + a).map(a, a + a).map(a, a + a).map(a, a + a).all(a, a == a)",
    "[[line, line]].map(a, [a, a]).map(a, [a, a]).map(a, [a, a]).all(a, a == a)",
    "line.all(a, line.filter(b, b != a) + line != line.filter(b, b == a))",
    "!" * 400 + "card.face",
    "-" * 300 + "1 > 0",
    "(" * 290 + "true" + ")" * 290,
    "[" * 24 + "]" * 24 + " == []",
    "true ? " * 60 + "true",
    "card.rank" + " + card.rank" * 45 + " > 0",
)


def texts():
    written = st.integers(0, 1 << 32).map(lambda seed: Writer(seed).write("truth", 3))
    known = [*EXAMPLES, *(row[0] for row in (*VALUES, *FAILURES)), *DEAR]
    return st.one_of(
        written.map(str.encode),
        st.sampled_from(known).map(str.encode),
        mutated([text.encode() for text in known]),
        st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join).map(str.encode),
        st.lists(st.sampled_from(WORDS), max_size=40).map("".join).map(str.encode),
        st.text(max_size=30).map(lambda text: text.encode("utf-8", "replace")),
    )


RULES = Target(
    "rules", "texts as rules of Eleusis, and the other engine beside ours",
    check_rule, texts, short=25,
)  # fmt: skip
