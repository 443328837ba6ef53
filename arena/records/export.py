"""Exports a replay as JSON Lines for programs, spreadsheets and notebooks.

The first line has the type `match`. A line for each decision and each event follows,
in order, and a last line of the type `result`. Moves and events are given in notation
(`text`) and by their fields.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from arena.games.contract import SentEvent
from arena.games.notation import Notation
from arena.records.playback import PlaybackStep, ReplayedDecision, play_back
from arena.records.read import Replay
from arena.records.verify import Verified, verify
from arena.referee.spec import FaultKind
from arena.referee.terms import MatchTerms
from arena.referee.wire.terms import terms_json
from cardarena.v1 import journal_pb2


def export_lines(replay: Replay) -> Iterator[str]:
    """Yield the lines of a replay, without line ends.

    Raises:
      Damaged: if the replay does not say how the match ended.
      Unplayable: if this arena has no such game, rules version or options.
      Discrepancy: if the replay is not true; nothing false is exported.
    """
    verified = verify(replay)
    spec = replay.spec()
    evidence = {(decision.seat, decision.decision): decision for decision in replay.decided}
    moves, events = (
        Notation(spec.terms.game.messages.Move),
        Notation(spec.terms.game.messages.Event),
    )
    yield _line("match", match_values(replay, spec.terms, verified))
    for step in play_back(replay):
        for decision in step.decisions:
            yield _line("decision", decision_values(step, decision, evidence, moves))
        for event in step.events:
            yield _line("event", _event(step, event, events))
    outcome = verified.outcome
    yield _line(
        "result",
        {
            "ending": outcome.ending.name.lower(),
            "scores": outcome.scores,
            "places": outcome.places,
            "ended_by_limit": outcome.ended_by_limit,
            "hand_scores": outcome.hand_scores,
            "forfeited": verified.forfeited,
            "cause": outcome.cause.name.lower() if outcome.cause else None,
            "incident": outcome.incident,
            "decisions": outcome.decisions,
            "faults": len(outcome.faults),
            "end_us": replay.closed.end_us,
        },
    )


def match_values(replay: Replay, terms: MatchTerms, verified: Verified) -> dict[str, Any]:
    """Return the values that determine a match: its terms, bots and deals."""
    opened, revealed, fairness = replay.opened, replay.revealed, verified.fairness
    dice = replay.spec().dice
    return {
        "match_id": opened.match_id,
        **terms_json(terms),
        "bots": [{"name": entrant.name, "version": entrant.version} for entrant in opened.entrants],
        "forfeited_seats": [
            {"seat": out.seat, "fault": FaultKind(out.fault).name.lower(), "reason": out.reason}
            for out in opened.forfeited_seats
        ],
        "start_unix_ms": opened.start_unix_ms,
        "deal_set": opened.deal_set,
        "fair": bool(fairness.participants),
        "entropy_from": fairness.entropy_from,
        "participants": fairness.participants,
        "seed": revealed.seed if opened.terms.seeded else None,
        "deal_key": revealed.deal_key.hex(),
        "deal_key_sha256": opened.deal_key_sha256.hex(),
        "dice_table": opened.dice_table if opened.HasField("dice_table") else None,
        "dice": [dice_seat.hex() for dice_seat in dice.seats] if dice is not None else [],
        "signed_by": verified.signed_by.hex() or None,
    }


def decision_values(
    step: PlaybackStep,
    decision: ReplayedDecision,
    decided: Mapping[tuple[int, int], journal_pb2.Decided],
    moves: Notation,
) -> dict[str, Any]:
    """Return a decision with its move in notation and by fields, its clock and its fault.

    `decided` has the records of the replay by seat and number.
    """
    record = decided[decision.seat, decision.decision]
    return {
        "step": step.index,
        "hand": step.hand,
        "seat": decision.seat,
        "decision": decision.decision,
        "text": moves.write(decision.move),
        "verb": moves.write(decision.move).partition(" ")[0],
        "move": plain_value(decision.move),
        "sent_us": decision.sent_us,
        "charged_us": decision.charged_us,
        "refunded_us": record.refunded_us,
        "bank_ms": decision.bank_ms,
        "fault": decision.fault.name.lower() if decision.fault else None,
        "reason": decision.reason,
        "evidence": _evidence(record.evidence) if decision.fault else None,
        "note_sha256": record.note_sha256.hex() or None,
        "unasked": decision.unasked,
        "forfeited": decision.forfeited,
    }


def _evidence(evidence: journal_pb2.Evidence) -> dict[str, Any]:
    return {
        "due_us": evidence.due_us,
        "received_us": evidence.received_us or None,
        "answer_bytes": evidence.answer_bytes,
        "answer_sha256": evidence.answer_sha256.hex(),
        "away_ms": evidence.away_ms,
    }


def _event(step: PlaybackStep, event: SentEvent, events: Notation) -> dict[str, Any]:
    return {
        "step": step.index,
        "hand": step.hand,
        "seats": event.sent_to,  # null is everybody
        "text": events.write(event.event),
        "kind": events.write(event.event).partition(" ")[0],
        "event": plain_value(event.event),
    }


def plain_value(value: Any) -> Any:
    """Return a value of the rules for JSON: classes become objects, tuples lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain_value(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [plain_value(item) for item in value]
    return value


def _line(kind: str, values: dict[str, Any]) -> str:
    return json.dumps({"type": kind, **values}, separators=(",", ":"))
