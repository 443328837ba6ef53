"""Rows for failed checks of a qualification, besides faults, and for an unusable store."""

from typing import Final

from arena.errors.entries import CheckEntry, ErrorEntry

# fmt: off
MANIFEST: Final = CheckEntry("Q-MANIFEST", "the archive or its manifest is not valid",
    "The zip, bot.toml or a wheel breaks a rule, which the message names.", "Correct what is listed; docs/competing.md describes archive and manifest.")
WHEELS: Final = CheckEntry("Q-WHEELS", "the wheels of the bot cannot be installed",
    "pip refused them, or they do not fit the arena's Python or platform.", "Build the wheels for the Python and platform in the message.")
NO_HELLO: Final = CheckEntry("Q-NO-HELLO", "the bot did not connect",
    "Its process ended, or it had not said hello in time.", "Run the command of the check again, and read what the bot printed last.")
NOT_STARTED: Final = CheckEntry("Q-NOT-STARTED", "the qualification was stopped before the bot was started",
    "The time was used up, or the arena was stopped.", "Run the check again.")
NO_GAME: Final = CheckEntry("Q-GAME", "the bot's hello does not declare a game of its manifest",
    "bot.toml and the code declare different games.", "Declare the same games in both.")
NO_SEATS: Final = CheckEntry("Q-SEATS", "the bot's hello does not declare a number of seats of its manifest",
    "bot.toml and the code declare different numbers of seats.", "Declare the same numbers of seats in both.")
OTHER_RULES: Final = CheckEntry("Q-RULES", "the bot was written for another version of the rules",
    "Its hello names a version of the rules that this arena does not play.", "Update the bot to the version in the message.")
ABORTED: Final = CheckEntry("Q-ABORTED", "the arena aborted the match, which is no fault of the bot",
    "The arena failed; its log says why.", "Run the check again.")
NO_TIME: Final = CheckEntry("Q-TIME", "the time was over before the check had ended, or ten asks of a match were answered",
    "The bot is slow, or it has many games.", "Answer faster, or declare fewer games: a qualification has two minutes for all checks, of which each game gets a share.")
CASES: Final = (
    CheckEntry("Q-UNKNOWN-FIELDS", "it must ignore fields and messages that it does not know",
        "A later arena may send such; the bot failed at them.", "Skip unknown fields, enum values and message bodies, as protobuf libraries do."),
    CheckEntry("Q-REFUSAL", "it must continue after a refusal",
        "The bot ended or stopped answering when the arena refused a message.", "Log the refusal and answer the next ask."),
    CheckEntry("Q-ASK-CLOSED", "it must continue after an ask that was closed without its answer",
        "The bot ended, or answered the closed ask.", "Drop the closed ask and answer the next one."),
    CheckEntry("Q-CUT", "it must reconnect after a connection that was cut during a match, and continue the match",
        "The bot did not connect again, or did not answer the ask in `welcome`.", "Reconnect, and answer what `open_asks` of `welcome` lists."),
    CheckEntry("Q-TWO-MATCHES", "it must play two matches at once",
        "The bot did not answer asks of both matches.", "Keep one state for each match, or say `ready` with 1."),
    CheckEntry("Q-DRAIN", "it must play its matches while the arena drains, and end when its stream is closed",
        "The bot ended at `drain` already, or did not end with its stream.", "Answer asks until the arena closes the stream."),
)
"""The code is `Q-` and the name of the check."""
CHECKS: Final = (
    MANIFEST,
    WHEELS,
    NO_HELLO,
    NOT_STARTED,
    NO_GAME,
    NO_SEATS,
    OTHER_RULES,
    ABORTED,
    NO_TIME,
    *CASES,
)

STORE_FAILURES: Final = (
    ErrorEntry("S-NOTADB", "it is not a database",
        "The file was made by another program.", "Name another data folder, or move the file away."),
    ErrorEntry("S-FOREIGN", "it is a database of another program",
        "It has tables, and none of the arena's.", "Name another data folder or database."),
    ErrorEntry("S-VERSION", "it was written by a version of the arena that this one cannot read",
        "The arena was updated, or an older version of it is run again.", "Use that version, or name another data folder."),
    ErrorEntry("S-CORRUPT", "it is damaged",
        "The disk or a copy of the file failed.", "Put a backup in its place, or move it away to start with an empty store."),
    ErrorEntry("S-FULL", "its disk is full",
        "No room is left; what was recorded before is safe.", "Make room, and run the command again."),
    ErrorEntry("S-BUSY", "another program keeps it locked",
        "The lock lasted longer than the store waits.", "End the other program, or try again."),
    ErrorEntry("S-READONLY", "it cannot be written",
        "The file, its folder, its disk or the database is read-only.", "Permit writing, or name another data folder."),
    ErrorEntry("S-CANTOPEN", "it cannot be opened",
        "It is no file, or its folder does not permit writing.", "Name another data folder."),
    ErrorEntry("S-PERM", "you have no permission to use it",
        "The file belongs to another user, or the database does not grant the rights.", "Use the right user, or change the permissions."),
    ErrorEntry("S-IOERR", "its disk fails to read or write it",
        "The disk or the network file system fails.", "Check the disk, and use a local disk."),
    ErrorEntry("S-NO-ANSWER", "the database server does not answer",
        "PostgreSQL is not running there, or refuses this address or user.", "Check the address, and that the server admits it."),
)
"""Most codes are `S-` and SQLite's own name of the error, less `SQLITE_`."""
