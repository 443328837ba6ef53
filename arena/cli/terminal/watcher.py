"""A match drawn in a terminal while it is played, as a spectator sees it."""

from collections.abc import Callable, Sequence

from rich.console import Console, RenderableType
from rich.rule import Rule
from rich.text import Text

from arena.cli.terminal import draw
from arena.cli.terminal.plain import plain
from arena.games.contract import Event, View
from arena.games.notation import Notation
from arena.referee import Entrant, Fault, Outcome
from arena.referee.gallery import OpenHands
from arena.replay.words import FAULT_WORDS
from arena.terms import MatchTerms


class Watcher:
    """Prints each step as it comes: `arena.referee.gallery.Gallery`.

    The whole view stands at the beginning of each hand; after a step, what is new in it.
    """

    hands_open = False

    def __init__(self, console: Console) -> None:
        self._console = console
        self._names: list[str] = []
        self._events: Notation | None = None
        self._hand = -1
        self._drawn: set[str] = set()
        """The lines of the view before."""

    def opened(self, match_id: str, terms: MatchTerms, entrants: Sequence[Entrant]) -> None:
        self._names = [plain(entrant.name) for entrant in entrants]
        self._events = Notation(terms.game.module.Event)
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
            told = draw.notation(self._events.write(event))
            self._print(Text().append("  » ", "blue").append_text(told))
        lines = list(draw.view(view()))
        for line in lines:
            if line.plain not in self._drawn:
                self._print(Text("    ").append_text(line))
        self._drawn = {line.plain for line in lines}

    def blamed(self, faults: Sequence[Fault]) -> None:
        for fault in faults:
            who = f"{self._names[fault.seat]} (seat {fault.seat})"
            deed = FAULT_WORDS[fault.kind]
            self._print(Text(f"  fault: {who} {deed}; the fallback was played", "red"))

    def closed(self, outcome: Outcome) -> None:
        self._print(Rule(Text(outcome.ending.name.lower())))

    def _print(self, line: RenderableType) -> None:
        try:
            self._console.print(line, soft_wrap=isinstance(line, Text))
        except SystemExit:
            # Nobody reads on (`| head`): to a console that is the end of the program, but the
            # match goes on without being watched.
            raise BrokenPipeError("nobody reads what is drawn") from None
