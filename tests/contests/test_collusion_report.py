"""Which owners an organiser is shown, of what a competition has come to."""

import statistics
from dataclasses import replace

import pytest

from arena.contests.collusion_report import suspected, without_shared
from arena.results.record import Out, WorkerBegins, record_json, record_of_json
from tests.contests.played import Played, toml

pytestmark = pytest.mark.deep("statistics")  # simulates tournaments

NAMES = ("ann", "bob", "cid", "dan", "eve", "fay")
OWNERS = {name: name.upper() for name in NAMES}
PARTNERS = {"bob", "eve"}


def played(helped=0.0, *, deal_sets=6, game="democracy", seats=3):
    """A round robin; where the partners sit together, each takes so many points from the third."""
    own = Played(
        toml("round_robin", seats=seats, game=game, deal_sets=deal_sets), NAMES, owners=OWNERS
    )
    while own.step():
        pass
    (held,) = own.record.games
    outcomes = dict(held.outcomes)
    for deal_set in held.deal_sets:
        for match in deal_set.matches:
            if set(match.bots) >= PARTNERS:
                gains = [helped if bot in PARTNERS else -2 * helped for bot in match.bots]
                before = outcomes[match.id]
                scores = tuple(a + b for a, b in zip(before.scores, gains, strict=True))
                outcomes[match.id] = replace(before, scores=scores)
    return replace(own.record, games=(replace(held, outcomes=outcomes),))


def test_owners_whose_bots_help_each_other_stand_out():
    (game,) = suspected(played(1.5, deal_sets=16))["games"]
    first, *others = game["pairs"]
    assert (game["game"], game["seats"]) == ("democracy", 3)
    assert (first["owners"], first["stands"]) == (["BOB", "EVE"], True)
    assert first["joint"]["points"] > 0.5
    assert not any(each["stands"] for each in others)
    assert len(others) == 14


def test_without_help_no_pair_is_reported():
    (game,) = suspected(played())["games"]
    assert not any(each["stands"] for each in game["pairs"])


def test_an_earlier_competition_is_evidence_too():
    record = played(0.0)
    (alone,), (both,) = (
        suspected(record, earlier=earlier)["games"] for earlier in ([], [played(1.5, deal_sets=16)])
    )
    assert not any(each["stands"] for each in alone["pairs"])
    first = both["pairs"][0]
    assert (first["owners"], first["stands"]) == (["BOB", "EVE"], True)
    assert first["deal_sets"] > alone["pairs"][0]["deal_sets"]
    other_game = played(1.5, deal_sets=16, game="sixty_six", seats=2)
    assert suspected(record, earlier=[other_game])["games"] == [alone], "of the same game alone"


def test_a_disqualified_bots_owner_is_not_looked_at_any_more():
    record = played(1.5)
    out = tuple(
        replace(each, out=Out.DISQUALIFIED) if each.name == "eve" else each
        for each in record.candidates
    )
    (game,) = suspected(replace(record, candidates=out))["games"]
    assert not any("EVE" in each["owners"] for each in game["pairs"])


def test_the_same_comes_of_what_was_exported():
    record = played(1.5)
    head, *deal_sets = record_json(record)
    assert suspected(record_of_json(head, deal_sets)) == suspected(record)


def test_the_places_of_those_who_stand_out_are_given_without_their_shared_tables():
    (game,) = suspected(played(1.5, deal_sets=16))["games"]
    first = game["pairs"][0]
    assert [each["bot"] for each in first["places"]] == ["bob", "eve"]
    with_help, alone = ({e["bot"]: e[of] for e in first["places"]} for of in ("place", "without"))
    assert with_help["eve"] < alone["eve"]
    assert not any(each["places"] for each in game["pairs"] if not each["stands"])


def test_tables_of_an_owner_or_those_of_two_can_be_left_out():
    record = played()
    bots = [set(each.bots) for each in record.games[0].deal_sets]

    def left(*owners):
        game = without_shared(record, owners).games[0]
        return [set(each.bots) for each in game.deal_sets if not each.is_void]

    assert left("BOB") == [each for each in bots if "bob" not in each]
    assert left("BOB", "EVE") == [each for each in bots if not each >= {"bob", "eve"}]


def test_a_worker_that_fails_what_a_bot_has_lost_stands_out():
    """Three workers in turn; the first failed each deal-set that ann had lost, and the second reported it."""
    record = played(deal_sets=16)
    (held,) = record.games
    own = {
        deal_set.id: sum(
            held.outcomes[match.id].scores[match.bots.index("ann")] for match in deal_set.matches
        )
        for deal_set in held.deal_sets
        if "ann" in deal_set.bots
    }
    typical, begins = statistics.median(own.values()), WorkerBegins({}, {})
    for at, deal_set in enumerate(held.deal_sets):
        first = ("m1@a", "m2@a", "m3@a")[at % 3]
        if first == "m1@a" and own.get(deal_set.id, typical) < typical:
            begins.failed[deal_set.id] = (first,)
            first = "m2@a"
        begins.played[deal_set.id] = first
    (game,) = suspected(record, [begins])["games"]
    found = [(each["worker"], each["bot"]) for each in game["workers"] if each["stands"]]
    assert ("m1@a", "ann") in found
    assert {worker for worker, _ in found} == {"m1", "m1@a"}
    (without,) = suspected(record)["games"]
    assert without["workers"] == []
