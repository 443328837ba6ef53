"""The attacks and endurance tests, as scenarios of `scripts/chaos`."""

from tests.attack.day import day
from tests.attack.floods import floods
from tests.attack.idle import connections
from tests.attack.soak import soak
from tests.chaos.scenarios import Scenario

ATTACK = ("floods",)
SOAK = ("day", "soak")
CONNECTIONS = ("connections",)

SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario(floods, full={"seconds": 10.0, "strangers": 0}, quick={"seconds": 1.0}),
        Scenario(day, full={"hours": 24.0}, quick={"hours": 1.0}),
        Scenario(
            soak,
            full={
                "minutes": 10.0,
                "floods": 1,
                "resets": 1,
                "oversized": 1,
                "hang_ups": 1,
                "strangers": 0,
                "answers_kept": 0,
            },
            quick={"minutes": 0.5},
        ),
        Scenario(
            connections,
            full={"streams": 1_000, "idle_s": 60.0},
            quick={"streams": 200, "idle_s": 3.0},
        ),
    )
}
