"""A bot's own receipt of a deal-set, held against a replay of it.

A replay proves that its packs follow from what is opened in it. A receipt
proves that the bot was told the same: that all were bound before it revealed its
entropy, that entropy unchanged, and at each ask the very cards that the packs
give. `docs/fair-deals.md` defines the file.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.deal import NO_COMMITMENT, server_commitment
from arena.deal.streams import encode_parts
from arena.games.contract import Seat
from arena.referee.spec import Ending
from arena.replay.deal_book import bot_of
from arena.replay.fairness import (
    commitments_of,
    entropies_of,
    seats_of,
    shown_transcript,
    views_of,
)
from arena.replay.frames import Discrepancy, frames
from arena.replay.read import Replay
from arena.replay.records import MAX_REPLAY_BYTES
from arena.replay.signing import is_signed, transcript_statement
from arena.wire.games import codec_of
from cardarena.v1 import game_pb2, play_pb2

_FORMATS: Final = ("fd2", "fd1")
_MARK_DIGITS: Final = 8
"""Hexadecimal digits of the chain that stand beside each ask."""


class BadReceipt(Exception):
    """A file is no receipt. The text says so in a sentence."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the bot says it was shown at one seat of one match."""

    replay_id: str
    """The match's id."""
    seat: Seat
    asks: tuple[tuple[int, str], ...]
    """Decisions, each with the first digits of the chain after it."""
    chain: str
    """The chain after all of them, in hexadecimal digits."""
    end: str
    """The hash of the events told at the end, likewise; empty if it missed them."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a bot kept of a deal-set."""

    path: Path
    context: bytes
    """As the bot was told it."""
    server_commitment: bytes
    """Likewise."""
    participant: str
    """Under which it took part."""
    entropy: bytes
    """Its own; empty if it did not know it any more."""
    transcript: bytes
    """The hash over all that it saw before it revealed; empty if it saw too little."""
    shown: tuple[Shown, ...]
    public_key: bytes = b""
    """The key that the arena had named, before anybody committed; empty if it named none."""
    signature: bytes = b""
    """The arena's, of the transcript."""

    @property
    def signed(self) -> bool:
        """Whether the transcript was signed with the key."""
        return bool(self.transcript) and is_signed(
            self.public_key, self.signature, transcript_statement(self.transcript)
        )

    @classmethod
    def open(cls, path: Path) -> "Receipt":
        """Read a receipt.

        Raises:
          BadReceipt: if the file is none.
          OSError: if it cannot be read.
        """
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


def _shown(match: Mapping[str, Any]) -> Shown:
    return Shown(
        replay_id=match["replay_id"] or "",
        seat=Seat(int(match["seat"])),
        asks=tuple((int(decision), str(mark)) for decision, mark in match["asks"]),
        chain=str(match["chain"]),
        end=match["end"] or "",
    )


def concerns(receipt: Receipt, replay: Replay) -> bool:
    """Whether the replay is of the receipt's deal-set.

    Raises:
      Discrepancy: if the replay's fair deal is not in order, or the bot was told of another
        one at this very match.
    """
    opened = replay.opened
    fair = opened.HasField("fair_deal")
    if fair and receipt.context in views_of(opened).values():
        return True
    if any(shown.replay_id == opened.match_id for shown in receipt.shown):
        what = "another fair deal" if fair else "a fair deal, which the replay does not have"
        raise Discrepancy(f"participant {receipt.participant} was told of {what}, by its receipt")
    return False


def compare(replay: Replay, receipt: Receipt) -> int:
    """Hold a receipt against a replay of its deal-set that was verified.

    Returns:
      The number of asks that the bot was shown as the replay has them; 0 if it
      did not play this match of the deal-set.

    Raises:
      Discrepancy: naming the first thing in which the two differ.
    """
    _compare_deal(replay, receipt)
    by_name = {each.participant: bot_of(each) for each in replay.opened.fair_deal.participants}
    bot, seats = by_name[receipt.participant], seats_of(replay)
    if bot not in seats:
        return 0
    match_id = replay.opened.match_id
    named = [shown for shown in receipt.shown if shown.replay_id == match_id]
    for shown in named:
        if shown.seat >= len(seats) or seats[shown.seat] != bot:
            raise Discrepancy(f"by its receipt {bot} sat at seat {shown.seat}, not by the plan")
        _Retold(replay, shown.seat).compare(shown)
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
        raise Discrepancy(f"participant {name} was told of another fair deal, by its receipt")
    if server_commitment(receipt.context, replay.revealed.secret) != receipt.server_commitment:
        raise Discrepancy("the receipt has another commitment of the arena's")
    public_key = replay.revealed.public_key
    if public_key and receipt.public_key and public_key != receipt.public_key:
        raise Discrepancy(f"participant {name} was told another key of the arena, by its receipt")
    if not receipt.transcript:
        if commitments[name] != NO_COMMITMENT:
            raise Discrepancy(f"participant {name} never revealed, by its receipt")
        return
    if receipt.public_key and not receipt.signed:
        raise Discrepancy(
            f"the receipt of participant {name} has a transcript that the arena did not sign"
        )
    if shown_transcript(opened, name, receipt.server_commitment) != receipt.transcript:
        proof = ", and the arena signed it" if receipt.signed else ""
        raise Discrepancy(f"participant {name} was shown another transcript, by its receipt{proof}")
    if commitments[name] == NO_COMMITMENT or not receipt.entropy:
        return  # the transcript shows that nothing of the bot's is in it, or it forgot what
    if entropies_of(replay)[name] != receipt.entropy:
        raise Discrepancy(f"participant {name} revealed other entropy, by its receipt")


class _Retold:
    """What one seat was shown in a match, made from its replay."""

    def __init__(self, replay: Replay, seat: Seat) -> None:
        self._replay = replay
        self._seat = seat
        self._game = replay.spec().terms.game
        self._codec = codec_of(self._game)
        self._payloads: dict[int, bytes] = {}
        """The game's part of each ask, by decision."""
        self._events: list[Any] = []
        """Told since the last ask."""
        self._walk()

    def compare(self, shown: Shown) -> None:
        """Raises Discrepancy where the bot was shown anything else."""
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
        for frame in frames(self._replay):
            decided = {each.seat for each in frame.decisions}
            for each in frame.decisions:
                if each.seat == self._seat:
                    decision = each.decision
                    if not each.unasked:
                        self._ask(frame.before, decision)
            self._events += [told.event for told in frame.told_to(self._seat)]
            state = frame.state
            if frame.complete:
                decided = set()
        stopped = self._replay.ending is Ending.ABORTED and state is not None
        # The last ask may have been open still when the match was stopped.
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
