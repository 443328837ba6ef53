"""One match of the arena, from its order to its recorded result, and the states between.

SUSPENDED -> ORDERED -> SEATED -> PLAYING -> ENDING -> ENDED
                |                    |          |
                v                    v          v
             REFUSED             CUT_SHORT  UNRECORDED
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Final

import trio

from arena.bots.bot_ids import BotId
from arena.live.match_admission import Admission
from arena.live.orders import DealSetOrder, OrderPolicy, TableOrder
from arena.live.session.asks import Seating
from arena.records.journal.match_log import MatchLog
from arena.records.journal.recovery import UnfinishedMatch
from arena.referee.ledger import Settled, UsedTime
from arena.referee.spec import MatchSpec, Outcome
from arena.results.deal_sets import MatchOutcome

if TYPE_CHECKING:
    from arena.records.journal.disk_budget import Grant


class MatchState(Enum):
    """The state of a match."""

    SUSPENDED = auto()
    """An earlier process was stopped during the match, and the match was not ordered again."""
    ORDERED = auto()
    """The match waits for its turn, its bots and its deals."""
    SEATED = auto()
    """Its bots are seated; the referee does not play it yet."""
    PLAYING = auto()
    """The referee plays it."""
    ENDING = auto()
    """It has ended, and its result is being recorded."""
    ENDED = auto()
    """Its result is recorded."""
    REFUSED = auto()
    """It could not begin."""
    CUT_SHORT = auto()
    """The arena stops: the match is resumed at the next start."""
    UNRECORDED = auto()
    """It has ended, and the result could not be recorded; the next start records it."""


_STATE = MatchState

TRANSITIONS: Final[Mapping[MatchState, frozenset[MatchState]]] = {
    _STATE.SUSPENDED: frozenset({_STATE.ORDERED}),
    _STATE.ORDERED: frozenset({_STATE.SEATED, _STATE.REFUSED}),
    _STATE.SEATED: frozenset({_STATE.PLAYING}),
    _STATE.PLAYING: frozenset({_STATE.ENDING, _STATE.CUT_SHORT}),
    _STATE.ENDING: frozenset({_STATE.ENDED, _STATE.UNRECORDED}),
    _STATE.ENDED: frozenset(),
    _STATE.REFUSED: frozenset(),
    _STATE.CUT_SHORT: frozenset(),
    _STATE.UNRECORDED: frozenset(),
}
"""The states that may follow each state."""


@dataclass(frozen=True, slots=True)
class SeatedMatch:
    """A match as the referee plays it."""

    spec: MatchSpec
    ports: Sequence[Seating]
    log: MatchLog
    unfinished: UnfinishedMatch | None = None
    """Its journal of an earlier process if the match is resumed."""
    used: Sequence[UsedTime] = ()
    """The time that its seats had used for open decisions."""

    @property
    def past(self) -> Sequence[Settled]:
        """Its decisions so far; they are read when they are replayed."""
        return () if self.unfinished is None else self.unfinished.past


class WrongState(Exception):
    """The state of a match cannot follow its present one."""


class MatchRecord:
    """One match. Several callers may wait for its outcome."""

    def __init__(self, match_id: str, state: MatchState) -> None:
        """Create a record in a state; use `ordered` or `suspended` instead."""
        self.match_id: Final = match_id
        self.state = state
        self.unfinished: UnfinishedMatch | None = None
        """Its journal of an earlier process, until its bots are seated again."""
        self.played: Outcome | None = None
        """Its outcome, with the scores of its hands; None while it is in play."""
        self.grant: Grant | None = None
        """The disk space that it may use; None where disk space is not limited, and before it is
        admitted."""
        self.unwilling: dict[BotId, str] = {}
        """Connected bots that will not play it, and why; the fallback plays their seats."""
        self._order: DealSetOrder | None = None
        self._policy: OrderPolicy | None = None
        self._table: TableOrder | None = None
        self._seated: SeatedMatch | None = None
        self._over = trio.Event()
        self._outcome: MatchOutcome | None = None
        self._error: Exception | None = None

    @classmethod
    def ordered(cls, order: DealSetOrder, match_id: str, policy: OrderPolicy) -> "MatchRecord":
        record = cls(match_id, MatchState.ORDERED)
        record._take(order, policy)
        return record

    @classmethod
    def suspended(cls, unfinished: UnfinishedMatch) -> "MatchRecord":
        """Return a match in the journal of an earlier process."""
        record = cls(unfinished.opened.match_id, MatchState.SUSPENDED)
        record.unfinished = unfinished
        return record

    # Properties.

    @property
    def order(self) -> DealSetOrder:
        assert self._order is not None
        return self._order

    @property
    def table(self) -> TableOrder:
        """The match within its deal-set."""
        assert self._table is not None
        return self._table

    @property
    def policy(self) -> OrderPolicy:
        """How the arena treats a match that was ordered."""
        assert self._policy is not None
        return self._policy

    @property
    def seated(self) -> SeatedMatch:
        """The match as the referee plays it, once its bots are seated."""
        assert self._seated is not None
        return self._seated

    @property
    def deal_set(self) -> str:
        """The name of its deal-set; may be empty for a suspended match that is a deal-set of its own."""
        if self._order is not None:
            return self._order.deal_set
        assert self.unfinished is not None
        return self.unfinished.opened.deal_set

    # Events.

    def order_again(self, order: DealSetOrder, policy: OrderPolicy) -> None:
        """Order a suspended match again."""
        self._enter(MatchState.ORDERED)
        self._take(order, policy)

    def admit(self, admission: Admission | None) -> None:
        """Accept the match: it may be played and use disk space."""
        if self.grant is None and admission is not None:
            self.grant = admission.grant()

    def refuse_seat(self, bot: BotId, why: str) -> None:
        """Note that a connected bot will not play the match: the fallback plays its seats."""
        self.unwilling[bot] = why

    def take_unfinished(self) -> UnfinishedMatch | None:
        """Remove and return its journal of an earlier process: the match is seated again, or begins anew."""
        unfinished, self.unfinished = self.unfinished, None
        return unfinished

    def seat(self, seated: SeatedMatch) -> None:
        self._enter(MatchState.SEATED)
        self._seated = seated

    def begin(self) -> None:
        self._enter(MatchState.PLAYING)

    def end(self, outcome: Outcome) -> None:
        """Enter the state ENDING: the result is still to be recorded."""
        self._enter(MatchState.ENDING)
        self.played = outcome

    def cut_short(self) -> None:
        self._enter(MatchState.CUT_SHORT)
        self._close()

    def refuse(self, why: Exception) -> None:
        """Enter the state REFUSED, for the reason `why`."""
        self._fail(MatchState.REFUSED, why)

    def fail_to_record(self, error: Exception) -> None:
        self._fail(MatchState.UNRECORDED, error)

    def recorded(self, outcome: MatchOutcome) -> None:
        self._enter(MatchState.ENDED)
        self._outcome = outcome
        self._close()
        self._over.set()

    async def outcome(self) -> MatchOutcome:
        """Wait until the outcome is recorded, and return it.

        Raises:
          Refused: if it could not begin.
          StoreError: if it has ended, and the store could not record that.
          Exception: if it could not be recorded for another reason.
        """
        await self._over.wait()
        if self._error is not None:
            raise self._error
        assert self._outcome is not None
        return self._outcome

    def _take(self, order: DealSetOrder, policy: OrderPolicy) -> None:
        self._order, self._policy = order, policy
        self._table = order.table(self.match_id)

    def _fail(self, state: MatchState, error: Exception) -> None:
        self._enter(state)
        self._error = error
        self._close()
        self._over.set()

    def _close(self) -> None:
        self._seated = None
        if self.grant is not None:
            self.grant.close()
            self.grant = None

    def _enter(self, state: MatchState) -> None:
        if state not in TRANSITIONS[self.state]:
            raise WrongState(f"{self.match_id}: {self.state.name} is not followed by {state.name}")
        self.state = state
