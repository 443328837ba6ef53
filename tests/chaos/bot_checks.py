"""Invariants of what bots were told and said, against the journal.

What a bot must have been told is worked out anew from the journal by the
rules; what the journal must hold, from what the bots were told.
"""

from collections import defaultdict

from arena.records.playback import Discrepancy
from arena.records.read import Unplayable
from arena.records.records import Damaged
from arena.referee.spec import Ending
from cardarena.v1 import play_pb2
from tests.chaos.case import invariant
from tests.chaos.evidence import replay_of, retold
from tests.chaos.history import Kind

DECISION_BITS = 20
"""An ask's id is the match's number on the bot's stream, and the seat's decision."""


class _Seats:
    """Which bot sits where, and what it must have been told there."""

    def __init__(self, case):
        self._case = case
        self._told = {}
        self._matches = {}
        """Which match a bot knows under which number, as its own history has it."""
        for history in case.histories:
            for entry in history.of_kind(Kind.ENDED):
                end = play_pb2.MatchEnd.FromString(entry.body)
                self._matches[history.bot, entry.match] = end.replay_id
        for match_id, book in case.books.items():
            for (bot, _), number in book.seated.items():
                self._matches.setdefault((bot, number), match_id)

    def match_of(self, bot, number):
        """The id of a bot's match; empty if nobody says."""
        return self._matches.get((bot, number), "")

    def told(self, match_id):
        """What each seat of a match was told, by seat; none if the match cannot be played."""
        if match_id not in self._told:
            book, key = self._case.books[match_id], self._case.keys[match_id]
            try:
                self._told[match_id] = retold(replay_of(book, key))
            except (Damaged, Discrepancy, Unplayable) as error:
                self._told[match_id] = str(error)
        return self._told[match_id]


def _asked(case):
    """Every telling of an ask: bot, entry, the match's id, and what it should have been.

    The last two are empty, and a sentence, where that cannot be said.
    """
    seats = _Seats(case)
    for history in case.histories:
        for entry in history.of_kind(Kind.ASKED):
            match_id = seats.match_of(history.bot, entry.match)
            if match_id not in case.books or match_id not in case.keys:
                yield history.bot, entry, "", "it is of a match that the journal does not know"
                continue
            told = seats.told(match_id)
            if isinstance(told, str):
                yield history.bot, entry, "", told
                continue
            ask = play_pb2.Ask.FromString(entry.body)
            telling = told[ask.seat].asks.get(decision_of(entry.ask_id))
            what = telling or "the journal's match does not come to this ask"
            yield history.bot, entry, match_id, what


def decision_of(ask_id):
    """The seat's decision that an ask is about."""
    return ask_id & ((1 << DECISION_BITS) - 1)


@invariant("a bot's view is a prefix of its final view")
def views_are_prefixes(case):
    first = {}
    for bot, entry, _, telling in _asked(case):
        where = f"{bot}, match number {entry.match}, decision {decision_of(entry.ask_id)}"
        named = play_pb2.Ask.FromString(entry.body).decision
        if (entry.ask_id >> DECISION_BITS, named) != (entry.match, decision_of(entry.ask_id)):
            yield f"{where}: ask {entry.ask_id} is not named after its match"
            continue
        ask = play_pb2.Ask.FromString(entry.body)
        # What was told once is told alike ever after.
        known = first.setdefault((bot, entry.ask_id), entry.body)
        if known != entry.body:
            yield f"{where}: the ask was told otherwise on stream {entry.stream}"
        elif isinstance(telling, str):
            yield f"{where}: {telling}"
        else:
            ask.ClearField("ask_id")
            ask.ClearField("match")
            ask.ClearField("played_for")
            ask.ClearField("decision")
            if ask != telling.ask:
                yield f"{where}: the ask is not what follows from the journal"


@invariant("a match keeps its number on a bot's streams")
def numbers_are_kept(case):
    for history in case.histories:
        first = {}
        for entry in history.entries:
            starts = []
            if entry.kind is Kind.SEATED:
                starts = [play_pb2.MatchStart.FromString(entry.body)]
            elif entry.kind is Kind.WELCOMED:
                starts = play_pb2.Welcome.FromString(entry.body).matches
            for start in starts:
                if first.setdefault(start.match, start) != start:
                    yield f"{history.bot}: number {start.match} names another match than before"
        written = {
            number
            for book in case.books.values()
            for (bot, _), number in book.seated.items()
            if bot == history.bot
        }
        yield from (
            f"{history.bot} was seated at number {number}, which the journal does not know"
            for number in first.keys() - written
        )


