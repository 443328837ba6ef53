"""Launching bots: processes with a folder of their own, behind a wall, whose output is kept.

What the wall is made of is found by trial on each machine (`Wall`, `docs/jail.md`). Without one a
bot runs as the user who launches it: then only launch what you would run yourself.
"""

from arena.jail.command import BadCommand, BotCommand, parse_commands
from arena.jail.exceptions import ToldException, told_exception, without_others
from arena.jail.output import LOG_SUFFIX, Printed, between, instance_name, output_paths, read_output
from arena.jail.process import BotProcess, launch
from arena.jail.visible import Visible, why_never
from arena.jail.wall import UPLOADS_AT, Demand, Missing, NoWall, Wall, raise_wall
from arena.jailer.cell import Level, Limits

__all__ = [
    "LOG_SUFFIX",
    "UPLOADS_AT",
    "BadCommand",
    "BotCommand",
    "BotProcess",
    "Demand",
    "Level",
    "Limits",
    "Missing",
    "NoWall",
    "Printed",
    "ToldException",
    "Visible",
    "Wall",
    "between",
    "instance_name",
    "launch",
    "output_paths",
    "parse_commands",
    "raise_wall",
    "read_output",
    "told_exception",
    "why_never",
    "without_others",
]
