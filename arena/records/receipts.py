"""Compares a bot's receipt of a deal-set with a replay of the deal-set.

A replay proves that its packs follow from the secrets that it opens. A receipt
proves that the bot was shown the same: commitments of all before it revealed its
entropy, that entropy unchanged, and at each ask the cards that the packs give.
`docs/fair-deals.md` defines the file.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.games.contract import Seat
from arena.records.deal_book import bot_of
from arena.records.fairness import (
    commitments_of,
    entropies_of,
    seats_of,
    shown_transcript,
    views_of,
)
from arena.records.playback import Discrepancy, play_back
from arena.records.read import Replay
from arena.records.records import MAX_REPLAY_BYTES
from arena.records.signing import is_signed, transcript_statement
from arena.referee.deal import NO_COMMITMENT, server_commitment
from arena.referee.deal.streams import encode_parts
from arena.referee.spec import Ending
from arena.referee.wire.games import codec_of
from cardarena.v1 import game_pb2, play_pb2

_FORMATS: Final = ("fd2", "fd1")
_MARK_DIGITS: Final = 8
"""Hexadecimal digits of the chain that are kept with each ask."""


class BadReceipt(Exception):
    """The file is not a receipt. The text says why."""


@dataclass(frozen=True, slots=True)
class ShownDeal:
    """The record of a receipt about what one seat of one match was shown."""

    replay_id: str
    """The match's id."""
    seat: Seat
    asks: tuple[tuple[int, str], ...]
    """Decisions, each with the first digits of the chain after it."""
    chain: str
    """The chain after all of them, in hexadecimal digits."""
    end: str
    """The hash of the events at the end, in hexadecimal digits; empty if the bot missed them."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """A bot's record of a deal-set."""

    path: Path
    context: bytes
    """As `deal_open` gave it to the bot."""
    server_commitment: bytes
    """As `deal_open` gave it to the bot."""
    participant: str
    """The bot's name in this deal-set."""
    entropy: bytes
    """The bot's own; empty if it lost it."""
    transcript: bytes
    """The hash over everything that it saw before it revealed; empty if it saw too little."""
    shown: tuple[ShownDeal, ...]
    public_key: bytes = b""
    """The arena's key, as it was sent before the commitments; empty if none was sent."""
    signature: bytes = b""
    """The arena's signature of the transcript."""

    @property
    def signed(self) -> bool:
        return bool(self.transcript) and is_signed(
            self.public_key, self.signature, transcript_statement(self.transcript)
        )

    @classmethod
    def open(cls, path: Path) -> "Receipt":
        """Read a receipt. Raises `BadReceipt` if the file is none, and `OSError` if it cannot be read."""
        try:
            if path.stat().st_size > MAX_REPLAY_BYTES:
                raise BadReceipt(f"{path} is larger than any receipt")
            fields = json.loads(path.read_text("utf-8"))
            if fields["receipt"] not in _FORMATS:
                raise BadReceipt(f"{path} is a receipt of another protocol")
            return cls(
                path=path,
                context=bytes.fromhex(fields["context"]),
                server_commitment=bytes.fromhex(fields["server_commitment"]),
                participant=str(fields["participant"]),
                entropy=bytes.fromhex(fields["entropy"] or ""),
                transcript=bytes.fromhex(fields["transcript"] or ""),
                shown=tuple(_shown(match) for match in fields["matches"]),
                public_key=bytes.fromhex(fields.get("public_key") or ""),
                signature=bytes.fromhex(fields.get("signature") or ""),
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise BadReceipt(f"{path} is not a receipt") from None


def _shown(match: Mapping[str, Any]) -> ShownDeal:
    return ShownDeal(
        replay_id=match["replay_id"] or "",
        seat=Seat(int(match["seat"])),
        asks=tuple((int(decision), str(mark)) for decision, mark in match["asks"]),
        chain=str(match["chain"]),
        end=match["end"] or "",
    )


def concerns(receipt: Receipt, replay: Replay) -> bool:
    """Return whether the replay is of the receipt's deal-set.

    Raises `Discrepancy` if the replay's fair deal is damaged, or the bot has another deal for this match.
    """
    opened = replay.opened
    fair = opened.HasField("fair_deal")
    if fair and receipt.context in views_of(opened).values():
        return True
    if any(shown.replay_id == opened.match_id for shown in receipt.shown):
        what = "another fair deal" if fair else "a fair deal, which the replay does not have"
        raise _differs(receipt.participant, f"was told of {what}")
    return False


def compare(replay: Replay, receipt: Receipt) -> int:
    """Compare a receipt with a verified replay of its deal-set.

    Returns:
      The number of asks that agree; 0 if the bot did not play this match of the deal-set.

    Raises `Discrepancy` naming the first difference.
    """
    _compare_deal(replay, receipt)
    by_name = {bot.participant: bot_of(bot) for bot in replay.opened.fair_deal.participants}
    bot, seats = by_name[receipt.participant], seats_of(replay)
    if bot not in seats:
        return 0
    match_id = replay.opened.match_id
    named = [shown for shown in receipt.shown if shown.replay_id == match_id]
    for shown in named:
        if shown.seat >= len(seats) or seats[shown.seat] != bot:
            raise Discrepancy(f"by its receipt {bot} sat at seat {shown.seat}, not by the plan")
        _SeatPlayback(replay, shown.seat).compare(shown)
    if named:
        return sum(len(shown.asks) for shown in named)
    raise Discrepancy(f"the receipt of {bot} has no match like this one, though it sat here")


def _compare_deal(replay: Replay, receipt: Receipt) -> None:
    opened = replay.opened
    fair_deal, name = opened.fair_deal, receipt.participant
    commitments, views = commitments_of(fair_deal), views_of(opened)
    if name not in commitments:
        raise Discrepancy(f"the receipt's participant {name} is not in the fair deal")
    if views[name] != receipt.context:
        raise _differs(name, "was told of another fair deal")
    if server_commitment(receipt.context, replay.revealed.secret) != receipt.server_commitment:
        raise Discrepancy("the receipt has another commitment of the arena's")
    public_key = replay.revealed.public_key
    if public_key and receipt.public_key and public_key != receipt.public_key:
        raise _differs(name, "was told another key of the arena")
    if not receipt.transcript:
        if commitments[name] != NO_COMMITMENT:
            raise _differs(name, "never revealed")
        return
    if receipt.public_key and not receipt.signed:
        raise Discrepancy(
            f"the receipt of participant {name} has a transcript that the arena did not sign"
        )
    if shown_transcript(opened, name, receipt.server_commitment) != receipt.transcript:
        proof = ", and the arena signed it" if receipt.signed else ""
        raise Discrepancy(f"{_differs(name, 'was shown another transcript')}{proof}")
    if commitments[name] == NO_COMMITMENT or not receipt.entropy:
        return  # the bot added no entropy, or lost it
    if entropies_of(replay)[name] != receipt.entropy:
        raise _differs(name, "revealed other entropy")


def _differs(participant: str, what: str) -> Discrepancy:
    return Discrepancy(f"participant {participant} {what}, by its receipt")


class _SeatPlayback:
    """The data that one seat was shown in a match, recomputed from its replay."""

    def __init__(self, replay: Replay, seat: Seat) -> None:
        self._replay = replay
        self._seat = seat
        self._game = replay.spec().terms.game
        self._codec = codec_of(self._game)
        self._payloads: dict[int, bytes] = {}
        """The game's part of each ask, by decision."""
        self._events: list[Any] = []
        """Those since the last ask."""
        self._walk()

    def compare(self, shown: ShownDeal) -> None:
        """Raise Discrepancy if the bot was shown anything else."""
        chain = bytes(32)
        for decision, mark in shown.asks:
            payload = self._payloads.get(decision)
            if payload is None:
                raise self._wrong(decision, "was asked by the receipt, but not by the replay")
            chain = hashlib.sha256(chain + decision.to_bytes(4, "big") + payload).digest()
            if chain.hex()[:_MARK_DIGITS] != mark:
                raise self._wrong(decision, "was shown otherwise than the packs and rules give it")
        if chain.hex() != shown.chain:
            raise Discrepancy(f"seat {self._seat} was shown something else, by its receipt")
        told_end = shown.end and self._replay.ending is not Ending.ABORTED
        if told_end and shown.end != self._end_sha256():
            raise Discrepancy(f"seat {self._seat} was told of another end, by its receipt")

    def _walk(self) -> None:
        state, decided, decision = None, set[Seat](), 0
        for step in play_back(self._replay):
            decided = {settled.seat for settled in step.decisions}
            for settled in step.decisions:
                if settled.seat == self._seat:
                    decision = settled.decision
                    if not settled.unasked:
                        self._ask(step.before, decision)
            self._events += [event.event for event in step.events_for(self._seat)]
            state = step.state
            if step.complete:
                decided = set()
        stopped = self._replay.ending is Ending.ABORTED and state is not None
        # The last ask may have been open when the match was aborted.
        if stopped and self._seat in set(self._game.rules.to_act(state)) - decided:
            self._ask(state, decision + 1)

    def _ask(self, state: Any, decision: int) -> None:
        rules, codec = self._game.rules, self._codec
        events = [codec.event(event) for event in self._events]
        body = codec.ask(rules.view(state, self._seat), events, rules.moves(state, self._seat))
        ask = play_pb2.Ask.FromString(body)
        game = getattr(ask, codec.family)
        self._payloads[decision] = game.SerializeToString(deterministic=True)
        self._events = []

    def _end_sha256(self) -> str:
        events = []
        for event in self._events:
            message = game_pb2.GameEvent.FromString(self._codec.game_event(event))
            game = getattr(message, self._codec.family)
            events.append(game.SerializeToString(deterministic=True))
        return hashlib.sha256(encode_parts(*events)).hexdigest()

    def _wrong(self, decision: int, what: str) -> Discrepancy:
        return Discrepancy(f"decision {decision} of seat {self._seat} {what}")
