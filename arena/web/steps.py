"""The steps of a match as trees: the page has one as HTML, and its script builds the others.

A step is a picture of the table and sentences about events. The script's data has equal subtrees once: a subtree with a
key is replaced by its index in a pool.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from json.encoder import encode_basestring as quoted
from types import MappingProxyType
from typing import Final, TypeAlias

from arena.errors.faults import DEAL
from arena.games.contract import Seat
from arena.pictures import AnyViewer, Scene, Viewer
from arena.pictures.vocabulary import Line, Name
from arena.records.frames import Frame, hand_frames
from arena.records.playback import PlaybackStep, ReplayedDecision
from arena.referee.terms import MatchTerms
from arena.web.names import seat_names
from arena.web.rich_text import spoken, text
from arena.web.table import Clock, TableLayout, table
from arena.web.trees import Element, Tree, element

Notes: TypeAlias = Mapping[tuple[Seat, int], str]
"""Published notes of bots by seat and decision, as `published_notes` reads them."""
NO_NOTES: Final[Notes] = MappingProxyType({})
MOST_NOTE_CHARS: Final = 300
"""The maximal number of characters of a note on a page. This arena accepts fewer, but a replay may be of another one."""


@dataclass(frozen=True, slots=True)
class Step:
    """One drawn picture of a match."""

    label: str
    hand: int
    """From 0."""
    table: Element
    text: Element
    """Sentences about events, without those of the banner in the table."""
    spoken: str
    """The sentences as plain text."""
    fault: bool
    ends_hand: bool


def hand_steps(
    played: Sequence[PlaybackStep],
    hand: int,
    viewer: AnyViewer,
    names: Sequence[str],
    terms: MatchTerms,
    notes: Notes = NO_NOTES,
) -> list[Step]:
    """Draw the steps of one hand, from 0, of a match; empty if the match has no such hand."""
    frames = hand_frames(played, hand, viewer, terms.options, terms.seats)
    if not frames:
        return []
    # A deal follows the decisions of its step, of which the frame before it has the picture.
    first, latest = frames[0], dict[Seat, ReplayedDecision]()
    for step in reversed(played[: first.step.index + first.part]):
        for decision in reversed(step.decisions):
            latest.setdefault(decision.seat, decision)
        if len(latest) == terms.seats:
            break
    bank_s = terms.time_control.bank_ms / 1000
    return list(steps_of(frames, viewer, seat_names(names), bank_s, list(latest.values()), notes))


def steps_of(
    frames: Iterable[Frame],
    viewer: AnyViewer,
    names: Sequence[str],
    bank_s: float,
    before: Sequence[ReplayedDecision] = (),
    notes: Notes = NO_NOTES,
) -> Iterator[Step]:
    """Draw the steps of a match, or of a part of it.

    `bank_s` is the time in each seat's bank at the start of the match, in seconds; `before` has the
    last decision of each seat before these frames. A step shows the notes at its decisions whose seats the viewer sees.
    """
    near = None if isinstance(viewer, Viewer) else viewer
    banks = dict.fromkeys(range(len(names)), bank_s)
    banks |= {decision.seat: decision.bank_ms / 1000 for decision in before}
    forfeited = {int(decision.seat) for decision in before if decision.forfeited}
    for frame in frames:
        charged: dict[int, float] = {}
        marks: dict[int, str] = dict.fromkeys(forfeited, DEAL.label)
        for decision in frame.decisions:
            banks[decision.seat] = decision.bank_ms / 1000
            charged[decision.seat] = decision.charged_us / 1e6
            if decision.fault is not None:
                marks[decision.seat] = decision.fault.entry.label
            if decision.forfeited:
                forfeited.add(decision.seat)
        clocks = {seat: Clock(left, bank_s, charged.get(seat, 0.0)) for seat, left in banks.items()}
        layout = TableLayout(names, near, clocks, marks)
        yield step_of(
            frame.label,
            frame.hand,
            frame.scene(),
            layout,
            frame.sentences(),
            frame.fault_sentences(),
            ends_hand=frame.ends_hand,
            notes=[
                (decision.seat, note)
                for decision in frame.decisions
                if decision.seat in frame.perspective.seat_views
                and (note := notes.get((decision.seat, decision.decision)))
            ],
        )


def step_of(
    label: str,
    hand: int,
    scene: Scene,
    layout: TableLayout,
    sentences: Sequence[Line],
    faults: Sequence[Line],
    *,
    ends_hand: bool,
    notes: Sequence[tuple[Seat, str]] = (),
) -> Step:
    """Draw a step: the table, sentences of events and faults, and notes of bots.

    Sentences of the banner of the picture are not repeated beside it; a screen reader gets all sentences.
    """
    names = layout.names
    noted: list[Line] = [(Name(seat), f" noted: {note[:MOST_NOTE_CHARS]}") for seat, note in notes]
    return Step(
        label,
        hand,
        table(scene, layout),
        _text(_beside(scene.banner, sentences, names), faults, noted, names),
        " ".join(spoken(sentence, names) for sentence in (*sentences, *faults, *noted)),
        bool(faults),
        ends_hand,
    )


def _beside(
    banner: Sequence[Line], sentences: Sequence[Line], names: Sequence[str]
) -> Sequence[Line]:
    """Return the sentences that are not in the banner."""
    if not banner:
        return sentences
    words = " ".join(spoken(line, names) for line in banner)
    other = [line for line in sentences if spoken(line, names).removesuffix(".") not in words]
    return other or (("The hand ends.",),)


def _text(
    sentences: Sequence[Line], faults: Sequence[Line], noted: Sequence[Line], names: Sequence[str]
) -> Element:
    parts: list[Tree] = []
    for at, sentence in enumerate(sentences):
        parts += [" ", *text(sentence, names)] if at else text(sentence, names)
    for fault in faults:
        parts += [" ", element("strong", "fault", *text(fault, names))]
    for note in noted:
        parts += [" ", element("bdi", "noted soft", *text(note, names))]
    return element("span", "said", *parts)


@dataclass
class Pack:
    """A pool of trees that has equal subtrees once."""

    _places: dict[str, int] = field(default_factory=dict)
    """Trees as JSON, each with its index in the pool."""
    _seen: dict[int, tuple[Element, str]] = field(default_factory=dict)
    """The JSON of trees by their identity, because many do not change from one step to the next."""

    def add(self, tree: Element) -> int:
        """Add a tree to the pool, and return its index."""
        return self._places.setdefault(self._written(tree), len(self._places))

    def pool(self) -> str:
        """Return the pool as one JSON array."""
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


def step_row(pack: Pack, step: Step) -> list[str | int]:
    """Return a step for the script, with its trees in the pool of a pack."""
    return [
        step.label,
        pack.add(step.table),
        pack.add(step.text),
        step.spoken,
        int(step.fault),
        int(step.ends_hand),
    ]


def packed_steps(steps: Sequence[Step], at: int) -> str:
    """Return the steps of a page as JSON for its script, each with its hand; the page shows step `at`."""
    pack = Pack()
    rows = [[*step_row(pack, step), step.hand] for step in steps]
    listed = json.dumps(rows, separators=(",", ":"), ensure_ascii=False)
    return f'{{"at":{at},"steps":{listed},"pool":{pack.pool()}}}'
