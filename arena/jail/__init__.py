"""Launching bots: processes with a folder of their own, whose output is kept.

There is no wall around a launched bot yet: it runs as the user who launches
it. Only launch what you would run yourself.
"""

from arena.jail.command import BadCommand, BotCommand, parse_commands
from arena.jail.exceptions import ToldException, told_exception, without_others
from arena.jail.output import Printed, between, instance_name, output_paths, read_output
from arena.jail.process import BotProcess, launch

__all__ = [
    "BadCommand",
    "BotCommand",
    "BotProcess",
    "Printed",
    "ToldException",
    "between",
    "instance_name",
    "launch",
    "output_paths",
    "parse_commands",
    "read_output",
    "told_exception",
    "without_others",
]
