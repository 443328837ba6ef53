"""The scenarios by name, with what they are given in the long and in the short form."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from tests.chaos.report import Report
from tests.chaos.scenarios.bot_processes import bot_processes
from tests.chaos.scenarios.drained_server import drained_server
from tests.chaos.scenarios.failing_writes import failing_writes
from tests.chaos.scenarios.faulty_clients import every_boundary, random_faults
from tests.chaos.scenarios.frozen_server import frozen_server
from tests.chaos.scenarios.full_disk import full_disk
from tests.chaos.scenarios.journal_speed import journal_speed
from tests.chaos.scenarios.killed_server import SHORT_GAMES, killed_server
from tests.chaos.scenarios.locked_database import locked_database
from tests.chaos.scenarios.reconnect_storm import reconnect_storm


@dataclass(frozen=True)
class Scenario:
    """Something that is done to an arena, and how much of it."""

    play: Callable[..., Awaitable[Report]]
    """Given the seed and the size."""
    full: dict[str, Any]
    quick: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self):
        return self.play.__name__.replace("_", "-")

    @property
    def about(self):
        """What it does, in a sentence."""
        return self.play.__doc__.partition("\n")[0]


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario(
            killed_server,
            full={"kills": 500, "matches": 50, "think_s": 0.1},
            quick={"kills": 5, "matches": 8, "life_s": 0.5},
        ),
        Scenario(
            every_boundary,
            full={"games": tuple(game.id for game in SHORT_GAMES)},
            quick={"games": ("sixty_six",)},
        ),
        Scenario(
            random_faults,
            full={"faults": 10_000},
            quick={"faults": 60, "matches": 10, "bots": 8, "games": SHORT_GAMES},
        ),
        Scenario(
            bot_processes, full={"kills": 50, "watch_freeze": True}, quick={"kills": 2, "hands": 6}
        ),
        Scenario(reconnect_storm, full={"sessions": 1_000}, quick={"sessions": 40}),
        Scenario(
            drained_server,
            full={"matches": 200, "drain_s": 120.0},
            quick={"matches": 10, "drain_s": 1.5},
        ),
        Scenario(
            frozen_server,
            full={"frozen_s": 7.0, "matches": 20, "times": 5},
            quick={"frozen_s": 2.5, "matches": 6},
        ),
        Scenario(full_disk, full={"matches": 20, "rounds": 20}, quick={"matches": 6}),
        Scenario(failing_writes, full={"every": 1}, quick={"first": 8, "every": 20}),
        Scenario(
            locked_database,
            full={"locked_s": 8.0, "deal_sets": 150},
            quick={"locked_s": 8.0, "deal_sets": 30},
        ),
        Scenario(journal_speed, full={"seconds": 10.0}, quick={"seconds": 0.5}),
    )
}
