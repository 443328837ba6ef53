"""Each SDK's random bot at every game against Python's, on a real arena, by fair deals.

Go stands for all: it is quickly built, and the other SDKs are tried if they or the kit changed."""

import asyncio
import contextlib
import json
import subprocess

import pytest
from click.testing import CliRunner

from arena.cli.replay import replay
from arena.games.catalogue import GAMES
from tests.chaos.processes import until
from tests.chaos.trial import Order, Trial
from tests.sdk.languages import RANDOM, each_language, played, python

OTHERS = [f"py{seat}" for seat in range(1, max(game.seats[0] for game in GAMES))]
JAM_PLAYERS = {"Go", "Rust", "Java", "C++"}


@contextlib.contextmanager
def connected(command, address, name, *arguments):
    """A bot's process for as long as it is needed."""
    process = subprocess.Popen(
        [*command, "--address", address, "--token", f"guest:{name}", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.kill()
        process.wait()


async def all_games(command, folder):
    """Plays all games at a time; the folder has a receipt of each."""
    receipts = folder / "receipts"
    async with Trial(folder=folder) as trial:
        with contextlib.ExitStack() as stack:
            for name in OTHERS:
                stack.enter_context(connected(python().random, trial.server.address, name))
            own = connected(command, trial.server.address, "own", "--receipts", str(receipts))
            stack.enter_context(own)
            for game in GAMES:
                bots = ("own", *OTHERS[: game.seats[0] - 1])
                await trial.order_when_possible(Order(game.id, bots, ""))
            await trial.all_ended()
            await until(lambda: told_of(receipts) == len(GAMES), "a receipt of each match")
        return trial.data / "replays", sorted(receipts.glob("*.json"))


def told_of(receipts):
    """How many receipts hold a match to its end, up to which they are written anew."""
    kept = (json.loads(path.read_text("utf-8")) for path in receipts.glob("*.json"))
    return sum(any(match["replay_id"] for match in each["matches"]) for each in kept)


def verified(replays, receipts):
    """What `arena replay verify` says of each game with the receipts."""
    given = [word for path in receipts for word in ("--receipt", f"{path}")]
    told = CliRunner().invoke(replay, ["verify", "--json", f"{replays}", *given])
    assert told.exit_code == 0, told.output
    return {each["game"]: each for each in json.loads(told.stdout)["replays"]}


@pytest.mark.slow
@pytest.mark.parametrize("language", each_language("Python", deep=True, but="Go"))
def test_the_random_bot_plays_every_game_and_its_receipts_hold(tmp_path, language):
    found = verified(*asyncio.run(all_games(language.programs().random, tmp_path)))
    assert set(found) == {game.id for game in GAMES}
    for game in GAMES:
        one = found[game.id]
        assert (one["ending"], one["faults"]) == ("completed", 0), game.id
        assert one["receipts"] == 1, game.id
        assert one["entropy_from"] == game.seats[0], game.id
        assert one["asks_compared"] > 0, game.id


@pytest.mark.slow
@pytest.mark.parametrize("language", each_language("Python", deep=True, but="Go"))
def test_its_real_bot_plays_without_a_fault(tmp_path, language):
    game_id = "jam" if language.name in JAM_PLAYERS else "sixty_six"
    (game,) = [game for game in GAMES if game.id == game_id]
    told = played(tmp_path, game, f"own={' '.join(language.programs().real)}", str(RANDOM))
    assert (told["ending"], told["faults"]) == ("completed", [])
