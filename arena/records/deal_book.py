"""Reads the arena's two files of deals: the secrets, and the public log of commitments.

A deal-set is drawn, then fixed or voided; a fixed one is opened after it was
played. The file of secrets has everything that replays reveal of their deals. The
public log shows that no commitment was dropped.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

from arena.records.records import (
    CHAIN_START,
    CutOff,
    Damaged,
    Framed,
    chained,
    read_strictly,
    take_records,
)
from arena.referee.deal import (
    NO_COMMITMENT,
    bot_commitment,
    deal_set_key,
    planned_bot,
    seeded_key,
    transcript,
    view_context,
)
from cardarena.v1 import deals_pb2, journal_pb2

DEALS_NAME: Final = "deals"
"""The file of secrets, in the journal's folder."""
DEALS_MAGIC: Final = b"cardarena deal-book 1\n"
LOG_MAGIC: Final = b"cardarena deal-log 1\n"


class DealState(Enum):
    """The state of a deal-set."""

    DRAWN = "drawn"
    """The arena has committed to its secret; not all bots have committed and opened."""
    FIXED = "fixed"
    """All commitments are open to the arena: the packs are fixed."""
    VOIDED = "voided"
    """No match uses it."""
    OPENED = "opened"
    """Its secrets are public."""


@dataclass(frozen=True, slots=True)
class Opening:
    """The secrets that open the deals of a match: `cardarena.v1.Revealed`."""

    key: bytes
    seed: str = ""
    secret: bytes = b""
    entropies: tuple[bytes, ...] = ()
    """In the order of `FairDeal.participants`."""
    plan: str = ""
    plan_salt: bytes = b""

    @property
    def revealed(self) -> journal_pb2.Revealed:
        """The record of a replay that holds it."""
        return journal_pb2.Revealed(
            deal_key=self.key,
            seed=self.seed,
            secret=self.secret,
            entropies=self.entropies,
            plan=self.plan,
            plan_salt=self.plan_salt,
        )


def seeded_opening(seed: str) -> Opening:
    """Return the opening of deals that follow from a seed."""
    return Opening(seeded_key(seed), seed)


@dataclass(frozen=True, slots=True)
class BookedDeal:
    """A deal-set in the file of secrets."""

    context: bytes
    fair_deal: journal_pb2.FairDeal
    """Has the participants' commitments once they are known. Do not change it."""
    secret: bytes
    plan: str
    plan_salt: bytes
    state: DealState = DealState.DRAWN
    entropies: tuple[bytes, ...] = ()
    """The entropies as the bots sent them, in the order of the participants; for a void deal-set those that are known."""
    void_reason: str = ""

    @property
    def shared(self) -> bool:
        """Whether several matches use it, so that it must stay secret which ones."""
        return "\n" in self.plan

    @property
    def transcript(self) -> bytes:
        """The hash over all commitments, once they are known."""
        fair = self.fair_deal
        commitments = {bot.participant: bot.commitment for bot in fair.participants}
        return transcript(self.context, fair.server_commitment, commitments)

    @property
    def opening(self) -> Opening:
        """The secrets that open its deals. Raises `ValueError` if its packs were never fixed."""
        if self.state not in (DealState.FIXED, DealState.OPENED):
            raise ValueError("the packs of this deal-set were never fixed")
        names = (bot.participant for bot in self.fair_deal.participants)
        entropies = dict(zip(names, self.entropies, strict=True))
        key = deal_set_key(self.transcript, self.secret, entropies)
        return Opening(key, "", self.secret, self.entropies, self.plan, self.plan_salt)

    @property
    def shown_entropies(self) -> tuple[bytes, ...]:
        """The entropies that open their commitments; empty for all others."""
        entropies = self.entropies or (b"",) * len(self.fair_deal.participants)
        return tuple(
            entropy if opens(self.context, bot, entropy) else b""
            for bot, entropy in zip(self.fair_deal.participants, entropies, strict=True)
        )

    @property
    def defaulters(self) -> tuple["Defaulter", ...]:
        """The bots that made the deal-set void: they opened nothing, or other entropy."""
        if self.state is not DealState.VOIDED or not self.entropies:
            return ()
        return tuple(
            Defaulter(bot.bot, bot.instance, lied=entropy != b"")
            for bot, entropy in zip(self.fair_deal.participants, self.entropies, strict=True)
            if not opens(self.context, bot, entropy)
        )


@dataclass(frozen=True, slots=True)
class Defaulter:
    """A bot that did not open its commitment."""

    bot: str
    instance: int
    lied: bool
    """Whether it sent entropy that differs from its commitment; otherwise it sent none."""


def opens(context: bytes, participant: journal_pb2.DealParticipant, entropy: bytes) -> bool:
    """Return whether entropy opens a participant's commitment; b"" opens that of one that took no part."""
    if participant.commitment == NO_COMMITMENT:
        return entropy == b""
    view = view_of(context, participant)
    commitment = bot_commitment(view, participant.participant, entropy)
    return hmac.compare_digest(commitment, participant.commitment)


