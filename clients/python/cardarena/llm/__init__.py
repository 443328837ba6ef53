"""Plays a seat by a language model behind an OpenAI-compatible endpoint.

    cardarena llm --url http://localhost:11434/v1 --model qwen3 --game jam

or, in a program, with its own class:

    from cardarena import llm

    class Careful(llm.ModelBot):
        def unanswered(self, ask, failure):
            return ask.random.choice(ask.moves)

    llm.main(bot=Careful)

Each move is one request: the prompt with the rules, and the table, the news and the offered moves in words. It needs
the rules: `pip install 'cardarena[llm]'`. `docs/language-models.md` has prompts, costs and failures.
"""

from cardarena.llm._answer import chosen, listed
from cardarena.llm._bot import ModelBot, Settings
from cardarena.llm._command import main
from cardarena.llm._endpoint import Endpoint, Failure, Kind, Message, Reply
from cardarena.llm._prompt import Prompt
from cardarena.llm._tokens import tokens

__all__ = [
    "Endpoint",
    "Failure",
    "Kind",
    "Message",
    "ModelBot",
    "Prompt",
    "Reply",
    "Settings",
    "chosen",
    "listed",
    "main",
    "tokens",
]
