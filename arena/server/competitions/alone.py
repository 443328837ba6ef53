"""A competition that is played by one process alone, as by an organiser without a running arena."""

from pathlib import Path

import trio

from arena.jail import Level, Wall
from arena.replay.signing import arena_key
from arena.server.arena import Arena
from arena.server.competitions.drawn_tournament import Told
from arena.server.competitions.hall import Hall
from arena.server.competitions.playing_processes import Command, PlayingProcesses
from arena.server.data_folder import store_path
from arena.server.gate.tokens import Tokens
from arena.server.host import ServerSettings, serve
from arena.server.office import Office
from arena.store import open_store


def play_alone(
    name: str,
    data: Path,
    command: Command,
    *,
    wall: Wall | None = None,
    told: Told = lambda *_: None,
) -> None:
    """Play a competition in its folder until it is finished, or somebody pauses it.

    An arena is started there, and the competition's bots are launched into it, behind the wall. Where other
    processes have played for the arena, `command` starts them, to end what they began.

    Raises:
      CannotServe: if an arena runs there already.
      KeyboardInterrupt: after Ctrl-C; called again it goes on where it stood.
      BadCommand, CannotPlay, DrawDiffers, EntrantChanged, Incomplete, NoShow, StoreError: why it cannot go on.
    """
    with open_store(store_path(data)) as store:
        office = Office(store.competitions(), arena_key(data))

        async def main(arena: Arena) -> None:
            async with trio.open_nursery() as launched:
                elsewhere = PlayingProcesses(arena, data, command, 0)
                await launched.start(elsewhere.run)
                hall = Hall(
                    arena, store, office, data, launched, wall=wall, elsewhere=elsewhere, told=told
                )
                await hall.play(name)
                await hall.players.send_home()
                launched.cancel_scope.cancel()

        level = Level.S0 if wall is None else wall.level
        settings = ServerSettings(
            data, play_socket=level is not Level.S0, jail=level, limits_load=True
        )
        serve(settings, Tokens(), main)
