"""`cardarena llm`: the settings of a model as flags."""

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from cardarena import _run
from cardarena._errors import Misconfigured
from cardarena.llm._bot import CALL_S, ModelBot, Settings
from cardarena.llm._endpoint import Endpoint
from cardarena.llm._prompt import Prompt

EPILOG: Final = """\
examples:
  cardarena llm --url http://localhost:11434/v1 --model qwen3 --game jam
  cardarena llm --url https://models.example/v1 --model large --key-file key.txt --prompt careful.md
  arena play jam "cardarena llm --url http://localhost:11434/v1 --model qwen3" house:sample --sandbox off --time slow
"""


def main(
    argv: Sequence[str] | None = None,
    *,
    bot: type[ModelBot] = ModelBot,
    prompt: Path | None = None,
    prog: str | None = None,
) -> None:
    """Play as a program, with flags for the model and for the connection; `--help` lists them.

    Args:
      argv: The command line without the program's name; by default that of the process.
      bot: The class that plays.
      prompt: The file of the prompt, unless `--prompt` names another; by default the one that comes with the SDK.
      prog: The name of the program in its help.

    Raises:
      SystemExit: as `cardarena.run`.
    """
    given = _parser(prog).parse_args(argv)
    with _run.exit_codes():
        settings = _settings(given, prompt)
        fields = {"settings": settings, "workers": given.matches, "version": given.version}
        fields["publish_notes"] = given.publish_notes
        if given.game:
            fields["games"] = given.game
        _run.play(
            type(bot.__name__, (bot,), {**fields, "__module__": bot.__module__}),
            **_run.connection_of(given),
        )


def _settings(given: argparse.Namespace, prompt: Path | None) -> Settings:
    url, model = given.url or os.environ.get("CARDARENA_LLM_URL"), given.model
    model = model or os.environ.get("CARDARENA_LLM_MODEL")
    if not url or not model:
        raise Misconfigured("give the endpoint with --url and the model with --model")
    key = os.environ.get("CARDARENA_LLM_KEY", "")
    if given.key_file is not None:
        try:
            key = given.key_file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Misconfigured(f"the key file {given.key_file} cannot be read: {error}") from error
    return Settings(
        Endpoint(url, model, key, given.max_tokens, given.fields),
        Prompt.read(given.prompt or prompt),
        given.call_s,
        given.budget,
        tuple(given.price),
        given.transcripts,
    )


def _parser(prog: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Plays by a language model behind an OpenAI-compatible endpoint.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--url", help="the address before /chat/completions (else $CARDARENA_LLM_URL)"
    )
    parser.add_argument("--model", help="the model (else $CARDARENA_LLM_MODEL)")
    parser.add_argument(
        "--key-file",
        type=Path,
        metavar="FILE",
        help="a file with the endpoint's key (else $CARDARENA_LLM_KEY, else none)",
    )
    parser.add_argument("--prompt", type=Path, metavar="FILE", help="another prompt")
    parser.add_argument(
        "--game", action="append", default=[], help="a game to play; may be repeated (default: all)"
    )
    parser.add_argument(
        "--matches", type=_positive, default=4, help="matches at the same time (default: 4)"
    )
    parser.add_argument(
        "--max-tokens", type=_positive, default=1024, help="the longest reply (default: 1024)"
    )
    parser.add_argument("--budget", type=_positive, help="tokens of a match, input and output")
    parser.add_argument(
        "--call-s",
        type=float,
        default=CALL_S,
        metavar="SECONDS",
        help="the longest request (default: 120)",
    )
    parser.add_argument(
        "--price",
        type=float,
        nargs=2,
        default=(0.0, 0.0),
        metavar=("IN", "OUT"),
        help="what a million tokens of input and of output cost, for notes",
    )
    parser.add_argument(
        "--fields",
        type=_object,
        default={},
        metavar="JSON",
        help="""more fields of each request, such as '{"temperature": 0}'""",
    )
    parser.add_argument(
        "--transcripts", type=Path, metavar="FOLDER", help="keep what was asked and answered"
    )
    parser.add_argument(
        "--publish-notes", action="store_true", help="show notes to everybody in published replays"
    )
    parser.add_argument("--version", default="", metavar="TEXT", help="the version of the bot")
    _run.add_arguments(parser)
    return parser


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1")
    return int(text)


def _object(text: str) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        raise argparse.ArgumentTypeError(f"{text!r} is no JSON object")
    return fields
