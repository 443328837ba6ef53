"""What went wrong for a bot at a match, in words: drawn for its owner in a terminal."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol, TypeAlias

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from arena.cli.terminal import draw
from arena.cli.terminal.plain import plain
from arena.referee.spec import Ending, FaultKind
from arena.replay.account import Account, ExceptionStory, FaultStory
from arena.replay.advice import advice
from arena.replay.words import BEFORE_THE_DEAL, FAULT_WORDS, aborted_words, count, listed, seconds

FULL: Final = 3
"""Faults that are told in full; of more, the one that cost the match besides."""
PRINTED_LINES: Final = 12
"""Lines of a bot's output at one fault."""
TRACEBACK_LINES: Final = 40
"""And at one exception, of which the last are the traceback."""
_PIPE_S: Final = 0.1
"""What a bot printed may be read so much later than its answer."""
_END_S: Final = 1.0
"""And the end of its process be noticed so much later."""
_ROUNDING_S: Final = 0.002
"""The match's start and the lines' times are kept in whole milliseconds."""
_AWAY_MS: Final = 100
"""Shorter absences are not worth a word."""


class Line(Protocol):
    """A line that a bot printed."""

    @property
    def at(self) -> datetime:
        """In UTC."""
        ...

    @property
    def by_arena(self) -> bool:
        """It is about the bot's process, and not printed by the bot."""
        ...

    @property
    def text(self) -> str:
        """Without the line's end."""
        ...


Output: TypeAlias = Callable[[datetime, datetime, int], Sequence[Line]]
"""What the bot printed in a span of time, less what it says of exceptions at other decisions than
the one that is named; 0 names none."""


def tell(
    account: Account,
    console: Console,
    *,
    output: Output | None = None,
    replay: str = "",
    full: bool = False,
) -> None:
    """Tell what became of a bot.

    Args:
      account: What there is to tell.
      console: Where it is drawn.
      output: What the bot printed; None if the arena did not launch it.
      replay: The replay's file, for the commands that are proposed.
      full: Tell every fault in full.
    """
    for each in _Teller(account, output, replay, full=full).all():
        # A command is not broken, so that it can be copied.
        console.print(each, soft_wrap=isinstance(each, Text) and bool(each.no_wrap))


def printed_at(account: Account, fault: FaultStory, output: Output) -> list[Line]:
    """What a bot printed from the ask to the fault, and whether its process ended then."""
    start = _start(account)
    begin_us = fault.before_us if fault.unasked else fault.sent_us
    begin = start + timedelta(microseconds=begin_us) - timedelta(seconds=_ROUNDING_S)
    end = start + timedelta(microseconds=fault.settled_us)
    printed_by = end + timedelta(seconds=_PIPE_S)
    lines = output(begin, end + timedelta(seconds=_END_S), fault.decision)
    ended = fault.kind is FaultKind.GONE
    return [line for line in lines if line.at <= printed_by or (ended and line.by_arena)]


def printed_with(account: Account, story: ExceptionStory, output: Output) -> list[Line]:
    """What a bot printed at a decision at which its code raised an exception."""
    start = _start(account)
    begin = start + timedelta(microseconds=story.sent_us - 1000)  # both are cut to milliseconds
    end = start + timedelta(microseconds=story.settled_us) + timedelta(seconds=_PIPE_S)
    lines = list(output(begin, end, story.decision))
    heads = [at for at, line in enumerate(lines) if story.raised in line.text]
    if not heads:
        return lines
    past = heads[0] + 1
    while past < len(lines) and lines[past].text.startswith(" "):
        past += 1  # the traceback, which is set in; what follows is of later decisions
    return lines[:past]


def _start(account: Account) -> datetime:
    return datetime.fromtimestamp(account.start_unix_ms / 1000, UTC)


