"""The environment of a measurement."""

import os
import platform
from importlib import metadata
from pathlib import Path

from arena.compiled import built


def versions() -> dict[str, str | int]:
    """Return the versions that affect speed, and the processor of the machine."""
    named = {name: metadata.version(name) for name in ("grpcio", "protobuf", "trio")}
    return {
        "python": platform.python_version(),
        **named,
        "arena": built(),
        "cpu": _cpu(),
        "cpu_count": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0,
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())
