"""The steps of a replay for the terminal, and all of them printed."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.cli.terminal.screen import Screen
from arena.records.playback import Discrepancy, PlaybackStep, play_back
from arena.records.read import Replay
from arena.records.verify import verify


@dataclass(frozen=True, slots=True)
class Playback:
    """The steps of a replay, up to the first false one."""

    steps: tuple[PlaybackStep, ...]
    problem: str = ""
    """The problem of the replay; empty if there is none."""

    @classmethod
    def of(cls, replay: Replay) -> "Playback":
        """Play a replay as far as it follows the rules.

        Raises:
          Damaged: if the replay does not say how the match ended.
          Unplayable: if this arena has no such game, rules version or options.
        """
        steps: list[PlaybackStep] = []
        try:
            steps.extend(play_back(replay))
            verify(replay)  # the steps alone do not show a false clock or result
        except Discrepancy as error:
            return cls(tuple(steps), str(error))
        return cls(tuple(steps))

    def of_hand(self, hand: int) -> tuple[PlaybackStep, ...]:
        """Return the steps in which a hand, from 0, was dealt or played."""
        return tuple(step for step in self.steps if hand in (step.hand, step.next_hand))


def print_all(
    screen: Screen, playback: Playback, chosen: Sequence[PlaybackStep], *, with_views: bool = True
) -> None:
    """Print the header, the chosen steps, and the end if they reach it."""
    screen.header()
    for step in chosen:
        screen.step(step, with_view=with_views)
    if playback.steps and not (chosen and chosen[-1] is playback.steps[-1]):
        return
    if playback.problem:
        screen.problem(playback.problem)
    else:
        screen.ending(playback.steps)
