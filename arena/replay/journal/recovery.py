"""What the journals of ended processes hold: matches that ended, and those that did not.

Read once when an arena starts, though it harms nothing at other times. A kill loses nothing of a journal; a torn end loses only the
torn records.
"""

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Final

from arena.referee import Settled, UsedTime
from arena.referee.spec import Ending, FaultKind, Outcome
from arena.replay.deal_book import DEALS_NAME, DealBook, Opening, read_deals
from arena.replay.frames import Discrepancy
from arena.replay.journal.attempts import is_played_again, replaces
from arena.replay.journal.kept_sessions import KeptSession
from arena.replay.journal.match_log import SeatedAt, settled_of, used_of
from arena.replay.journal.segments import alive, head_of, runs
from arena.replay.notes import without_notes
from arena.replay.read import JournalBody, Replay, Unplayable, read_body, replay_path
from arena.replay.records import (
    CHAIN_START,
    JOURNAL_MAGIC,
    CutOff,
    Damaged,
    Framed,
    chained,
    framed,
    next_record,
    read_records,
    records_from,
)
from arena.replay.signing import Signer
from arena.replay.verify import verify
from arena.replay.write import with_revealed, write_replay
from cardarena.v1 import journal_pb2

_SHORTEST_BYTES: Final = 12
"""No record that counts something is shorter, its frame included."""
_FAULTS: Final = frozenset({0, *map(int, FaultKind)})


@dataclass(frozen=True, slots=True)
class Ended:
    """A match that had ended, but had no replay."""

    opened: journal_pb2.Opened
    outcome: Outcome
    path: Path | None
    """Its replay; None while its deal-set is held, or if it may be played again."""
    bodies: tuple[bytes, ...] = ()
    """Its records, if its replay is still to be made."""
    order: journal_pb2.Ordered | None = None
    """How it was ordered, if the journal has it."""
    opening: Opening | None = None
    """Opens its deals, if its replay is still to be made."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A match that had begun and not ended. Its records are all there is to resume it by."""

    opened: journal_pb2.Opened
    bodies: tuple[bytes, ...]
    opening: Opening | None
    """Opens its deals; None if that is lost."""
    seated: tuple[SeatedAt, ...] = ()
    """Under which numbers the bots' streams know it, by seat."""
    order: journal_pb2.Ordered | None = None
    """How it was ordered, if the journal has it."""
    boot_id: str = ""
    """The machine's, when it was written."""
    used: tuple[UsedTime, ...] = ()
    """The time that its seats had used, and no decision tells."""
    damaged: bool = False
    """Whether records may be missing after these, as the journal is damaged in the middle: what
    they said may have been told."""

    @property
    def past(self) -> tuple[Settled, ...]:
        """Its decisions, in the order in which they were settled."""
        read = (read_body(Framed(0, body))[1] for body in self.bodies)
        return tuple(settled_of(body) for body in read if isinstance(body, journal_pb2.Decided))


@dataclass(frozen=True, slots=True)
class ToldEnd:
    """The end of a match, of which some of its bots may not have heard."""

    opened: journal_pb2.Opened
    closed: journal_pb2.Closed
    seated: tuple[SeatedAt, ...]
    faults: tuple[journal_pb2.Decided, ...]
    """The decisions with faults."""
    opening: Opening

    @property
    def ended_us(self) -> int:
        """When it ended, by the arena's calendar."""
        return self.opened.start_unix_ms * 1000 + self.closed.end_us


@dataclass(slots=True)
class JournalRun:
    """The segments of one process that has ended."""

    segments: tuple[Path, ...]
    unfinished: set[str] = field(default_factory=set)
    """Matches of it that had not ended, by id."""
    unpublished: set[str] = field(default_factory=set)
    """Matches of it that had ended and have no replay, by id."""
    damaged: bool = False
    """Whether a part of it cannot be used, which somebody may want to look at."""

    def needs(self, waiting: Collection[str], unpublished: Collection[str]) -> frozenset[str]:
        """The matches of it that are still needed, by id; see `Recovery.spent`."""
        return frozenset(self.unfinished & set(waiting) | self.unpublished & set(unpublished))


