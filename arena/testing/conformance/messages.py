"""Makes the scripted arena's messages from the fields of steps.

A step gives the fields that matter to its case; the others have defaults. By default a match is
one of Abstrac, and an ask is for the number of cards to take.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from google.protobuf.json_format import ParseDict

from cardarena.games.v1 import abstrac_pb2
from cardarena.v1.game_pb2 import ENDING_COMPLETED, MatchTerms, Setting, TimeControl
from cardarena.v1.play_pb2 import (
    ArenaMessage,
    Ask,
    Capability,
    Clock,
    GameAdmission,
    Limits,
    MatchEnd,
    MatchStart,
    Player,
    Welcome,
)

CONTRACT: Final = 1

LIMITS: Final = Limits(
    max_matches=64,
    max_open_asks=64,
    max_message_bytes=65_536,
    max_note_chars=200,
    max_answers=512,
    free_messages=40,
    free_messages_per_s=20,
    max_refusals=10,
    min_ping_interval_ms=10_000,
    max_sent_bytes=2 << 20,
    grace_ms=100,
)


def match_start(match: int, *, game: str = "abstrac", **fields: Any) -> MatchStart:
    """Return a match of two bots in which the client has the first seat."""
    terms = MatchTerms(
        game=game,
        rules_version=1,
        options=[Setting(name="hands", number=4)],
        seats=2,
        time_control=TimeControl(move_ms=10_000, bank_ms=60_000),
        fault_limit=3,
        away_limit_ms=30_000,
    )
    players = [Player(seat=0, name="me"), Player(seat=1, name="other")]
    start = MatchStart(match=match, terms=terms, players=players, match_id=f"match-{match}")
    return ParseDict(fields, start)


def ask(number: int, match: int = 1, *, moves: int = 3, decision: int = 1, **fields: Any) -> Ask:
    """Return an ask of Abstrac with this number of moves: to take 1, 2, … cards."""
    cards = ["As", "Kd", "2c", "Jh", "9s"]
    view = abstrac_pb2.AbstracView(
        phase=abstrac_pb2.ABSTRAC_PHASE_TAKE, to_act=0, row=cards[:moves], limit=moves
    )
    takes = [
        abstrac_pb2.AbstracMove(verb=abstrac_pb2.ABSTRAC_VERB_TAKE, count=count)
        for count in range(1, moves + 1)
    ]
    body = abstrac_pb2.AbstracAsk(view=view, moves=takes, moves_complete=True)
    clock = Clock(move_ms=10_000, bank_ms=60_000)
    return ParseDict(
        fields, Ask(ask_id=number, match=match, decision=decision, clock=clock, abstrac=body)
    )


def recorded(folder: Path, game: str) -> Ask:
    """Return the recorded ask of a game."""
    entry = json.loads((folder / "asks" / f"{game}.json").read_text("utf-8"))
    return Ask.FromString(bytes.fromhex(entry["hex"]))


def as_asked(folder: Path, entry: int | Sequence[int] | Mapping[str, Any]) -> Ask:
    """Return an ask from a step: its number, [number, match] or [number, match, moves], or its fields.

    With `game` it is the recorded one of that game, with `nothing` it has no game, and with `whole`
    all fields are given.
    """
    if isinstance(entry, int):
        return ask(entry)
    if isinstance(entry, Mapping) and "whole" in entry:
        return ParseDict(entry["whole"], Ask())
    if isinstance(entry, Mapping):
        fields = dict(entry)
        game = fields.pop("game", "")
        if fields.pop("nothing", False):
            return Ask(ask_id=fields["id"], match=fields["match"], decision=1)
        if not game:
            return ask(fields.pop("id"), **fields)
        made = recorded(folder, game)
        made.ask_id, made.match = fields["id"], fields["match"]
        return made
    number, match, *moves = entry
    return ask(number, match, moves=moves[0] if moves else 3)


def as_started(entry: int | Mapping[str, Any]) -> MatchStart:
    """Return a match from a step: its number, its number with other fields, or all fields as `whole`."""
    if isinstance(entry, int):
        return match_start(entry)
    if "whole" in entry:
        return ParseDict(entry["whole"], MatchStart())
    fields = dict(entry)
    return match_start(fields.pop("match"), **fields)


def welcome(
    folder: Path, given: Mapping[str, Any], *, epoch: int, games: Sequence[str]
) -> ArenaMessage:
    """Return a welcome that takes every game of hello, with the fields of the step."""
    fields = dict(given)
    limits = Limits()
    limits.CopyFrom(LIMITS)
    ParseDict(fields.pop("limits", {}), limits)
    made = Welcome(
        epoch=epoch,
        limits=limits,
        contract=CONTRACT,
        capabilities=[Capability.CAPABILITY_REDIRECT],
        matches=[as_started(match) for match in fields.pop("matches", ())],
        open_asks=[as_asked(folder, ask) for ask in fields.pop("open_asks", ())],
    )
    if "games" not in fields:
        made.games.extend(GameAdmission(game=game, rules_version=1) for game in games)
    return ArenaMessage(welcome=ParseDict(fields, made))


def match_end(entry: int | Mapping[str, Any]) -> ArenaMessage:
    """Return the end of a match: its number, or its number with other fields."""
    fields = {"match": entry} if isinstance(entry, int) else dict(entry)
    end = MatchEnd(scores=[3, -3], places=[1, 2], ending=ENDING_COMPLETED)
    end.replay_id = f"match-{fields['match']}"
    return ArenaMessage(match_end=ParseDict(fields, end))
