"""The errors that a user can cause. Loaded after an error only, because it imports all parts of the arena."""

from typing import Final

from arena.contests.plan import PlanError
from arena.durable_files import Unwritten
from arena.errors.refused import Refused
from arena.games.catalogue import BadOptions, UnknownGame
from arena.live.launcher import NoShow
from arena.live.listen import CannotServe
from arena.results.deal_sets import ScheduleError
from arena.results.record import Unreadable
from arena.sandbox.command import BadCommand
from arena.sandbox.sandbox import NoSandbox
from arena.store import StoreError

#: Commands print the text of these errors; all other errors are bugs.
MISTAKES: Final = (
    BadCommand,
    BadOptions,
    CannotServe,
    NoShow,
    NoSandbox,
    PlanError,
    Refused,
    ScheduleError,
    StoreError,
    UnknownGame,
    Unreadable,
    Unwritten,
)
