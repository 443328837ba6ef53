"""Plays all games by a language model, and at random if the model gives no move.

python bot.py --url http://localhost:11434/v1 --model qwen3 --game jam
"""

from pathlib import Path

import cardarena
from cardarena import llm


class ChanceAfterAll(llm.ModelBot):
    """Prefers a random move to a fault."""

    def unanswered(self, ask: cardarena.AnyAsk, failure: llm.Failure) -> cardarena.Choice:
        return cardarena.Noted(ask.random.choice(ask.moves), f"by chance: {failure}")


if __name__ == "__main__":
    llm.main(bot=ChanceAfterAll, prompt=Path(__file__).with_name("prompt.md"))
