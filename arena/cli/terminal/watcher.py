"""A match drawn in a terminal while it is played, as a spectator sees it."""

from collections.abc import Sequence

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from arena.cli.terminal import draw
from arena.games.catalogue import Game
from arena.games.contract import Event, View
from arena.games.notation import Notation
from arena.referee import Fault, MatchSpec, Outcome
from arena.replay.words import FAULT_WORDS


class Watcher:
    """Prints each step as it comes: `arena.referee.gallery.Gallery`."""

    def __init__(self, game: Game, names: Sequence[str], console: Console) -> None:
        self._game = game
        self._names = [draw.plain(name) for name in names]
        self._console = console
        self._events = Notation(game.module.Event)
        self._hand = -1

    def opened(self, spec: MatchSpec) -> None:
        self._console.print(Rule(Text(f"{self._game.title} · match {draw.plain(spec.match_id)}")))
        for seat, name in enumerate(self._names):
            self._print(Text().append(f"seat {seat}   ", "dim").append(name, "bold"))

    def stepped(self, hand: int, events: Sequence[Event], view: View) -> None:
        if hand != self._hand:
            self._hand = hand
            self._console.print(Rule(Text(f"hand {hand}"), align="left", style="dim"))
        for event in events:
            told = draw.notation(self._events.write(event))
            self._print(Text().append("  » ", "blue").append_text(told))
        for line in draw.view(view):
            self._print(Text("    ").append_text(line))

    def blamed(self, faults: Sequence[Fault]) -> None:
        for fault in faults:
            who = f"{self._names[fault.seat]} (seat {fault.seat})"
            deed = FAULT_WORDS[fault.kind]
            self._print(Text(f"  fault: {who} {deed}; the fallback was played", "red"))

    def closed(self, outcome: Outcome) -> None:
        self._console.print(Rule(Text(outcome.ending.name.lower())))

    def _print(self, line: Text) -> None:
        self._console.print(line, soft_wrap=True)
