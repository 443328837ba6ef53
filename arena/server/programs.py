"""What an arena process is run for, besides a program of the caller's (`arena.server.app.serve`).

`serve_bots` is `arena serve`, `play_competitions` plays competitions without a running arena, and
`play_as_worker` is a worker of another arena.
"""

import contextlib
import functools
import logging
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import trio

from arena.sandbox import Sandbox
from arena.server import data_folder
from arena.server.admission.key_reload import KeyReloader
from arena.server.admission.tokens import Tokens
from arena.server.app import Parts, ServerSettings, run, sandboxed
from arena.server.competitions.arena_player import MAX_MATCHES
from arena.server.competitions.drawn_rounds import OnProgress
from arena.server.competitions.players import Players
from arena.server.competitions.scheduler import Scheduler
from arena.server.listen import CannotServe, is_local
from arena.server.submissions.built_runtimes import BuiltRuntimes
from arena.server.submissions.qualifier import Qualifier
from arena.server.submissions.remote_versions import RemoteVersions
from arena.server.workers.local import Command, LocalWorkers
from arena.server.workers.player import AssignmentPlayer, ReportRecorder
from arena.server.workers.pool import WorkerPool, player_of
from arena.server.workers.spot_checks import SpotChecker
from arena.server.workers.verification import VerifyingProcesses
from arena.store import open_store
from cardarena.v1 import work_pb2

_log = logging.getLogger(__name__)


def serve_bots(
    settings: ServerSettings,
    command: Command,
    *,
    workers: int = 0,
    guests: bool | None = None,
    sandbox: Sandbox | None = None,
    listening: Callable[[str, Tokens], None] = lambda *_: None,
) -> None:
    """Run an arena that bots dial in to, and that plays its competitions, until it is stopped.

    Args:
      settings: How it is run.
      command: Starts a worker.
      workers: So many play deal-sets of launched bots; with 0 the arena itself does.
      guests: Whether bots without a key are let in; None lets them in on this machine alone.
      sandbox: Sandboxes launched bots; None sandboxes no bot.
      listening: Called with the arena's address and its tokens once it listens.

    Raises:
      As `arena.server.app.serve`.
    """

    async def main(parts: Parts) -> None:
        arena, store, data = parts.arena, parts.store, settings.data
        listening(arena.address, tokens)
        changed, registry = store.change_detector, store.registry()
        reloader = KeyReloader(keys, tokens, arena.sessions.hang_up, changed())
        versions = RemoteVersions(registry, _utc_now)
        arena.tell_versions(versions.note)
        qualifier = Qualifier(data, registry, _utc_now, changes=changed())
        async with trio.open_nursery() as nursery:
            for run in (reloader.run, versions.run, qualifier.run):
                nursery.start_soon(run)
            with contextlib.closing(VerifyingProcesses()) as verify:
                spot_checks = store.spot_checks()
                pool = WorkerPool(verify, SpotChecker(spot_checks.add))
                local = LocalWorkers(pool, data_folder.worker_folders(data), command, workers)
                await nursery.start(local.run)
                arena.add_workers(pool)
                nursery.start_soon(parts.joined.run, pool)
                scheduler = Scheduler(
                    arena,
                    store,
                    parts.service,
                    data,
                    nursery,
                    sandbox=sandbox,
                    player_of=functools.partial(player_of, pool),
                )
                async with _while_bots_can_start(sandbox):
                    await scheduler.run()

    path = data_folder.store_path(settings.data)
    open_store(path).close()  # made, or brought up to date, with patience for other programs
    # Keys are looked up on the loop, which must not wait for locks of other programs.
    with open_store(path, busy_timeout_s=0) as impatient:
        keys = impatient.keys()
        tokens = Tokens(
            guests=is_local(settings.host) if guests is None else guests, keys=keys.all()
        )
        run(settings, tokens, main)