def view_of(context: bytes, participant: journal_pb2.DealParticipant) -> bytes:
    """Return the context of a deal-set for this participant."""
    return view_context(context, participant.participant, participant.salt)


def bot_of(participant: journal_pb2.DealParticipant) -> str:
    """Return a participant's bot as plans write it."""
    return planned_bot(participant.bot, participant.instance)


def seat_views(
    context: bytes, fair_deal: journal_pb2.FairDeal, plan: str, match_id: str
) -> tuple[bytes, ...]:
    """Return the contexts for the bots of a match, by seat."""
    views = {bot_of(bot): view_of(context, bot) for bot in fair_deal.participants}
    lines = (line.split(" ") for line in plan.split("\n"))
    planned = next((line for line in lines if line[0] == match_id), [])
    return tuple(views.get(bot, b"") for bot in planned[2:])  # the second is the rotation


class DealBook:
    """The deal-sets of a file of secrets."""

    def __init__(self) -> None:
        self.damage: list[str] = []
        """Problems of the file, in sentences."""
        self.seeded: dict[bytes, Opening] = {}
        """The openings of seeded deals, by SHA-256 of the key."""
        self._deals: dict[bytes, BookedDeal] = {}
        self._contexts: dict[bytes, bytes] = {}
        """By the arena's commitment."""

    def deals(self) -> Iterator[BookedDeal]:
        """Return all fair deal-sets, oldest first."""
        return iter(list(self._deals.values()))

    def get(self, context: bytes) -> BookedDeal | None:
        """Return the deal-set of a context; None if it is unknown."""
        return self._deals.get(context)

    def opening(self, opened: journal_pb2.Opened) -> Opening | None:
        """Return the opening of the deals of a match; None if it is lost."""
        digest = opened.deal_key_sha256
        if not opened.HasField("fair_deal"):
            return self.seeded.get(digest)
        deal = self._deals.get(self._contexts.get(opened.fair_deal.server_commitment, b""))
        if deal is None or deal.state not in (DealState.FIXED, DealState.OPENED):
            return None
        opening = deal.opening
        return opening if hashlib.sha256(opening.key).digest() == digest else None

    def defaulters(self, deal_set: str) -> tuple[Defaulter, ...]:
        """Return the bots that made deal-sets of this id void, oldest first."""
        named = (deal for deal in self._deals.values() if deal.fair_deal.deal_set == deal_set)
        return tuple(defaulter for deal in named for defaulter in deal.defaulters)

    def forget(self, context: bytes) -> None:
        deal = self._deals.pop(context)
        del self._contexts[deal.fair_deal.server_commitment]

    def take(self, body: bytes) -> None:
        """Add a record of the file; a damaged one is added to `damage`."""
        try:
            self.add(deals_pb2.DealRecord.FromString(body))
        except Damaged as error:
            self.damage.append(str(error))

    def add(self, record: deals_pb2.DealRecord) -> None:
        """Add a record of the file. Raises `Damaged` if it does not follow from the records before it."""
        kind = record.WhichOneof("body")
        if kind == "drawn":
            drawn = record.drawn
            if drawn.context in self._deals:
                raise Damaged(f"deal-set {drawn.context.hex()[:16]} is drawn twice")
            if drawn.fair_deal.server_commitment in self._contexts:
                raise Damaged(f"deal-set {drawn.context.hex()[:16]} has another's commitment")
            self._contexts[drawn.fair_deal.server_commitment] = drawn.context
            self._deals[drawn.context] = BookedDeal(
                drawn.context, drawn.fair_deal, drawn.secret, drawn.plan, drawn.plan_salt
            )
        elif kind == "fixed":
            fixed = record.fixed
            deal = self._known(fixed.context, DealState.DRAWN)
            fair_deal = _with_commitments(deal.fair_deal, list(fixed.commitments))
            if len(fixed.entropies) != len(fixed.commitments):
                raise Damaged("a deal-set is fixed by some entropies only")
            self._put(
                replace(
                    deal,
                    fair_deal=fair_deal,
                    entropies=tuple(fixed.entropies),
                    state=DealState.FIXED,
                )
            )
        elif kind == "voided":
            self._void(record.voided)
        elif kind == "opened":
            deal = self._known(record.opened.context, DealState.FIXED)
            self._put(replace(deal, state=DealState.OPENED))
        elif kind == "seeded":
            key = record.seeded.deal_key
            self.seeded[hashlib.sha256(key).digest()] = Opening(key, record.seeded.seed)
        else:
            raise Damaged("a record of deals is of an unknown kind")

    def _void(self, voided: deals_pb2.DealVoided) -> None:
        deal = self._known(voided.context, DealState.DRAWN, DealState.FIXED)
        fair_deal, entropies = deal.fair_deal, deal.entropies
        if voided.commitments:
            fair_deal = _with_commitments(fair_deal, list(voided.commitments))
            entropies = tuple(voided.entropies)
            if len(entropies) != len(voided.commitments):
                raise Damaged("a void deal-set has another number of entropies than commitments")
        self._put(
            replace(
                deal,
                fair_deal=fair_deal,
                entropies=entropies,
                state=DealState.VOIDED,
                void_reason=voided.reason,
            )
        )

    def _known(self, context: bytes, *states: DealState) -> BookedDeal:
        deal = self._deals.get(context)
        if deal is None or deal.state not in states:
            state = "was never drawn" if deal is None else f"is {deal.state.value} already"
            raise Damaged(f"deal-set {context.hex()[:16]} {state}")
        return deal

    def _put(self, deal: BookedDeal) -> None:
        self._deals[deal.context] = deal


