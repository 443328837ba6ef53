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
from arena.referee.spec import FaultKind
from arena.replay.playback import PlaybackStep, ReplayedDecision, play_back
from arena.replay.read import Replay
from arena.replay.verify import Verified, verify
from arena.terms import MatchTerms
from arena.wire.terms import terms_json
from cardarena.v1 import journal_pb2


def export_lines(replay: Replay) -> Iterator[str]:
    """The lines of a replay, without line ends.

    Raises:
      Damaged: if the replay does not say how the match ended.
      Unplayable: if this arena has no such game, rules version or options.
      Discrepancy: if the replay is not true; nothing false is exported.
    """
    verified = verify(replay)
    spec = replay.spec()
    evidence = {(each.seat, each.decision): each for each in replay.decided}
    moves, events = (
        Notation(spec.terms.game.messages.Move),
        Notation(spec.terms.game.messages.Event),
    )
    yield _line("match", _match(replay, spec.terms, verified))
    for step in play_back(replay):
        for decision in step.decisions:
            yield _line("decision", _decision(step, decision, evidence, moves))
        for each in step.events:
            yield _line("event", _event(step, each, events))
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


def _match(replay: Replay, terms: MatchTerms, verified: Verified) -> dict[str, Any]:
    opened, revealed, fairness = replay.opened, replay.revealed, verified.fairness
    dice = replay.spec().dice
    return {
        "match_id": opened.match_id,
        **terms_json(terms),
        "bots": [{"name": each.name, "version": each.version} for each in opened.entrants],
        "forfeited_seats": [
            {
                "seat": each.seat,
                "fault": FaultKind(each.fault).name.lower(),
                "reason": each.reason,
            }
            for each in opened.forfeited_seats
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
        "dice": [each.hex() for each in dice.seats] if dice is not None else [],
        "signed_by": verified.signed_by.hex() or None,
    }


def _decision(
    step: PlaybackStep,
    decision: ReplayedDecision,
    decided: Mapping[tuple[int, int], journal_pb2.Decided],
    moves: Notation,
) -> dict[str, Any]:
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
    """A value of the rules for JSON: classes become objects, tuples lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain_value(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [plain_value(each) for each in value]
    return value


def _line(kind: str, values: dict[str, Any]) -> str:
    return json.dumps({"type": kind, **values}, separators=(",", ":"))
