"""Exit codes of the command `arena`, of bots, and of processes in the sandbox."""

from typing import Final

from arena.errors.entries import ExitEntry

FAILED: Final = 1
USAGE: Final = 2
BOT_FAILED: Final = 3
UNDECIDED: Final = 4
FAULTED: Final = 5
INTERRUPTED: Final = 130
"""The convention of shells: 128 and the number of SIGINT."""


def _exit(program: str, number: int, meaning: str, cause: str, cure: str) -> ExitEntry:
    return ExitEntry(f"X-{program.upper()}-{number}", meaning, cause, cure, program, number)


# fmt: off
EXITS: Final = (
    _exit("arena", 0, "the command succeeded",
        "For `serve`: it was drained or stopped.", "Nothing to do."),
    _exit("arena", FAILED, "the command failed, or what it checked is not right",
        "The message on standard error says why; `verify`, `status` and `conformance` exit so if the check fails.", "Follow the message."),
    _exit("arena", USAGE, "the command was called wrongly",
        "An option or argument is missing, unknown, or does not go with another.", "Read `arena COMMAND --help`."),
    _exit("arena", BOT_FAILED, "the command did its work, and the bot failed",
        "`play`: the code of a bot raised an exception. `check`, `bots report`: the bot is not qualified.", "Correct the bot, as the output says."),
    _exit("arena", UNDECIDED, "the comparison ended without a decision",
        "`compare`: the deal-sets played do not separate the two bots, or it was stopped. `tune`: the values found are not decided to be better.", "Run it again with more `--deal-sets`."),
    _exit("arena", FAULTED, "a bot had a fault, and `--strict` was given",
        "`play`, `tournament`, `compare`, `climb`: a bot answered late, malformed or illegally, left, or raised an exception.", "Correct the bot: `arena match why` explains each fault of a match."),
    _exit("arena", INTERRUPTED, "the command was interrupted",
        "Ctrl-C was pressed before the work was done.", "Run it again; tournaments and competitions continue where they stopped."),
    _exit("bot", 0, "the arena closed the bot's stream",
        "Its matches are over.", "Nothing to do."),
    _exit("bot", 1, "no arena could be reached",
        "A bot that plays once tried for ten seconds.", "Start the arena, and check the address."),
    _exit("bot", 2, "the arena refused the bot, or the bot was configured wrongly",
        "The message names the refusal, or the option.", "Follow the message; the refusals are listed above."),
    _exit("bot", 3, "the arena's deals are not what it committed to",
        "The arena's secret or another bot's entropy does not open its commitment.", "Keep the receipts, and verify them with `arena replay verify`."),
    _exit("bot", INTERRUPTED, "the bot was interrupted",
        "Ctrl-C was pressed.", "Nothing to do."),
    _exit("sandbox", 127, "the bot's process could not be started in the sandbox",
        "The kernel or bubblewrap refused a step; the bot's log names it.", "Read the log; docs/sandbox.md says what the machine needs."),
)