def read_deals(path: Path) -> DealBook:
    """Read a file of secrets without its damaged parts; an empty book if there is no file.

    Raises `OSError` if the file cannot be read.
    """
    book = DealBook()
    book.damage += scan(path, DEALS_MAGIC, book.take, lost=lambda: None).damage
    return book


@dataclass(slots=True)
class CommitmentLog:
    """The public log of commitments."""

    head: bytes = CHAIN_START
    committed: dict[bytes, deals_pb2.LogCommitted] = field(default_factory=dict)
    """By context."""
    heads: dict[bytes, bytes] = field(default_factory=dict)
    """By context: the head before its commitment, which is its `FairDeal.log_head`."""
    opened: dict[bytes, deals_pb2.LogOpened] = field(default_factory=dict)
    """By context, with void ones."""
    damage: list[str] = field(default_factory=list)
    """Problems of the log, in sentences."""

    @property
    def unopened(self) -> set[bytes]:
        """Contexts of deal-sets that are committed to and not opened."""
        return self.committed.keys() - self.opened.keys()

    def take(self, body: bytes) -> None:
        entry = read_strictly(deals_pb2.LogEntry, body)
        before, self.head = self.head, chained(self.head, body)
        kind = entry.WhichOneof("body")
        if kind == "committed":
            context = entry.committed.context
            if context in self.committed:
                self.damage.append(f"deal-set {context.hex()[:16]} is committed to twice")
                return
            self.committed[context] = entry.committed
            self.heads[context] = before
        elif kind == "opened":
            context = entry.opened.context
            if context not in self.committed:
                self.damage.append(f"deal-set {context.hex()[:16]} is opened and not committed to")
            elif context in self.opened:
                self.damage.append(f"deal-set {context.hex()[:16]} is opened twice")
            else:
                self.opened[context] = entry.opened


def read_log(path: Path) -> CommitmentLog:
    """Read a public log up to the first damage; an empty one if there is no file.

    Raises `OSError` if the file cannot be read.
    """
    log = CommitmentLog()
    log.damage += scan(path, LOG_MAGIC, log.take).damage
    return log


class Scan(NamedTuple):
    """The result of reading a file of records."""

    sound: int
    """The end of the last sound record; 0 if the first line is damaged."""
    damage: tuple[str, ...] = ()
    """Problems of the file, in sentences."""
    torn: bool = False
    """Whether the rest is an incomplete record, as a killed process leaves it."""


def scan(
    path: Path,
    magic: bytes,
    take: Callable[[bytes], None],
    *,
    lost: Callable[[], None] | None = None,
) -> Scan:
    """Call `take` with the body of each sound record of a file.

    With `lost`, records after damage are read too, and `lost` is called at each place where records are missing;
    without it, reading ends at the first damage. A torn end is no damage, because a partly written record was not shown
    to anybody.

    Raises `OSError` if the file cannot be read.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return Scan(0)
    with file:
        if not (begins := file.read(len(magic))):
            return Scan(0)  # an empty file
        file.seek(0)
        sound, torn, damage = len(magic) if begins == magic else 0, False, []

        def taken(record: Framed) -> None:
            nonlocal sound
            take(record.body)
            sound = file.tell()

        # Behind a damaged first line nothing is a record of this file.
        search = lost is not None and sound > 0
        for error, _, behind in take_records(file, magic, taken, search=search):
            damage.append(f"{path.name}: {error}")
            torn = behind is None and isinstance(error, CutOff)
            if lost is not None and not torn:
                lost()
        return Scan(sound, tuple(damage), torn)


def _with_commitments(
    fair_deal: journal_pb2.FairDeal, commitments: list[bytes]
) -> journal_pb2.FairDeal:
    if len(commitments) != len(fair_deal.participants):
        raise Damaged("a deal-set has another number of commitments than participants")
    copy = journal_pb2.FairDeal()
    copy.CopyFrom(fair_deal)
    for participant, commitment in zip(copy.participants, commitments, strict=True):
        participant.commitment = commitment
    return copy
