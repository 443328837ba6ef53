"""Recovers matches from the journals of ended processes.

An arena does it once when it starts; it is harmless at other times.

A kill loses no complete record of a journal; a torn end loses only the torn records.
"""

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Final

from arena.records.bot_notes import without_notes
from arena.records.deal_book import DEALS_NAME, DealBook, Opening, read_deals
from arena.records.journal.attempts import is_played_again, replaces
from arena.records.journal.kept_sessions import KeptSession
from arena.records.journal.match_log import SeatedAt, settled_of, used_of
from arena.records.journal.segments import alive, head_of, runs
from arena.records.playback import Discrepancy
from arena.records.read import JournalBody, Replay, Unplayable, read_body, replay_path
from arena.records.records import (
    CHAIN_START,
    JOURNAL_MAGIC,
    CutOff,
    Damaged,
    Framed,
    chained,
    take_records,
)
from arena.records.signing import ArenaKey
from arena.records.verify import verify
from arena.records.write import with_revealed, write_replay
from arena.referee.ledger import Settled, UsedTime
from arena.referee.spec import Ending, FaultKind, Outcome
from cardarena.v1 import journal_pb2

_SHORTEST_BYTES: Final = 12
"""The length of the shortest record that changes a counter, with its frame."""
_FAULTS: Final = frozenset({0, *map(int, FaultKind)})


@dataclass(frozen=True, slots=True)
class RecoveredEnd:
    """A match that had ended and had no replay."""

    opened: journal_pb2.Opened
    outcome: Outcome
    path: Path | None
    """Its replay; None while its deals are secret, or if it may be played again."""
    bodies: tuple[bytes, ...] = ()
    """Its records, if its replay is not written yet."""
    order: journal_pb2.Ordered | None = None
    """Its order, if the journal has it."""
    opening: Opening | None = None
    """Opens its deals, if its replay is not written yet."""


@dataclass(frozen=True, slots=True)
class UnfinishedMatch:
    """A match that had begun and not ended, with the records to resume it."""

    opened: journal_pb2.Opened
    bodies: tuple[bytes, ...]
    opening: Opening | None
    """Opens its deals; None if it is lost."""
    seated: tuple[SeatedAt, ...] = ()
    """Its numbers on the bots' streams, by seat."""
    order: journal_pb2.Ordered | None = None
    """Its order, if the journal has it."""
    boot_id: str = ""
    """The boot of the machine at which it was written."""
    used: tuple[UsedTime, ...] = ()
    """Time that its seats had used before their next decisions."""
    damaged: bool = False
    """Whether records that bots have seen may be missing after these: the journal is damaged."""

    @property
    def past(self) -> tuple[Settled, ...]:
        """Its decisions, in the order of settlement."""
        read = (read_body(Framed(0, body))[1] for body in self.bodies)
        return tuple(settled_of(body) for body in read if isinstance(body, journal_pb2.Decided))


@dataclass(frozen=True, slots=True)
class ToldEnd:
    """The end of a match, which some of its bots may not have received."""

    opened: journal_pb2.Opened
    closed: journal_pb2.Closed
    seated: tuple[SeatedAt, ...]
    faults: tuple[journal_pb2.Decided, ...]
    """The decisions with faults."""
    opening: Opening

    @property
    def ended_us(self) -> int:
        """When it ended, in microseconds of Unix time."""
        return self.opened.start_unix_ms * 1000 + self.closed.end_us


@dataclass(slots=True)
class JournalRun:
    """The segments of one process that has ended."""

    segments: tuple[Path, ...]
    unfinished: set[str] = field(default_factory=set)
    """Ids of its matches that had not ended."""
    unpublished: set[str] = field(default_factory=set)
    """Ids of its matches that had ended and have no replay."""
    damaged: bool = False
    """Whether a part of it is unusable; its files are kept for inspection."""

    def needs(self, waiting: Collection[str], unpublished: Collection[str]) -> frozenset[str]:
        """Ids of its matches that are needed; see `Recovery.spent`."""
        return frozenset(self.unfinished & set(waiting) | self.unpublished & set(unpublished))


