"""The errors that a user can cause. Loaded after an error only, because it imports all parts of the arena."""

from typing import Final

from arena.games.catalogue import BadOptions, UnknownGame
from arena.referee import Unwritten
from arena.sandbox import BadCommand, NoSandbox
from arena.schedule.deal_sets import ScheduleError
from arena.server.competitions.launcher import NoShow
from arena.server.listen import CannotServe
from arena.server.refusals import Refused
from arena.store import StoreError

#: Commands print the text of these errors; all other errors are bugs.
MISTAKES: Final = (
    BadCommand,
    BadOptions,
    CannotServe,
    NoShow,
    NoSandbox,
    Refused,
    ScheduleError,
    StoreError,
    UnknownGame,
    Unwritten,
)
