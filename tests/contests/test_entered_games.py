"""Which games of a competition a bot enters: those that it declares, and the standings that follow."""

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest
import trio

from arena.contests.competition_service import CompetitionService
from arena.contests.draws import next_round
from arena.contests.entrants import launched_entries, learn_games
from arena.contests.ladder import Ladder
from arena.contests.ladder_presence import LadderPresence
from arena.contests.pairing import Pairing
from arena.contests.plan import PlanError, entered_names, read_plan
from arena.contests.standings import live_standings
from arena.records.signing import ArenaKey
from arena.results.record import header_json, record_of_json
from arena.results.versions import VersionEvent
from arena.sandbox.command import BadCommand
from arena.store import BotKind, CompetitionEntry, MayNotEnter, open_store
from tests.contests.played import Played, toml
from tests.contests.test_ladder_presence import Players as Restless
from tests.store.test_registry import key_of

NOW = datetime(2026, 11, 25, tzinfo=UTC)
TWO_GAMES = '[[games]]\ngame = "sixty_six"\n[[games]]\ngame = "klaberjass"\n'
TOURNAMENT = toml("round_robin", more=TWO_GAMES)
LADDER = f'name = "autumn"\nkind = "ladder"\nseats = 2\nseed = "s"\n{TWO_GAMES}'
SIXTY_SIX, KLABERJASS = 0, 1


def command(name, games=None):
    return CompetitionEntry(name, name, BotKind.COMMAND, f"./{name}", games=games)


@dataclass
class Session:
    games: frozenset
    connected: bool = True

    def plays(self, game_id, rules_version, seats):
        return game_id in self.games


@dataclass
class Arena:
    sessions: dict = field(default_factory=dict)


@dataclass
class Players:
    """Has each bot connect that says which games it plays."""

    arena: Arena
    says: dict
    asked: list = field(default_factory=list)

    async def ensure(self, bots):
        self.asked += [bot.name for bot in bots]
        for bot in bots:
            if bot.name in self.says:
                self.arena.sessions[bot] = Session(frozenset(self.says[bot.name]))


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "arena.db") as store:
        yield store
        assert store.violations() == ()


def service_of(store, text, *bots):
    service = CompetitionService(store.competitions(), ArenaKey.new(), now=lambda: NOW)
    service.create(text, who="org", bots=bots)
    return service


# Draws.


def games_played(record, game):
    drawn = next_round(read_plan(TOURNAMENT), game, record.candidates, ())
    return {bot for each in drawn.deal_sets for bot in each.bots}


def test_a_tournament_draws_each_game_among_the_bots_that_enter_it(store):
    bots = [command(name, (SIXTY_SIX,)) for name in ("ann", "bob")]
    bots += [command(name, (KLABERJASS,)) for name in ("cid", "dan")] + [command("eve")]
    service_of(store, TOURNAMENT, *bots)
    record = store.competitions().record("autumn")
    assert games_played(record, SIXTY_SIX) == {"ann", "bob", "eve"}
    assert games_played(record, KLABERJASS) == {"cid", "dan", "eve"}
    head = header_json(record)
    assert header_json(record_of_json(head, [])) == head


def test_a_ladder_pairs_in_each_game_the_bots_that_enter_it(store):
    only = {"ann": (SIXTY_SIX,), "bob": (SIXTY_SIX,), "cid": (KLABERJASS,), "dan": None}
    service_of(store, LADDER, *(command(name, games) for name, games in only.items()))
    plan = read_plan(LADDER)

    async def paired(game):
        ladder = Ladder(plan, game, store, Arena(), None, now=lambda: NOW)
        entered = await ladder.entered()
        presence = LadderPresence(plan.games[game].terms, Arena(), Restless(), entered)
        waiting = presence.look(entered, {}, {}, {})
        pairing = Pairing("s", 2)
        return {bot for _ in range(6) for bot in pairing.draw(waiting).bots}

    assert trio.run(paired, SIXTY_SIX) == {"ann", "bob", "dan"}
    assert trio.run(paired, KLABERJASS) == {"cid", "dan"}


