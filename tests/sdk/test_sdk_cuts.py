"""SDKs of all languages under cuts of their connection and kills of the arena: no move is lost."""

import asyncio
import contextlib
import subprocess
from random import Random

import pytest

from arena.testing.conformance.relay import Relay
from tests.chaos.processes import until
from tests.chaos.trial import Order, Trial
from tests.sdk.languages import each_language

CUTS, KILLS = 30, 5
MATCHES = 4
THINK_MS = 20
HANDS = 12


class Child:
    """The client's process, in front of which connections are cut."""

    def __init__(self, command, address, folder):
        self.printed = folder / "printed"
        self._out, self._err = self.printed.open("w"), (folder / "told").open("w")
        self._process = subprocess.Popen(
            [*command, "--sleep-ms", str(THINK_MS), "--address", address, "--token", "guest:cut"],
            stdout=self._out,
            stderr=self._err,
        )

    def lines(self):
        return self.printed.read_text().splitlines()

    def end(self):
        self._process.kill()
        self._process.wait()
        self._out.close()
        self._err.close()


async def disturbed(command, folder):
    """All matches of one client, played through cuts and kills; what it printed, and the books."""
    random = Random(5)
    async with Trial(seed=5) as trial:
        trial.bot("other")
        await trial.all_welcome()
        relay = Relay(trial.server.port, readable=False)
        child = Child(command, f"127.0.0.1:{relay.port}", folder)
        with contextlib.ExitStack() as stack:
            stack.callback(child.end)
            stack.callback(relay.close)
            for number in range(MATCHES):
                order = Order("abstrac", ("cut", "other"), f"{number}", hands=HANDS)
                await trial.order_when_possible(order)
            kills = set(random.sample(range(CUTS), KILLS))
            cuts = 0
            for number in range(CUTS):
                await asyncio.sleep(random.uniform(0.05, 0.25))
                if not trial.running():
                    break
                relay.reset()
                cuts += 1
                if number in kills:
                    await trial.kill()
                    await trial.restart()
            await trial.all_ended()
            await until(lambda: len(child.lines()) >= 2 * MATCHES, "the client to hear of all ends")
            trial.tail.look()
            return cuts, child.lines(), trial.tail.books


@pytest.mark.parametrize("language", each_language(deep=True))
def test_cuts_and_kills_lose_no_move(tmp_path, language):
    client = language.client()
    cuts, printed, books = asyncio.run(disturbed(client, tmp_path))
    assert cuts == CUTS, "the matches last until the last cut"
    assert sum(line.startswith("started") for line in printed) == MATCHES
    assert sum(line.endswith("completed") for line in printed) == MATCHES
    assert len(printed) == 2 * MATCHES
    assert len(books) == MATCHES
    faults = [decided for book in books.values() for decided in book.decided if decided.fault]
    assert faults == []
