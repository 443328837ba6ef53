"""The competition service: what organisers, owners and readers may do with competitions.

Commands and calls over the network both use it, and it keeps everything in the store. It plays nothing:
`arena.server.competitions` reads the store and plays the competitions that run.
"""

import contextlib
import functools
import itertools
import json
import tomllib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from arena.competition.draws import next_round
from arena.competition.finals import finals_plan
from arena.competition.plan import (
    DRAWN_FROM_RESULTS,
    CompetitionKind,
    CompetitionPlan,
    EntryPolicy,
    entered_games,
    read_plan,
)
from arena.competition.plan_text import FINALS, differences, public_text
from arena.competition.record import Out
from arena.competition.rounds import DrawError, seeded
from arena.competition.standings import Json, live_standings
from arena.competition.states import MAKES_STANDINGS, Action, NotAllowed, State, after
from arena.errors import RefusalError, refusal
from arena.replay.signing import Signer, standings_statement
from arena.sandbox import changed_files
from arena.schedule.deal_sets import ScheduleError
from arena.server.official_standings import UnsignedStandings, record_lines, unsigned
from arena.store import (
    BotKind,
    Competition,
    CompetitionEntry,
    Competitions,
    CompetitionTexts,
    MayNotEnter,
    NoCompetition,
    OfficialStandings,
    Store,
)
from arena.store.moments import iso_utc, unix_ms
from arena.store.schema import COMPLETE, GIVEN_UP, LEASED, VOID, WAITING
from arena.submission.manifest import declares
from arena.wire.terms import terms_json


class PlanDiffers(ValueError):
    """A competition of this name has another plan; the text names each difference."""


class BotsChanged(ValueError):
    """Files of launched bots have changed since the bots entered; the text names the bots and files."""


class BadAnnouncement(RefusalError, ValueError):
    """The text cannot be announced; the message says why."""

    entry = refusal("BAD_ANNOUNCEMENT")


MAX_ANNOUNCEMENT_CHARS: Final = 2_000


def _utc_now() -> datetime:
    return datetime.now(UTC)


