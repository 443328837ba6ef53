"""Prints what an opponent does in public."""

from typing import Final

from rich.console import Console

from arena.cli.terminal.console import print_table
from arena.cli.terminal.plain import plain, say
from arena.records.phrases import count
from arena.records.tendencies import OpponentTendencies

MOST_ROWS: Final = 12


def print_tendencies(opponent: OpponentTendencies, console: Console) -> None:
    """Print the acts of an opponent, those that differ most from the others' first."""
    matches = "1 match" if opponent.matches == 1 else f"{opponent.matches} matches"
    name = plain(opponent.bot)
    if not opponent.tendencies:
        say(f"\nIn {matches}, {name} had one thing to do in each phase in public.")
        return
    say(f"\nWhat {name} does in public, in {matches}:")
    rows = [
        (
            row.phase,
            row.act,
            f"{row.share:.0%} of {count(row.of, 'decision')}",
            f"{row.others_share:.0%} of {row.others_of}",
        )
        for row in opponent.tendencies[:MOST_ROWS]
    ]
    print_table(("phase", "act", name, "the others"), rows, console=console)
