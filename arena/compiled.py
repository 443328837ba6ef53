"""Whether this arena runs from compiled modules or from the Python sources, which behave the same."""

from collections.abc import Sequence
from pathlib import Path


def built() -> str:
    """Return how this arena was built: "compiled" or "pure". This module is among the compiled ones."""
    return "pure" if __file__.endswith(".py") else "compiled"


def outdated() -> Sequence[str]:
    """Return the sources of a checkout that were changed after their compilation, so that older code runs.

    The sources of an installed wheel have the date of its installation, so they are not compared.
    """
    package = Path(__file__).parent
    if built() == "pure" or not (package.parent / "pyproject.toml").exists():
        return ()
    return sorted(
        str(source.relative_to(package.parent))
        for module in package.rglob("*.so")
        if (source := module.with_name(module.name.partition(".")[0] + ".py")).exists()
        and source.stat().st_mtime > module.stat().st_mtime
    )