class CompetitionService:
    """The competitions of one arena. Calls block while they access the disk."""

    def __init__(
        self,
        competitions: Competitions,
        signer: Signer,
        *,
        now: Callable[[], datetime] = _utc_now,
        compute: Callable[[str], UnsignedStandings] | None = None,
    ) -> None:
        """Serve the competitions of a store.

        Args:
          competitions: The store.
          signer: Signs official standings.
          now: Returns the time in UTC.
          compute: Computes the next official standings of a competition; by default in this process.
        """
        self._competitions = competitions
        self._compute = compute or (lambda name: next_official(competitions, name))
        self._signer = signer
        self._now = now

    # Organisers.

    def create(
        self, config: str, *, who: str, bots: Sequence[CompetitionEntry] = ()
    ) -> CompetitionPlan:
        """Make a competition from a plan in TOML, with `bots` that the arena launches.

        Raises:
          PlanError: with all errors of the plan.
          NameTaken: if there is a competition of that name.
          MayNotEnter: if an owner has more bots than the plan allows.
        """
        plan = read_plan(config)
        _require_few_of_an_owner(plan, bots)
        now, terms = self._now(), [terms_json(each.terms) for each in plan.games]
        self._competitions.create(plan.name, _texts(config), terms, organiser=who, now=now)
        for entry in bots:
            self._competitions.enter(plan.name, entry, who=who, now=now)
        return plan

    def create_or_continue(
        self,
        config: str,
        *,
        who: str,
        bots: Sequence[CompetitionEntry],
        accept_changed: bool = False,
        may_replace: bool = False,
    ) -> CompetitionPlan:
        """Make a round robin of one game, or continue the one of its name if it has the same plan.

        If the plan has more deal-sets than before, the new ones are added.

        Args:
          config: The plan.
          who: The organiser.
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
        different, changed = _differences(stored, config, plan), _changed(stored, bots)
        if (different or changed) and (may_replace or stored.state is State.DRAFT):
            removed = self._competitions.remove_unplayed(plan.name, who=who, now=self._now())
            if removed:
                return self.create(config, who=who, bots=bots)
        if different:
            raise PlanDiffers(
                f"the competition {plan.name!r} has {' and '.join(different)}: give the same settings "
                "to continue it, or another name"
            )
        if changed and not accept_changed:
            raise BotsChanged(
                f"{' and '.join(changed)} changed since the competition {plan.name!r} began, and its "
                "results would be of both versions"
            )
        if changed:
            versions = {each.name: each.version for each in bots}
            self._competitions.set_versions(plan.name, versions, who=who, now=self._now())
        if plan.games[0].deal_sets > read_plan(stored.config).games[0].deal_sets:
            self._extend(plan, config, who)
        return plan

    def control(
        self, name: str, action: Action, *, who: str, expected: State | None = None
    ) -> State:
        """Take an action; returns the state that follows.

        Where a tournament has official standings made, a ladder has its finals begun, which make them.

        Raises:
          NoCompetition, NotExpected, NotAllowed: as the store says.
          DrawError, ScheduleError: if a tournament, or finals by `FREEZE`, is to start and has too few bots.
        """
        if action is Action.START:
            self._make_ready(name)
        standings = None
        stored = self._competitions.get(name)
        plan = read_plan(stored.config)
        ends = action in MAKES_STANDINGS
        if ends and plan.kind is CompetitionKind.TOURNAMENT and expected in (None, stored.state):
            after(stored.state, action)  # otherwise the store refuses, and nothing is computed
            standings = self._official(name)
        state = self._competitions.control(
            name, action, who=who, expected=expected, now=self._now(), standings=standings
        )
        if ends and plan.kind is CompetitionKind.LADDER:
            # A ladder that too few bots entered may finish all the same.
            too_few = (DrawError, ScheduleError) if action is Action.FINISH else ()
            with contextlib.suppress(*too_few):
                self._begin_finals(stored, who=who)
        return state

    def _begin_finals(self, ladder: Competition, *, who: str) -> None:
        """Make and start the next finals of a ladder, with the bots that are in it."""
        names = {each.name for each in self._competitions.all()}
        number = next(n for n in itertools.count(1) if f"{ladder.name}{FINALS}{n}" not in names)
        entries = [
            replace(
                each.entry,
                # A submitted bot plays the version that is active when the finals begin.
                version=each.entry.version if each.entry.kind is BotKind.COMMAND else "",
            )
            for each in ladder.entries
            if each.candidate.out is None
        ]
        plan = self.create(finals_plan(ladder.config, number), who=who, bots=entries)
        try:
            self.control(plan.name, Action.START, who=who)
        except (DrawError, ScheduleError):
            self._competitions.remove_unplayed(plan.name, who=who, now=self._now())
            raise

    def disqualify(self, name: str, bot: str, *, reason: str, who: str) -> None:
        """Disqualify a bot: its deal-sets do not count, and official standings are computed again.

        Raises:
          NoCompetition, NoEntrant: if there is no such competition or bot.
        """
        store, now = self._competitions, self._now()
        store.go_out(name, bot, Out.DISQUALIFIED, reason=reason, who=who, now=now)
        if store.get(name).official:
            store.add_standings(name, self._official(name), who=who, now=now)

    def drop_worker(self, name: str, worker: str, *, reason: str, who: str) -> int:
        """Drop the complete deal-sets that a worker played: they do not count, and official standings are computed again.

        Returns how many there were.

        Raises:
          NoCompetition: if there is no such competition.
          NotAllowed: if its rounds are drawn from results.
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

        Raises:
          BadAnnouncement: if the text is too long, or has characters that cannot be printed.
          NoCompetition: if there is no such competition.
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
        """Enter a bot; returns the games that it enters, none while it has not declared any.

        Raises:
          NoCompetition, MayNotEnter: as the store says; also if only an organiser may enter bots, or the bot
            declares no game of the competition.
        """
        plan = read_plan(self._competitions.get(name).config)
        if plan.entry is EntryPolicy.INVITED and not organises:
            raise MayNotEnter(f"{name!r} is by invitation: an organiser enters its bots")
        now = self._now()
        if plan.is_closed(now):
            raise MayNotEnter(f"{name!r} closed at {plan.closes}")
        if entry.games == ():
            games = " and ".join(each.name for each in plan.games)
            raise MayNotEnter(f"{entry.name!r} declares no game of {name!r}, which has {games}")
        # On a ladder the next version may play other games, so each is asked when it is drawn.
        asked_later = plan.kind is CompetitionKind.LADDER and entry.kind is not BotKind.COMMAND
        stored = replace(entry, games=None) if asked_later else entry
        self._competitions.enter(
            name, stored, who=who, now=now, max_of_owner=plan.max_bots_per_owner
        )
        return _names(plan, entry.games)

    def entry_of(self, name: str, bot: str, store: Store) -> CompetitionEntry:
        """The entry of a bot of this arena, which is registered or has a key, for a competition.

        Its games are those of the manifest of its active version; None without one. In a tournament that version
        plays, unless another one is active when play begins.

        Raises:
          NoCompetition: if there is no such competition.
          MayNotEnter: if there is no such bot, or no active version of it to play a tournament.
        """
        plan, registry = read_plan(self._competitions.get(name).config), store.registry()
        found = registry.find_bot(bot)
        if found is not None:
            active = registry.active(bot) if found.kind is BotKind.UPLOADED else None
            if active is not None:
                games = entered_games(plan, functools.partial(declares, active.manifest))
                version = "" if plan.kind is CompetitionKind.LADDER else str(active)
                return CompetitionEntry(bot, found.owner, found.kind, version=version, games=games)
            if found.kind is BotKind.UPLOADED and plan.kind is CompetitionKind.TOURNAMENT:
                raise MayNotEnter(
                    f"{bot!r} has no active version to play the tournament {name!r}: activate one "
                    f"with `arena bots activate {bot}@NUMBER`"
                )
            return CompetitionEntry(bot, found.owner, found.kind)
        keys = [each for each in store.keys().all() if each.bot == bot and each.revoked is None]
        if not keys:
            raise MayNotEnter(f"there is no bot {bot!r} here, submitted or with a key")
        return CompetitionEntry(bot, keys[0].owner or bot, BotKind.REMOTE)

    def withdraw(self, name: str, bot: str, *, who: str) -> None:
        """Withdraw a bot; its results count.

        Raises:
          NoCompetition: if there is no such competition or bot.
        """
        self._competitions.go_out(name, bot, Out.WITHDRAWN, reason="", who=who, now=self._now())

    # Everybody.

    def every(self) -> list[Json]:
        """All competitions, the oldest first."""
        now = self._now()
        return [_about(each, read_plan(each.config), now) for each in self._competitions.all()]

    def show(self, name: str) -> Json:
        """A competition with its progress and its entrants.

        Raises:
          NoCompetition: if there is none of that name.
        """
        stored = self._competitions.get(name)
        plan = read_plan(stored.config)
        progress = self._competitions.progress(name)
        return _about(stored, plan, self._now()) | {
            "games": [
                {
                    "game": game.terms.game.id,
                    "seats": game.terms.seats,
                    "rounds": each.rounds,
                    "deal_sets": {
                        "complete": each.deal_sets.get(COMPLETE, 0),
                        "in_play": each.deal_sets.get(LEASED, 0),
                        "waiting": each.deal_sets.get(WAITING, 0),
                        "given_up": each.deal_sets.get(GIVEN_UP, 0),
                        "void": each.deal_sets.get(VOID, 0),
                    },
                }
                for game, each in zip(plan.games, progress, strict=True)
            ],
            "bots": [
                {
                    "bot": each.entry.name,
                    "owner": each.entry.owner,
                    "kind": str(each.entry.kind),
                    "seed": each.candidate.seed,
                    "out": each.candidate.out and str(each.candidate.out),
                    "reason": each.candidate.reason,
                    "away": each.away,
                    "games": list(_names(plan, each.candidate.games)),
                }
                for each in stored.entries
            ],
        }

    def rounds(self, name: str) -> list[Json]:
        """The drawn rounds of every game.

        Raises:
          NoCompetition: if there is none of that name.
        """
        plan = read_plan(self._competitions.get(name).config)
        return [
            {
                "game": game.terms.game.id,
                "seats": game.terms.seats,
                "round": each.number,
                "groups": [list(group) for group in each.groups],
                "byes": list(each.byes),
                "inputs_sha256": each.inputs_sha256,
            }
            for number, game in enumerate(plan.games)
            for each in self._competitions.rounds(name, number)
        ]

    def standings(self, name: str, number: int | None = None) -> Json:
        """The official standings of a number; without one, the latest standings as in `latest_standings`.

        Raises:
          NoCompetition, NoOfficialStandings: if there is no such competition, or none of that number.
        """
        if number is None:
            return latest_standings(self._competitions, name)
        return official_of(self._competitions, name, number)

    def deals(self, name: str, number: int | None = None) -> Iterator[str]:
        """JSON Lines of the record from which standings were computed, and last the standings with their signature.

        Without a number they are the latest official standings. If there are none, the lines are those of the deal-sets
        that are complete now, without standings; the plan then lacks seed and commands, as the seed determines deals
        that are not played yet.

        Raises:
          NoCompetition, NoOfficialStandings: if there is no such competition, or none of that number.
        """
        found = self._competitions.official(name, number)
        if found is None:
            record = self._competitions.record(name)
            yield from record_lines(replace(record, config=public_text(record.config)))
            return
        yield from official_lines(found)

    def _official(self, name: str) -> OfficialStandings:
        """The next official standings, computed from the complete deal-sets and signed."""
        made = self._compute(name)
        return OfficialStandings(
            number=made.number,
            body=made.body,
            record=tuple(made.record.split("\n")),
            inputs_sha256=made.inputs_sha256,
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
        """Draw the seeds, and require that a first round can be drawn."""
        stored = self._competitions.get(name)
        plan = read_plan(stored.config)
        if plan.kind is CompetitionKind.LADDER or stored.state is not State.DRAFT:
            return
        ranking = self._ranking_of(plan.seeds_from) if plan.seeds_from else ()
        names = [each.entry.name for each in stored.entries]
        self._competitions.set_seeds(name, seeded(names, ranking, plan.seed))
        record = self._competitions.record(name)
        for number in range(len(plan.games)):
            next_round(plan, number, record.candidates, ())

    def _ranking_of(self, competition: str) -> tuple[str, ...]:
        """The bots of official standings, the best first.

        Raises:
          NoCompetition: if there is no such competition.
          DrawError: if it has no official standings.
        """
        found = self._competitions.official(competition)
        if found is None:
            raise DrawError(
                f"seeds_from names {competition!r}, which has no official standings yet: freeze it, "
                "name the finals of a ladder, or leave seeds_from out"
            )
        standings = json.loads(found.body)
        overall = [row for row in standings["overall"] or () if row["score"] is not None]
        rows = overall or standings["games"][0]["rows"]
        return tuple(row["bot"] for row in rows)


def next_official(competitions: Competitions, name: str) -> UnsignedStandings:
    """The next official standings of a competition, of what is complete now.

    Raises:
      NoCompetition: if there is none of that name.
    """
    return unsigned(competitions.record(name), competitions.get(name).official + 1)


def official_of(competitions: Competitions, name: str, number: int) -> Json:
    """The official standings of a number, with their signature.

    Raises:
      NoCompetition, NoOfficialStandings: if there is no such competition, or none of that number.
    """
    found = competitions.official(name, number)
    assert found is not None
    return signed_standings(found)


def latest_standings(competitions: Competitions, name: str) -> Json:
    """The official standings if the competition is finished, else the live ones.

    Raises:
      NoCompetition: if there is none of that name.
    """
    if competitions.get(name).state is State.FINISHED:
        found = competitions.official(name)
        if found is not None:
            return signed_standings(found)
    return live_standings(competitions.record(name))


def signed_standings(found: OfficialStandings) -> Json:
    """Official standings with the key and the signature of the arena."""
    standings: Json = json.loads(found.body)
    return standings | {"public_key": found.public_key, "signature": found.signature}


def official_lines(found: OfficialStandings) -> Iterator[str]:
    """Official standings as JSON Lines: the record they were computed from, then the signed standings."""
    yield from found.record
    yield json.dumps(
        {
            "standings": found.body,
            "number": found.number,
            "public_key": found.public_key,
            "signature": found.signature,
        }
    )


def _texts(config: str) -> CompetitionTexts:
    return CompetitionTexts(config, public_text(config))


def _differences(stored: Competition, config: str, plan: CompetitionPlan) -> list[str]:
    """The differences between a plan and the stored one; more deal-sets are none."""
    before, now = tomllib.loads(stored.config), tomllib.loads(config)
    terms = json.loads(
        json.dumps(terms_json(plan.games[0].terms))
    )  # as in the store: lists instead of tuples
    found = list(differences(before, stored.terms[0], now, terms))
    fewest = before.get("deal_sets", 0)
    if plan.games[0].deal_sets < fewest:
        found.append(f"{fewest} deal-sets, not {plan.games[0].deal_sets}")
    return found


def _changed(stored: Competition, bots: Sequence[CompetitionEntry]) -> list[str]:
    """The bots whose files have changed since they entered, with the files."""
    before = {each.entry.name: each.entry.version for each in stored.entries}
    return [
        each.name + changed_files(before[each.name], each.version)
        for each in bots
        if each.version and before.get(each.name) and before[each.name] != each.version
    ]


def _about(stored: Competition, plan: CompetitionPlan, now: datetime) -> Json:
    return {
        "competition": stored.name,
        "kind": str(plan.kind),
        "format": plan.format and str(plan.format),
        "season": plan.season,
        "state": str(stored.state),
        "organiser": stored.organiser,
        "created": stored.created,
        "opens": plan.opens and iso_utc(plan.opens),
        "closes": plan.closes and iso_utc(plan.closes),
        "entry": str(plan.entry),
        "entered": sum(each.candidate.out is None for each in stored.entries),
        "official": stored.official,
        "timetable": plan.timetable,
        "waits": plan.why_not_played(now) if stored.state is State.RUNNING else "",
        "announcement": stored.announcement,
        "announced": stored.announced,
    }


def _names(plan: CompetitionPlan, games: Collection[int] | None) -> tuple[str, ...]:
    return tuple(plan.games[number].name for number in games or ())


def _require_few_of_an_owner(plan: CompetitionPlan, bots: Sequence[CompetitionEntry]) -> None:
    for owner in {each.owner for each in bots}:
        own = [each.name for each in bots if each.owner == owner]
        if len(own) > plan.max_bots_per_owner:
            raise MayNotEnter(
                f"{owner!r} has {len(own)} bots, {', '.join(own)}; max_bots_per_owner is "
                f"{plan.max_bots_per_owner}"
            )