@dataclass(slots=True)
class Recovery:
    """The content of the journals."""

    ended: list[RecoveredEnd] = field(default_factory=list)
    published: list[str] = field(default_factory=list)
    """The ids of ended matches with a replay that may not be noted in the store."""
    unfinished: list[UnfinishedMatch] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)
    """Sentences about what could not be read or used."""
    ordered: dict[str, journal_pb2.Ordered] = field(default_factory=dict)
    """Matches that were ordered and have not begun, by id."""
    doubtful: dict[str, journal_pb2.Ordered] = field(default_factory=dict)
    """The matches that were ordered and may have begun in a damaged part of a journal, by id."""
    sessions: dict[tuple[str, int], KeptSession] = field(default_factory=dict)
    """By the bot's name and instance."""
    matches: int = 0
    """The highest number of a match."""
    boot_id: str = ""
    """The id of the machine's boot when the last of the journals was begun."""
    ends: list[ToldEnd] = field(default_factory=list)
    """The ends of matches of the last process that are not ordered again, oldest first."""
    asked_us: dict[tuple[str, int], int] = field(default_factory=dict)
    """When the last answered ask was sent to each bot, by name and instance."""
    runs: list[JournalRun] = field(default_factory=list)
    """Oldest first."""

    def spent(self, waiting: Collection[str], unpublished: Collection[str]) -> list[Path]:
        """Segments that are no longer needed.

        `waiting` are the ids of matches that may continue and are in no later journal;
        `unpublished` those of ended matches without a replay.
        """
        return [
            segment
            for run in self.runs
            if not run.damaged and not run.needs(waiting, unpublished)
            for segment in run.segments
        ]

    def forget_spent(self, waiting: Collection[str], unpublished: Collection[str]) -> None:
        """Forget the runs whose segments `spent` returned, as these were removed."""
        self.runs = [run for run in self.runs if run.damaged or run.needs(waiting, unpublished)]

    def keep_session(self, bot: str, instance: int, epoch: int, matches: int) -> None:
        kept = self.sessions.get((bot, instance), KeptSession())
        self.sessions[bot, instance] = kept.including(epoch, matches)


def recover(
    journal_folder: Path,
    replay_folder: Path,
    is_secret: Callable[[str], bool] = lambda _: False,
    signer: ArenaKey | None = None,
) -> Recovery:
    """Read the journals of ended processes, and write the replays that are missing.

    `signer`, if there is one, signs the replays. No replay is written for matches that are
    played again (`is_played_again`), and for those of deal-sets that are secret: `is_secret` is
    called with the name of the deal-set, or the id of a single match. Journals that a process is
    writing are skipped. A torn end of a journal is lost, and `damage` names it.

    Raises `OSError` if a folder cannot be read, or a replay not be written.
    """
    recovery = Recovery()
    if not journal_folder.is_dir():
        return recovery
    deals = read_deals(journal_folder / DEALS_NAME)
    search = _Search(replay_folder, deals, is_secret, signer, recovery)
    for segments in runs(journal_folder):
        if not alive(segments[-1]):
            search.run(segments)
    # A match that was suspended and resumed is in several journals.
    last = {ended.opened.match_id: ended for ended in recovery.ended}
    recovery.ended = list(last.values())
    newest: dict[str, UnfinishedMatch] = {}
    for match in recovery.unfinished:
        before = newest.get(match.opened.match_id)
        if before is None or replaces(match.bodies, before.bodies):
            newest[match.opened.match_id] = match
        elif match.bodies == before.bodies and match.used:
            newest[match.opened.match_id] = replace(before, used=match.used)
    recovery.unfinished = list(newest.values())
    return recovery


@dataclass(slots=True)
class _Match:
    opened: journal_pb2.Opened
    wanted: bool
    """False if it has a replay: its records are not needed."""
    chain: bytes = CHAIN_START
    bodies: list[bytes] = field(default_factory=list)
    seated: tuple[SeatedAt, ...] = ()
    order: journal_pb2.Ordered | None = None
    used: dict[int, UsedTime] = field(default_factory=dict)
    """The last record of each seat."""
    sound: int | None = None
    """The number of its records before damage to the journal; None without damage."""
    faults: list[journal_pb2.Decided] = field(default_factory=list)


