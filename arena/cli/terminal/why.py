"""Prints the diagnosis of a bot's match for its owner in a terminal."""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from arena.cli.terminal import draw
from arena.cli.terminal.plain import plain, program
from arena.cli.terminal.why_times import phase_rows, slowest_rows, spent_rows
from arena.errors.faults import DEAL
from arena.records.advice import advice
from arena.records.diagnosis import CostlyHand, FaultDetails, MatchDiagnosis
from arena.records.phrases import (
    BY_FALLBACK,
    ENDED_BY_LIMIT,
    aborted,
    because,
    count,
    deed,
    listed,
    seconds,
)
from arena.referee.spec import Ending, FaultKind
from arena.sandbox.output import printed_stuck

if TYPE_CHECKING:
    from arena.house.par import HouseComparison

FULL: Final = 3
"""The number of faults that are printed in full, besides the one with which the bot forfeited."""
PRINTED_LINES: Final = 12
"""The number of lines of a bot's output at one fault."""
TRACEBACK_LINES: Final = 40
"""The number of lines of a bot's output at one error of its code; the last ones are the traceback."""
_PIPE_S: Final = 0.1
"""The longest delay in seconds between a bot's answer and the reading of its output."""
_END_S: Final = 1.0
"""The longest delay in seconds between the end of a bot's process and its detection."""
_ROUNDING_S: Final = 0.002
"""The rounding error in seconds: the match's start and the lines' times are stored in whole milliseconds."""
_QUEUED: Final = re.compile(r"cardarena: fault .*: timeout: .*; (your bot took .+ queue: .+)$")
"""The text of the SDK about an ask that was late in the bot's own queue."""
_PLACED: Final = re.compile(r"\S+:\d+: ")
"""The place in a bot's code with which an SDK reports an exception. Failures of a language model have none."""
_AWAY_MS: Final = 100
"""The length in milliseconds below which absences are not printed."""


class Line(Protocol):
    """A line of a bot's output."""

    @property
    def at(self) -> datetime:
        """The time of the line in UTC."""
        ...

    @property
    def by_arena(self) -> bool:
        """Whether the arena wrote it, about the bot's process."""
        ...

    @property
    def text(self) -> str:
        """The printed text, without the end of the line."""
        ...


Output: TypeAlias = Callable[[datetime, datetime, int], Sequence[Line]]
"""The bot's output in a span of time, without the exceptions of decisions other than the given
one; 0 gives none."""


def print_diagnosis(
    diagnosis: MatchDiagnosis,
    console: Console,
    *,
    output: Output | None = None,
    replay: str = "",
    house: "HouseComparison | None" = None,
    full: bool = False,
) -> None:
    """Print a diagnosis.

    Args:
      output: Finds the output of the bot; None if the arena did not launch it.
      replay: The replay's file, for the commands that are proposed.
      house: The comparison of the bot with the house bot; None if they were not compared.
      full: Print every fault in full.
    """
    for part in _Printer(diagnosis, output, replay, house, full=full).all():
        # Lines of commands are not wrapped, so that they can be copied.
        console.print(part, soft_wrap=isinstance(part, Text) and bool(part.no_wrap))


def printed_at(diagnosis: MatchDiagnosis, fault: FaultDetails, output: Output) -> list[Line]:
    """Return a bot's output from the ask to the fault, with the end of its process if that was the fault."""
    start = _start(diagnosis)
    begin_us = fault.before_us if fault.unasked else fault.sent_us
    begin = start + timedelta(microseconds=begin_us) - timedelta(seconds=_ROUNDING_S)
    end = start + timedelta(microseconds=fault.settled_us)
    printed_by = end + timedelta(seconds=_PIPE_S)
    lines = output(begin, end + timedelta(seconds=_END_S), fault.decision)
    ended = fault.kind is FaultKind.GONE
    printed = [line for line in lines if line.at <= printed_by or (ended and line.by_arena)]
    return _up_to_traceback(printed, fault.raised) if fault.raised else printed


