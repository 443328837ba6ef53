"""Prints a match in a terminal while it is played, with the events of spectators."""

from collections.abc import Callable, Sequence

from rich.console import Console, RenderableType
from rich.rule import Rule
from rich.text import Text

from arena.cli.terminal import draw
from arena.cli.terminal.plain import plain
from arena.games.contract import Event, View
from arena.games.notation import Notation
from arena.records.phrases import PLAYED_FOR, deed
from arena.referee.events import OpenHands
from arena.referee.spec import Fault, Outcome, SeatedBot
from arena.referee.terms import MatchTerms


class TerminalWatcher:
    """Prints each step at once: a `SpectatorPort` of `arena.referee.events`.

    A hand begins with the whole view; each step prints the changes of the view.
    """

    hands_open = False

    def __init__(self, console: Console) -> None:
        self._console = console
        self._names: list[str] = []
        self._events: Notation | None = None
        self._hand = -1
        self._drawn: set[str] = set()
        """The lines of the previous view."""

    def opened(self, match_id: str, terms: MatchTerms, entrants: Sequence[SeatedBot]) -> None:
        self._names = [plain(entrant.name) for entrant in entrants]
        self._events = Notation(terms.game.messages.Event)
        self._print(Rule(Text(f"{terms.game.title} · match {plain(match_id)}")))
        for seat, name in enumerate(self._names):
            self._print(Text().append(f"seat {seat}   ", "dim").append(name, "bold"))

    def stepped(
        self,
        hand: int,
        events: Sequence[Event],
        view: Callable[[], View],
        banks_ms: Sequence[int],  # noqa: ARG002
        hands: OpenHands | None,  # noqa: ARG002
    ) -> None:
        if hand != self._hand:
            self._hand = hand
            self._drawn = set()
            self._print(Rule(Text(f"hand {hand}"), align="left", style="dim"))
        assert self._events is not None
        for event in events:
            text = draw.notation(self._events.write(event))
            self._print(Text().append("  » ", "blue").append_text(text))
        lines = list(draw.view(view()))
        for line in lines:
            if line.plain not in self._drawn:
                self._print(Text("    ").append_text(line))
        self._drawn = {line.plain for line in lines}

    def blamed(self, faults: Sequence[Fault]) -> None:
        for fault in faults:
            who = f"{self._names[fault.seat]} (seat {fault.seat})"
            self._print(Text(f"  fault: {who} {deed(fault.kind)}; {PLAYED_FOR}", "red"))

    def closed(self, outcome: Outcome) -> None:
        self._print(Rule(Text(outcome.ending.name.lower())))

    def _print(self, line: RenderableType) -> None:
        try:
            self._console.print(line, soft_wrap=isinstance(line, Text))
        except SystemExit:
            # The reader has closed the pipe (`| head`). A console ends the program then, but
            # the match continues without a watcher.
            raise BrokenPipeError("the output is closed") from None