@dataclass(slots=True)
class Recovery:
    """What a journal held."""

    ended: list[Ended] = field(default_factory=list)
    unfinished: list[Unfinished] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)
    """What could not be read or used, in sentences."""
    ordered: dict[str, journal_pb2.Ordered] = field(default_factory=dict)
    """Matches that were ordered and have not begun, by id."""
    doubtful: dict[str, journal_pb2.Ordered] = field(default_factory=dict)
    """Matches that were ordered, by id, and may have begun in a damaged part of a journal."""
    sessions: dict[tuple[str, int], KeptSession] = field(default_factory=dict)
    """By the bot's name and instance."""
    matches: int = 0
    """The highest number of a match."""
    boot_id: str = ""
    """The machine's, when the last of the journals was begun."""
    ends: list[ToldEnd] = field(default_factory=list)
    """How matches of the last process ended that nobody orders again, oldest first."""
    asked_us: dict[tuple[str, int], int] = field(default_factory=dict)
    """When each bot, by name and instance, was last sent an ask that it answered."""
    runs: list[JournalRun] = field(default_factory=list)
    """Oldest first."""

    def spent(self, waiting: Collection[str], unpublished: Collection[str]) -> list[Path]:
        """Segments that are not needed any more.

        `waiting` are the ids of matches that may still go on and that no later journal
        has; `unpublished` those of matches that have ended without a replay so far.
        """
        return [
            segment
            for run in self.runs
            if not run.damaged and not run.needs(waiting, unpublished)
            for segment in run.segments
        ]

    def keep_session(self, bot: str, instance: int, epoch: int, matches: int) -> None:
        """Take note of a session's counters."""
        kept = self.sessions.get((bot, instance), KeptSession())
        self.sessions[bot, instance] = kept.including(epoch, matches)


def recover(
    journal_folder: Path,
    replay_folder: Path,
    held: Callable[[str], bool] = lambda _: False,
    signer: Signer | None = None,
) -> Recovery:
    """Find what the journals of ended processes hold, and cut the replays that are missing.

    `signer`, if there is one, signs what is cut. Two kinds of matches are not cut:
    those that are played again (`is_played_again`), and those of a deal-set that is
    `held`, by its name, as its deals are still secret. A match alone is a deal-set of
    its own, with its id as the name. Journals that a process still writes are passed
    over. A killed process or a power cut may leave a journal with a torn end: the
    torn records are lost, and `damage` names them.

    Raises:
      OSError: if a folder cannot be read, or a replay not be written.
    """
    found = Recovery()
    if not journal_folder.is_dir():
        return found
    deals = read_deals(journal_folder / DEALS_NAME)
    search = _Search(replay_folder, deals, held, signer, found)
    for segments in runs(journal_folder):
        if not alive(segments[-1]):
            search.run(segments)
    # A match that was stopped and played again stands in several journals.
    last = {ended.opened.match_id: ended for ended in found.ended}
    found.ended = list(last.values())
    newest: dict[str, Unfinished] = {}
    for each in found.unfinished:
        before = newest.get(each.opened.match_id)
        if before is None or replaces(each.bodies, before.bodies):
            newest[each.opened.match_id] = each
        elif each.bodies == before.bodies and each.used:
            newest[each.opened.match_id] = replace(before, used=each.used)
    found.unfinished = list(newest.values())
    return found


@dataclass(slots=True)
class _Match:
    """A match that has records in a journal."""

    opened: journal_pb2.Opened
    wanted: bool
    """False if there is a replay already: its records need not be kept."""
    chain: bytes = CHAIN_START
    bodies: list[bytes] = field(default_factory=list)
    seated: tuple[SeatedAt, ...] = ()
    order: journal_pb2.Ordered | None = None
    used: dict[int, UsedTime] = field(default_factory=dict)
    """The last that was written down of each seat."""
    sound: int | None = None
    """How many of its records stand before damage to the journal; None if none was met."""
    faults: list[journal_pb2.Decided] = field(default_factory=list)