class _Search:
    def __init__(
        self,
        replay_folder: Path,
        deals: DealBook,
        is_secret: Callable[[str], bool],
        signer: ArenaKey | None,
        recovery: Recovery,
    ) -> None:
        self._replay_folder = replay_folder
        self._deals = deals
        self._is_secret = is_secret
        self._signer = signer
        self._recovery = recovery
        self._matches: dict[int, _Match | None] = {}
        """Matches of this run that have not ended, by number; None if the beginning is lost."""
        self._orders: dict[str, journal_pb2.Ordered] = {}
        """Orders of this run, by the match's id."""
        self._over: set[int] = set()
        """Numbers of matches of this run that are over; some of their records may be removed."""

    def run(self, segments: Sequence[Path]) -> None:
        self._matches, self._orders = {}, {}
        self._run = JournalRun(tuple(segments))
        self._recovery.runs.append(self._run)
        self._boot_id = ""
        self._begins = True
        self._lost_bytes = 0
        self._matches_begun = False
        heads = [head_of(segment) for segment in segments]
        self._over = {number for head in heads for number in head.over}
        replaced = {name for head in heads for name in head.replaces}
        for segment in segments:
            if segment.name in replaced:
                continue  # a later journal has its needed records
            with segment.open("rb") as file:
                self._segment(file, is_last=segment == segments[-1])
        for match in self._matches.values():
            if match is not None and match.wanted:
                self._unfinished(match)
        self._count_lost()

    def _unfinished(self, match: _Match) -> None:
        """Add a match that had not ended, or whose end is lost."""
        self._run.unfinished.add(match.opened.match_id)
        unfinished = UnfinishedMatch(
            match.opened,
            tuple(match.bodies[: match.sound]),
            self._deals.opening(match.opened),
            match.seated,
            match.order,
            self._boot_id,
            tuple(match.used.values()),
            damaged=match.sound is not None,
        )
        self._recovery.unfinished.append(unfinished)

    def _count_lost(self) -> None:
        """Raise all counters by the numbers that lost records may have used.

        Each may have raised any counter by one.
        """
        lost = self._lost_bytes // _SHORTEST_BYTES
        self._recovery.matches += lost
        if lost:
            for (bot, instance), kept in list(self._recovery.sessions.items()):
                self._recovery.keep_session(bot, instance, kept.epoch + lost, kept.matches + lost)

    def _damaged(self, what: str) -> None:
        """Add a problem of this run; its segments are kept for inspection."""
        self._recovery.damage.append(what)
        self._run.damaged = True

    def _segment(self, file: BinaryIO, *, is_last: bool) -> None:
        """Read all records of a segment, also after damage.

        A killed process leaves a torn record at the very end, which was sent to no bot. Any other
        damage may affect records that were seen.
        """
        for error, at, behind in take_records(file, JOURNAL_MAGIC, self._take):
            self._damaged(f"{Path(file.name).name}: {error}")
            if behind is None and is_last and isinstance(error, CutOff):
                return
            file.seek(0, os.SEEK_END)
            self._lost((file.tell() if behind is None else behind) - at)

    def _lost(self, size: int) -> None:
        """Note that bytes of the journal are lost, of unknown matches."""
        self._lost_bytes += size
        for match in self._matches.values():
            if match is not None and match.sound is None:
                match.sound = len(match.bodies)
        for match_id, ordered in self._orders.items():
            if not ordered.ordered_again:
                self._recovery.doubtful[match_id] = ordered
                self._recovery.ordered.pop(match_id, None)

    def _take(self, record: Framed) -> None:
        number, body = read_body(record)
        if isinstance(body, journal_pb2.Run):
            self._boot_id = self._recovery.boot_id = body.boot_id
            return
        if self._begins:
            # Orders of earlier runs that are still valid are repeated here.
            self._recovery.ordered.clear()
            self._begins = False
        if isinstance(body, journal_pb2.Ordered):
            self._recovery.ordered[body.match_id] = body
            self._orders[body.match_id] = body
        elif isinstance(body, journal_pb2.SessionKept):
            self._recovery.keep_session(body.bot, body.instance, body.epoch, body.matches)
        else:
            self._recovery.matches = max(self._recovery.matches, number)
            if number in self._over:
                self._pass_over(body)
            else:
                self._record(number, body, record.body)

    def _pass_over(self, body: JournalBody) -> None:
        """Read the relevant parts of a record of a match that is over."""
        if isinstance(body, journal_pb2.Seated):
            self._beside(None, body)
        elif isinstance(body, journal_pb2.Opened):
            self._recovery.ordered.pop(body.match_id, None)

    def _record(self, number: int, body: JournalBody, raw: bytes) -> None:
        if isinstance(body, journal_pb2.Opened):
            if not self._matches_begun:
                self._recovery.ends.clear()  # these are ends of earlier processes
                self._matches_begun = True
            self._recovery.ordered.pop(body.match_id, None)
            self._recovery.doubtful.pop(body.match_id, None)
            self._matches[number] = self._begun(body)
        elif number not in self._matches:
            self._damaged(f"the beginning of match number {number} is missing")
            self._matches[number] = None
        match = self._matches[number]
        if isinstance(body, journal_pb2.Seated | journal_pb2.TimeKept):
            self._beside(match, body)
        elif match is not None and match.wanted:
            if isinstance(body, journal_pb2.Decided) and body.fault not in _FAULTS:
                raise Damaged(f"match {match.opened.match_id} has a fault that does not exist")
            match.bodies.append(raw)
            if isinstance(body, journal_pb2.Closed):
                self._close(match, body)
            elif not isinstance(body, journal_pb2.Noted):
                match.chain = chained(match.chain, raw)
        if match is not None and isinstance(body, journal_pb2.Decided):
            self._answered(match, body)
        if isinstance(body, journal_pb2.Closed):
            del self._matches[number]
            if match is not None:
                self._told_end(match, body)

    def _answered(self, match: _Match, decided: journal_pb2.Decided) -> None:
        """Note faults, and answers, which show what the bot has received. The decision includes the time of its ask."""
        kept = match.used.get(decided.seat)
        if kept is not None and kept.decision == decided.decision:
            match.used[decided.seat] = kept._replace(decision=0, used_s=0.0)
        if decided.fault:
            match.faults.append(decided)
        elif not decided.unasked and decided.seat < len(match.seated):
            bot = match.seated[decided.seat]
            sent_us = match.opened.start_unix_ms * 1000 + decided.sent_us
            key = (bot.bot, bot.instance)
            self._recovery.asked_us[key] = max(sent_us, self._recovery.asked_us.get(key, 0))

    def _told_end(self, match: _Match, closed: journal_pb2.Closed) -> None:
        if not match.wanted:
            self._recovery.published.append(match.opened.match_id)
        if match.order is None or match.order.ordered_again:
            return  # a new order has new processes of bots, which do not know the match
        opening = self._deals.opening(match.opened)
        if opening is not None and match.seated:
            faults = tuple(match.faults)
            end = ToldEnd(match.opened, closed, match.seated, faults, opening)
            self._recovery.ends.append(end)

    def _begun(self, opened: journal_pb2.Opened) -> _Match | None:
        try:
            path = replay_path(self._replay_folder, opened.match_id)
        except ValueError as error:
            self._recovery.damage.append(str(error))
            return None
        order = self._orders.pop(opened.match_id, None)
        return _Match(opened, wanted=not path.exists(), order=order)

    def _beside(
        self, match: _Match | None, body: journal_pb2.Seated | journal_pb2.TimeKept
    ) -> None:
        """Read a record of a match that is not part of its chain."""
        if isinstance(body, journal_pb2.TimeKept):
            if match is not None and body.seat < len(match.opened.entrants):
                match.used[body.seat] = used_of(body)
            return
        for bot in body.bots:
            self._recovery.keep_session(bot.bot, bot.instance, 0, bot.match)
        if match is not None:
            match.seated = tuple(SeatedAt(bot.bot, bot.instance, bot.match) for bot in body.bots)

    def _close(self, match: _Match, closed: journal_pb2.Closed) -> None:
        opened = match.opened
        name = f"match {opened.match_id}"
        if closed.chain != match.chain:
            self._damaged(f"{name}: records are missing from its journal")
            if match.sound is None:  # the place is unknown
                match.sound = 1
            self._unfinished(match)
            return
        opening = self._deals.opening(opened)
        if opening is None:
            self._damaged(f"{name}: the key of its deals is missing")
            return
        bodies = with_revealed(without_notes(match.bodies)[0], opening)
        try:
            outcome = verify(Replay.of_records(Framed(0, body) for body in bodies)).outcome
        except (Damaged, Discrepancy, Unplayable) as error:
            self._damaged(f"{name}: {error}")
            return  # a match with false records is not published; its journal is kept
        again = is_played_again(opened.deal_set, Ending(closed.ending))
        path = None
        if not again and not self._is_secret(opened.deal_set or opened.match_id):
            path = write_replay(
                self._replay_folder, opened.match_id, match.bodies, opening, self._signer
            )
        if path is None and not again:
            self._run.unpublished.add(opened.match_id)
        ended = RecoveredEnd(opened, outcome, path, order=match.order)
        if path is None:
            ended = replace(ended, bodies=tuple(match.bodies), opening=opening)
        self._recovery.ended.append(ended)
        # This ends the attempts in earlier journals, not one that a later journal began.
        unfinished = self._recovery.unfinished
        unfinished[:] = [other for other in unfinished if other.opened.match_id != opened.match_id]
