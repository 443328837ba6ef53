"""A replay drawn in a terminal, seen through somebody's eyes.

A seat sees the events it was told, its own moves and notes, and the reasons of its
faults. The spectator sees what everybody was told, and `ALL` sees everything but notes,
which are for one owner each. An abnormal end is explained in words: which seat did what, and where.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from arena.cli.terminal import draw
from arena.cli.terminal.plain import plain
from arena.games.contract import Seat, Told, View
from arena.games.notation import Notation
from arena.referee.spec import Ending, FaultKind
from arena.replay.fairness import check as check_fairness
from arena.replay.frames import Decision, Discrepancy, Frame
from arena.replay.read import Replay
from arena.replay.signing import shown_key, signed_by
from arena.replay.words import (
    BEFORE_THE_DEAL,
    FAULT_WORDS,
    aborted_words,
    count,
    listed,
    seconds,
)
from arena.scenes import Eyes, Viewer
from arena.wire.settings import values_of_settings

_DIGEST_SHOWN: Final = 16
"""Characters of a digest that is only pointed at."""


class Screen:
    """Draws one replay through somebody's eyes."""

    def __init__(
        self,
        replay: Replay,
        eyes: Eyes,
        console: Console,
        noted: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        """Begin with `noted`, what the seat noted whose eyes these are, by its decisions.

        Raises:
          Unplayable: if this arena has no such game, rules version or options.
        """
        self._noted = noted
        self._replay = replay
        self._eyes = eyes
        self._console = console
        self._spec = replay.spec()
        self._evidence = {(each.seat, each.decision): each for each in replay.decided if each.fault}
        self._forfeited_at: dict[int, int] = {out.seat: 0 for out in self._spec.forfeited_seats}
        for each in replay.decided:
            if each.forfeited:
                self._forfeited_at.setdefault(each.seat, each.decision)
        self._moves = Notation(self._spec.terms.game.module.Move)
        self._events = Notation(self._spec.terms.game.module.Event)

    def header(self) -> None:
        """What the match was and who sat where."""
        opened, spec = self._replay.opened, self._spec
        start = datetime.fromtimestamp(opened.start_unix_ms / 1000, UTC)
        self._print(Rule(Text(f"{spec.terms.game.title} · match {plain(spec.match_id)}")))
        options = values_of_settings(opened.terms.options).items()
        control = spec.terms.time_control
        rows = [
            ("begun", f"{start:%Y-%m-%d %H:%M:%S} UTC"),
            ("rules", f"version {opened.terms.rules_version}"),
            ("options", ", ".join(f"{name} {value}" for name, value in options) or "none"),
            ("time", _time_control(control.move_ms, control.bank_ms, control.increment_ms)),
            ("deals", self._deals()),
            ("signed", self._signed()),
            ("seen by", self._who_sees()),
        ]
        for name, value in rows:
            self._print(Text().append(f"{name:<8} ", "dim").append(plain(value)))
        for seat, entrant in enumerate(spec.entrants):
            version = f" {plain(entrant.version)}" if entrant.version else ""
            line = Text().append(f"seat {seat}   ", "dim")
            self._print(line.append(plain(entrant.name), "bold").append(version))
        for out in spec.forfeited_seats:
            text = f"{self._who(out.seat)} had forfeited before the first card"
            self._print(Text(f"{text}{self._because(out.seat, out.reason)}", "red"))

    def step(self, frame: Frame, *, with_view: bool = True) -> None:
        """One step: what was decided, what was told, and how things stand."""
        title = f"step {frame.index} · hand {frame.hand}"
        self._print(Rule(Text(title), align="left", style="dim"))
        for decision in frame.decisions:
            for line in self._decision(decision):
                self._print(line)
        if not frame.complete:
            text = "the match was stopped before this step was played"
            self._print(Text(f"  {text}{self._awaited(frame)}", "bold red"))
        told = frame.told if self._eyes is Viewer.ALL else frame.told_to(self._seat())
        for each in told:
            self._print(self._event(each))
        if with_view:
            for line in self._view(frame):
                self._print(Text("    ").append_text(line))

    def ending(self, played: Sequence[Frame]) -> None:
        """How the match ended; every abnormal end with its cause, its party and its place.

        `played` are all frames of the replay.
        """
        replay, ending = self._replay, self._replay.ending
        decisions = count(len(replay.decided), "decision")
        length = Text(f"{decisions} in {replay.closed.end_us / 1e6:.1f} s", "dim")
        self._print(Rule())
        if ending is Ending.ABORTED:
            words = aborted_words(replay.cause, replay.closed.incident)
            self._print(Text(words, "bold red"))
            self._print(Text(f"It stood {_where_it_stood(played)}{self._awaited_at_last(played)}."))
            self._print(length)
            return
        if ending is Ending.FORFEIT:
            for line in self._forfeits(played):
                self._print(line)
        else:
            self._print(Text("Played to the end.", "bold green"))
        self._print(length)
        self._print(self._standings())

    def problem(self, text: str) -> None:
        """Why the replay goes no further."""
        self._print(Text(f"The replay is not true: {plain(text)}.", "bold red"))

    def _standings(self) -> Table:
        closed = self._replay.closed
        table = Table(box=None, pad_edge=False)
        for name in ("place", "seat", "score", "faults"):
            table.add_column(name, justify="right")
        table.add_column("bot")
        rows = zip(closed.places, range(len(closed.scores)), closed.scores, strict=False)
        for place, seat, score in sorted(rows):
            faults = sum(1 for each in self._replay.decided if each.seat == seat and each.fault)
            bot = Text(self._name(seat))
            table.add_row(str(place), str(seat), str(score), str(faults or "-"), bot)
        return table

    def _forfeits(self, played: Sequence[Frame]) -> Iterator[Text]:
        """Who forfeited, where, and why."""
        said = {out.seat for out in self._spec.forfeited_seats}
        after = (
            "its seat was played by the fallback to the end, and is placed behind all that stayed"
        )
        for out in self._spec.forfeited_seats:
            text = f"{self._who(out.seat)} forfeited before the first card"
            yield Text(f"{text}{self._because(out.seat, out.reason)}: {after}.", "bold red")
        for frame in played:
            for each in frame.decisions:
                if not each.forfeited or each.seat in said:
                    continue
                said.add(each.seat)
                where = f"at its decision {each.decision} (step {frame.index}, hand {frame.hand})"
                yield Text(
                    f"{self._who(each.seat)} forfeited {where}, as it {self._deed(each)}: {after}.",
                    "bold red",
                )

    def _deed(self, decision: Decision) -> str:
        """What made a seat forfeit."""
        if decision.fault is FaultKind.GONE:
            return FAULT_WORDS[FaultKind.GONE] + self._because(decision.seat, decision.reason)
        return f"made its fault number {self._spec.terms.fault_limit}, which is the limit"

    def _because(self, seat: int, reason: str) -> str:
        """A reason, for those who may know it."""
        own = self._eyes is Viewer.ALL or self._eyes == seat
        return f" ({plain(reason)})" if own and reason else ""

    def _awaited(self, frame: Frame) -> str:
        """The seats that had still to decide when the match ended within a step."""
        decided = {each.seat for each in frame.decisions}
        waiting = [each for each in frame.game.rules.to_act(frame.before) if each not in decided]
        who = listed(self._who(each) for each in waiting) if waiting else ""
        return f": {who} had still to decide" if who else ""

    def _awaited_at_last(self, played: Sequence[Frame]) -> str:
        """Whom the match waited for when it was stopped."""
        if not played:
            return ""
        last = played[-1]
        if not last.complete:
            return self._awaited(last)
        acting = last.game.rules.to_act(last.state)
        return f": {listed(self._who(each) for each in acting)} had to decide" if acting else ""

    def _decision(self, decision: Decision) -> Iterator[Text]:
        """What the eyes may know of a decision."""
        own = self._eyes is Viewer.ALL or self._eyes == decision.seat
        line = Text("  ").append(f"{decision.seat} {self._name(decision.seat)}", "bold")
        if own:
            line.append(": ").append_text(draw.notation(self._moves.write(decision.move)))
            if not decision.unasked:
                seconds, bank_s = decision.charged_us / 1e6, decision.bank_ms / 1e3
                line.append(f"  {seconds:.3f} s, bank {bank_s:.1f} s", "dim")
        elif not decision.unasked:
            line.append(" decided", "dim")
        if decision.unasked:
            out = "its seat has forfeited" if decision.forfeited else "it has no time left"
            line.append(f"  played by the fallback, not asked: {out}", "yellow")
        yield line
        if decision.fault is not None:
            before_deal = decision.decision == 1 and self._forfeited_at.get(decision.seat) == 0
            deed = BEFORE_THE_DEAL if before_deal else FAULT_WORDS[decision.fault]
            blame = f"      fault: it {deed}"
            why = self._because(decision.seat, decision.reason)
            yield Text(f"{blame}{why}; the fallback was played", "red")
            if own and not decision.unasked:
                yield Text(f"      judged by: {self._judged_by(decision)}", "dim")
            if self._forfeited_at.get(decision.seat) == decision.decision:
                text = "it forfeits here: from now on the fallback plays its seat"
                yield Text(f"      {text}", "bold red")
        note = self._noted.get(decision.decision, "") if self._eyes == decision.seat else ""
        if note:
            yield Text().append("      note: ", "dim").append(plain(note), "italic")

    def _judged_by(self, decision: Decision) -> str:
        """The evidence of a fault, in words."""
        decided = self._evidence[decision.seat, decision.decision]
        evidence, sent_us = decided.evidence, decision.sent_us
        parts = [f"time up {seconds(evidence.due_us - sent_us)} after the ask"]
        if evidence.received_us:
            size = count(evidence.answer_bytes, "byte")
            digest = evidence.answer_sha256.hex()[:_DIGEST_SHOWN]
            came = seconds(evidence.received_us - sent_us)
            parts.append(f"answer after {came}, {size}, SHA-256 {digest}…")
        else:
            parts.append("no answer")
        if decided.refunded_us:
            parts.append(f"{seconds(decided.refunded_us)} were the arena's own")
        if evidence.away_ms:
            parts.append(f"away {evidence.away_ms / 1000:.1f} s of the match")
        return "; ".join(parts)

    def _event(self, told: Told) -> Text:
        line = (
            Text().append("  » ", "blue").append_text(draw.notation(self._events.write(told.event)))
        )
        if told.seats is not None:
            seats = " and ".join(f"seat {seat}" for seat in told.seats) or "nobody"
            line.append(f"  told to {seats} only", "dim")
        return line

    def _view(self, frame: Frame) -> Iterator[Text]:
        if self._eyes is not Viewer.ALL:
            yield from draw.view(frame.view(self._seat()))
            return
        public = frame.view(None)
        yield from draw.view(public)
        for seat in range(self._spec.terms.seats):
            own = frame.view(Seat(seat))
            hidden = _differing(own, public)
            if hidden:
                yield Text(f"seat {seat} {self._name(seat)} also sees", "bold")
                for line in draw.fields(own, hidden):
                    yield Text("  ").append_text(line)

    def _seat(self) -> Seat | None:
        return None if isinstance(self._eyes, Viewer) else self._eyes

    def _deals(self) -> str:
        opened = self._replay.opened
        if not opened.terms.seeded:
            try:
                fairness = str(check_fairness(self._replay))
            except Discrepancy:
                fairness = "not what they claim to be"
            return f"{fairness}; committed to as {opened.deal_key_sha256.hex()}"
        # No seat is told the seed: it gives all cards away.
        seed = f" with {self._replay.revealed.seed!r}" if self._eyes is Viewer.ALL else ""
        return f"seeded{seed}: not a fair deal"

    def _signed(self) -> str:
        try:
            key = signed_by(self._replay)
        except Discrepancy:
            return "not as it claims to be"
        return f"with the key {shown_key(key)}" if key else "no"

    def _who_sees(self) -> str:
        if self._eyes is Viewer.ALL:
            return "all seats together"
        if self._eyes is Viewer.SPECTATOR:
            return "the spectator"
        return f"seat {self._eyes}, {self._name(int(self._eyes))}"

    def _who(self, seat: int) -> str:
        return f"{self._name(seat)} (seat {seat})"

    def _name(self, seat: int) -> str:
        return plain(self._replay.names[seat])

    def _print(self, what: Text | Rule | Table) -> None:
        self._console.print(what, soft_wrap=isinstance(what, Text))


def _where_it_stood(played: Sequence[Frame]) -> str:
    if not played:
        return "before the first card"
    last = played[-1]
    hand = last.hand if not last.complete else last.next_hand
    return f"in hand {hand}, after step {last.index - (not last.complete)}"


def _differing(own: View, public: View) -> list[str]:
    return [
        field.name
        for field in fields(own)
        if getattr(own, field.name) != getattr(public, field.name)
    ]


def _time_control(move_ms: int, bank_ms: int, increment_ms: int) -> str:
    text = f"{move_ms / 1e3:g} s a move, {bank_ms / 1e3:g} s in the bank"
    return text + (f", {increment_ms / 1e3:g} s added a move" if increment_ms else "")