class _Search:
    """Goes through the segments of one run after another."""

    def __init__(
        self,
        replay_folder: Path,
        deals: DealBook,
        held: Callable[[str], bool],
        signer: Signer | None,
        found: Recovery,
    ) -> None:
        self._replay_folder = replay_folder
        self._deals = deals
        self._held = held
        self._signer = signer
        self._found = found
        self._matches: dict[int, _Match | None] = {}
        """Matches of this run that have not ended, by number; None if the beginning is lost."""
        self._orders: dict[str, journal_pb2.Ordered] = {}
        """Orders of this run, by the match's id."""
        self._over: set[int] = set()
        """Numbers of matches of this run that are over, of which records may be gone."""

    def run(self, segments: Sequence[Path]) -> None:
        """Search the segments of one process in order."""
        self._matches, self._orders = {}, {}
        self._run = JournalRun(tuple(segments))
        self._found.runs.append(self._run)
        self._boot_id = ""
        self._begins = True
        self._lost_bytes = 0
        self._matches_begun = False
        heads = [head_of(segment) for segment in segments]
        self._over = {number for head in heads for number in head.over}
        replaced = {name for head in heads for name in head.replaces}
        for segment in segments:
            if segment.name in replaced:
                continue  # all that is needed of it stands in a later one
            with segment.open("rb") as file:
                self._segment(file, is_last=segment == segments[-1])
        for match in self._matches.values():
            if match is not None and match.wanted:
                self._unfinished(match)
        self._count_lost()

    def _unfinished(self, match: _Match) -> None:
        """A match that had not ended, or of which too much is lost to say how it did."""
        self._run.unfinished.add(match.opened.match_id)
        unfinished = Unfinished(
            match.opened,
            tuple(match.bodies[: match.sound]),
            self._deals.opening(match.opened),
            match.seated,
            match.order,
            self._boot_id,
            tuple(match.used.values()),
            damaged=match.sound is not None,
        )
        self._found.unfinished.append(unfinished)

    def _count_lost(self) -> None:
        """Let nothing be counted again that lost records may have counted.

        Each may have raised any count by one.
        """
        lost = self._lost_bytes // _SHORTEST_BYTES
        self._found.matches += lost
        if lost:
            for (bot, instance), kept in list(self._found.sessions.items()):
                self._found.keep_session(bot, instance, kept.epoch + lost, kept.matches + lost)

    def _damaged(self, what: str) -> None:
        """Say what is wrong with this run; its segments stay for somebody to look at."""
        self._found.damage.append(what)
        self._run.damaged = True

    def _segment(self, file: BinaryIO, *, is_last: bool) -> None:
        """Take all records of a segment, those behind damage as well.

        A process that is killed leaves a torn record at the very end, which nobody was told of.
        Any other damage came later, to what had been told.
        """
        at, records = 0, read_records(file, JOURNAL_MAGIC)
        while True:
            try:
                for record in records:
                    at = record.offset
                    self._take(record)
                    at += len(framed(record.body))
            except Damaged as error:
                self._damaged(f"{Path(file.name).name}: {error}")
                behind = next_record(file, at)
                if behind is None and is_last and isinstance(error, CutOff):
                    return
                file.seek(0, os.SEEK_END)
                self._lost((file.tell() if behind is None else behind) - at)
                if behind is None:
                    return
                at = behind
                file.seek(at)
                records = records_from(file, at)
            else:
                return

    def _lost(self, size: int) -> None:
        """So many bytes of the journal are lost: whose records these were, nobody knows."""
        self._lost_bytes += size
        for match in self._matches.values():
            if match is not None and match.sound is None:
                match.sound = len(match.bodies)
        for match_id, ordered in self._orders.items():
            if not ordered.ordered_again:
                self._found.doubtful[match_id] = ordered
                self._found.ordered.pop(match_id, None)

    def _take(self, record: Framed) -> None:
        number, body = read_body(record)
        if isinstance(body, journal_pb2.Run):
            self._boot_id = self._found.boot_id = body.boot_id
            return
        if self._begins:
            # What was ordered before stands here again, if it still holds.
            self._found.ordered.clear()
            self._begins = False
        if isinstance(body, journal_pb2.Ordered):
            self._found.ordered[body.match_id] = body
            self._orders[body.match_id] = body
        elif isinstance(body, journal_pb2.SessionKept):
            self._found.keep_session(body.bot, body.instance, body.epoch, body.matches)
        else:
            self._found.matches = max(self._found.matches, number)
            if number in self._over:
                self._pass_over(body)
            else:
                self._record(number, body, record.body)

    def _pass_over(self, body: JournalBody) -> None:
        """Take what counts of a record of a match that is over, of which others may be gone."""
        if isinstance(body, journal_pb2.Seated):
            self._beside(None, body)
        elif isinstance(body, journal_pb2.Opened):
            self._found.ordered.pop(body.match_id, None)

    def _record(self, number: int, body: JournalBody, raw: bytes) -> None:
        """Take a record of a match."""
        if isinstance(body, journal_pb2.Opened):
            if not self._matches_begun:
                self._found.ends.clear()  # those of processes before
                self._matches_begun = True
            self._found.ordered.pop(body.match_id, None)
            self._found.doubtful.pop(body.match_id, None)
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
        """Take note of faults, and of what shows that a bot heard all that was told before."""
        if decided.fault:
            match.faults.append(decided)
        elif not decided.unasked and decided.seat < len(match.seated):
            bot = match.seated[decided.seat]
            sent_us = match.opened.start_unix_ms * 1000 + decided.sent_us
            key = (bot.bot, bot.instance)
            self._found.asked_us[key] = max(sent_us, self._found.asked_us.get(key, 0))

    def _told_end(self, match: _Match, closed: journal_pb2.Closed) -> None:
        if match.order is None or match.order.ordered_again:
            return  # whoever orders it again brings bots that know nothing of it
        opening = self._deals.opening(match.opened)
        if opening is not None and match.seated:
            faults = tuple(match.faults)
            end = ToldEnd(match.opened, closed, match.seated, faults, opening)
            self._found.ends.append(end)

    def _begun(self, opened: journal_pb2.Opened) -> _Match | None:
        try:
            path = replay_path(self._replay_folder, opened.match_id)
        except ValueError as error:
            self._found.damage.append(str(error))
            return None
        order = self._orders.pop(opened.match_id, None)
        return _Match(opened, wanted=not path.exists(), order=order)

    def _beside(
        self, match: _Match | None, body: journal_pb2.Seated | journal_pb2.TimeKept
    ) -> None:
        """Take a record of a match that is not part of its chain."""
        if isinstance(body, journal_pb2.TimeKept):
            if match is not None and body.seat < len(match.opened.entrants):
                match.used[body.seat] = used_of(body)
            return
        for each in body.bots:
            self._found.keep_session(each.bot, each.instance, 0, each.match)
        if match is not None:
            match.seated = tuple(
                SeatedAt(each.bot, each.instance, each.match) for each in body.bots
            )

    def _close(self, match: _Match, closed: journal_pb2.Closed) -> None:
        opened = match.opened
        name = f"match {opened.match_id}"
        if closed.chain != match.chain:
            self._damaged(f"{name}: records are missing from its journal")
            if match.sound is None:  # it is not known where
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
            return  # what does not verify is not published; the journal stays
        again = is_played_again(opened.deal_set, Ending(closed.ending))
        path = None
        if not again and not self._held(opened.deal_set or opened.match_id):
            path = write_replay(
                self._replay_folder, opened.match_id, match.bodies, opening, self._signer
            )
        if path is None and not again:
            self._run.unpublished.add(opened.match_id)
        ended = Ended(opened, outcome, path, order=match.order)
        if path is None:
            ended = replace(ended, bodies=tuple(match.bodies), opening=opening)
        self._found.ended.append(ended)
        # This ends the attempts that were found before it, not one that a later journal began.
        unfinished = self._found.unfinished
        unfinished[:] = [each for each in unfinished if each.opened.match_id != opened.match_id]
