"""The arena's side of a fair deal, honest or with one lie.

It uses the hashes of `arena.referee.deal`. Secrets are fixed, so that runs are repeatable.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from google.protobuf.json_format import ParseDict

from arena.referee.deal import fair
from arena.referee.deal.streams import deal_set_key, encode_parts
from cardarena.v1.play_pb2 import (
    ArenaMessage,
    Ask,
    DealClose,
    DealCommit,
    DealOpen,
    DealReveal,
    DealTranscript,
    Entropy,
    MatchEnd,
)

DEAL: Final = bytes([1]) * 32
"""The context of the deal-set itself."""
SECRET: Final = bytes([2]) * 32
ME: Final = "me"
OTHERS: Final[Mapping[str, bytes]] = {"ann": bytes([4]) * 32, "zoe": b""}
"""The other participants and their entropy; zoe adds none."""
SALTS: Final[Mapping[str, bytes]] = {
    "ann": bytes([6]) * 32,
    ME: bytes([5]) * 32,
    "zoe": bytes([7]) * 32,
}
CONTEXT: Final = fair.view_context(DEAL, ME, SALTS[ME])
"""The context for the client."""
DEADLINE_MS: Final = 5000
WRONG: Final = bytes([9]) * 32

LIES: Final = frozenset(
    {
        # of deal_open
        "another_commitment_of_its_own",
        "own_commitment_replaced",
        # of deal_transcript
        "own_replaced",
        "own_left_out",
        "own_dropped_early",
        "unsealed",
        "another_seal",
        # of deal_close
        "wrong_secret",
        "another_deal",
        "own_entropy_changed",
        "own_commitment_changed",
        "others_entropy_changed",
        "others_commitment_changed",
        "entropy_of_a_stranger",
        "one_twice",
    }
)
"""The lies that a client must detect; the README of the cases explains them."""


class DealViolation(Exception):
    """A message of the client about the deal is wrong. The text says why."""


class Deal:
    """One deal of the client with a scripted arena."""

    def __init__(self) -> None:
        self._commitment = b""
        self._entropy = b""
        self._chains: dict[int, bytes] = {}
        self._decisions: dict[int, int] = {}
        self._ends: dict[int, bytes] = {}

    # The arena's messages.

    def message(self, kind: str, lie: str, fields: Mapping[str, Any]) -> ArenaMessage:
        """Return a message of the arena: `open`, `transcript` or `close`.

        Raises `KeyError` if there is no such message, or no such lie.
        """
        if lie and lie not in LIES:
            raise KeyError(f"no lie {lie!r}")
        makers = {"open": self._open, "transcript": self._transcript, "close": self._close}
        made = makers[kind](lie)
        if not fields:
            return made
        message: ArenaMessage = ParseDict({f"deal_{kind}": fields}, made)
        if "commitment" in fields:
            self._commitment = message.deal_open.commitment  # sent before a restart
        return message

    def _open(self, lie: str) -> ArenaMessage:
        secret = WRONG if lie == "another_commitment_of_its_own" else SECRET
        message = DealOpen(
            context=CONTEXT,
            server_commitment=fair.server_commitment(CONTEXT, secret),
            deadline_ms=DEADLINE_MS,
            participant=ME,
            commitment=self._commitment,
        )
        if lie == "own_commitment_replaced":
            message.commitment = WRONG
        return ArenaMessage(deal_open=message)

    def _transcript(self, lie: str) -> ArenaMessage:
        message = DealTranscript(
            context=CONTEXT,
            commitment=self._commitment or fair.NO_COMMITMENT,
            seal=self._seal(),
            deadline_ms=DEADLINE_MS,
        )
        match lie:
            case "own_replaced":
                message.commitment = WRONG
            case "own_left_out":
                message.ClearField("commitment")
            case "own_dropped_early":
                message.commitment = fair.NO_COMMITMENT
            case "unsealed":
                message.ClearField("seal")
            case "another_seal":
                message.seal = WRONG
        return ArenaMessage(deal_transcript=message)

    def _close(self, lie: str) -> ArenaMessage:
        commitments, entropies = self._commitments(), self._entropies()
        secret, deal = SECRET, DEAL
        match lie:
            case "wrong_secret":
                secret = WRONG
            case "another_deal":
                deal = WRONG
            case "own_entropy_changed":
                entropies[ME] = WRONG
            case "own_commitment_changed":
                commitments[ME] = WRONG
            case "others_entropy_changed":
                entropies["ann"] = WRONG
            case "others_commitment_changed":
                # A matching pair: only the seal shows that it was changed afterwards.
                entropies["ann"], commitments["ann"] = WRONG, _commitment("ann", WRONG)
            case "entropy_of_a_stranger":
                entropies["zoe"] = WRONG
        opened = [
            Entropy(
                participant=name,
                entropy=entropies[name],
                commitment=commitments[name],
                salt=SALTS[name],
            )
            for name in sorted(entropies)
        ]
        if lie == "one_twice":
            opened.insert(0, opened[0])
        message = DealClose(context=CONTEXT, secret=secret, entropies=opened, deal=deal)
        return ArenaMessage(deal_close=message)

    # The client's messages.

    def committed(self, commit: DealCommit) -> None:
        """Take the client's commitment, which it may repeat.

        Raises `DealViolation` if it is invalid, or differs from the first one.
        """
        if commit.context != CONTEXT:
            raise DealViolation("its deal_commit names another context")
        if len(commit.commitment) != len(fair.NO_COMMITMENT):
            raise DealViolation(f"its commitment has {len(commit.commitment)} bytes")
        if self._commitment not in {b"", commit.commitment}:
            raise DealViolation("it committed itself twice, and differently")
        self._commitment = commit.commitment

    def revealed(self, reveal: DealReveal) -> None:
        """Take the client's entropy, which it may repeat.

        Raises `DealViolation` if it does not open the commitment.
        """
        if reveal.context != CONTEXT:
            raise DealViolation("its deal_reveal names another context")
        if fair.bot_commitment(CONTEXT, ME, reveal.entropy) != self._commitment:
            raise DealViolation("its entropy does not open its commitment")
        self._entropy = reveal.entropy

    # The receipt.

    def shown(self, ask: Ask) -> None:
        """Extend the chain of a match by an ask that the client was sent, unless it is repeated."""
        family = ask.WhichOneof("game")
        if family is None or ask.decision <= self._decisions.get(ask.match, 0):
            return
        payload: bytes = getattr(ask, family).SerializeToString(deterministic=True)
        chain = self._chains.get(ask.match, bytes(32))
        link = chain + ask.decision.to_bytes(4, "big") + payload
        self._chains[ask.match] = hashlib.sha256(link).digest()
        self._decisions[ask.match] = ask.decision

    def ended(self, end: MatchEnd) -> None:
        events = []
        for event in end.trailing_events:
            family = event.WhichOneof("game")
            if family is not None:
                events.append(getattr(event, family).SerializeToString(deterministic=True))
        self._ends[end.match] = hashlib.sha256(encode_parts(*events)).digest()

    def wrong_receipt(self, receipt: Mapping[str, Any]) -> str:
        """Return the first error in the client's receipt of this deal; empty if it is correct."""
        expected = self._receipt()
        for name, value in expected.items():
            if receipt.get(name) != value:
                return f"its receipt has {name} = {receipt.get(name)!r}, not {value!r}"
        shown = {row["match"]: row for row in receipt.get("matches", ())}
        for match, chain in self._chains.items():
            if match not in shown:
                return f"its receipt lacks match {match}"
            if shown[match].get("chain") != chain.hex():
                return f"its receipt has another chain of match {match}"
            end = self._ends.get(match, b"").hex() or None
            if shown[match].get("end") != end:
                return f"its receipt has another end of match {match}"
        return ""

    def _receipt(self) -> dict[str, Any]:
        commitments, entropies = self._commitments(), self._entropies()
        server, seal = fair.server_commitment(CONTEXT, SECRET), self._seal()
        transcript = fair.view_transcript(CONTEXT, server, ME, commitments[ME], seal)
        return {
            "receipt": "fd2",
            "context": CONTEXT.hex(),
            "server_commitment": server.hex(),
            "participant": ME,
            "entropy": self._entropy.hex(),
            "commitment": self._commitment.hex(),
            "shown": commitments[ME].hex(),
            "seal": seal.hex(),
            "transcript": transcript.hex(),
            "refused": False,
            "deal": DEAL.hex(),
            "secret": SECRET.hex(),
            "commitments": {name: value.hex() for name, value in commitments.items()},
            "entropies": {name: value.hex() for name, value in entropies.items()},
            "salts": {name: value.hex() for name, value in SALTS.items()},
            "deal_key": deal_set_key(self._whole_transcript(), SECRET, entropies).hex(),
            "void_reason": "",
            "lies": [],
        }

    # Values of the deal.

    def _whole_transcript(self) -> bytes:
        """Return the hash over all commitments, which is secret until the end."""
        server = fair.server_commitment(DEAL, SECRET)
        return fair.transcript(DEAL, server, self._commitments())

    def _seal(self) -> bytes:
        return fair.seal(CONTEXT, self._whole_transcript(), SALTS[ME])

    def _commitments(self) -> dict[str, bytes]:
        others = {name: _commitment(name, entropy) for name, entropy in OTHERS.items()}
        return {**others, ME: self._commitment or fair.NO_COMMITMENT}

    def _entropies(self) -> dict[str, bytes]:
        return {**OTHERS, ME: self._entropy}


def _commitment(name: str, entropy: bytes) -> bytes:
    if not entropy:
        return fair.NO_COMMITMENT
    view = fair.view_context(DEAL, name, SALTS[name])
    return fair.bot_commitment(view, name, entropy)