class _Teller:
    def __init__(self, account: Account, output: Output | None, replay: str, *, full: bool) -> None:
        self._account = account
        self._output = output
        self._show = f"arena replay show {replay} --seat {account.seat}" if replay else ""
        self._full = full

    def all(self) -> Iterator[RenderableType]:
        account = self._account
        yield Rule(Text(f"{account.game.title} · match {plain(account.match_id)}"))
        yield self._who()
        yield Text()
        yield from self._verdict()
        told = self._told_in_full()
        yield from self._exceptions()
        for number, fault in enumerate(account.faults, 1):
            if number == 1 or fault in told:
                yield Text()
            yield self._heading(number, fault)
            if fault in told:
                yield Padding(self._fault(fault), (0, 0, 0, 2))
                if self._show:
                    yield _command(f"{self._show} --step {fault.step}")
        if len(told) < len(account.faults):
            yield Text("\nWith --full every fault is told like the first.", "dim")
        yield from self._section("What to do", self._advice())
        yield from self._section("Slowest decisions", self._slowest())
        if account.place > 1:
            yield from self._section("Hands that cost most", self._costliest())
            if self._show and account.costliest:
                yield _command(f"{self._show} --hand {account.costliest[0].hand}")
        if not account.faults and not account.exceptions:
            yield from self._section("Printed last", self._printed_last())

    def _section(self, title: str, rows: Sequence[tuple[str, str]]) -> Iterator[RenderableType]:
        if rows:
            yield Text()
            yield Text(title, "bold")
            yield Padding(_grid((label, [Text(text)]) for label, text in rows), (0, 0, 0, 2))

    def _who(self) -> Text:
        account = self._account
        others = listed(
            f"{plain(name)} (seat {seat})"
            for seat, name in enumerate(account.names)
            if seat != account.seat
        )
        start = _start(account)
        line = Text().append(plain(account.bot), "bold")
        line.append(f" at seat {account.seat}, against {others}\n")
        own = count(account.decisions, "decision")
        asked = f", {account.unasked} of them without being asked" if account.unasked else ""
        return line.append(
            f"begun {start:%Y-%m-%d %H:%M:%S} UTC, {account.end_us / 1e6:.1f} s long; "
            f"{own} of its own{asked}, in {count(account.hands, 'hand')}",
            "dim",
        )

    # How it ended.

    def _verdict(self) -> Iterator[Text]:
        account = self._account
        if account.ending is Ending.ABORTED:
            yield Text(aborted_words(account.cause, account.incident), "bold red")
        else:
            yield Text(f"{self._result()}.", "bold")
        if account.forfeited_before:
            why = plain(account.forfeited_before)
            yield Text(f"It forfeited before the first card: {why}. {_BY_FALLBACK}", "bold red")
        elif account.forfeit is not None:
            yield Text(f"It forfeited {self._at(account.forfeit)}: {self._why_forfeited()}.", "red")
            yield Text(_BY_FALLBACK)
        for seat in account.others_forfeited:
            name = plain(account.names[seat])
            yield Text(f"{name} (seat {seat}) forfeited, and is placed behind all that stayed.")
        yield Text(self._summary())

    def _result(self) -> str:
        account = self._account
        shared = ", shared" if account.places.count(account.place) > 1 else ""
        score = account.scores[account.seat]
        return f"Place {account.place} of {len(account.places)}{shared}, with a score of {score:+d}"

    def _why_forfeited(self) -> str:
        account, fault = self._account, self._account.forfeit
        assert fault is not None
        if fault.kind is FaultKind.GONE and fault.reason:
            return plain(fault.reason)
        return f"this was its fault number {account.fault_limit}, which is the limit"

    def _summary(self) -> str:
        account = self._account
        if not account.faults:
            text = "No fault: it answered all that it was asked in time and by the rules."
            if account.exceptions:
                times = count(len(account.exceptions), "exception")
                return f"{text} But its own code raised {times}, and the first move was played."
            lost = account.place > 1
            return text + (" It lost by its cards and its moves alone." if lost else "")
        deeds = Counter(_deed(fault) for fault in account.faults)
        most = (deed + (f" ({times} times)" if times > 1 else "") for deed, times in deeds.items())
        return f"{count(len(account.faults), 'fault')}: it {listed(most)}."

    # Exceptions.

    def _exceptions(self) -> Iterator[RenderableType]:
        """Each kind with its first decision in full."""
        kinds: dict[str, list[ExceptionStory]] = {}
        for story in self._account.exceptions:
            kinds.setdefault(story.raised, []).append(story)
        shown = list(kinds.items()) if self._full else list(kinds.items())[:FULL]
        for raised, stories in shown:
            first = stories[0]
            yield Text()
            times = f", {len(stories)} times" if len(stories) > 1 else ""
            at = f"first at decision {first.decision} (hand {first.hand})"
            yield Text(f"Exception{times}, {at}: {plain(raised)}", "bold")
            yield Padding(self._exception(first), (0, 0, 0, 2))
            if self._show:
                yield _command(f"{self._show} --step {first.step}")
        if len(shown) < len(kinds):
            yield Text(f"\n… and {len(kinds) - len(shown)} other kinds, with --full.", "dim")

    def _exception(self, story: ExceptionStory) -> RenderableType:
        rows: list[tuple[str, Sequence[Text]]] = [("it saw", list(draw.view(story.view)))]
        rows.append(("played", [draw.notation(story.played).append(", the first move offered")]))
        if self._output is not None:
            lines = printed_with(self._account, story, self._output)
            if lines:
                rows.append(("printed", [_printed(line) for line in lines[-TRACEBACK_LINES:]]))
        return _grid(rows)

    # Faults.

    def _told_in_full(self) -> Sequence[FaultStory]:
        faults = self._account.faults
        if self._full:
            return faults
        return [each for at, each in enumerate(faults) if at < FULL or each.forfeited]

    def _at(self, fault: FaultStory) -> str:
        when = f"{seconds(fault.settled_us)} into the match"
        return f"at its decision {fault.decision} (hand {fault.hand}, {when})"

    def _heading(self, number: int, fault: FaultStory) -> Text:
        text = f"Fault {number}, {self._at(fault).removeprefix('at its ')}: it {_deed(fault)}"
        line = Text(text, "bold")
        return line.append(", and forfeited the match", "bold red") if fault.forfeited else line

    def _fault(self, fault: FaultStory) -> RenderableType:
        rows: list[tuple[str, Sequence[Text]]] = [("why", [Text(plain(fault.reason))])]
        rows.append(("asked", [self._asked(fault)]))
        if not fault.unasked:
            rows.append(("it saw", list(draw.view(fault.view))))
            rows.append(("came", list(self._came(fault))))
            rows.append(("clock", [self._clock(fault)]))
        if fault.away_ms >= _AWAY_MS:
            away = f"it had been away for {fault.away_ms / 1000:.1f} s of the match by then"
            rows.append(("away", [Text(away)]))
        played = draw.notation(fault.played).append(", the fallback of the rules")
        rows.append(("played", [played]))
        if fault.notes:
            rows.append(("notes", [_note(note.decision, note.text) for note in fault.notes]))
        printed = self._printed(fault)
        if printed:
            rows.append(("printed", printed))
        return _grid(rows)

    def _asked(self, fault: FaultStory) -> Text:
        if fault.unasked:
            had = "its seat had forfeited" if fault.before_deal else "the bot was there no more"
            return Text(f"nothing, as {had}")
        moves = count(fault.offered_count, "move")
        more = "" if fault.complete else ", and more that the rules allow"
        line = Text(f"{moves}{more}: ")
        line.append_text(Text(", ").join(draw.notation(each) for each in fault.offered))
        return line.append(", …") if len(fault.offered) < fault.offered_count else line

    def _came(self, fault: FaultStory) -> Iterator[Text]:
        if not fault.received_us:
            if fault.kind is FaultKind.GONE:
                yield Text("no answer before it was gone")
            else:
                after = seconds(fault.due_us - fault.sent_us)
                yield Text(f"no answer until the end of its time, {after} after the ask")
            return
        after = seconds(fault.received_us - fault.sent_us)
        size = count(fault.answer_bytes, "byte")
        late = f", {seconds(fault.late_us)} too late" if fault.late_us else ""
        yield Text(f"an answer {after} after the ask{late}: {size}, of SHA-256")
        yield Text(fault.answer_sha256)

    def _clock(self, fault: FaultStory) -> Text:
        if not fault.was_sent:
            return Text("the ask had not gone out yet: nothing was charged")
        move_s, bank_s = fault.move_ms / 1e3, fault.bank_before_ms / 1e3
        allowed = f"{move_s:g} s for the move, {bank_s:g} s in the bank"
        refunded = f", {seconds(fault.refunded_us)} refunded as the arena's own"
        return Text(
            f"{allowed}; {seconds(fault.charged_us)} charged"
            f"{refunded if fault.refunded_us else ''}; bank now {fault.bank_ms / 1e3:g} s"
        )

    def _printed(self, fault: FaultStory) -> list[Text]:
        if self._output is None:
            return []
        lines = printed_at(self._account, fault, self._output)
        return [_printed(line) for line in lines[-PRINTED_LINES:]]

    # What follows from it.

    def _advice(self) -> Sequence[tuple[str, str]]:
        return [(kind, plain(text)) for kind, text in advice(self._account)]

    def _slowest(self) -> Sequence[tuple[str, str]]:
        slow = (each for each in self._account.slowest if each.charged_us >= 1000)
        return [
            (seconds(each.charged_us), f"decision {each.decision}, in hand {each.hand}")
            for each in slow
        ]

    def _costliest(self) -> Sequence[tuple[str, str]]:
        rows = []
        for each in self._account.costliest:
            others = listed(f"{score:+d}" for score in each.others)
            whose = "the other" if len(each.others) == 1 else "the others"
            rows.append((f"hand {each.hand}", f"{each.score:+d}, {whose} {others}"))
        return rows

    def _printed_last(self) -> Sequence[tuple[str, str]]:
        if self._output is None:
            return []
        start = _start(self._account)
        lines = self._output(start, start + timedelta(microseconds=self._account.end_us), 0)
        return [(f"{line.at:%H:%M:%S}", _printed_text(line)) for line in lines[-PRINTED_LINES:]]