def with_queue(diagnosis: MatchDiagnosis, output: Output) -> MatchDiagnosis:
    """Return a diagnosis with data about late answers from the bot's output: waits in its own queue, and the place in its code.

    Notes lack these data if the bot was late until the end of the match, because a note is sent with an answer.
    """

    def told(fault: FaultDetails) -> FaultDetails:
        if fault.queued or fault.kind is not FaultKind.TIMEOUT:
            return fault
        lines = printed_at(diagnosis, fault, output)
        if stuck := [place for line in lines if (place := printed_stuck(line.text))]:
            return replace(fault, stuck=stuck[-1].where, stuck_since=stuck[-1].decision)
        queued = [match[1] for line in lines if (match := _QUEUED.search(line.text))]
        return replace(fault, queued=queued[-1]) if queued else fault

    return replace(diagnosis, faults=tuple(map(told, diagnosis.faults)))


def _up_to_traceback(lines: list[Line], raised: str) -> list[Line]:
    """Leave out the lines after the indented traceback of an error, because they are of later decisions."""
    heads = [at for at, line in enumerate(lines) if raised in line.text]
    if not heads:
        return lines
    past = heads[0] + 1
    while past < len(lines) and lines[past].text.startswith(" "):
        past += 1
    return lines[:past]


def _start(diagnosis: MatchDiagnosis) -> datetime:
    return datetime.fromtimestamp(diagnosis.start_unix_ms / 1000, UTC)


