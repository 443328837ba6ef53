"""Launches bots as sandboxed processes, each with a folder of its own, and keeps their output.

A trial finds the sandbox level of the machine (`Sandbox`, `docs/sandbox.md`). Without a sandbox a bot
has all rights of the user who launches it: then launch only bots whose code you trust.
"""

from arena.sandbox.command import (
    SAMPLE_BOTS,
    SDK_ARGV,
    BadCommand,
    BotCommand,
    house_argv,
    parse_commands,
)
from arena.sandbox.content import changed_files
from arena.sandbox.exceptions import PrintedException, printed_exception, without_other_asks
from arena.sandbox.output import (
    LOG_SUFFIX,
    Printed,
    between,
    instance_name,
    output_paths,
    read_output,
)
from arena.sandbox.process import BotProcess, launch
from arena.sandbox.sandbox import (
    NO_SPAWNER,
    UPLOADS_AT,
    MissingLevel,
    NoSandbox,
    Sandbox,
    SandboxDemand,
    raise_sandbox,
)
from arena.sandbox.visible_files import VisibleFiles, why_never
from arena.spawner.order import Level, ResourceLimits

__all__ = [
    "LOG_SUFFIX",
    "NO_SPAWNER",
    "SAMPLE_BOTS",
    "SDK_ARGV",
    "UPLOADS_AT",
    "BadCommand",
    "BotCommand",
    "BotProcess",
    "Level",
    "MissingLevel",
    "NoSandbox",
    "Printed",
    "PrintedException",
    "ResourceLimits",
    "Sandbox",
    "SandboxDemand",
    "VisibleFiles",
    "between",
    "changed_files",
    "house_argv",
    "instance_name",
    "launch",
    "output_paths",
    "parse_commands",
    "printed_exception",
    "raise_sandbox",
    "read_output",
    "why_never",
    "without_other_asks",
]
