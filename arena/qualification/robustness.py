"""What every bot must stand, as cases of a scripted arena: in the game that it declares first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

import cardarena
from arena.competition.manifest import DeclaredGame
from arena.conformance.cases import Case, Script, Step
from arena.qualification.short import short_hands
from cardarena import local
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

TOKEN: Final = "qualification"  # noqa: S105  # it opens nothing
MOST_MS: Final = 8_000
"""How long a bot may take for each thing that is awaited of it."""
QUIET_MS: Final = 300
"""How long a bot is watched that should say nothing."""
_NEWS: Final = b"what nobody knows today"
UNKNOWN_HEX: Final = (b"\xa2\x06" + bytes([len(_NEWS)]) + _NEWS).hex()
"""Field 100, a text: a later arena may send fields that today's bots do not know."""


@dataclass(frozen=True, slots=True)
class Table:
    """What a bot is shown of a match: real messages, made by playing one."""

    start: MatchStart
    ask: Ask
    """The first one of the seat. Another would follow from an answer that the bot did not give."""

    def renamed(self, match: int) -> "Table":
        """The same as another match."""
        start, ask = MatchStart(), Ask()
        start.CopyFrom(self.start)
        ask.CopyFrom(self.ask)
        start.match, start.match_id = match, f"match-{match}"
        ask.match, ask.ask_id, ask.decision = match, _ask_id(match), 1
        return Table(start, ask)


def table_of(declared: DeclaredGame, seed: str) -> Table:
    """The first seat that is asked in a match of a game, and what it is shown there."""
    shown: list[Table] = []

    class Recorder(cardarena.Bot):
        auto = False

        def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
            shown.append(Table(self.start, ask.message))
            return 0

    seats, game = declared.seats[0], declared.game
    options = {"hands": short_hands(game, seats)}
    local.play(game.id, [Recorder] * seats, seed=seed, options=options)
    return shown[0]


def cases(table: Table) -> Sequence[Case]:
    """The cases, each with what the bot must do."""
    one, other = table.renamed(1), table.renamed(2)
    return [_case(name, must, streams(one, other)) for name, must, streams in _CASES]


def _case(name: str, must: str, streams: Sequence[Sequence[Step]]) -> Case:
    return Case(
        id=name,
        title=name,
        must=must,
        source="docs/competing.md",
        streams=tuple(Script(tuple(steps)) for steps in streams),
        address="none",
        environment={
            "CARDARENA_ADDRESS": "$main",
            "CARDARENA_TOKEN": TOKEN,
            "CARDARENA_ONCE": "1",
        },
        most_ms=MOST_MS,
    )


def _unknown_fields(one: Table, _: Table) -> list[list[Step]]:
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


def _refusal(one: Table, other: Table) -> list[list[Step]]:
    refusal = Refusal(
        reason=RefusalReason.REFUSAL_REASON_ALREADY_ANSWERED,
        ask_id=_ask_id(1),
        text="the ask was answered before",
    )
    return [
        [
            {"welcome": {}},
            _begins(one),
            _asked(one),
            _answered(one),
            _send(ArenaMessage(refusal=refusal)),
            _begins(other),
            _asked(other),
            _answered(other),
            *_over(one, other),
        ]
    ]


def _ask_closed(one: Table, other: Table) -> list[list[Step]]:
    closed = {
        "ask_id": _ask_id(1),
        "fault": FaultKind.Name(FaultKind.FAULT_KIND_TIMEOUT),
        "reason": "no answer came in time",
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


def _cut(one: Table, _: Table) -> list[list[Step]]:
    again = {
        "matches": [{"whole": _fields(one.start)}],
        "open_asks": [{"whole": _fields(one.ask)}],
    }
    return [
        [{"welcome": {}}, _begins(one), _asked(one), _answered(one), {"reset": True}],
        [{"welcome": again}, _answered(one), *_over(one)],
    ]


def _two_matches(one: Table, other: Table) -> list[list[Step]]:
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


def _drain(one: Table, _: Table) -> list[list[Step]]:
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


_CASES: Final[Sequence[tuple[str, str, Callable[[Table, Table], Sequence[Sequence[Step]]]]]] = (
    ("unknown_fields", "go on at fields and messages that it does not know", _unknown_fields),
    ("refusal", "go on after a refusal", _refusal),
    ("ask_closed", "go on after an ask that was closed without its answer", _ask_closed),
    ("cut", "come back after a cut in mid-match, and go on with it", _cut),
    ("two_matches", "play two matches at once", _two_matches),
    ("drain", "play on while the arena drains, and end when it is sent home", _drain),
)
NAMES: Final = tuple(name for name, *_ in _CASES)


def _ask_id(match: int) -> int:
    return match * 1_000 + 1


def _fields(message: Message) -> dict[str, Any]:
    found: dict[str, Any] = MessageToDict(message, preserving_proto_field_name=True)
    return found


def _send(message: ArenaMessage) -> dict[str, Any]:
    return {"send": _fields(message)}


def _begins(table: Table) -> dict[str, Any]:
    return _send(ArenaMessage(match_start=table.start))


def _asked(table: Table) -> dict[str, Any]:
    return _send(ArenaMessage(asks=Asks(asks=[table.ask])))


def _answered(table: Table) -> dict[str, Any]:
    """Any answer will do: whether moves are legal the games themselves show."""
    return {"answers": {str(table.ask.ask_id): {}}}


def _ended(table: Table) -> dict[str, Any]:
    seats = table.start.terms.seats
    end = MatchEnd(
        match=table.start.match,
        scores=[0] * seats,
        places=[1] * seats,
        ending=ENDING_COMPLETED,
        replay_id=table.start.match_id,
    )
    return _send(ArenaMessage(match_end=end))


def _over(*tables: Table) -> list[Step]:
    return [*map(_ended, tables), {"drain": 1_000}, {"end": "OK"}]