class _Printer:
    def __init__(
        self,
        diagnosis: MatchDiagnosis,
        output: Output | None,
        replay: str,
        house: "HouseComparison | None",
        *,
        full: bool,
    ) -> None:
        self._diagnosis = diagnosis
        self._house = house
        self._output = output
        self._show = (
            f"{program()} replay show {shlex.quote(replay)} --seat {diagnosis.seat}"
            if replay
            else ""
        )
        self._replay = plain(replay)
        self._full = full

    def all(self) -> Iterator[RenderableType]:
        diagnosis = self._diagnosis
        yield Rule(Text(f"{diagnosis.game.title} · match {plain(diagnosis.match_id)}"))
        yield self._who()
        yield Text()
        yield from self._verdict()
        full = self._in_full()
        for number, fault in enumerate(diagnosis.faults, 1):
            if number == 1 or fault in full:
                yield Text()
            yield self._heading(number, fault)
            if fault in full:
                yield Padding(self._fault(fault), (0, 0, 0, 2))
                if self._show:
                    yield _command(f"{self._show} --step {fault.step}")
        if len(full) < len(diagnosis.faults):
            yield Text("\n--full prints every fault like the first.", "dim")
        yield from self._section("What to do", self._advice())
        yield from self._section("Slowest decisions", slowest_rows(diagnosis))
        yield from self._section("Where its time went", spent_rows(diagnosis.time))
        yield from self._section("Time by phase of the game", phase_rows(diagnosis.phases))
        if diagnosis.place > 1:
            yield from self._section("Hands that cost most", self._costliest())
            if self._show and diagnosis.costliest:
                yield _command(f"{self._show} --hand {diagnosis.costliest[0].hand}")
        if self._house is not None:
            yield from self._section(
                "Beside the house bot, with the same cards", self._beside_house()
            )
            for mistake in self._house.costliest if self._show else ():
                yield _command(f"{self._show} --step {mistake.step}  # decision {mistake.decision}")
                yield self._again(mistake.step)
        if not diagnosis.faults:
            yield from self._section("Printed last", self._printed_last())

    def _again(self, step: int) -> Text:
        """Return how to give the bot the ask of a step again, in a debugger."""
        given = f"{self._replay!r}, MyBot, seat={self._diagnosis.seat}, step={step}"
        return Text(f"  debug    cardarena.local.replay({given})", no_wrap=True)

    def _section(
        self, title: str, rows: Iterable[tuple[str, str | Text]]
    ) -> Iterator[RenderableType]:
        grid = [(label, [Text(row) if isinstance(row, str) else row]) for label, row in rows]
        if grid:
            yield Text()
            yield Text(title, "bold")
            yield Padding(_grid(grid), (0, 0, 0, 2))

    def _who(self) -> Text:
        diagnosis = self._diagnosis
        others = listed(
            f"{plain(name)} (seat {seat})"
            for seat, name in enumerate(diagnosis.names)
            if seat != diagnosis.seat
        )
        start = _start(diagnosis)
        line = Text().append(plain(diagnosis.bot), "bold")
        line.append(f" at seat {diagnosis.seat}, against {others}\n")
        decisions = count(diagnosis.decisions, "decision")
        asked = f", {diagnosis.unasked} of them without being asked" if diagnosis.unasked else ""
        worker = f"; played by worker {plain(diagnosis.worker)}" if diagnosis.worker else ""
        return line.append(
            f"begun {start:%Y-%m-%d %H:%M:%S} UTC, {diagnosis.end_us / 1e6:.1f} s long; "
            f"{decisions} of its own{asked}, in {count(diagnosis.hands, 'hand')}{worker}",
            "dim",
        )

    # How it ended.

    def _verdict(self) -> Iterator[Text]:
        diagnosis = self._diagnosis
        if diagnosis.ending is Ending.ABORTED:
            yield Text(aborted(diagnosis.cause, diagnosis.incident), "bold red")
        else:
            yield Text(f"{self._result()}.", "bold")
        if diagnosis.ended_by_limit:
            yield Text(ENDED_BY_LIMIT)
        if diagnosis.forfeited_before:
            why = plain(diagnosis.forfeited_before)
            yield Text(f"It {DEAL.predicate}: {why}. {BY_FALLBACK}", "bold red")
        elif diagnosis.forfeit is not None:
            yield Text(
                f"It forfeited {self._at(diagnosis.forfeit)}: {self._why_forfeited()}.", "red"
            )
            yield Text(BY_FALLBACK)
        for seat in diagnosis.others_forfeited:
            name = plain(diagnosis.names[seat])
            yield Text(f"{name} (seat {seat}) forfeited, and is placed behind all that stayed.")
        yield Text(self._summary())

    def _result(self) -> str:
        diagnosis = self._diagnosis
        shared = ", shared" if diagnosis.places.count(diagnosis.place) > 1 else ""
        score = diagnosis.scores[diagnosis.seat]
        return f"Place {diagnosis.place} of {len(diagnosis.places)}{shared}, with a score of {score:+d}"

    def _why_forfeited(self) -> str:
        diagnosis, fault = self._diagnosis, self._diagnosis.forfeit
        assert fault is not None
        if fault.kind is FaultKind.GONE and fault.reason:
            return plain(because(fault.kind, fault.reason))
        return f"this was its fault number {diagnosis.fault_limit}, which is the limit"

    def _summary(self) -> str:
        diagnosis = self._diagnosis
        if not diagnosis.faults:
            text = "No fault: it answered every ask in time and by the rules."
            return text + (self._why_lost() if diagnosis.place > 1 else "")
        deeds = Counter(_deed(fault) for fault in diagnosis.faults)
        most = (what + (f" {times} times" if times > 1 else "") for what, times in deeds.items())
        return f"{count(len(diagnosis.faults), 'fault')}: it {listed(most)}."

    def _why_lost(self) -> str:
        text = " It lost by its cards and its moves"
        for worst in self._diagnosis.costliest[:1]:
            return f"{text}, most in hand {worst.hand}: {_scores(worst)}."
        return f"{text}."

    # Faults.

    def _in_full(self) -> Sequence[FaultDetails]:
        faults = self._diagnosis.faults
        if self._full:
            return faults
        return [fault for at, fault in enumerate(faults) if at < FULL or fault.forfeited]

    def _at(self, fault: FaultDetails) -> str:
        when = f"{seconds(fault.settled_us)} into the match"
        return f"at its decision {fault.decision} (hand {fault.hand}, {when})"

    def _heading(self, number: int, fault: FaultDetails) -> Text:
        text = f"Fault {number}, {self._at(fault).removeprefix('at its ')}: it {_deed(fault)}"
        line = Text(text + (f": {plain(fault.raised)}" if fault.raised else ""), "bold")
        return line.append(", and forfeited the match", "bold red") if fault.forfeited else line

    def _fault(self, fault: FaultDetails) -> RenderableType:
        rows: list[tuple[str, Sequence[Text]]] = [
            ("why", [Text(plain(because(fault.kind, fault.reason)))])
        ]
        rows.append(("asked", [self._asked(fault)]))
        if not fault.unasked:
            rows.append(("it saw", list(draw.view(fault.view))))
            rows.append(("answer", list(self._answer(fault))))
            rows.append(("clock", [self._clock(fault)]))
        if fault.stuck:
            rows.append(("code", [Text(plain(fault.stuck))]))
        if fault.queued:
            rows.append(("queue", [Text(plain(fault.queued))]))
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

    def _asked(self, fault: FaultDetails) -> Text:
        if fault.unasked:
            why = "its seat had forfeited" if fault.before_deal else "the bot had left"
            return Text(f"nothing, because {why}")
        moves = count(fault.offered_count, "move")
        more = "" if fault.complete else ", and more that the rules allow"
        line = Text(f"{moves}{more}: ")
        line.append_text(Text(", ").join(draw.notation(move) for move in fault.offered))
        return line.append(", …") if len(fault.offered) < fault.offered_count else line

    def _answer(self, fault: FaultDetails) -> Iterator[Text]:
        if not fault.received_us:
            if fault.kind is FaultKind.GONE:
                yield Text("none before it was disconnected")
            else:
                after = seconds(fault.due_us - fault.sent_us)
                yield Text(f"none until the end of its time, {after} after the ask")
            return
        after = seconds(fault.received_us - fault.sent_us)
        size = count(fault.answer_bytes, "byte")
        late = f", {seconds(fault.late_us)} too late" if fault.late_us else ""
        yield Text(f"{after} after the ask{late}: {size} with the SHA-256")
        yield Text(fault.answer_sha256)

    def _clock(self, fault: FaultDetails) -> Text:
        if not fault.was_sent:
            return Text("the ask had not been sent: nothing was charged")
        move_s, bank_s = fault.move_ms / 1e3, fault.bank_before_ms / 1e3
        allowed = f"{move_s:g} s for the move, {bank_s:g} s in the bank"
        refunded = f", {seconds(fault.refunded_us)} refunded as the arena's own"
        return Text(
            f"{allowed}; {seconds(fault.charged_us)} charged"
            f"{refunded if fault.refunded_us else ''}; bank now {fault.bank_ms / 1e3:g} s"
        )

    def _printed(self, fault: FaultDetails) -> list[Text]:
        if self._output is None:
            return []
        lines = printed_at(self._diagnosis, fault, self._output)
        most = TRACEBACK_LINES if fault.kind is FaultKind.ERROR else PRINTED_LINES
        return [_printed(line) for line in lines[-most:]]

    # Conclusions.

    def _advice(self) -> Sequence[tuple[str, str]]:
        return [(code, plain(text)) for code, text in advice(self._diagnosis)]

    def _costliest(self) -> Sequence[tuple[str, str]]:
        return [(f"hand {hand.hand}", _scores(hand)) for hand in self._diagnosis.costliest]

    def _beside_house(self) -> Iterator[tuple[str, Text]]:
        house, seat = self._house, self._diagnosis.seat
        assert house is not None
        score = self._diagnosis.scores[seat]
        yield (
            "par",
            Text(
                f"{house.par[seat]:+d} at this seat between house bots; the bot scored {score:+d}"
            ),
        )
        for mistake in house.costliest:
            line = Text(f"in hand {mistake.hand}: it chose ").append_text(
                draw.notation(mistake.played)
            )
            line.append_text(Text("; ").append_text(draw.notation(mistake.better)))
            points = "point" if f"{mistake.loss:.1f}" == "1.0" else "points"
            yield (
                f"decision {mistake.decision}",
                line.append(
                    f" is better by about {mistake.loss:.1f} {points} (± {2 * mistake.error:.1f})"
                ),
            )
        if not house.costliest:
            what = (
                f"none of {count(house.decisions, 'decision')} is surely worse than the house bot's"
            )
            yield "decisions", Text(what)

    def _printed_last(self) -> Sequence[tuple[str, str]]:
        if self._output is None:
            return []
        start = _start(self._diagnosis)
        lines = self._output(start, start + timedelta(microseconds=self._diagnosis.end_us), 0)
        return [(f"{line.at:%H:%M:%S}", _printed_text(line)) for line in lines[-PRINTED_LINES:]]


def _scores(hand: CostlyHand) -> str:
    others = listed(f"{score:+d}" for score in hand.others)
    return f"{hand.score:+d}, {'the other' if len(hand.others) == 1 else 'the others'} {others}"


def _deed(fault: FaultDetails) -> str:
    """Return what the bot did, as the continuation of `it`."""
    if fault.raised and not _PLACED.match(fault.raised):
        return f"had no move ({fault.kind.entry.code})"
    return deed(fault.kind, before_deal=fault.before_deal)


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
    """Return two columns: labels, and lines that are wrapped within their column."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True, min_width=len("printed"))
    grid.add_column(overflow="fold")
    for label, lines in rows:
        grid.add_row(label, Group(*lines))
    return grid
