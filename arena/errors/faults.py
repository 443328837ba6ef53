"""Faults of bots, the reasons for each, and why the arena aborts a match."""

from typing import Final

from arena.errors.entries import ErrorEntry, FaultEntry, FaultReason

# fmt: off
TIMEOUT: Final = FaultEntry("F-TIMEOUT", "the bot did not answer in time",
    "The time for the move and the bank were used up before an answer arrived.", "Read `ask.clock`, which gives the time for the move and the bank, and answer before then.", label="timeout")
ILLEGAL: Final = FaultEntry("F-ILLEGAL", "the bot made an illegal move",
    "The rules do not allow the move that the bot answered with.", "Answer with one of `ask.moves`, or with its index in that list, counted from 0.", label="illegal move")
MALFORMED: Final = FaultEntry("F-MALFORMED", "the bot sent a malformed answer",
    "The answer has neither an index nor a move, or its move is no move of the game.", "Send the ask's id and an index or a move, as the SDKs do; a client without an SDK can compare its bytes with the digest of the answer.", label="malformed answer")
GONE: Final = FaultEntry("F-GONE", "the bot was disconnected",
    "The connection was lost and not restored in time, or the bot's process ended in the match.", "Read what the bot printed last, and let the SDK reconnect after a lost connection.", label="disconnected")
ERROR: Final = FaultEntry("F-ERROR", "the bot had an error in its own code",
    "It raised an error, or returned no move of the ask, so its client had no move to send.", "Step through the code at the same ask: `cardarena.local.replay(FILE, MyBot, seat=SEAT, step=STEP)`.", label="error")
FAULTS: Final = (TIMEOUT, ILLEGAL, MALFORMED, GONE, ERROR)
"""In the order of `cardarena.v1.FaultKind`; the code is `F-` and the name of the kind."""

DEAL: Final = FaultEntry("F-DEAL", "the bot forfeited before the first card",
    "It did not open its commitment to the deal, opened it wrongly, or could not be seated.", "Open what the bot committed to, unchanged, as the SDKs do; a client without an SDK can decline by committing zeros.", label="forfeited")

LATE: Final = FaultReason("F-TIMEOUT-ANSWER", "no answer in time",
    "The bot thought too long, its process hung, or its answer was lost.", "`arena match why MATCH BOT` names the slowest decisions and what the bot printed.")
UNOPENED: Final = FaultReason("F-TIMEOUT-DEAL", "it did not open its commitment to the deal in time",
    "It committed to entropy, and did not reveal it within the time of the step.", "Answer `deal_transcript` with the entropy at once, as the SDKs do.")
BAD_INDEX: Final = FaultReason("F-ILLEGAL-INDEX", "index {index} is past the {offered} moves offered",
    "Indexes are counted from 0, so the last one is the number of moves less 1.", "Choose the index from `ask.moves` of the same ask.")
BAD_MOVE: Final = FaultReason("F-ILLEGAL-MOVE", "not a legal move here: {move}",
    "It is not in `ask.moves`, and the rules allow no others or not this one.", "Where `ask.moves_complete` is false the rules allow moves beyond `ask.moves`; `arena games show GAME` describes them.")
NO_CHOICE: Final = FaultReason("F-MALFORMED-EMPTY", "the answer has neither an index nor a move",
    "A client without an SDK set neither `index` nor `move`.", "Set exactly one of `index`, `move` and `failed`.")
LIE: Final = FaultReason("F-MALFORMED-DEAL", "its entropy did not open its commitment to the deal",
    "The hash of the entropy that it revealed is not the commitment that it sent.", "Keep the entropy until it is revealed, also over a restart, or end the bot before the match.")
UNREADABLE: Final = FaultReason("F-MALFORMED-MOVE", "the move cannot be read",
    "It is a move of another game, or has fields or values that the game's messages do not allow.", "Build moves with the SDK's classes of the game, or answer with an index.", sentence="{why}")
