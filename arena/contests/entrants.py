"""Checks before play: launched bots have the files that they entered with, and bots enter the games that they declare.

A submitted bot plays a tournament with one version, which is active when play begins.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from trio.to_thread import run_sync

from arena.bots.bot_ids import BotId
from arena.bots.command import portable_files
from arena.bots.manifest import declares
from arena.contests.plan import (
    CompetitionKind,
    CompetitionPlan,
    EntryPolicy,
    entered_games,
    read_plan,
)
from arena.contests.plan_changes import BotsChanged
from arena.live.arena import Arena
from arena.live.players import Players, launched_command
from arena.live.session.session import Session
from arena.referee.terms import MatchTerms
from arena.results.record import Out
from arena.sandbox.content import changed_files
from arena.sandbox.house_levels import HOUSE_BOTS
from arena.store import (
    BotKind,
    Competition,
    CompetitionEntry,
    Competitions,
    EnteredBot,
    MayNotEnter,
    Registry,
    Store,
)
from arena.store.names import skeleton

Seat = Callable[[BotId], BotId]
"""The bot that sits at a table, for a process of an entrant."""


def launched_entries(plan: CompetitionPlan) -> list[CompetitionEntry]:
    """Return the entries of a plan's bots, with their commands and the contents of their files.

    Raises `BadCommand` if a bot cannot be launched, or cannot run on other machines although the plan has a speed
    class.
    """
    entries = []
    for name, bot in sorted(plan.bots.items()):
        command = launched_command(name, bot.command)
        if plan.speed_class is not None and not command.is_house:
            portable_files(command)
        games = tuple(number for number, game in enumerate(plan.games) if game.game in bot.games)
        entries.append(
            CompetitionEntry(
                name,
                bot.owner or name,
                BotKind.COMMAND,
                command.text,
                command.content(),
                games or None,
            )
        )
    return entries


def enter_house_bots(competitions: Competitions, name: str, *, who: str, now: datetime) -> None:
    """Enter the arena's own bots in a ladder that any bot may enter, except those that were withdrawn. Blocks.

    Raises `MayNotEnter` if the ladder is finished.
    """
    ladder = competitions.get(name)
    plan = read_plan(ladder.config)
    if plan.kind is not CompetitionKind.LADDER or plan.entry is not EntryPolicy.OPEN:
        return
    entered = {bot.name for bot in ladder.entries}
    for bot, level in HOUSE_BOTS.items():
        if bot not in entered:
            command = launched_command(bot, f"house:{level}")
            games = tuple(range(len(plan.games)))
            entry = CompetitionEntry(bot, bot, BotKind.COMMAND, command.text, games=games)
            competitions.enter(name, entry, who=who, now=now)


def finals_entries(ladder: Competition) -> list[CompetitionEntry]:
    """Return the entries of a ladder's finals: the bots of the ladder without the arena's own."""
    return [
        CompetitionEntry(
            bot.name,
            bot.owner,
            bot.kind,
            bot.command,
            # A submitted bot plays the version that is active when the finals begin.
            bot.version if bot.kind is BotKind.COMMAND else "",
            bot.games,
        )
        for bot in ladder.entries
        if bot.out is None and bot.name not in HOUSE_BOTS
    ]


async def learn_games(
    arena: Arena, players: Players, competitions: Competitions, competition: Competition
) -> None:
    """Ask the bots of a competition of several games which games they play, if they have not declared it.

    Launched bots are asked, and in tournaments also connected remote bots. On a ladder a remote bot is asked when it is
    drawn. A bot that does not connect enters all games.
    """
    plan = read_plan(competition.config)
    asked = [bot for bot in competition.entries if bot.games is None and bot.out is None]
    if plan.kind is CompetitionKind.LADDER:
        asked = [bot for bot in asked if bot.kind is BotKind.COMMAND]
    if len(plan.games) < 2 or not asked:
        return
    await players.ensure([BotId(bot.name) for bot in asked])
    for bot in asked:
        session = arena.sessions.get(BotId(bot.name))
        if session is None or not session.connected:
            continue

        def plays(terms: MatchTerms, session: Session = session) -> bool:
            return session.plays(terms.game.id, terms.game.rules_version, terms.seats)

        games = entered_games(plan, plays)
        await run_sync(competitions.set_games, plan.name, bot.name, games)
        if not games:
            why = "it declares no game of this competition"
            await run_sync(competitions.set_away, plan.name, bot.name, why)


async def know_commands(players: Players, competition: Competition) -> None:
    """Let `players` launch the competition's commands, and require that their files have not changed.

    Raises:
      BadCommand: if a bot cannot be launched.
      BotsChanged: if its files have changed since it entered.
    """
    plan = read_plan(competition.config)
    for bot in competition.entries:
        if bot.kind is not BotKind.COMMAND or bot.out is not None:
            continue
        launched = plan.bots.get(bot.name)
        command = launched_command(bot.name, bot.command, launched.start_s if launched else None)
        content = await run_sync(command.content)
        # The files of the arena's own bots change with the arena.
        if content != bot.version and not command.is_house:
            raise BotsChanged(
                f"{bot.name}{changed_files(bot.version, content)} changed since it entered "
                f"{competition.name!r}: restore its files, or withdraw it"
            )
        players.add(command)


def choose_versions(store: Store, name: str, *, who: str, now: datetime) -> None:
    """Note which version plays a tournament for each submitted bot, with its games; withdraw bots without one.

    It is the active version. After the first round is drawn, the versions do not change. Blocks on the store.
    """
    competitions = store.competitions()
    is_drawn = any(game.rounds for game in competitions.progress(name))
    entered = competitions.get(name)
    plan = read_plan(entered.config)
    for bot in _submitted(entered):
        if bot.out is not None or (is_drawn and bot.version):
            continue
        version = None if is_drawn else store.registry().active(bot.name)
        games = version and entered_games(plan, partial(declares, version.manifest))
        if version is not None and games:
            competitions.set_version(name, bot.name, str(version), games)
            continue
        why = "had no active version when play began"
        if version is not None:
            why = f"its active version {version} declares no game of this competition"
        competitions.go_out(name, bot.name, Out.WITHDRAWN, reason=why, who=who, now=now)


def know_versions(players: Players, registry: Registry, entered: Competition) -> Seat:
    """Let `players` launch the versions that play a tournament; return the function that names the bot of an entrant.

    The versions of withdrawn bots are included, because their deal-sets in play are finished; a bot that was withdrawn
    before play has no version. A remote bot is one process. Blocks a thread of trio until files are unpacked.

    Raises `BadCommand` if a version cannot be launched.
    """
    versions = {bot.name: bot.version for bot in _submitted(entered) if bot.version}
    for version in versions.values():
        name, _, number = version.partition("@")
        if not players.is_launched(version):
            players.add_version(registry.version(name, int(number)))
    remote = {bot.name for bot in entered.entries if bot.kind is BotKind.REMOTE}

    def seat(process: BotId) -> BotId:
        if process.name in remote:
            return BotId(process.name)
        return BotId(versions.get(process.name, process.name), process.instance)

    return seat


def _submitted(entered: Competition) -> list[EnteredBot]:
    return [bot for bot in entered.entries if bot.kind is BotKind.UPLOADED]


def require_may_enter_together(plan: CompetitionPlan, bots: Sequence[CompetitionEntry]) -> None:
    """Require that all of these bots may enter a new competition.

    Raises:
      MayNotEnter: if an owner has more bots than the plan allows, or bots of two owners have names that look alike.
    """
    by_look: dict[str, CompetitionEntry] = {}
    for bot in bots:
        other = by_look.setdefault(skeleton(bot.name), bot)
        if other.owner != bot.owner:
            raise MayNotEnter(
                f"the bots {other.name!r} and {bot.name!r} of {plan.name!r} have names that look alike: rename one, or give both an owner"
            )
    for owner in {bot.owner for bot in bots}:
        names = [bot.name for bot in bots if bot.owner == owner]
        if len(names) > plan.max_bots_per_owner:
            raise MayNotEnter(
                f"{owner!r} has {len(names)} bots, {', '.join(names)}; max_bots_per_owner is "
                f"{plan.max_bots_per_owner}"
            )
