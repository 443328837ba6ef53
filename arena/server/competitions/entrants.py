"""The bots of a competition that are launched by a command are those that entered."""

from trio.to_thread import run_sync

from arena.server.competitions.players import Players, launched_command
from arena.store import BotKind, Competition


class EntrantChanged(Exception):
    """A bot's files are other ones than those that it entered with."""


async def know_commands(players: Players, held: Competition) -> None:
    """Know the bots that are launched by a command, and that they are what entered.

    Raises:
      BadCommand: if one cannot be launched.
      EntrantChanged: if its files have changed.
    """
    for each in held.entries:
        entry = each.entry
        if entry.kind is not BotKind.COMMAND or each.candidate.out is not None:
            continue
        command = launched_command(entry.name, entry.command)
        if await run_sync(command.content) != entry.version:
            raise EntrantChanged(
                f"the files of {entry.name!r} have changed since it entered {held.name!r}: put "
                "them back, or have it withdrawn"
            )
        players.add(command)
