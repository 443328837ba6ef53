"""The competition service: what organisers, owners and readers may do with competitions.

Commands and calls over the network both use it, and it keeps everything in the store. It plays no matches: the
scheduler reads the store and plays the competitions that run.
"""

import contextlib
import functools
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from arena.bots.manifest import declares
from arena.contests.draws import next_round
from arena.contests.entrants import finals_entries, require_may_enter_together
from arena.contests.official_standings import (
    latest_standings,
    next_official,
    official_lines,
    official_of,
    record_lines,
)
from arena.contests.plan import (
    DRAWN_FROM_RESULTS,
    CompetitionKind,
    CompetitionPlan,
    EntryPolicy,
    GamePlan,
    entered_games,
    entered_names,
    read_plan,
)
from arena.contests.plan_changes import (
    BotsChanged,
    PlanDiffers,
    changed_bots,
    differences,
    with_seed,
)
from arena.contests.plan_text import finals_plan, public_text
from arena.contests.standings import Json
from arena.errors import RefusalError
from arena.records.signing import ArenaKey, standings_statement
from arena.referee.wire.terms import terms_json
from arena.results.deal_sets import ScheduleError
from arena.results.record import FINALS, Out, Round
from arena.results.rounds import DrawError, seeded
from arena.results.states import MAKES_STANDINGS, Action, NotAllowed, State, after
from arena.store import (
    BotKind,
    Competition,
    CompetitionEntry,
    Competitions,
    CompetitionTexts,
    MayNotEnter,
    NoActiveVersion,
    NoCompetition,
    OfficialStandings,
    Store,
)
from arena.store.competition_rows import GameProgress
from arena.store.moments import unix_ms


class BadAnnouncement(RefusalError, ValueError, reason="BAD_ANNOUNCEMENT"):
    """The text cannot be announced; the message says why."""


NO_ARENA: Final = "no arena runs in this folder; `arena serve` starts one"
MAX_ANNOUNCEMENT_CHARS: Final = 2_000


def utc_now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