def test_standings_of_a_game_have_rows_of_the_bots_that_enter_it_or_have_played(store):
    only = {"ann": (SIXTY_SIX,), "bob": (SIXTY_SIX,), "cid": (KLABERJASS,), "unsaid": None}
    service_of(store, LADDER, *(command(name, games) for name, games in only.items()))
    shown = live_standings(store.competitions().record("autumn"))
    rows = [{row["bot"] for row in game["rows"]} for game in shown["games"]]
    assert rows == [{"ann", "bob"}, {"cid"}]


# Declarations: in the plan, in the manifest of the active version, or in the bot's hello.

# fmt: off
PLANS = [
    # of the bot                                     problem                                    why
    ('games = ["sixty_six"]',                        None,                                      "a game of the plan"),
    ('games = ["soko"]',                             "ann plays soko, which is no game of",     "another game"),
    ('games = ["sixty-six"]',                        "there is no game 'sixty-six'",            "no game at all"),
]
# fmt: on


@pytest.mark.parametrize(("own", "problem", "why"), PLANS, ids=[row[-1] for row in PLANS])
def test_a_plan_names_the_games_of_a_launched_bot(own, problem, why):
    text = f'{LADDER}[bots]\nann = {{ command = "./ann", {own} }}\n'
    if problem is None:
        assert read_plan(text).bots["ann"].games == ("sixty_six",)
        return
    with pytest.raises(PlanError, match=problem):
        read_plan(text)


def registered(store):
    """A bot whose archives the arena starts, without a version."""
    registry = store.registry()
    registry.invite("code", "ann", invited_by="org", now=NOW)
    registry.register("code", key_of, now=NOW)
    registry.create_bot("deep", "ann", BotKind.UPLOADED, now=NOW)


def version_in(store, events, games=()):
    """A version of it, with what happened to it after it was submitted."""
    registry = store.registry()
    manifest = {"games": [{"id": game, "seats": [2], "rules": rules} for game, rules in games]}
    registry.submit("deep", sha256="0" * 64, manifest=manifest, now=NOW)
    for event in events:
        registry.record("deep", 1, event, who="ann", now=NOW)


def submitted(store, *games):
    registered(store)
    version_in(store, (VersionEvent.CHECKED, VersionEvent.QUALIFIED, VersionEvent.ACTIVE), games)


# fmt: off
MANIFESTS = [
    # declared                                     entered                                  why
    ([("sixty_six", 1)],                           ("sixty_six of 2",),                     "one of the games"),
    ([("sixty_six", 1), ("klaberjass", 1)],        ("sixty_six of 2", "klaberjass of 2"),   "both"),
    ([("sixty_six", 1), ("klaberjass", 99)],       ("sixty_six of 2",),                     "other rules"),
    ([("soko", 1)],                                None,                                    "neither"),
]
# fmt: on


@pytest.mark.parametrize("text", [TOURNAMENT, LADDER], ids=["tournament", "ladder"])
@pytest.mark.parametrize(
    ("declared", "entered", "why"), MANIFESTS, ids=[row[-1] for row in MANIFESTS]
)
def test_a_submitted_bot_enters_the_games_of_its_active_version(
    store, text, declared, entered, why
):
    rules = {each.game: each.terms.game.rules_version for each in read_plan(text).games}
    submitted(store, *((game, rules.get(game, 1) if v == 1 else v) for game, v in declared))
    service = service_of(store, text)
    entry = service.entry_of("autumn", "deep", store)
    if entered is None:
        with pytest.raises(MayNotEnter, match="declares no game of 'autumn', which has sixty_six"):
            service.enter("autumn", entry, who="ann")
        return
    assert service.enter("autumn", entry, who="ann") == entered
    (shown,) = service.get("autumn")[0].entries
    # The next version on a ladder may declare other games, so none are stored.
    games = entered_names(read_plan(text), shown.games)
    assert games == (entered if text is TOURNAMENT else ())


