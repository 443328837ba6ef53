"""Writes the replay of a match in this process."""

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardarena._local_place import Place
from cardarena.v1.game_pb2 import Fault

if TYPE_CHECKING:
    from arena.deal import Dice
    from arena.terms import MatchTerms


class Record:
    """Writes a replay of a match as the arena does, without charged time."""

    def __init__(
        self,
        match_id: str,
        terms: "MatchTerms",
        names: Sequence[str],
        seed: str,
        dice: "Dice",
        folder: Path,
    ) -> None:
        from arena.deal import KeyedDeals, seeded_key
        from arena.referee import MatchSpec, SeatedBot
        from arena.replay.journal.match_log import MatchLog

        self.match_id = match_id
        self._folder = folder
        self._seed = seed
        self._bank_ms = terms.time_control.bank_ms
        self._begin_s = time.monotonic()
        self._log = MatchLog(self, 1)
        key = seeded_key(seed)
        entrants = tuple(map(SeatedBot, names))
        digest = hashlib.sha256(key).digest()
        deals = KeyedDeals(key)
        self._log.opened(MatchSpec(match_id, terms, entrants, deals, digest, dice=dice))

    def append(self, body: bytes) -> None:
        """Do nothing, as there is no journal."""

    def decided(
        self,
        place: Place,
        seat: int,
        game_move: bytes,
        fault: Fault | None,
        note: str,
        *,
        unasked: bool,
    ) -> None:
        """Add a decision."""
        from arena.referee import FaultKind, Settled

        settled: Settled = Settled(
            seat=seat,
            decision=place.decisions,
            game_move=game_move,
            sent_s=time.monotonic() - self._begin_s,
            charged_s=0.0,
            bank_ms=self._bank_ms,
            fault=FaultKind(fault.kind) if fault else None,
            reason=fault.reason if fault else "",
            note=note,
            unasked=unasked,
            forfeited=place.forfeited,
        )
        self._log.decided(settled)

    def end(self, result: Any, ending: Any, places: tuple[int, ...], decisions: int) -> Path:
        """Write the file."""
        from arena.referee import Outcome
        from arena.replay.deal_book import seeded_opening
        from arena.replay.write import write_replay

        outcome = Outcome(
            match_id=self.match_id,
            ending=ending,
            scores=result.scores,
            places=places,
            hand_scores=result.hand_scores,
            faults=(),
            decisions=decisions,
        )
        self._log.closed(outcome, time.monotonic() - self._begin_s)
        opening = seeded_opening(self._seed)
        return write_replay(self._folder, self.match_id, self._log.bodies, opening)
