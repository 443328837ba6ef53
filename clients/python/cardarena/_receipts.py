"""Receipts: a bot's evidence about a fair deal, one JSON file for each deal-set.

`arena replay verify REPLAY --receipt FILE` compares such a file with a replay.
The file is written before the bot opens its commitment, so a bot that is restarted finds its entropy there.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from cardarena._deals import Deal, Opened, Shown

FORMAT: Final = "fd2"


class Folder:
    """Receipts in a folder that belongs to one bot."""

    def __init__(self, path: Path) -> None:
        """Create the folder if it does not exist.

        Raises:
          OSError: if it cannot be created.
        """
        path.mkdir(parents=True, exist_ok=True)
        self._path = path

    def keep(self, deal: Deal) -> str:
        """Store a deal in its present state, atomically; return an error message, or an empty text."""
        path = self._path / f"{_name(deal.context, deal.participant)}.json"
        partial = path.with_suffix(f".{os.getpid()}.partial")
        try:
            # The entropy is secret until the commitment is opened.
            number = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(number, "w", encoding="utf-8") as file:
                file.write(written(deal))
            partial.replace(path)
        except OSError as error:
            partial.unlink(missing_ok=True)
            return f"the receipt of deal-set {deal.name} is not kept: {error.strerror}"
        return ""

    def recall(self, context: bytes, participant: str | None = None) -> Deal | None:
        """Return the stored deal; None if there is no receipt, or more than one."""
        receipts = list(self._path.glob(f"{_name(context, participant)}.json"))
        if len(receipts) != 1:
            return None
        try:
            deal = read(receipts[0].read_text("utf-8"))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None  # no receipt, or a damaged one
        return deal if deal.context == context else None


def _name(context: bytes, participant: str | None) -> str:
    """Return the name of a receipt's file; "*" stands for any participant."""
    # Names come from the arena, and must not lead out of the folder.
    hashed = "*" if participant is None else hashlib.sha256(participant.encode()).hexdigest()[:8]
    return f"{context.hex()[:16]}-{hashed}"


def written(deal: Deal) -> str:
    """Return a deal as the text of its receipt."""
    transcript, key, opened = deal.transcript, deal.key, deal.opened
    receipt = {
        "receipt": FORMAT,
        "context": deal.context.hex(),
        "server_commitment": deal.server_commitment.hex(),
        "participant": deal.participant,
        "entropy": deal.entropy.hex() or None,
        "commitment": deal.commitment.hex(),
        "shown": deal.shown.hex() if deal.shown is not None else None,
        "seal": deal.seal.hex() or None,
        "transcript": transcript.hex() if transcript else None,
        "public_key": deal.public_key.hex() or None,
        "signature": deal.signature.hex() or None,
        "refused": deal.refused,
        "deal": opened.deal.hex() if opened else None,
        "secret": opened.secret.hex() if opened else None,
        "commitments": _hex_values(opened.commitments) if opened else None,
        "entropies": _hex_values(opened.entropies) if opened else None,
        "salts": _hex_values(opened.salts) if opened else None,
        "deal_key": key.hex() if key else None,
        "void_reason": deal.void_reason,
        "lies": deal.lies,
        "matches": [
            {
                "match": shown.match,
                "replay_id": shown.replay_id or None,
                "game": shown.game,
                "seat": shown.seat,
                "asks": shown.asks,
                "chain": shown.chain.hex(),
                "end": shown.end.hex() or None,
                "last_sha256": shown.last_sha256.hex() or None,
            }
            for shown in deal.matches.values()
        ],
    }
    return json.dumps(receipt, ensure_ascii=False) + "\n"


def read(text: str) -> Deal:
    """Return the deal of a receipt.

    Raises:
      ValueError, KeyError, TypeError, AttributeError: if the text is no receipt.
    """
    receipt = json.loads(text)
    if receipt["receipt"] != FORMAT:
        raise ValueError("a receipt of another protocol")
    shown = receipt["shown"]
    return Deal(
        context=bytes.fromhex(receipt["context"]),
        server_commitment=bytes.fromhex(receipt["server_commitment"]),
        participant=receipt["participant"],
        entropy=bytes.fromhex(receipt["entropy"] or ""),
        stood=b"" if receipt["entropy"] else bytes.fromhex(receipt["commitment"]),
        shown=bytes.fromhex(shown) if shown is not None else None,
        seal=bytes.fromhex(receipt["seal"] or ""),
        public_key=bytes.fromhex(receipt.get("public_key") or ""),
        signature=bytes.fromhex(receipt.get("signature") or ""),
        refused=bool(receipt["refused"]),
        opened=None if receipt["deal"] is None else _opened(receipt),
        void_reason=receipt["void_reason"],
        lies=list(receipt["lies"]),
        matches={match["match"]: _shown(match) for match in receipt["matches"]},
    )


def _opened(receipt: Mapping[str, Any]) -> Opened:
    return Opened(
        deal=bytes.fromhex(receipt["deal"]),
        secret=bytes.fromhex(receipt["secret"]),
        commitments=_bytes_values(receipt["commitments"]),
        entropies=_bytes_values(receipt["entropies"]),
        salts=_bytes_values(receipt["salts"]),
    )


def _shown(shown: Mapping[str, Any]) -> Shown:
    return Shown(
        match=shown["match"],
        game=shown["game"],
        seat=shown["seat"],
        replay_id=shown["replay_id"] or "",
        chain=bytes.fromhex(shown["chain"]),
        asks=[(decision, link) for decision, link in shown["asks"]],
        end=bytes.fromhex(shown["end"] or ""),
        last_sha256=bytes.fromhex(shown["last_sha256"] or ""),
    )


def _hex_values(values: Mapping[str, bytes]) -> dict[str, str]:
    return {name: value.hex() for name, value in values.items()}


def _bytes_values(values: Mapping[str, str]) -> dict[str, bytes]:
    return {name: bytes.fromhex(value) for name, value in values.items()}
