"""The program `arena`: starts the command, or says what is missing.

The rules of the games come without it: what the command needs is the extra `server`.
"""

import os
import sys
from typing import NoReturn

EXIT_MISSING = 1
EXIT_INTERRUPTED = 130
"""As shells say it: 128 and the number of SIGINT."""


def main() -> NoReturn:
    """Run the command, and end with its exit code."""
    try:
        from arena.cli import main as command

        command.main(prog_name="arena")
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in ("", "arena"):
            raise
        _end(
            f"arena: the command needs more than the rules of the games: {missing} is missing.\n"
            "Install it with: pip install 'cardarena-engine[server]', or in a checkout: "
            "pip install ./clients/python '.[server]'\n",
            EXIT_MISSING,
        )
    except KeyboardInterrupt:
        # Before there is anything to tidy up. The modules half loaded are none to say good-bye to.
        os._exit(EXIT_INTERRUPTED)
    raise SystemExit(0)


def _end(text: str, code: int) -> NoReturn:
    sys.stderr.write(text)
    raise SystemExit(code) from None


if __name__ == "__main__":
    main()
