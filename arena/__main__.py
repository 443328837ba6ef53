"""The program `arena`: runs the command, or names the package that is missing.

The rules of the games can be installed without the packages of the command, which are the extra `server`.
"""

import io
import os
import sys
from typing import NoReturn

from arena.errors import exits


def main() -> NoReturn:
    """Run the command, and end with its exit code."""
    _replace_unknown_characters()
    try:
        from arena.cli import main as command

        command.main(prog_name="arena")
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in ("", "arena"):
            raise
        sys.stderr.write(
            f"arena: the command needs more than the rules of the games: {missing} is missing.\n"
            "Install it with: pip install 'cardarena-engine[server]', or in a checkout: "
            "pip install ./clients/python '.[server]'\n",
        )
        raise SystemExit(exits.FAILED) from None
    except KeyboardInterrupt:
        # Before a command has begun, exit without tearing down half-loaded modules.
        os._exit(exits.INTERRUPTED)
    sys.exit()


def _replace_unknown_characters() -> None:
    """Print `?` for a character that the encoding of standard output does not have, such as ♣ in ISO 8859-1."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="replace")


if __name__ == "__main__":
    main()