_BY_FALLBACK: Final = (
    "From there on its seat was played by the rules' fallback, and it is placed behind all that "
    "stayed."
)


def _deed(fault: FaultStory) -> str:
    """What the bot did, to follow `it`."""
    return BEFORE_THE_DEAL if fault.before_deal else FAULT_WORDS[fault.kind]


def _printed_text(line: Line) -> str:
    text = plain(line.text.replace("\t", "    "))
    return f"(process: {text})" if line.by_arena else text


def _printed(line: Line) -> Text:
    stamp = f"{line.at:%H:%M:%S}.{line.at.microsecond // 1000:03d}  "
    return Text().append(stamp, "dim").append(_printed_text(line))


def _command(command: str) -> Text:
    return Text(f"  watch    {command}", no_wrap=True)


def _note(decision: int, text: str) -> Text:
    return Text().append(f"decision {decision}: ", "dim").append(plain(text), "italic")


def _grid(
    rows: Iterator[tuple[str, Sequence[Text]]] | Sequence[tuple[str, Sequence[Text]]],
) -> Table:
    """Labels, and beside each what belongs to it, wrapped within its column."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True, min_width=len("printed"))
    grid.add_column(overflow="fold")
    for label, lines in rows:
        grid.add_row(label, Group(*lines))
    return grid
