"""A replay in the terminal: the whole match, or step by step at the viewer's pace."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from arena.cli.terminal.screen import Screen
from arena.replay.frames import Discrepancy, Frame, frames
from arena.replay.read import Replay
from arena.replay.verify import verify

KEYS: Final = "Enter next · p back · h next hand · f next fault · a number goes there · q quit"

_NOWHERE: Final = {"h": "no further hand is dealt", "f": "no further fault"}


@dataclass(frozen=True, slots=True)
class Steps:
    """All frames of a replay, and what is wrong with it where they stop early."""

    frames: tuple[Frame, ...]
    problem: str = ""

    @classmethod
    def of(cls, replay: Replay) -> "Steps":
        """Play a replay as far as it goes by the rules.

        Raises:
          Damaged: if the replay does not say how the match ended.
          Unplayable: if this arena has no such game, rules version or options.
        """
        found: list[Frame] = []
        try:
            found.extend(frames(replay))
            verify(replay)  # the frames alone do not show a false clock or result
        except Discrepancy as error:
            return cls(tuple(found), str(error))
        return cls(tuple(found))

    def of_hand(self, hand: int) -> tuple[Frame, ...]:
        """The frames in which a hand, from 0, was dealt or played."""
        return tuple(each for each in self.frames if hand in (each.hand, each.next_hand))


def print_all(
    screen: Screen, steps: Steps, chosen: Sequence[Frame], *, with_views: bool = True
) -> None:
    """Print the header, the chosen frames, and the end if they reach it."""
    screen.header()
    for frame in chosen:
        screen.step(frame, with_view=with_views)
    if not steps.frames or (chosen and chosen[-1] is steps.frames[-1]):
        _end(screen, steps)


def step_through(
    screen: Screen,
    steps: Steps,
    read: Callable[[str], str],
    begin: int = 0,
) -> None:
    """Show one frame at a time and go where `read`, given a prompt, says.

    `read` raises EOFError where nothing more is to come.
    """
    screen.header()
    last = len(steps.frames) - 1
    at = min(max(begin, 0), last)
    shown = -1
    while True:
        if at != shown and at >= 0:
            screen.step(steps.frames[at])
            if at == last:
                _end(screen, steps)
            shown = at
        try:
            key = read(f"[{at}/{max(last, 0)}] {KEYS} > ").strip().lower()
        except (EOFError, KeyboardInterrupt):
            return
        if key == "q":
            return
        target = _target(steps.frames, at, key)
        if target is not None:
            at = target
        elif key in ("", "n"):
            return  # past the end
        else:
            screen.say(_NOWHERE.get(key, KEYS))


def _target(frames_: Sequence[Frame], at: int, key: str) -> int | None:
    """The frame that a key leads to; None if it leads nowhere."""
    if key.isdecimal():
        return min(int(key), len(frames_) - 1)
    following = range(at + 1, len(frames_))
    if key in ("", "n"):
        return next(iter(following), None)
    if key == "p":
        return max(at - 1, 0)
    if key == "h":
        hand = frames_[at].next_hand
        return next((each for each in following if frames_[each].next_hand > hand), None)
    if key == "f":
        return next(
            (each for each in following if any(d.fault for d in frames_[each].decisions)), None
        )
    return None


def _end(screen: Screen, steps: Steps) -> None:
    if steps.problem:
        screen.problem(steps.problem)
    else:
        screen.ending(steps.frames)