HUNG_UP: Final = FaultReason("F-GONE-HUNG-UP", "the bot had hung up and did not come back in time",
    "The network failed, or the bot's process was too busy to keep its connection.", "Let the SDK reconnect, and check the network and the load of the bot's machine.")
LEFT: Final = FaultReason("F-GONE-LEFT", "the bot had left",
    "Its process ended, or it closed its stream before the match ended.", "Read what it printed last, which says why; catch the error and answer with any of `ask.moves`.")
AWAY: Final = FaultReason("F-GONE-AWAY", "the bot was away for {seconds} s in all",
    "Its absences in the match add up to the limit of the match's terms.", "Restart the bot when its process ends, and let the SDK reconnect.")
NOT_PLAYED: Final = FaultReason("F-GONE-GAME", "the bot does not play {game} with {seats} seats",
    "Its hello does not declare them.", "Declare every game and number of seats for which the bot is entered.")
FULL: Final = FaultReason("F-GONE-FULL", "the bot takes no more matches",
    "It plays as many matches as its hello or its last `ready` allows.", "Allow more matches in `ready`, or connect more instances of the bot.")
FAILED: Final = FaultReason("F-ERROR-REPORTED", "its client reported an error in its own code",
    "The note of the answer and what the bot printed have the error.", "Read the traceback in what the bot printed.")
REASONS: Final = (LATE, UNOPENED, BAD_INDEX, BAD_MOVE, NO_CHOICE, LIE, UNREADABLE, HUNG_UP, LEFT, AWAY, NOT_PLAYED, FULL, FAILED)
"""The reasons by kind of fault; if several of a kind fit a text, the first one applies."""

SILENT: Final = ErrorEntry("F-TIMEOUT-SILENT", "the bot answered nothing in time in the whole match",
    "It did not answer its asks, or answered with the ids of others.", "Check that the bot answers every ask that it receives, with a move and the ask's own id.")
HANG: Final = ErrorEntry("F-TIMEOUT-HANG", "the answers that came in time took far less time than was allowed",
    "The bot hangs at some decisions, or its answer was lost; slow search is unlikely.", "Find out what is different at these decisions, and limit the time of the search.")
SLOW: Final = ErrorEntry("F-TIMEOUT-SLOW", "other answers of the bot came close to the end of the time",
    "The bot's search takes about as long as is allowed, or longer.", TIMEOUT.cure)
QUEUED: Final = ErrorEntry("F-TIMEOUT-QUEUE", "asks waited in the bot's own queue while it thought about other matches",
    "The bot was sent more asks than it can think about at the same time.", "In Python, set `workers` or `processes`, write `async def move`, or do not set `max_open_asks`; in other SDKs, allow fewer open asks.")
DIAGNOSES: Final = (SILENT, HANG, SLOW, QUEUED)
"""The conclusions of `arena match why` from a match, if the reason alone is not enough."""

_NOT_COUNTED: Final = "Nothing of the match counts; a match of a deal-set is played again."
ABORTS: Final = (
    ErrorEntry("A-UNKNOWN", "the arena stopped the match",
        "The replay names no cause.", _NOT_COUNTED),
    ErrorEntry("A-ERROR", "an error in the arena stopped the match",
        "The arena's log has the error under the incident's number.", f"Report the incident with the log. {_NOT_COUNTED}"),
    ErrorEntry("A-STOPPED", "the arena was stopped during the match",
        "It was shut down before the match ended, and the match could not be resumed.", _NOT_COUNTED),
    ErrorEntry("A-DISK", "the arena could not write the match to its disk",
        "The disk is full or fails.", f"Make room on the disk of the arena's data. {_NOT_COUNTED}"),
    ErrorEntry("A-UNPLAYABLE", "the arena no longer has the rules or options of the match",
        "The arena was updated between the start and the resumption of the match.", _NOT_COUNTED),
    ErrorEntry("A-JOURNAL", "the arena's journal of the match is damaged, so moves may be missing",
        "A crash or the disk damaged the journal.", f"Check the disk. {_NOT_COUNTED}"),
)
"""The code is `A-` and the name of the `cardarena.v1.AbortCause`."""
