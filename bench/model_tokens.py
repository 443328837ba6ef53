"""Counts what a language model reads in matches of every game, and writes the table of `docs/language-models.md`.

Matches are the shortest that a game's options begin with: the fewest seats, default options. A scripted model picks
listed moves by chance, so every run counts the same.
"""

import random
import re
from pathlib import Path
from statistics import median
from typing import Final

from arena.games.catalogue import GAMES
from cardarena import llm, local
from cardarena.llm._bot import chat_tokens

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "language-models.md"
BEGIN, END = "<!-- scripts/model-tokens writes from here -->", "<!-- to here -->"
SEEDS: Final = ("1", "2", "3")
ROOM: Final = 1.5
"""A budget is the most that was counted, with this much room."""
_LISTED: Final = re.compile(r"^(\d+): ", re.MULTILINE)
_ROW: Final = re.compile(r"^\| (\w+) \|" + r" ([\d,]+) \|" * 8 + "$", re.MULTILINE)


class ScriptedModel:
    """Picks a listed move by chance, and counts what it reads."""

    model = "scripted"
    max_output_tokens = 64

    def __init__(self, seed: str) -> None:
        self.sizes: list[int] = []
        self.rules = 0
        self._chance = random.Random(seed)

    def complete(self, messages: list[llm.Message], longest_s: float) -> llm.Reply:
        """Return a reply as `llm.Endpoint` does."""
        assert longest_s > 0
        self.rules = llm.tokens(messages[0]["content"])
        self.sizes.append(chat_tokens(messages))
        return llm.Reply(self.text(messages[-1]["content"]), finish="stop")

    def text(self, turn: str) -> str:
        """Return the reply to a message for a move."""
        return f"Any card will do.\n**MOVE: {self._chance.choice(_LISTED.findall(turn))}**"


def row(game_id: str, seats: int) -> str:
    """Play matches of a game, and return its row of the table.

    It counts, in estimated tokens, the rules, the median and the longest request for a move, the requests of a seat in the longest
    match, and what the seat that read most read in a match.

    Raises:
      AssertionError: if the scripted model gave a move that the game did not take.
    """
    models: list[ScriptedModel] = []
    for seed in SEEDS:
        table = [ScriptedModel(f"{seed}/{seat}") for seat in range(seats)]
        bots = [bot_of(model) for model in table]
        result = local.play(game_id, bots, seed=seed)
        assert not result.faults, result.faults
        models += table
    sizes = [size for model in models for size in model.sizes]
    most = max(sum(model.sizes) for model in models)
    longest = max(len(model.sizes) for model in models)
    counts = (seats, models[0].rules, round(median(sizes)), max(sizes), longest, most)
    numbers = (*counts, rounded(max(sizes)), rounded(most))
    return f"| {game_id} | {' | '.join(f'{number:,}' for number in numbers)} |"


def bot_of(endpoint: object, **settings: object) -> type[llm.ModelBot]:
    """Return the class of a bot that plays by an endpoint."""
    return type("Model", (llm.ModelBot,), {"settings": llm.Settings(endpoint, **settings)})  # type: ignore[arg-type]


def rounded(tokens: int) -> int:
    """Return a budget: with room, and two digits that are not zero."""
    room = int(tokens * ROOM)
    unit = 10 ** max(0, len(str(room)) - 2)
    return -(-room // unit) * unit


def budgets() -> dict[str, tuple[int, int]]:
    """Return the budgets of the table by game: of a move, and of a match."""
    rows = _ROW.findall(PAGE.read_text("utf-8"))
    return {row[0]: (int(row[-2].replace(",", "")), int(row[-1].replace(",", ""))) for row in rows}


def main() -> None:
    """Write the table."""
    head, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    rows = "\n".join(row(game.id, game.seats[0]) for game in GAMES)
    names = "game | seats | rules | a move | longest move | requests | a match | budget a move | budget a match"
    table = f"| {names} |\n|---|{'---:|' * 8}\n{rows}"
    PAGE.write_text(f"{head}{BEGIN}\n\n{table}\n\n{END}{tail}", "utf-8")


if __name__ == "__main__":
    main()
