"""The steps of a match as trees: what the server paints first, and the script after it.

A step is a table and the words of what happened. Trees are packed for the
browser with equal subtrees once: a subtree that has a key is a number wherever
it stands, the place of it in the pack's pool.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from json.encoder import encode_basestring as quoted

from arena.referee.spec import FaultKind
from arena.replay.beats import Beat
from arena.replay.frames import Decision
from arena.scenes import Eyes, Scene, Viewer
from arena.scenes.vocabulary import Line
from arena.web.table import Clock, Sitting, table
from arena.web.trees import Element, Tree, element
from arena.web.words import spoken, text

_MARKS = {
    FaultKind.TIMEOUT: "too late",
    FaultKind.ILLEGAL: "illegal move",
    FaultKind.MALFORMED: "no sense",
    FaultKind.GONE: "gone",
}
"""A fault in a word or two, on the seat that made it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One picture of a match, drawn."""

    label: str
    hand: int
    """From 0."""
    table: Element
    words: Element
    spoken: str
    """The words as they are read out."""
    fault: bool
    ends_hand: bool


def steps_of(
    beats: Iterable[Beat],
    eyes: Eyes,
    names: Sequence[str],
    bank_s: float,
    hand: int | None = None,
    before: Sequence[Decision] = (),
) -> Iterator[Step]:
    """The steps of a match, or of one `hand` from 0, drawn for somebody's eyes.

    Each seat begins the match with `bank_s`; `before` are its last decisions before these beats.
    """
    own = None if isinstance(eyes, Viewer) else eyes
    banks = dict.fromkeys(range(len(names)), bank_s)
    banks |= {each.seat: each.bank_ms / 1000 for each in before}
    forfeited = {int(each.seat) for each in before if each.forfeited}
    for beat in beats:
        charged: dict[int, float] = {}
        marks: dict[int, str] = dict.fromkeys(forfeited, "forfeited")
        for decision in () if beat.part else beat.frame.decisions:
            banks[decision.seat] = decision.bank_ms / 1000
            charged[decision.seat] = decision.charged_us / 1e6
            if decision.fault is not None:
                marks[decision.seat] = _MARKS[decision.fault]
            if decision.forfeited:
                forfeited.add(decision.seat)
        if hand is not None and beat.hand != hand:
            continue
        clocks = {seat: Clock(left, bank_s, charged.get(seat, 0.0)) for seat, left in banks.items()}
        sitting = Sitting(names, own, clocks, marks)
        yield step_of(
            beat.label,
            beat.hand,
            beat.scene(),
            sitting,
            beat.words(),
            beat.faults(),
            ends_hand=beat.ends_hand,
        )


def step_of(
    label: str,
    hand: int,
    scene: Scene,
    sitting: Sitting,
    said: Sequence[Line],
    faults: Sequence[Line],
    *,
    ends_hand: bool,
) -> Step:
    """A picture and what is said of it, drawn."""
    names = sitting.names
    return Step(
        label,
        hand,
        table(scene, sitting),
        _words(said, faults, names),
        " ".join(spoken(each, names) for each in (*said, *faults)),
        bool(faults),
        ends_hand,
    )


def fault_mark(kind: FaultKind) -> str:
    """A fault in a word or two."""
    return _MARKS[kind]


def _words(said: Sequence[Line], faults: Sequence[Line], names: Sequence[str]) -> Element:
    parts: list[Tree] = []
    for at, each in enumerate(said):
        parts += [" ", *text(each, names)] if at else text(each, names)
    for each in faults:
        parts += [" ", element("strong", "fault", *text(each, names))]
    return element("span", "said", *parts)


@dataclass
class Pack:
    """Trees with equal subtrees once."""

    _places: dict[str, int] = field(default_factory=dict)
    """The pool: trees as JSON, and where each stands."""
    _seen: dict[int, tuple[Element, str]] = field(default_factory=dict)
    """Trees by what they are in memory: what stayed from a step to the next is not written again."""

    def add(self, tree: Element) -> int:
        """Put a tree into the pool, and say where it is."""
        return self._places.setdefault(self._written(tree), len(self._places))

    def pool(self) -> str:
        """All trees as one JSON array."""
        return f"[{','.join(self._places)}]"

    def _written(self, tree: Element) -> str:
        seen = self._seen.get(id(tree))
        if seen is not None:
            return seen[1]
        attributes = ",".join(
            [f"{quoted(key)}:{quoted(to)}" for key, to in tree.attributes.items()]
        )
        parts = [quoted(tree.tag), f"{{{attributes}}}"]
        for child in tree.children:
            if isinstance(child, str):
                parts.append(quoted(child))
            elif "data-key" in child.attributes:
                parts.append(str(self.add(child)))
            else:
                parts.append(self._written(child))
        text = f"[{','.join(parts)}]"
        self._seen[id(tree)] = tree, text
        return text


def pack_of(steps: Sequence[Step], at: int) -> str:
    """The steps of a page as JSON that may stand in a script element; `at` is painted."""
    pack = Pack()
    rows = [
        [
            each.label,
            pack.add(each.table),
            pack.add(each.words),
            each.spoken,
            int(each.fault),
            int(each.ends_hand),
        ]
        for each in steps
    ]
    listed = json.dumps(rows, separators=(",", ":"), ensure_ascii=False)
    data = f'{{"at":{at},"steps":{listed},"pool":{pack.pool()}}}'
    return data.replace("<", "\\u003c")
