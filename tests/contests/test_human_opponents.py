"""Matches of people against submitted bots: who accepts them, how many at a time, and what fails."""

import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
import trio

from arena.bots.bot_ids import BotId
from arena.bots.tokens import Tokens
from arena.contests.human_opponents import MOST_IN_PLAY, HumanOpponents
from arena.errors.refused import Refused
from arena.live.host import TrioGuest
from arena.live.launcher import NoShow
from arena.live.players import OF_PEOPLE, Players
from arena.results.versions import VersionEvent
from arena.store import open_store
from tests.contests.test_challenges import add_bot, declared, terms_of

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ACCEPTS = 3


def accepting(game, most):
    return declared(game, 0) | {"accepts_humans": most}


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "arena.db") as store:
        games = [accepting("sixty_six", ACCEPTS), accepting("klaberjass", 0)]
        add_bot(store, "bob", "bee", games)
        add_bot(store, "cid", "cat", games, VersionEvent.QUALIFIED)
        add_bot(store, "dot", "dog", [accepting("sixty_six", 100)])
        yield store


class Launching:
    """Launches bots, of which none starts; with `held` no start ends."""

    def __init__(self, *, held=False):
        self.held, self.wanted = held, []
        self.all_wanted = asyncio.Event()

    def is_launched(self, name):
        return True

    async def require(self, bots):
        self.wanted.append(bots)
        if len(self.wanted) == MOST_IN_PLAY:
            self.all_wanted.set()
        if self.held:
            await trio.sleep_forever()
        raise NoShow("its file /home/bob/bot.py has an error")


@asynccontextmanager
async def people_at(store, players, now=lambda: NOW):
    """The opponents of an arena that runs."""
    arena = SimpleNamespace(
        tokens=Tokens(),
        sessions=SimpleNamespace(get=lambda bot: None),
        now_s=lambda: 0.0,
        draining=False,
    )
    people = HumanOpponents(arena, store, now)
    guest = TrioGuest(lambda: people.run(players))
    guest.start()
    await asyncio.sleep(0)
    yield people
    guest.cancel()
    await guest.ended


async def reason_of(people, opponent="bee", game="sixty_six"):
    try:
        await people.seat(opponent, terms_of(game))
    except Refused as refused:
        return refused.reason
    return ""


# fmt: off
WHOM = [
    # opponent    game          reason                 why
    ("bee",       "sixty_six",  "BOT_NOT_AVAILABLE",   "it accepts people, and cannot be launched"),
    ("bee",       "klaberjass", "NOT_ACCEPTED",        "it accepts none in this game"),
    ("bee",       "abstrac",    "BOT_NOT_AVAILABLE",   "it does not play this game"),
    ("cat",       "sixty_six",  "UNKNOWN_BOT",         "no version is active"),
    ("nobody",    "sixty_six",  "UNKNOWN_BOT",         "there is no such bot"),
    ("bee@1",     "sixty_six",  "UNKNOWN_BOT",         "a version, and not a bot"),
]
# fmt: on


@pytest.mark.parametrize(
    ("opponent", "game", "reason"), [row[:3] for row in WHOM], ids=[row[3] for row in WHOM]
)
def test_whom_people_may_play(store, opponent, game, reason):
    async def main():
        async with people_at(store, Launching()) as people:
            assert await reason_of(people, opponent, game) == reason

    asyncio.run(main())


def test_what_a_bot_failed_at_is_not_for_a_person(store):
    async def main():
        async with people_at(store, Launching()) as people:
            with pytest.raises(Refused) as refused:
                await people.seat("bee", terms_of("sixty_six"))
            assert "bot.py" not in str(refused.value)

    asyncio.run(main())


def test_a_bot_accepts_so_many_a_day(store):
    today = [NOW]

    async def main():
        async with people_at(store, Launching(), lambda: today[0]) as people:
            asked = [await reason_of(people) for _ in range(ACCEPTS + 1)]
            assert asked == ["BOT_NOT_AVAILABLE"] * ACCEPTS + ["BUSY"]
            today[0] += timedelta(days=1)
            assert await reason_of(people) == "BOT_NOT_AVAILABLE"

    asyncio.run(main())


def test_so_many_people_play_at_a_time_each_with_a_process_of_the_bot(store):
    async def main():
        players = Launching(held=True)
        async with people_at(store, players) as people:
            seats = [asyncio.create_task(reason_of(people, "dog")) for _ in range(MOST_IN_PLAY)]
            await players.all_wanted.wait()
            assert await reason_of(people, "dog") == "BUSY"
            assert len({bot for wanted in players.wanted for bot in wanted}) == MOST_IN_PLAY
            for seat in seats:
                seat.cancel()

    asyncio.run(main())


def test_bots_that_accept_people_are_listed_with_the_games_in_which_they_do(store):
    async def main():
        async with people_at(store, Launching()) as people:
            listed = await asyncio.to_thread(people.accepting)
            games = {bot: [game["id"] for game in of_bot] for bot, of_bot in listed.items()}
            assert games == {"bee": ["sixty_six"], "dog": ["sixty_six"]}

    asyncio.run(main())


def test_no_deal_set_of_a_competition_waits_for_a_person(tmp_path):
    async def main():
        async with trio.open_nursery() as nursery:
            table = SimpleNamespace(bots=(BotId("(house)", OF_PEOPLE),))
            in_play = {"m": SimpleNamespace(table=table)}
            arena = SimpleNamespace(matches=SimpleNamespace(in_play=in_play), sessions=())
            of_competitions = Players(arena, tmp_path, tmp_path, nursery)
            of_people = Players(arena, tmp_path, tmp_path, nursery, of_people=True)
            assert (of_competitions._any_plays, of_people._any_plays) == (False, True)
            table.bots = (BotId("(house)", 1),)
            assert (of_competitions._any_plays, of_people._any_plays) == (True, False)

    trio.run(main)
