"""Competitions that are played by arithmetic: who is how good is known, and luck is drawn."""

from dataclasses import replace

from arena.contests.draws import next_round
from arena.contests.plan import read_plan
from arena.results.deal_sets import MatchOutcome, digest
from arena.results.record import Candidate, CompetitionRecord, GameRecord, Out

LADDER = """
name = "summer"
kind = "ladder"
game = "sixty_six"
seats = 2
seed = "s"
fair = false
"""


def toml(format_, *, seats=2, deal_sets=2, game="sixty_six", own="", more="", head=""):
    lines = [
        'name = "autumn"',
        'kind = "tournament"',
        f'format = "{format_}"',
        f'game = "{game}"',
        f"seats = {seats}",
        'seed = "s"',
        "fair = false",
        head,
        f"options = {{ hands = {2 * seats if game != 'democracy' else seats} }}",
    ]
    if deal_sets:
        lines.append(f"deal_sets = {deal_sets}")
    return "\n".join([*lines, f"[{format_}]" if own else "", own, more]) + "\n"


def waits(service, name):
    """Why nothing of a competition begins, as its readers see it."""
    stored, _ = service.get(name)
    return service.waits(stored)


def candidates(names, owners=None):
    return tuple(
        Candidate(name, (owners or {}).get(name, name), seed) for seed, name in enumerate(names, 1)
    )


def noise(*about):
    return int(digest(*about)[:8], 16) / 2**32 - 0.5


def outcome(match, skills, luck=2.0, forfeited=()):
    raw = [skills[bot] + luck * noise(match.id, bot) for bot in match.bots]
    mean = sum(raw) / len(raw)
    scores = [max(-6.0, min(6.0, round(each - mean, 3))) for each in raw]
    ranks = [(bot not in forfeited, score) for bot, score in zip(match.bots, scores, strict=True)]
    places = tuple(1 + sum(other > own for other in ranks) for own in ranks)
    return MatchOutcome(
        match.id,
        tuple(scores),
        places,
        "completed",
        tuple({} for _ in scores),
        forfeited=tuple(bot in forfeited for bot in match.bots),
        fallback_share=tuple(0.0 for _ in scores),
        hands=4,
        decisions=40,
    )


class Played:
    """A competition in memory that is drawn and played round by round."""

    def __init__(self, text, names, skills=None, owners=None, forfeited=()):
        self.plan = read_plan(text)
        self.skills = skills or {name: -float(at) for at, name in enumerate(names)}
        self.forfeited = forfeited
        self.record = CompetitionRecord(
            text, candidates(names, owners), tuple(GameRecord() for _ in self.plan.games)
        )

    def step(self, game=0):
        """Draw a round and play it; False if there is none."""
        own = self.record.games[game]
        drawn = next_round(self.plan, game, self.record.candidates, own.past())
        if drawn is None:
            return False
        known = {
            match.id: outcome(match, self.skills, forfeited=self.forfeited)
            for each in drawn.deal_sets
            for match in each.matches
        }
        self._set(
            game,
            GameRecord(
                (*own.rounds, drawn.round),
                (*own.deal_sets, *drawn.deal_sets),
                {**own.outcomes, **known},
            ),
        )
        return True

    def run(self):
        for game in range(len(self.plan.games)):
            while self.step(game):
                pass
        return self

    def go_out(self, name, out=Out.WITHDRAWN):
        after = {at: len(game.rounds) for at, game in enumerate(self.record.games)}
        self.record = replace(
            self.record,
            candidates=tuple(
                replace(each, out=out, out_after=after, reason="asked")
                if each.name == name
                else each
                for each in self.record.candidates
            ),
        )

    def _set(self, at, game):
        games = list(self.record.games)
        games[at] = game
        self.record = replace(self.record, games=tuple(games))

    def drawn_again(self):
        """Every round as it comes out when it is drawn again from those before."""
        for at, game in enumerate(self.record.games):
            for number, round_ in enumerate(game.rounds, 1):
                drawn = next_round(self.plan, at, self.record.candidates, game.past(number))
                held = [d for d in game.deal_sets if d.round == number]
                yield (round_, tuple(held)), (drawn.round, drawn.deal_sets)
