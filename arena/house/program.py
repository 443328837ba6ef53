"""The program of the arena's own bot, which also finds the engine if Python may not list the folder above it.

This is the case in a checkout at sandbox level S1. Python would then import the data files that an editable
installation has below `arena` as the engine.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

ENGINE = Path(__file__).resolve().parents[1]


def main() -> None:
    """Import the engine that has this file, unless an engine runs this program in its own process, and play."""
    if ENGINE.name not in sys.modules:
        spec = spec_from_file_location(
            ENGINE.name, ENGINE / "__init__.py", submodule_search_locations=[str(ENGINE)]
        )
        assert spec is not None
        assert spec.loader is not None
        sys.modules[ENGINE.name] = engine = module_from_spec(spec)
        spec.loader.exec_module(engine)
    from arena.house.bot import main as play

    play()


if __name__ == "__main__":
    main()
