"""Competitions of every format in a store, played by arithmetic as far as each goes."""

from datetime import UTC, datetime

from arena.contests.competition_service import CompetitionService
from arena.contests.draws import next_round
from arena.contests.plan import read_plan
from arena.records.signing import ArenaKey
from arena.results.deal_sets import planned
from arena.results.states import Action
from arena.store import BotKind, CompetitionEntry
from tests.contests import played
from tests.contests.played import outcome, toml

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
BOTS = ("ann", "bob b.", "cid", "dan", "eve", "fay", "gus", "hal")
SKILLS = {name: -1.5 * at for at, name in enumerate(BOTS)}
SKILLS["dan@2"] = SKILLS["dan"]
SEVERAL_GAMES = """
name = "two games"
kind = "tournament"
format = "round_robin"
seed = "s"
fair = false
deal_sets = 3
[[games]]
game = "sixty_six"
seats = 2
options = { hands = 4 }
[[games]]
game = "democracy"
seats = 3
options = { hands = 3 }
"""
LADDER = f'{played.LADDER}season = "2026"\n'

# fmt: off
FORMATS = [
    # name            bots  rounds  action    plan
    ("swiss",            8, 99,     "finish", toml("swiss")),
    ("swiss running",    7, 3,      "",       toml("swiss")),
    ("swiss of four",    8, 99,     "freeze", toml("swiss", seats=4, game="democracy")),
    ("knockout",         6, 99,     "finish", toml("knockout", deal_sets=0, own="most_deal_sets = 10")),
    ("double",           5, 7,      "",       toml("knockout", deal_sets=0, own="double = true\nmost_deal_sets = 10")),
    ("knockout of four", 8, 99,     "",       toml("knockout", seats=4, game="democracy")),
    ("groups",           8, 99,     "finish", toml("groups", own="groups = 2\nbest = 2")),
    ("gauntlet",         4, 99,     "",       toml("gauntlet", deal_sets=6, own='challenger = "ann"')),
    ("two games",        4, 99,     "finish", SEVERAL_GAMES),
]
# fmt: on


def entries(bots):
    return [
        CompetitionEntry(bot, bot, BotKind.COMMAND, f"/home/canary/{bot}", f"{bot}.py")
        for bot in bots
    ]


class Organiser:
    """Has competitions of a store played."""

    def __init__(self, store):
        self.store, self.held = store, store.competitions()
        self.service = CompetitionService(self.held, ArenaKey.new(), now=lambda: NOW)

    def create(self, name, text, bots):
        text = text.replace('name = "autumn"', f'name = "{name}"')
        plan = self.service.create(text, who="org", bots=entries(bots))
        self.act(name, "start")
        return plan

    def act(self, name, action):
        self.service.control(name, Action(action), who="org")

    def draw(self, name, game):
        """Draw and keep the next round; False if there is none."""
        record = self.held.record(name)
        plan = read_plan(record.config)
        drawn = next_round(plan, game, record.candidates, record.games[game].past())
        if drawn is not None:
            self.held.keep_round(name, game, drawn.round, drawn.deal_sets)
        return drawn is not None

    def play(self, name, game, most=999):
        """Play what is drawn, all of it or so many deal-sets, and publish it."""
        deal_sets = self.held.deal_sets(name, game)
        for plan in deal_sets.take(most):
            ended = {match.id: outcome(match, SKILLS) for match in plan.matches}
            deal_sets.report_many([(plan, ended)], now_unix_ms=1)
            self.store.matches().mark_published(list(ended))

    def run(self, name, text, bots, rounds, action):
        """A competition as a row of `FORMATS` says; one that is not over has an open deal-set more."""
        for game in range(len(self.create(name, text, bots).games)):
            for _ in range(rounds):
                if not self.draw(name, game):
                    break
                self.play(name, game)
            else:
                if self.draw(name, game):
                    self.play(name, game, most=1)
        if action:
            self.act(name, action)

    def ladder(self, bots, deal_sets):
        """A ladder on which the deal-sets of neighbours were drawn; the last one is open.

        One bot plays by a version, as submitted bots do.
        """
        self.create("summer", LADDER, bots)
        players = [f"{bot}@2" if bot == "dan" else bot for bot in bots]
        for number in range(1, deal_sets + 1):
            at = number % (len(bots) - 1)
            pair = players[at], players[(at + 1) % len(bots)]
            self.held.keep_draw("summer", 0, planned(number, pair, "s", "summer"))
            if number < deal_sets:
                self.play("summer", 0)


def build(store):
    """Play all of them."""
    organiser = Organiser(store)
    for name, bots, rounds, action, text in FORMATS:
        organiser.run(
            name.replace(" ", "-"),
            text.replace(name, name.replace(" ", "-")),
            BOTS[:bots],
            rounds,
            action,
        )
    organiser.ladder(BOTS[:4], 45)
    organiser.service.disqualify("swiss-running", "gus", reason="played two accounts", who="org")
