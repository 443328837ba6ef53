"""A competition in a data folder, begun without a served arena."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from arena.contests.competition_service import CompetitionService
from arena.records.signing import arena_key
from arena.results.states import Action
from arena.sandbox.command import parse_commands
from arena.store import BotKind, CompetitionEntry, open_store
from arena.store.data_folder import store_path

ROOT: Final = Path(__file__).parents[1]
RANDOM_BOT: Final = str(ROOT / "sample_bots" / "random_bot.py")
NAME: Final = "bench"
LADDER: Final = """
kind = "ladder"
game = "{game}"
seats = 2
options = {{ hands = {hands} }}
"""
"""The plan of a ladder, without its name and seed."""


def begin(
    data: Path, plan: str, launched: Mapping[str, str], *, remote: Iterable[str] = ()
) -> None:
    """Start a competition of bots that are launched as Python with some words, and of bots that dial in."""
    entries = [CompetitionEntry(name, name, BotKind.REMOTE) for name in remote]
    for name, words in launched.items():
        argv = f"{sys.executable} {words}"
        (command,) = parse_commands([f"{name}={argv}"])
        entries.append(CompetitionEntry(name, name, BotKind.COMMAND, argv, command.content()))
    with open_store(store_path(data)) as store:
        service = CompetitionService(store.competitions(), arena_key(data))
        service.create(f'name = "{NAME}"\nseed = "bench"\n{plan}', who="bench", bots=entries)
        service.control(NAME, Action.START, who="bench")