def play_competitions(
    names: Sequence[str],
    data: Path,
    *,
    at_a_time: int = 1,
    max_matches: int = MAX_MATCHES,
    limits_load: bool = True,
    sandbox: Sandbox | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> None:
    """Play competitions of a folder until each is finished or paused.

    An arena is started in the folder, and the competitions' bots are launched into it.

    Args:
      names: The competitions, in the order in which they begin.
      data: The folder.
      at_a_time: Competitions in play at a time.
      max_matches: Matches of a game at a time.
      limits_load: Whether fewer matches are played while the arena is late or its disk full.
      sandbox: Sandboxes the launched bots; None sandboxes no bot.
      on_progress: Called with how far games have come.

    Raises:
      CannotServe: if an arena runs there already.
      KeyboardInterrupt: after Ctrl-C or SIGTERM; called again, it continues where it was.
      BadCommand, BotsChanged, CannotPlay, DrawDiffers, Incomplete, NoShow, StoreError: why one
        cannot continue.
    """

    async def main(parts: Parts) -> bool:
        async with trio.open_nursery() as launched:
            scheduler = Scheduler(
                parts.arena,
                parts.store,
                parts.service,
                data,
                launched,
                sandbox=sandbox,
                max_matches=max_matches,
                on_progress=on_progress,
            )
            async with _while_bots_can_start(sandbox):
                await scheduler.play_each(names, at_a_time)
            await scheduler.players.send_home()
            launched.cancel_scope.cancel()
        return True

    if run(sandboxed(data, sandbox, limits_load=limits_load), Tokens(), main) is None:
        raise KeyboardInterrupt  # it was drained before everything was played


def play_as_worker(
    settings: ServerSettings,
    asks: int,
    answers: int,
    *,
    cache: Path,
    bots: Path,
    sandbox: Sandbox | None = None,
    speed_class: int = 0,
) -> None:
    """Play deal-sets for another arena until it stops asking.

    Args:
      settings: How the worker's own arena is run.
      asks: The descriptor of the pipe from the other arena.
      answers: That of the pipe to it.
      cache: Has the archives of uploaded versions, their wheels and runtimes.
      bots: Gets a folder and a log for every instance of a bot.
      sandbox: Sandboxes launched bots; None sandboxes no bot.
      speed_class: That of this machine.

    Raises:
      As `arena.server.app.serve`.
    """
    recorder = ReportRecorder()

    async def main(parts: Parts) -> None:
        reads, writes = map(trio.lowlevel.FdStream, (asks, answers))
        async with reads, writes, trio.open_nursery() as nursery:
            players = Players(parts.arena, cache, bots, nursery, sandbox=sandbox)
            ready = work_pb2.WorkerReady(
                pid=os.getpid(),
                engine=data_folder.arena_version(),
                sandbox=players.level,
                runtimes=[each.sha256 for each in BuiltRuntimes(cache).all() if not each.lacks],
                speed_class=speed_class,
            )
            player = AssignmentPlayer(parts.arena, recorder, players, ready)
            async with _while_bots_can_start(sandbox):
                await player.run(reads, writes)
            if player.is_idle:
                await players.send_home()
            nursery.cancel_scope.cancel()

    run(settings, Tokens(guests=False), main, recorder)


@contextlib.asynccontextmanager
async def _while_bots_can_start(sandbox: Sandbox | None) -> AsyncGenerator[None]:
    """Cancel the body when the spawner ends: otherwise every deal-set would fail at once. Who started the program starts it again.

    Raises:
      CannotServe: if the spawner has ended.
    """
    has_ended = False

    async def watch(sandbox: Sandbox, scope: trio.CancelScope) -> None:
        nonlocal has_ended
        await sandbox.ended()
        has_ended = True
        scope.cancel()

    async with trio.open_nursery() as nursery:
        if sandbox is not None:
            nursery.start_soon(watch, sandbox, nursery.cancel_scope)
        yield
        nursery.cancel_scope.cancel()
    if has_ended:
        _log.error("the spawner of bots has ended")
        raise CannotServe(
            "the process that starts sandboxed bots has ended, and no bot could be started any more; "
            "start the program again, and everything goes on"
        )


def _utc_now() -> datetime:
    return datetime.now(UTC)
