"""The robustness cases: scripts of an arena that every bot must pass, in its first declared game."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

import cardarena
from arena.bots.manifest import DeclaredGame
from arena.errors import ErrorEntry, entry, refusal
from arena.errors.faults import LATE
from arena.local.play import play
from arena.testing.conformance.cases import Case, Script, Step
from cardarena.v1.game_pb2 import ENDING_COMPLETED, FaultKind
from cardarena.v1.play_pb2 import (
    ArenaMessage,
    Ask,
    Asks,
    MatchEnd,
    MatchStart,
    Refusal,
    RefusalReason,
)

TOKEN: Final = "qualification"  # noqa: S105  # the scripted arena accepts any
MOST_MS: Final = 8_000
"""The time limit for each expected message, in milliseconds."""
QUIET_MS: Final = 300
"""The time in milliseconds for which the arena waits to see that the bot sends nothing."""
_UNKNOWN: Final = b"a field of a later version"
UNKNOWN_HEX: Final = (b"\xa2\x06" + bytes([len(_UNKNOWN)]) + _UNKNOWN).hex()
"""Field 100, a text, such as a later version of the arena might send."""


@dataclass(frozen=True, slots=True)
class ShownMatch:
    """The first messages of a match for one seat, recorded from a real match."""

    start: MatchStart
    ask: Ask
    """The first ask of the seat; later ones would depend on the bot's answer."""

    def renamed(self, match: int) -> "ShownMatch":
        """Return the same messages with another number of the match."""
        start, ask = MatchStart(), Ask()
        start.CopyFrom(self.start)
        ask.CopyFrom(self.ask)
        start.match, start.match_id = match, f"match-{match}"
        ask.match, ask.ask_id, ask.decision = match, _ask_id(match), 1
        return ShownMatch(start, ask)


def shown_match(declared: DeclaredGame, seed: str) -> ShownMatch:
    """Record the messages of a match for the first seat that is asked."""
    shown: list[ShownMatch] = []

    class Recorder(cardarena.Bot):
        auto = False
        want_text = True  # a bot that reads notation alone is asked as in a match

        def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
            shown.append(ShownMatch(self.start, ask.message))
            return 0

    seats, game = declared.seats[0], declared.game
    play(game.id, [Recorder] * seats, seed=seed)
    return shown[0]


def cases(shown: ShownMatch) -> Sequence[Case]:
    """Return all robustness cases, with these messages."""
    one, other = shown.renamed(1), shown.renamed(2)
    return [_case(name, streams(one, other)) for name, streams in _CASES.items()]


def entry_of(name: str) -> ErrorEntry:
    """Return the entry of a case in the table of errors."""
    return entry(f"Q-{name.upper().replace('_', '-')}")


def _case(name: str, streams: Sequence[Sequence[Step]]) -> Case:
    return Case(
        id=name,
        title=name,
        must=entry_of(name).meaning.removeprefix("it must "),
        source="docs/competing.md",
        streams=tuple(Script(tuple(steps)) for steps in streams),
        address="none",
        environment={"CARDARENA_ADDRESS": "$main", "CARDARENA_TOKEN": TOKEN, "CARDARENA_ONCE": "1"},
        most_ms=MOST_MS,
    )


def _unknown_fields(one: ShownMatch, _: ShownMatch) -> list[list[Step]]:
    more = {"plus_hex": UNKNOWN_HEX}
    return [
        [
            {"welcome": {}} | more,
            {"send_hex": UNKNOWN_HEX},
            _begins(one) | more,
            _asked(one) | more,
            _answered(one),
            *_over(one),
        ]
    ]


def _refusal(one: ShownMatch, other: ShownMatch) -> list[list[Step]]:
    refused = Refusal(
        reason=RefusalReason.REFUSAL_REASON_ALREADY_ANSWERED,
        ask_id=_ask_id(1),
        text=refusal("ALREADY_ANSWERED").message(),
    )
    return [
        [
            {"welcome": {}},
            _begins(one),
            _asked(one),
            _answered(one),
            _send(ArenaMessage(refusal=refused)),
            _begins(other),
            _asked(other),
            _answered(other),
            *_over(one, other),
        ]
    ]


def _ask_closed(one: ShownMatch, other: ShownMatch) -> list[list[Step]]:
    closed = {
        "ask_id": _ask_id(1),
        "fault": FaultKind.Name(FaultKind.FAULT_KIND_TIMEOUT),
        "reason": LATE.text(),
    }
    return [
        [
            {"welcome": {}},
            _begins(one),
            _asked(one),
            _answered(one),
            {"ask_closed": closed},
            {"silence_ms": QUIET_MS},
            _begins(other),
            _asked(other),
            _answered(other),
            *_over(one, other),
        ]
    ]


def _cut(one: ShownMatch, _: ShownMatch) -> list[list[Step]]:
    again = {"matches": [{"whole": _fields(one.start)}], "open_asks": [{"whole": _fields(one.ask)}]}
    return [
        [{"welcome": {}}, _begins(one), _asked(one), _answered(one), {"reset": True}],
        [{"welcome": again}, _answered(one), *_over(one)],
    ]


def _two_matches(one: ShownMatch, other: ShownMatch) -> list[list[Step]]:
    return [
        [
            {"welcome": {}},
            _begins(one),
            _begins(other),
            _send(ArenaMessage(asks=Asks(asks=[one.ask, other.ask]))),
            {"answers": {str(_ask_id(1)): {}, str(_ask_id(2)): {}}},
            *_over(one, other),
        ]
    ]


def _drain(one: ShownMatch, _: ShownMatch) -> list[list[Step]]:
    return [
        [
            {"welcome": {}},
            _begins(one),
            {"drain": 5_000},
            _asked(one),
            _answered(one),
            _ended(one),
            {"end": "OK"},
        ]
    ]


_CASES: Final[Mapping[str, Callable[[ShownMatch, ShownMatch], Sequence[Sequence[Step]]]]] = {
    "unknown_fields": _unknown_fields,
    "refusal": _refusal,
    "ask_closed": _ask_closed,
    "cut": _cut,
    "two_matches": _two_matches,
    "drain": _drain,
}
NAMES: Final = tuple(_CASES)


def _ask_id(match: int) -> int:
    return match * 1_000 + 1


def _fields(message: Message) -> dict[str, Any]:
    fields: dict[str, Any] = MessageToDict(message, preserving_proto_field_name=True)
    return fields


def _send(message: ArenaMessage) -> dict[str, Any]:
    return {"send": _fields(message)}


def _begins(shown: ShownMatch) -> dict[str, Any]:
    return _send(ArenaMessage(match_start=shown.start))


def _asked(shown: ShownMatch) -> dict[str, Any]:
    return _send(ArenaMessage(asks=Asks(asks=[shown.ask])))


def _answered(shown: ShownMatch) -> dict[str, Any]:
    """Expect any answer: the checks of games test whether moves are legal."""
    return {"answers": {str(shown.ask.ask_id): {}}}


def _ended(shown: ShownMatch) -> dict[str, Any]:
    seats = shown.start.terms.seats
    end = MatchEnd(
        match=shown.start.match,
        scores=[0] * seats,
        places=[1] * seats,
        ending=ENDING_COMPLETED,
        replay_id=shown.start.match_id,
    )
    return _send(ArenaMessage(match_end=end))


def _over(*shown: ShownMatch) -> list[Step]:
    return [*map(_ended, shown), {"drain": 1_000}, {"end": "OK"}]
