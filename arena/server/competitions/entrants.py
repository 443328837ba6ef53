"""Before play: launched bots have the files that they entered with, and bots enter the games that they declare.

A submitted bot plays a tournament with one version, which is active when play begins.
"""

from collections.abc import Callable
from datetime import datetime
from functools import partial

from trio.to_thread import run_sync

from arena.competition.plan import CompetitionKind, entered_games, read_plan
from arena.competition.record import Out
from arena.sandbox import changed_files
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.competition_service import BotsChanged
from arena.server.competitions.players import Players, launched_command
from arena.server.session.session import Session
from arena.store import BotKind, Competition, Competitions, EnteredBot, Registry, Store
from arena.submission.manifest import declares
from arena.terms import MatchTerms

Seat = Callable[[BotId], BotId]
"""The bot that sits at a table, for a process of an entrant."""


async def learn_games(
    arena: Arena, players: Players, competitions: Competitions, competition: Competition
) -> None:
    """Ask bots of a competition of several games which they play, if they have not declared it.

    Bots that are launched are asked, and on tournaments remote bots that are connected. On a ladder a
    remote bot is asked when it is drawn. A bot that does not connect enters all games.
    """
    plan = read_plan(competition.config)
    asked = [
        each.entry
        for each in competition.entries
        if each.candidate.games is None and each.candidate.out is None
    ]
    if plan.kind is CompetitionKind.LADDER:
        asked = [each for each in asked if each.kind is BotKind.COMMAND]
    if len(plan.games) < 2 or not asked:
        return
    await players.ensure([BotId(each.name) for each in asked])
    for entry in asked:
        session = arena.sessions.get(BotId(entry.name))
        if session is None or not session.connected:
            continue

        def plays(terms: MatchTerms, session: Session = session) -> bool:
            return session.plays(terms.game.id, terms.game.rules_version, terms.seats)

        games = entered_games(plan, plays)
        await run_sync(competitions.set_games, plan.name, entry.name, games)
        if not games:
            why = "it declares no game of this competition"
            await run_sync(competitions.set_away, plan.name, entry.name, why)


async def know_commands(players: Players, competition: Competition) -> None:
    """Let `players` launch the competition's commands, and require that their files have not changed.

    Raises:
      BadCommand: if a bot cannot be launched.
      BotsChanged: if its files are others than when it entered.
    """
    for each in competition.entries:
        entry = each.entry
        if entry.kind is not BotKind.COMMAND or each.candidate.out is not None:
            continue
        command = launched_command(entry.name, entry.command)
        content = await run_sync(command.content)
        if content != entry.version:
            raise BotsChanged(
                f"{entry.name}{changed_files(entry.version, content)} changed since it entered "
                f"{competition.name!r}: restore its files, or withdraw it"
            )
        players.add(command)


def choose_versions(store: Store, name: str, *, who: str, now: datetime) -> None:
    """Note which version plays a tournament for each submitted bot, with its games; withdraw bots without one.

    It is the version that is active now. Once the first round is drawn, nothing changes. Blocks on the store.
    """
    competitions = store.competitions()
    if any(each.rounds for each in competitions.progress(name)):
        return
    entered = competitions.get(name)
    plan = read_plan(entered.config)
    for each in _submitted(entered):
        if each.candidate.out is not None:
            continue
        bot = each.entry.name
        version = store.registry().active(bot)
        games = version and entered_games(plan, partial(declares, version.manifest))
        if version is not None and games:
            competitions.set_version(name, bot, str(version), games)
            continue
        why = "had no active version when play began"
        if version is not None:
            why = f"its active version {version} declares no game of this competition"
        competitions.go_out(name, bot, Out.WITHDRAWN, reason=why, who=who, now=now)


def know_versions(players: Players, registry: Registry, entered: Competition) -> Seat:
    """Let `players` launch the versions that play a tournament; who sits for each entrant.

    It knows those of withdrawn bots too, whose deal-sets in play are finished. A bot that dials in is one process. Blocks until files are unpacked, on a thread of trio's.

    Raises:
      BadCommand: if a version cannot be launched.
    """
    versions = {each.entry.name: each.entry.version for each in _submitted(entered)}
    for version in versions.values():
        bot, _, number = version.partition("@")
        if not players.is_launched(version):
            players.add_version(registry.version(bot, int(number)))
    remote = {each.entry.name for each in entered.entries if each.entry.kind is BotKind.REMOTE}

    def seat(process: BotId) -> BotId:
        if process.name in remote:
            return BotId(process.name)
        return BotId(versions.get(process.name, process.name), process.instance)

    return seat


def _submitted(entered: Competition) -> list[EnteredBot]:
    return [e for e in entered.entries if e.entry.kind is BotKind.UPLOADED]