@invariant("nothing is told before it is written")
def nothing_before_written(case):
    for bot, entry, match_id, telling in _asked(case):
        written = case.at_kill.get(entry.generation)
        if written is None or isinstance(telling, str):
            continue
        there = written.get(match_id, (0, False))[0]
        if telling.after > there:
            yield (
                f"{bot} was asked decision {decision_of(entry.ask_id)} of match {match_id} after "
                f"{telling.after} decisions, but {there} were written when the arena was killed"
            )
    for history in case.histories:
        for entry in history.of_kind(Kind.ENDED):
            written = case.at_kill.get(entry.generation)
            match_id = play_pb2.MatchEnd.FromString(entry.body).replay_id
            if written is not None and not written.get(match_id, (0, False))[1]:
                yield f"{history.bot} was told the end of match {match_id}, which was not written"


@invariant("an acknowledged move is in the journal, once")
def acknowledged_moves_are_kept(case):
    seats = _Seats(case)
    for history in case.histories:
        asks = {entry.ask_id: entry for entry in history.of_kind(Kind.ASKED)}
        ended = {entry.match for entry in history.of_kind(Kind.ENDED)}
        last = defaultdict(int)
        for entry in asks.values():
            last[entry.match] = max(last[entry.match], decision_of(entry.ask_id))
        said = {}
        for entry in history.of_kind(Kind.ANSWERED):
            said.setdefault(entry.ask_id, []).append(entry)
        for ask_id, entry in asks.items():
            acknowledged = entry.match in ended or decision_of(ask_id) < last[entry.match]
            match_id = seats.match_of(history.bot, entry.match)
            if acknowledged and match_id in case.books:
                yield from _kept(case.books[match_id], history.bot, entry, said.get(ask_id, []))


def _kept(book, bot, asked, said):
    """Where the journal does not have what a bot said to an ask that is settled."""
    ask = play_pb2.Ask.FromString(asked.body)
    decision = decision_of(asked.ask_id)
    where = f"match {book.opened.match_id}, {bot}, decision {decision}"
    found = [each for each in book.decided if (each.seat, each.decision) == (ask.seat, decision)]
    if len(found) != 1:
        if book.closed is None or book.closed.ending != Ending.ABORTED:
            yield f"{where}: acknowledged, and {len(found)} times in the journal"
        return
    (decided,) = found
    if decided.fault or decided.unasked:
        return  # another move was played for it; `nobody_blamed` asks whether rightly so
    choices = [_move(book, ask, play_pb2.Answer.FromString(each.body)) for each in said]
    if decided.move.SerializeToString(deterministic=True) not in choices:
        yield f"{where}: the journal has a move that the bot did not make"


def _move(book, ask, answer):
    """The move of an answer by index, as the journal would have it."""
    kind = ask.WhichOneof("game")
    moves = getattr(ask, kind).moves
    if answer.index >= len(moves):
        return b""
    move = type(book.decided[0].move)()
    getattr(move, kind).CopyFrom(moves[answer.index])
    return move.SerializeToString(deterministic=True)


@invariant("a result that was told is the one on disk")
def ends_are_told_truly(case):
    seats = _Seats(case)
    for history in case.histories:
        told = {}
        for entry in history.of_kind(Kind.ENDED):
            end = play_pb2.MatchEnd.FromString(entry.body)
            where = f"{history.bot}, match {end.replay_id}"
            if told.setdefault(entry.match, entry.body) != entry.body:
                yield f"{where}: its end was told twice, and not alike"
            book = case.books.get(end.replay_id)
            if book is None or book.closed is None:
                yield f"{where}: it was told to have ended, and the journal does not say so"
                continue
            closed = book.closed
            if (list(end.scores), list(end.places), end.ending) != (
                list(closed.scores),
                list(closed.places),
                closed.ending,
            ):
                yield f"{where}: its end was told otherwise than it is written"
                continue
            yield from _trailing(case, seats, history.bot, book, end, where)


def _trailing(case, seats, bot, book, end, where):
    """Where the last events of a match are not those that follow from the journal."""
    match_id = book.opened.match_id
    named = [seat for seat, entrant in enumerate(book.opened.entrants) if entrant.name == bot]
    if match_id not in case.keys or end.ending == Ending.ABORTED or len(named) != 1:
        return
    told = seats.told(match_id)
    if isinstance(told, str):
        return  # which `results_follow` tells
    trailing = [event.SerializeToString(deterministic=True) for event in end.trailing_events]
    kind = type(end.trailing_events.add())
    wanted = [
        kind.FromString(event).SerializeToString(deterministic=True)
        for event in told[named[0]].trailing
    ]
    if trailing != wanted:
        yield f"{where}: its last events are not those of the journal"
