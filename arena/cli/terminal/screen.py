"""Prints a replay in a terminal for one viewer.

A seat sees its events, its own moves and notes, and the reasons of its faults. The spectator sees public events. `ALL`
sees everything except notes, which are for their owners. An abnormal end is explained, with the seat, its fault and the
step.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from arena.cli.terminal import draw
from arena.cli.terminal.console import print_table
from arena.cli.terminal.plain import plain
from arena.games.contract import Seat, SentEvent, View
from arena.games.notation import Notation
from arena.pictures import AnyViewer, Viewer
from arena.records.fairness import check as check_fairness
from arena.records.phrases import (
    BY_FALLBACK,
    ENDED_BY_LIMIT,
    PLAYED_FOR,
    aborted,
    count,
    deed,
    listed,
    seconds,
)
from arena.records.playback import Discrepancy, PlaybackStep, ReplayedDecision
from arena.records.read import Replay
from arena.records.signing import shown_key, signed_by
from arena.referee.spec import Ending, FaultKind, ForfeitedSeat
from arena.referee.wire.settings import values_of_settings

_DIGEST_SHOWN: Final = 16
"""The number of characters of a digest that is only identified."""


class Screen:
    """Prints one replay for one viewer."""

    def __init__(
        self,
        replay: Replay,
        viewer: AnyViewer,
        console: Console,
        notes: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        """`notes` are those of the viewer's own seat, by decision.

        Raises `Unplayable` if this arena has no such game, rules version or options.
        """
        self._notes = notes
        self._replay = replay
        self._viewer = viewer
        self._console = console
        self._spec = replay.spec()
        self._evidence = {
            (decided.seat, decided.decision): decided for decided in replay.decided if decided.fault
        }
        self._forfeited_at: dict[int, int] = {out.seat: 0 for out in self._spec.forfeited_seats}
        for decided in replay.decided:
            if decided.forfeited:
                self._forfeited_at.setdefault(decided.seat, decided.decision)
        self._moves = Notation(self._spec.terms.game.messages.Move)
        self._events = Notation(self._spec.terms.game.messages.Event)

    def header(self) -> None:
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
            line.append(plain(entrant.name), "bold").append(version)
            if (own := spec.terms.control_of(entrant.name)) != control:
                times = _time_control(own.move_ms, own.bank_ms, own.increment_ms)
                line.append(f", by time odds {times}")
            self._print(line)
        for out in spec.forfeited_seats:
            self._print(Text(self._forfeited_before(out), "red"))

    def step(self, step: PlaybackStep, *, with_view: bool = True) -> None:
        """Print one step: its decisions, its events, and the view after it."""
        title = f"step {step.index} · hand {step.hand}"
        self._print(Rule(Text(title), align="left", style="dim"))
        for decision in step.decisions:
            for line in self._decision(decision):
                self._print(line)
        if not step.complete:
            text = "the match was stopped before this step was played"
            self._print(Text(f"  {text}{self._awaited(step)}", "bold red"))
        sees_all = self._viewer is Viewer.ALL
        for event in step.events if sees_all else step.events_for(self._seat()):
            self._print(self._event(event))
        if with_view:
            for line in self._view(step):
                self._print(Text("    ").append_text(line))

    def ending(self, played: Sequence[PlaybackStep]) -> None:
        """Print how the match ended; for an abnormal end, the cause, the seat and the place.

        `played` are all steps of the replay.
        """
        replay, ending = self._replay, self._replay.ending
        decisions = count(len(replay.decided), "decision")
        length = Text(f"{decisions} in {replay.closed.end_us / 1e6:.1f} s", "dim")
        self._print(Rule())
        if ending is Ending.ABORTED:
            self._print(Text(aborted(replay.cause, replay.closed.incident), "bold red"))
            awaited = self._awaited_at_last(played)
            self._print(Text(f"It was stopped {_last_place(played)}{awaited}."))
            self._print(length)
            return
        if ending is Ending.FORFEIT:
            for line in self._forfeits(played):
                self._print(line)
        else:
            self._print(Text("Played to the end.", "bold green"))
        result = played[-1].game.rules.result(played[-1].state) if played else None
        if result is not None and result.ended_by_limit:
            self._print(Text(ENDED_BY_LIMIT))
        self._print(length)
        self._print_standings()

    def problem(self, text: str) -> None:
        self._print(Text(f"The replay is not true: {plain(text)}.", "bold red"))

    def _print_standings(self) -> None:
        closed = self._replay.closed
        ranked = zip(closed.places, range(len(closed.scores)), closed.scores, strict=False)
        rows = []
        for place, seat, score in sorted(ranked):
            faults = sum(
                decided.seat == seat and bool(decided.fault) for decided in self._replay.decided
            )
            rows.append((place, seat, score, faults or "-", self._name(seat)))
        heads = ("place", "seat", "score", "faults", "bot")
        print_table(heads, rows, wrapped=("bot",), numbers=heads[:4], console=self._console)

    def _forfeits(self, played: Sequence[PlaybackStep]) -> Iterator[Text]:
        forfeits = {out.seat: self._forfeited_before(out) for out in self._spec.forfeited_seats}
        for step in played:
            for decision in step.decisions:
                if decision.forfeited and decision.seat not in forfeits:
                    where = (
                        f"at its decision {decision.decision} (step {step.index}, hand {step.hand})"
                    )
                    why = f"as it {self._forfeiting_deed(decision)}"
                    forfeits[decision.seat] = f"{self._who(decision.seat)} forfeited {where}, {why}"
        for text in forfeits.values():
            yield Text(f"{text}. {BY_FALLBACK}", "bold red")

    def _forfeited_before(self, out: ForfeitedSeat) -> str:
        forfeited = deed(out.kind, self._shown_reason(out.seat, out.reason), before_deal=True)
        return f"{self._who(out.seat)} {forfeited}"

    def _forfeiting_deed(self, decision: ReplayedDecision) -> str:
        """Return why a seat forfeited, as the continuation of `it`."""
        if decision.fault is FaultKind.GONE:
            return deed(FaultKind.GONE, self._shown_reason(decision.seat, decision.reason))
        return f"made its fault number {self._spec.terms.fault_limit}, which is the limit"

    def _shown_reason(self, seat: int, reason: str) -> str:
        """Return the reason of a seat's fault; empty if the viewer may not know it."""
        return plain(reason) if self._sees_seat(seat) else ""

    def _sees_seat(self, seat: int) -> bool:
        return self._viewer is Viewer.ALL or self._viewer == seat

    def _awaited(self, step: PlaybackStep) -> str:
        """Return the seats that had not decided when the match ended within a step."""
        decided = {decision.seat for decision in step.decisions}
        waiting = [seat for seat in step.game.rules.to_act(step.before) if seat not in decided]
        who = listed(self._who(seat) for seat in waiting) if waiting else ""
        return f": {who} had still to decide" if who else ""

    def _awaited_at_last(self, played: Sequence[PlaybackStep]) -> str:
        """Return the seats that the match waited for when it was stopped."""
        if not played:
            return ""
        last = played[-1]
        if not last.complete:
            return self._awaited(last)
        acting = last.game.rules.to_act(last.state)
        return f": {listed(self._who(seat) for seat in acting)} had to decide" if acting else ""

    def _decision(self, decision: ReplayedDecision) -> Iterator[Text]:
        sees = self._sees_seat(decision.seat)
        line = Text("  ").append(f"{decision.seat} {self._name(decision.seat)}", "bold")
        if sees:
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
            reason = self._shown_reason(decision.seat, decision.reason)
            fault = deed(decision.fault, reason, before_deal=before_deal)
            yield Text(f"      fault: it {fault}: {PLAYED_FOR}", "red")
            if sees and not decision.unasked:
                yield Text(f"      evidence: {self._evidence_of(decision)}", "dim")
            if self._forfeited_at.get(decision.seat) == decision.decision:
                text = "it forfeits here: from now on the fallback plays its seat"
                yield Text(f"      {text}", "bold red")
        note = self._notes.get(decision.decision, "") if self._viewer == decision.seat else ""
        if note:
            yield Text().append("      note: ", "dim").append(plain(note), "italic")

    def _evidence_of(self, decision: ReplayedDecision) -> str:
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
            parts.append(f"{seconds(decided.refunded_us)} refunded as the arena's own")
        if evidence.away_ms:
            parts.append(f"away {evidence.away_ms / 1000:.1f} s of the match")
        return "; ".join(parts)

    def _event(self, event: SentEvent) -> Text:
        text = draw.notation(self._events.write(event.event))
        line = Text().append("  » ", "blue").append_text(text)
        if event.sent_to is not None:
            seats = " and ".join(f"seat {seat}" for seat in event.sent_to) or "nobody"
            line.append(f"  sent to {seats} only", "dim")
        return line

    def _view(self, step: PlaybackStep) -> Iterator[Text]:
        if self._viewer is not Viewer.ALL:
            yield from draw.view(step.view(self._seat()))
            return
        public = step.view(None)
        yield from draw.view(public)
        for seat in range(self._spec.terms.seats):
            view = step.view(Seat(seat))
            hidden = _differing(view, public)
            if hidden:
                yield Text(f"seat {seat} {self._name(seat)} also sees", "bold")
                for line in draw.fields(view, hidden):
                    yield Text("  ").append_text(line)

    def _seat(self) -> Seat | None:
        return None if isinstance(self._viewer, Viewer) else self._viewer

    def _deals(self) -> str:
        opened = self._replay.opened
        if not opened.terms.seeded:
            try:
                fairness = str(check_fairness(self._replay))
            except Discrepancy:
                fairness = "not what they claim to be"
            return f"{fairness}; committed to as {opened.deal_key_sha256.hex()}"
        # The seed reveals all cards, so no seat sees it.
        seed = f" with {self._replay.revealed.seed!r}" if self._viewer is Viewer.ALL else ""
        return f"seeded{seed}: not a fair deal"

    def _signed(self) -> str:
        try:
            key = signed_by(self._replay)
        except Discrepancy:
            return "not as it claims to be"
        return f"with the key {shown_key(key)}" if key else "no"

    def _who_sees(self) -> str:
        if self._viewer is Viewer.ALL:
            return "all seats together"
        if self._viewer is Viewer.SPECTATOR:
            return "the spectator"
        return f"seat {self._viewer}, {self._name(int(self._viewer))}"

    def _who(self, seat: int) -> str:
        return f"{self._name(seat)} (seat {seat})"

    def _name(self, seat: int) -> str:
        return plain(self._replay.names[seat])

    def _print(self, what: Text | Rule) -> None:
        self._console.print(what, soft_wrap=isinstance(what, Text))


def _last_place(played: Sequence[PlaybackStep]) -> str:
    if not played:
        return "before the first card"
    last = played[-1]
    hand = last.hand if not last.complete else last.next_hand
    return f"in hand {hand}, after step {last.index - (not last.complete)}"


def _differing(view: View, public: View) -> list[str]:
    return [
        field.name
        for field in fields(view)
        if getattr(view, field.name) != getattr(public, field.name)
    ]


def _time_control(move_ms: int, bank_ms: int, increment_ms: int) -> str:
    text = f"{move_ms / 1e3:g} s a move, {bank_ms / 1e3:g} s in the bank"
    return text + (f", {increment_ms / 1e3:g} s added a move" if increment_ms else "")