class CompetitionService:
    """The competitions of one arena. Calls block while they access the disk.

    Raises:
      NoCompetition: from any method with the name of a competition, if there is none of that name.
    """

    def __init__(
        self,
        competitions: Competitions,
        signer: ArenaKey,
        *,
        now: Callable[[], datetime] = utc_now,
        compute: Callable[[str], OfficialStandings] | None = None,
        is_played: Callable[[], bool] = lambda: True,
    ) -> None:
        """Serve the competitions of a store.

        Args:
          compute: Computes the next official standings of a competition, unsigned; by default in
            this process.
          is_played: Whether a running arena plays the competitions.
        """
        self._competitions = competitions
        self._compute = compute or (lambda name: next_official(competitions, name))
        self._signer = signer
        self._now, self._is_played = now, is_played

    # Organisers.

    def create(
        self, config: str, *, who: str, bots: Sequence[CompetitionEntry] = ()
    ) -> CompetitionPlan:
        """Make a competition from a plan in TOML, with `bots` that the arena launches.

        If anything is invalid, nothing is stored.

        Raises:
          PlanError: with all errors of the plan.
          NameTaken: if there is a competition of that name.
          MayNotEnter: if an owner has more bots than the plan allows, or two names look alike.
        """
        config = with_seed(config, None)
        plan = read_plan(config)
        require_may_enter_together(plan, bots)
        terms = [terms_json(game.terms) for game in plan.games]
        self._competitions.create(
            plan.name, _texts(config), terms, organiser=who, now=self._now(), entries=bots
        )
        return plan

    def delete(self, name: str, *, who: str) -> None:
        """Delete a draft. Raises `NotAllowed` if it has begun."""
        self._competitions.delete_draft(name, who=who, now=self._now())

    def create_or_continue(
        self,
        config: str,
        *,
        who: str,
        bots: Sequence[CompetitionEntry],
        accept_changed: bool = False,
        may_replace: bool = False,
    ) -> CompetitionPlan:
        """Make a round robin of one game, or continue the competition of its name if that has the same plan.

        If the plan has more deal-sets than before, the new ones are added. A plan without a seed takes that of the
        competition that it continues, or a random one.

        Args:
          bots: The entrants, which the arena launches.
          accept_changed: Continue although files of bots have changed.
          may_replace: Replace a competition with another plan if none of its matches has ended.

        Raises:
          PlanError: with all errors of the plan.
          PlanDiffers: naming all differences from the stored plan.
          BotsChanged: if files of bots have changed, unless that is accepted.
          DrawDiffers: if its first deal-sets would be drawn differently now.
        """
        plan = read_plan(config)
        try:
            stored = self._competitions.get(plan.name)
        except NoCompetition:
            return self.create(config, who=who, bots=bots)
        config = with_seed(config, stored)
        plan = read_plan(config)
        different, changed = differences(stored, config, plan), changed_bots(stored, bots)
        if (different or changed) and (may_replace or stored.state is State.DRAFT):
            removed = self._competitions.remove_unplayed(plan.name, who=who, now=self._now())
            if removed:
                return self.create(config, who=who, bots=bots)
        if different:
            raise PlanDiffers(
                f"{plan.name!r} has {' and '.join(different)}: give the same settings to continue it, or another name"
            )
        if changed and not accept_changed:
            raise BotsChanged(
                f"{' and '.join(changed)} since {plan.name!r} began, and its results would be of both versions"
            )
        if changed:
            versions = {bot.name: bot.version for bot in bots}
            self._competitions.set_versions(plan.name, versions, who=who, now=self._now())
        if plan.games[0].deal_sets > read_plan(stored.config).games[0].deal_sets:
            self._extend(plan, config, who)
        return plan

    def control(
        self,
        name: str,
        action: Action,
        *,
        who: str,
        expected: State | None = None,
        reason: str = "",
    ) -> State:
        """Take an action; return the state that follows.

        `reason` says why the arena pauses a competition by itself; everybody may read it. The action that makes the
        official standings of a tournament begins the finals of a ladder, which make them.

        Raises:
          NotExpected, NotAllowed: as the store says. DrawError, ScheduleError: if a tournament, or
            the finals that `FREEZE` begins, would start with too few bots.
        """
        if action is Action.START:
            self._make_ready(name)
        standings = None
        stored = self._competitions.get(name)
        plan = read_plan(stored.config)
        ends = action in MAKES_STANDINGS
        if ends and plan.kind is CompetitionKind.TOURNAMENT and expected in (None, stored.state):
            after(stored.state, action)  # raises before the standings are computed
            standings = self._official(name)
        state = self._competitions.control(
            name,
            action,
            who=who,
            expected=expected,
            now=self._now(),
            standings=standings,
            reason=reason,
        )
        if ends and plan.kind is CompetitionKind.LADDER:
            # A ladder that too few bots entered may finish all the same.
            too_few = (DrawError, ScheduleError) if action is Action.FINISH else ()
            with contextlib.suppress(*too_few):
                self._begin_finals(stored, who=who)
        return state

    def _begin_finals(self, ladder: Competition, *, who: str) -> None:
        names = {competition.name for competition in self._competitions.all()}
        number = next(n for n in itertools.count(1) if f"{ladder.name}{FINALS}{n}" not in names)
        config = finals_plan(ladder.config, number)
        plan = self.create(config, who=who, bots=finals_entries(ladder))
        try:
            self.control(plan.name, Action.START, who=who)
        except (DrawError, ScheduleError):
            self._competitions.remove_unplayed(plan.name, who=who, now=self._now())
            raise

    def disqualify(self, name: str, bot: str, *, reason: str, who: str) -> None:
        """Disqualify a bot: its deal-sets do not count, and official standings are computed again.

        Raises `NoEntrant` if there is no such bot.
        """
        store, now = self._competitions, self._now()
        store.go_out(name, bot, Out.DISQUALIFIED, reason=reason, who=who, now=now)
        if store.get(name).official:
            store.add_standings(name, self._official(name), who=who, now=now)

    def reinstate(self, name: str, bot: str, *, reason: str, who: str) -> None:
        """Revoke a disqualification: official standings are computed again.

        Raises:
          NoEntrant: if there is no such bot.
          NotAllowed: if it is not disqualified, or a round was drawn without it.
        """
        store, now = self._competitions, self._now()
        store.reinstate(name, bot, reason=reason, who=who, now=now)
        if store.get(name).official:
            store.add_standings(name, self._official(name), who=who, now=now)

    def drop_worker(self, name: str, worker: str, *, reason: str, who: str) -> int:
        """Drop the complete deal-sets that a worker played: they do not count, and official standings are computed again.

        Returns the number of dropped deal-sets.

        Raises `NotAllowed` if its rounds are drawn from results.
        """
        store, now = self._competitions, self._now()
        plan = read_plan(store.get(name).config)
        if plan.format in DRAWN_FROM_RESULTS:
            raise NotAllowed(
                f"rounds of the {plan.format} {name!r} are drawn from results, so nothing is dropped; play it again "
                "under another name"
            )
        dropped = store.drop_worker(name, worker, reason=reason, who=who, now=now)
        if dropped and store.get(name).official:
            store.add_standings(name, self._official(name), who=who, now=now)
        return dropped

    def announce(self, name: str, text: str, *, who: str) -> None:
        """Set the announcement of a competition; an empty text removes it.

        Raises `BadAnnouncement` if the text is too long, or has characters that cannot be printed.
        """
        text = text.strip()
        if len(text) > MAX_ANNOUNCEMENT_CHARS:
            raise BadAnnouncement(
                f"it has {len(text):,} of at most {MAX_ANNOUNCEMENT_CHARS:,} characters"
            )
        if not text.replace("\n", "").isprintable() and text:
            raise BadAnnouncement("it has a character that cannot be printed")
        self._competitions.announce(name, text, who=who, now=self._now())

    # Owners.

    def enter(
        self, name: str, entry: CompetitionEntry, *, who: str, organises: bool = False
    ) -> tuple[str, ...]:
        """Enter a bot; return the games that it enters, or none if it has not declared its games.

        Raises `MayNotEnter` as the store does, if only an organiser may enter bots, or if the bot declares no game of
        the competition.
        """
        plan = read_plan(self._competitions.get(name).config)
        if plan.entry is EntryPolicy.INVITED and not organises:
            raise MayNotEnter(f"{name!r} is by invitation: an organiser enters its bots")
        now = self._now()
        if plan.is_closed(now):
            raise MayNotEnter(f"{name!r} closed at {plan.closes}")
        if entry.games == ():
            games = " and ".join(game.name for game in plan.games)
            raise MayNotEnter(f"{entry.name!r} declares no game of {name!r}, which has {games}")
        # On a ladder the next version may play other games, so each version is asked when it is drawn.
        asked_later = plan.kind is CompetitionKind.LADDER and entry.kind is not BotKind.COMMAND
        stored = replace(entry, games=None) if asked_later else entry
        self._competitions.enter(
            name, stored, who=who, now=now, max_of_owner=plan.max_bots_per_owner
        )
        return entered_names(plan, entry.games)

    def entry_of(self, name: str, bot: str, store: Store) -> CompetitionEntry:
        """Return the entry for a competition of a bot that is registered or has a key.

        The games of a submitted bot are those of the manifest of its active version; those of a remote bot are None.
        In a tournament that version plays, unless another one is active when play begins.

        Raises:
          MayNotEnter: if there is no such bot.
          NoActiveVersion: if it is a submitted bot without an active version.
        """
        plan, registry = read_plan(self._competitions.get(name).config), store.registry()
        registered = registry.find_bot(bot)
        if registered is not None:
            active = registry.active(bot) if registered.kind is BotKind.UPLOADED else None
            if active is not None:
                games = entered_games(plan, functools.partial(declares, active.manifest))
                version = "" if plan.kind is CompetitionKind.LADDER else str(active)
                return CompetitionEntry(
                    bot, registered.owner, registered.kind, version=version, games=games
                )
            if registered.kind is BotKind.UPLOADED:
                raise NoActiveVersion(f"{bot!r} in {name!r}")
            return CompetitionEntry(bot, registered.owner, registered.kind)
        keys = [key for key in store.keys().all() if key.bot == bot and key.revoked is None]
        if not keys:
            raise MayNotEnter(f"there is no bot {bot!r} here, submitted or with a key")
        return CompetitionEntry(bot, keys[0].owner or bot, BotKind.REMOTE)

    def withdraw(self, name: str, bot: str, *, who: str) -> None:
        """Withdraw a bot; its results count. Raises `NoEntrant` if there is no such bot."""
        self._competitions.go_out(name, bot, Out.WITHDRAWN, reason="", who=who, now=self._now())

    # Everybody.

    def all(self) -> tuple[Competition, ...]:
        """Return all competitions, the oldest first."""
        return self._competitions.all()

    def get(self, name: str) -> tuple[Competition, tuple[GameProgress, ...]]:
        """Return a competition, and the progress of each of its games."""
        return self._competitions.get(name), self._competitions.progress(name)

    def waits(self, stored: Competition) -> str:
        """Return why no deal-set begins although no organiser has paused the competition; empty without such a reason."""
        if stored.state is State.PAUSED and stored.waits:
            return f"the arena paused it: {stored.waits}"
        if stored.state is not State.RUNNING:
            return ""
        if why := read_plan(stored.config).why_not_played(self._now()):
            return why
        return stored.waits if self._is_played() else NO_ARENA

    def rounds(self, name: str) -> list[tuple[GamePlan, Round]]:
        """Return the drawn rounds of every game, each with its game."""
        plan = read_plan(self._competitions.get(name).config)
        return [
            (game, round_)
            for number, game in enumerate(plan.games)
            for round_ in self._competitions.rounds(name, number)
        ]

    def standings(self, name: str, number: int | None = None) -> Json:
        """Return the official standings of a number; without a number, what `latest_standings` returns.

        Raises `NoOfficialStandings` if there are none of that number.
        """
        if number is None:
            return latest_standings(self._competitions, name)
        return official_of(self._competitions, name, number)

    def deals(self, name: str, number: int | None = None) -> Iterator[str]:
        """Return the record from which standings were computed as JSON Lines; the last line has the standings with their signature.

        Without a number, the standings are the latest official ones. If there are none, the lines are those of the
        complete deal-sets, without standings. The plan then lacks the seed, which determines future deals, and the
        commands.

        Raises `NoOfficialStandings` if there are none of that number.
        """
        official = self._competitions.official(name, number)
        if official is None:
            record = self._competitions.record(name)
            yield from record_lines(replace(record, config=public_text(record.config)))
            return
        yield from official_lines(official)

    def _official(self, name: str) -> OfficialStandings:
        """Return the next official standings, computed from the complete deal-sets and signed."""
        made = self._compute(name)
        return replace(
            made,
            public_key=self._signer.public_key.hex(),
            signature=self._signer.sign(standings_statement(made.body.encode())).hex(),
            at_unix_ms=unix_ms(self._now()),
        )

    def _extend(self, plan: CompetitionPlan, config: str, who: str) -> None:
        """Draw a round robin with more deal-sets, and add the new ones."""
        candidates = self._competitions.record(plan.name).candidates
        drawn = next_round(plan, 0, candidates, ())
        assert drawn is not None, "a round robin has a first round"
        texts, now = _texts(config), self._now()
        self._competitions.extend(plan.name, texts, drawn.round, drawn.deal_sets, who=who, now=now)

    def _make_ready(self, name: str) -> None:
        stored = self._competitions.get(name)
        plan = read_plan(stored.config)
        if plan.kind is CompetitionKind.LADDER or stored.state is not State.DRAFT:
            return
        ranking = self._ranking_of(plan.seeds_from) if plan.seeds_from else ()
        names = [bot.name for bot in stored.entries]
        self._competitions.set_seeds(name, seeded(names, ranking, plan.seed))
        record = self._competitions.record(name)
        for number in range(len(plan.games)):
            next_round(plan, number, record.candidates, ())

    def _ranking_of(self, competition: str) -> tuple[str, ...]:
        """Return the bots of official standings, the best first. Raises `DrawError` if it has no official standings."""
        official = self._competitions.official(competition)
        if official is None:
            raise DrawError(
                f"seeds_from names {competition!r}, which has no official standings yet: freeze it, "
                "name the finals of a ladder, or leave seeds_from out"
            )
        standings = json.loads(official.body)
        overall = [row for row in standings["overall"] or () if row["score"] is not None]
        rows = overall or standings["games"][0]["rows"]
        return tuple(row["bot"] for row in rows)


def _texts(config: str) -> CompetitionTexts:
    return CompetitionTexts(config, public_text(config))
