"""Whether this arena runs as compiled modules or from its pure sources: the same code either way."""

from collections.abc import Sequence
from pathlib import Path


def built() -> str:
    """How this arena was built: "compiled" or "pure". This module is one of those compiled."""
    return "pure" if __file__.endswith(".py") else "compiled"


def outdated() -> Sequence[str]:
    """Sources that were changed after they were compiled, so that what runs is not what they say."""
    if built() == "pure":
        return ()
    package = Path(__file__).parent
    return sorted(
        str(source.relative_to(package.parent))
        for module in package.rglob("*.so")
        if (source := module.with_name(module.name.partition(".")[0] + ".py")).exists()
        and source.stat().st_mtime > module.stat().st_mtime
    )
