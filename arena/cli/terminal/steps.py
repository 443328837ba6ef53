"""A replay in the terminal: its frames, and all of them printed."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.cli.terminal.screen import Screen
from arena.replay.frames import Discrepancy, Frame, frames
from arena.replay.read import Replay
from arena.replay.verify import verify


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


def _end(screen: Screen, steps: Steps) -> None:
    if steps.problem:
        screen.problem(steps.problem)
    else:
        screen.ending(steps.frames)
