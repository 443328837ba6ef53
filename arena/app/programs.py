"""The programs of an arena process, besides one of the caller's (`arena.app.arena_process.serve`).

`serve_bots` is `arena serve`, and `play_competitions` plays competitions without a running arena. `arena.app.worker` has
the workers of another arena.
"""

import contextlib
import functools
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import trio

from arena.api.admission.key_reload import KeyReloader
from arena.app.arena_process import Parts, ServerSettings, run
from arena.app.submission import packed_command
from arena.bots.command import portable_files
from arena.bots.qualifier import Qualifier
from arena.bots.tokens import Tokens
from arena.contests.competition_service import utc_now
from arena.contests.remote_versions import RemoteVersions
from arena.contests.scheduler import PlayerOf, Scheduler, arena_player_of
from arena.contests.webhook_post import WebhookPost
from arena.contests.webhook_sender import WebhookSender
from arena.contests.workers.pool import WorkerPool, engine_player_of, player_of
from arena.contests.workers.processes import Command, run_local_workers
from arena.contests.workers.reports import ReportProcesses
from arena.contests.workers.spot_checks import SpotChecker
from arena.live.arena_player import MAX_MATCHES
from arena.live.listen import CannotServe, require_this_machine
from arena.live.players import Players, launched_command
from arena.live.tls import TlsFiles
from arena.referee.terms import WHOLE, MatchTerms
from arena.referee.wire.terms import terms_json
from arena.sandbox.command import BotCommand
from arena.sandbox.sandbox import Sandbox
from arena.store import BotKind, data_folder, keep_in, open_store
from arena.validation import toml_text

_log = logging.getLogger(__name__)


def serve_bots(
    settings: ServerSettings,
    command: Command,
    *,
    workers: int = 0,
    house: bool = False,
    guests: bool | None = None,
    store_url: str = "",
    sandbox: Sandbox | None = None,
    listening: Callable[[str, bool], None] = lambda *_: None,
) -> None:
    """Run an arena to which bots connect, and which plays its competitions, until it is stopped.

    Args:
      workers: The number of workers that play deal-sets of launched bots; with 0 the arena itself
        plays them.
      house: Whether the arena's own bots enter each ladder that any bot may enter.
      guests: Whether bots without a key are accepted; None accepts them only from this machine.
      store_url: The address of a store in PostgreSQL, which is stored in the folder; empty for the
        stored address.
      listening: Called once the arena listens, with its address, and whether no bot can connect
        before a key is made.

    Raises:
      As `arena.app.arena_process.serve`.
    """

    async def main(parts: Parts) -> None:
        arena, store, data = parts.arena, parts.store, settings.data
        listening(arena.address, not tokens.guests and tokens.change == 0)
        changed, registry = store.change_detector, store.registry()
        reloader = KeyReloader(keys, tokens, arena.sessions.hang_up, changed())
        versions = RemoteVersions(registry, utc_now)
        arena.tell_versions(versions.note)
        qualifier = Qualifier(data, registry, utc_now, changes=changed())
        post = WebhookPost(settings.webhook_hosts)
        webhooks = WebhookSender(store, post, parts.standings, now=utc_now)
        async with trio.open_nursery() as nursery:
            for run in (reloader.run, versions.run, qualifier.run, webhooks.run):
                nursery.start_soon(run)
            with contextlib.closing(ReportProcesses()) as prepare:
                spot_checks = store.spot_checks()
                pool = WorkerPool(prepare, SpotChecker(spot_checks.add))
                folders = data_folder.worker_folders(data)
                nursery.start_soon(parts.work.run, pool)
                await nursery.start(run_local_workers, pool, folders, command, workers, tokens)
                arena.add_workers(pool)
                scheduler = Scheduler(
                    arena,
                    store,
                    parts.service,
                    Players(arena, data, data / "bots", nursery, sandbox=sandbox),
                    player_of=functools.partial(
                        player_of, pool, functools.partial(packed_command, data)
                    ),
                    house=house,
                )
                of_people = Players(
                    arena, data, data / "bots", nursery, sandbox=sandbox, of_people=True
                )
                nursery.start_soon(parts.people.run, of_people)
                async with while_bots_can_start(sandbox):
                    await scheduler.run()

    if settings.open_hands:
        require_this_machine(settings.host)  # before anything is started
    path = data_folder.store_path(settings.data)
    if store_url:
        keep_in(store_url, path)
    open_store(path).close()  # the store is made or migrated, and other programs are waited for
    # Keys are looked up on the loop, which must not wait for locks of other programs.
    with open_store(path, busy_timeout_s=0) as impatient:
        keys = impatient.keys()
        tokens = Tokens(guests=settings.is_local if guests is None else guests, keys=keys.all())
        run(settings.sandboxed(sandbox), tokens, main)