# fmt: off
HELLOS = [
    # bot                              its hello                       then enters        why
    (command("ann"),                   {"sixty_six"},                  (SIXTY_SIX,),      "one game"),
    (command("ann"),                   {"sixty_six", "klaberjass"},    (0, 1),            "both games"),
    (command("ann"),                   {"soko"},                       (),                "none of the games"),
    (command("ann"),                   None,                           None,              "it does not connect"),
    (command("ann", (KLABERJASS,)),    {"sixty_six"},                  (KLABERJASS,),     "the plan has named them"),
]
# fmt: on


@pytest.mark.parametrize(("bot", "hello", "games", "why"), HELLOS, ids=[r[-1] for r in HELLOS])
def test_a_launched_bot_is_asked_before_play(store, bot, hello, games, why):
    service = service_of(store, LADDER, bot)
    competitions, arena = store.competitions(), Arena()
    players = Players(arena, {} if hello is None else {"ann": hello})
    trio.run(learn_games, arena, players, competitions, competitions.get("autumn"))
    (entered,) = competitions.get("autumn").entries
    assert entered.games == games
    assert players.asked == ([] if bot.games else ["ann"])
    (shown,) = service.get("autumn")[0].entries
    assert bool(shown.away) == (games == ())


def test_what_is_drawn_stays_when_a_bot_declares_its_games_late(store):
    service_of(store, TOURNAMENT, command("ann"), command("bob"))
    competitions = store.competitions()
    record = competitions.record("autumn")
    drawn = next_round(read_plan(TOURNAMENT), SIXTY_SIX, record.candidates, ())
    competitions.keep_round("autumn", SIXTY_SIX, drawn.round, drawn.deal_sets)
    competitions.set_games("autumn", "ann", (KLABERJASS,))
    assert competitions.record("autumn").candidates == record.candidates


# Standings.


def standings_of(games):
    """The standings after bots entered these games, each the better the earlier its name."""
    run = Played(TOURNAMENT, list(games))
    candidates = tuple(replace(e, games=games[e.name]) for e in run.record.candidates)
    run.record = replace(run.record, candidates=candidates)
    return live_standings(run.run().record)


def test_a_bot_that_alone_plays_every_game_leads_nobody():
    own = {"ann": (0,), "bob": (0,), "cid": (1,), "dan": (1,), "random": None}
    found = standings_of(own)
    assert [[row["bot"] for row in game["rows"]] for game in found["games"]] == [
        ["ann", "bob", "random"],
        ["cid", "dan", "random"],
    ]
    assert {row["bot"]: row["score"] for row in found["overall"]} == dict.fromkeys(own)
    assert {row["bot"]: [each is None for each in row["by_game"]] for row in found["overall"]} == {
        "ann": [False, True],
        "bob": [False, True],
        "cid": [True, False],
        "dan": [True, False],
        "random": [False, False],
    }


def test_bots_that_play_every_game_are_ranked_and_the_others_follow_without_a_score():
    found = standings_of({"ann": (0,), "bob": None, "cid": None, "dan": (1,)})
    rows = [(row["bot"], row["score"] is not None) for row in found["overall"]]
    assert rows == [("bob", True), ("cid", True), ("ann", False), ("dan", False)]


# fmt: off
FOR_WORKERS = [
    # the plan's class        command               why it does not enter                                        id
    ("",                      "cat bot.py",         "",                                                          "the arena runs any command"),
    ("speed_class = 0",       "house:sample",       "",                                                          "the house bot is everywhere"),
    ("speed_class = 0",       "bot.py",             "",                                                          "a single file is packed"),
    ("speed_class = 0",       "bot.py --level 3",   "a single file of Python, can be played on other machines",  "an option does not travel"),
    ("speed_class = 0",       "cat bot.py",         "a single file of Python, can be played on other machines",  "a program does not travel"),
]
# fmt: on


@pytest.mark.parametrize(
    ("speed_class", "words", "why"),
    [row[:3] for row in FOR_WORKERS],
    ids=[row[3] for row in FOR_WORKERS],
)
def test_a_bot_enters_where_it_can_be_played(speed_class, words, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.py").touch()
    bots = f'[bots]\nann = "{words}"\n'
    plan = read_plan(toml("round_robin", head=speed_class, more=bots))
    with pytest.raises(BadCommand, match=why) if why else nullcontext():
        assert launched_entries(plan)
