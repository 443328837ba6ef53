"""The public behaviour of a bot over its matches: frequencies of its acts in each phase, compared with the others at the same tables."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

from arena.games.contract import Seat
from arena.records.playback import PlaybackStep, play_back
from arena.records.read import Replay


@dataclass(frozen=True, slots=True)
class Tendency:
    """The frequency of one act of a bot in one phase of the game."""

    phase: str
    """The phase, as the spectator's view names it."""
    act: str
    """The public event that followed its decision, such as `acted fold`."""
    times: int
    of: int
    """The number of its decisions in this phase that a public event followed."""
    others_times: int
    others_of: int
    """The same number for all other seats of these matches."""

    @property
    def share(self) -> float:
        return self.times / self.of

    @property
    def others_share(self) -> float:
        """The share of the others' decisions; 0 if they had none."""
        return self.others_times / self.others_of if self.others_of else 0.0


@dataclass(frozen=True, slots=True)
class OpponentTendencies:
    """The tendencies of one bot."""

    bot: str
    matches: int
    tendencies: tuple[Tendency, ...]


def tendencies_of(replays: Iterable[tuple[Replay, Seat]]) -> tuple[Tendency, ...]:
    """Return the frequencies of acts of the bot at the given seat of each replay, by phase; the largest differences from the others are first.

    An act that is the only one of its phase is left out.

    Only events that every spectator receives count, so nothing hidden is revealed. Decisions that were played by
    fallback are left out.

    Raises:
      Discrepancy: if a replay is not true.
      Damaged: if it does not say how the match ended.
      Unplayable: if this arena has no such game, rules version or options.
    """
    acts: dict[bool, dict[str, Counter[str]]] = {
        True: defaultdict(Counter),
        False: defaultdict(Counter),
    }
    for replay, seat in replays:
        for step in play_back(replay):
            phase = step.game.rules.view(step.before, None).phase
            for actor, act in _acts(step):
                acts[actor == seat][_words(phase.name)][act] += 1
    rows = [
        Tendency(
            phase, act, times, counted.total(), acts[False][phase][act], acts[False][phase].total()
        )
        for phase, counted in acts[True].items()
        for act, times in counted.items()
    ]
    rows = [row for row in rows if row.times + row.others_times < row.of + row.others_of]
    return tuple(
        sorted(rows, key=lambda row: (-abs(row.share - row.others_share), row.phase, row.act))
    )


def _acts(step: PlaybackStep) -> Iterator[tuple[Seat, str]]:
    """Yield the seats that decided, each with its first public event."""
    for decision in step.decisions:
        if decision.fault is not None or decision.unasked:
            continue
        for sent in step.events_for(None):
            if getattr(sent.event, "seat", None) == decision.seat:
                yield decision.seat, _act(sent.event)
                break


def _act(event: Any) -> str:
    """Return an event in words, without cards and amounts: its kind, and what it says of the action."""
    kinds = [
        value.name
        for value in (getattr(event, field.name) for field in fields(event))
        if isinstance(value, Enum)
    ]
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(event).__name__)
    return _words(" ".join([name, *kinds]))


def _words(name: str) -> str:
    return name.lower().replace("_", " ")