def play_competitions(
    names: Sequence[str],
    data: Path,
    *,
    at_a_time: int = 1,
    max_matches: int = MAX_MATCHES,
    limits_load: bool = True,
    sandbox: Sandbox | None = None,
    on_progress: Callable[[str, int, int, int], None] = lambda *_: None,
    bridge: Command | None = None,
) -> Mapping[str, str]:
    """Play competitions of a folder until each is finished or paused.

    An arena is started in the folder, and the competitions' bots are launched into it. An error in one competition
    pauses only this one. Returns the reasons by name.

    Args:
      names: The competitions, in the order in which they begin.
      limits_load: Whether fewer matches are played while the arena is late or its disk full.
      on_progress: Called with a competition's name, the number of a game, and its played and
        scheduled matches.
      bridge: Starts a process that passes all deal-sets of seeded competitions to an engine; None
        plays them here.

    Raises:
      CannotServe: if an arena runs there already.
      BadCommand: if a bot cannot be packed for an engine.
      KeyboardInterrupt: after Ctrl-C or SIGTERM; called again, it continues where it was.
      StoreError: if the store fails.
    """
    tokens = Tokens()
    if bridge is not None:
        for command in launched_commands(data, names):
            if not command.is_house:
                portable_files(command)

    async def main(parts: Parts) -> Mapping[str, str]:
        async with trio.open_nursery() as launched:
            chosen: PlayerOf = arena_player_of
            if bridge is not None:
                prepare = stack.enter_context(contextlib.closing(ReportProcesses()))
                pool = WorkerPool(prepare)
                folders = data_folder.worker_folders(data)
                launched.start_soon(parts.work.run, pool)
                # Its cluster starts while the competition is drawn and the bots are tried.
                launched.start_soon(
                    functools.partial(
                        run_local_workers, pool, folders, bridge, 1, tokens, key="engine"
                    )
                )
                pack = functools.partial(packed_command, data)
                chosen = functools.partial(engine_player_of, pool, pack)
            scheduler = Scheduler(
                parts.arena,
                parts.store,
                parts.service,
                Players(parts.arena, data, data / "bots", launched, sandbox=sandbox),
                player_of=lambda plan: functools.partial(chosen(plan), max_matches=max_matches),
                on_progress=lambda name, game, progress: on_progress(
                    name, game, progress.played, progress.matches
                ),
            )
            async with while_bots_can_start(sandbox):
                paused = await scheduler.play_each(names, at_a_time)
            await scheduler.players.send_home()
            launched.cancel_scope.cancel()
        return paused

    settings = ServerSettings(data, limits_load=limits_load)
    with contextlib.ExitStack() as stack:
        paused = run(settings.sandboxed(sandbox), tokens, main)
    if paused is None:
        raise KeyboardInterrupt  # it was drained before everything was played
    return paused


def round_robin_plan(
    name: str, terms: MatchTerms, commands: Sequence[BotCommand], deal_sets: int, seed: str | None
) -> str:
    """Return the plan of a round robin between launched bots, as TOML; without a seed, deals are fair."""
    values: dict[str, Any] = terms_json(terms)
    return toml_text(
        {
            "name": name,
            "kind": "tournament",
            "format": "round_robin",
            "game": values["game"],
            "seats": values["seats"],
            "options": {
                option: value for option, value in values["options"].items() if value is not None
            },
            "time_control": values["time_control"],
            "time_odds": {bot: share / WHOLE for bot, share in terms.time_odds},
            "deal_sets": deal_sets,
            **({} if seed is None else {"seed": seed, "fair": False}),
            "bots": {command.name: _of_plan(command) for command in commands},
        }
    )


def _of_plan(command: BotCommand) -> dict[str, Any]:
    start = {} if command.start_s is None else {"start_s": round(command.start_s)}
    return {"command": command.text, **start}


def launched_commands(data: Path, names: Sequence[str]) -> tuple[BotCommand, ...]:
    """Return the commands of the bots that competitions of a folder launch.

    Raises `BadCommand` if one cannot be launched, and `StoreError` if the store fails.
    """
    with open_store(data_folder.store_path(data)) as store:
        commands = {
            entered.name: launched_command(entered.name, entered.command)
            for name in names
            for entered in store.competitions().get(name).entries
            if entered.kind is BotKind.COMMAND and entered.out is None
        }
    return tuple(commands.values())


@contextlib.asynccontextmanager
async def while_bots_can_start(sandbox: Sandbox | None) -> AsyncGenerator[None]:
    """Cancel the body when the spawner ends: otherwise every deal-set would fail at once. The program must be started again.

    Raises `CannotServe` if the spawner has ended.
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
            "start the program again to continue"
        )


# Commands import all that they need of these from here.
__all__ = [
    "MAX_MATCHES",
    "ServerSettings",
    "TlsFiles",
    "launched_commands",
    "play_competitions",
    "round_robin_plan",
    "serve_bots",
]
