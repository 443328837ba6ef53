"""What a person can cause, wherever it is found out: loaded once something has gone wrong."""

from typing import Final

from arena.games.catalogue import BadOptions, UnknownGame
from arena.jail import BadCommand, NoWall
from arena.ladder.schedule import ScheduleError
from arena.referee import Unwritten
from arena.server.listen import CannotServe
from arena.server.refusals import Refused
from arena.server.tournaments.launcher import NoShow
from arena.store import StoreError

#: What a person can cause; each has a sentence for that person.
MISTAKES: Final = (
    BadCommand,
    BadOptions,
    CannotServe,
    NoShow,
    NoWall,
    Refused,
    ScheduleError,
    StoreError,
    UnknownGame,
    Unwritten,
)
