"""When a submitted bot is frozen, and that it runs before anything is sent to it."""

from dataclasses import dataclass, field

import pytest
import trio
from trio.testing import MockClock

from arena.bots.bot_ids import BotId
from arena.live.frozen_bots import BREATH_EVERY_S, LOOK_S, FrozenBots
from arena.sandbox.spawner.control_group import ControlGroup

BOT = BotId("ann@1")


def run(main, *args):
    return trio.run(main, *args, clock=MockClock(autojump_threshold=0))


class Process:
    """A process that notes when it is frozen and thawed."""

    def __init__(self):
        self.exited = trio.Event()
        self.changes = []

    def freeze(self, *, frozen):
        self.changes.append((frozen, trio.current_time()))

    @property
    def is_frozen(self):
        return bool(self.changes) and self.changes[-1][0]


@dataclass
class Seat:
    match_id: str = "m1"

    @property
    def match_start(self):
        return self


@dataclass
class Session:
    is_idle: bool = True
    owes_on_deals: bool = False
    seats: list = field(default_factory=lambda: [Seat()])
    reach: object = None

    @property
    def incoming(self):
        return self

    def on_reach(self, reach):
        self.reach = reach


async def watched(session, seconds, may_ponder=()):
    """The process of a bot after so many seconds with this session."""
    bots, process = FrozenBots(lambda _: session), Process()
    bots.may_ponder.update(may_ponder)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bots.keep, BOT, process)
        await trio.sleep(seconds)
        frozen = process.is_frozen
        nursery.cancel_scope.cancel()
    return frozen, process


# fmt: off
CASES = [
    (Session(),                        (),      True,  "nothing is asked"),
    (Session(is_idle=False),           (),      False, "an ask is open, or it is away"),
    (Session(owes_on_deals=True),      (),      False, "it owes a message about a deal"),
    (Session(),                        ("m1",), False, "its match allows pondering"),
    (Session(),                        ("m2",), True,  "another match allows pondering"),
    (None,                             (),      False, "it has not said hello"),
]
# fmt: on


@pytest.mark.parametrize(("session", "ponder", "frozen", "why"), CASES, ids=[r[-1] for r in CASES])
def test_when_a_bot_is_frozen(session, ponder, frozen, why):
    frozen_at, process = run(watched, session, 1, ponder)
    assert frozen_at is frozen
    assert not process.is_frozen  # nobody keeps it any more


def test_a_bot_that_never_sends_its_part_of_a_deal_is_frozen_later():
    found, _ = run(watched, Session(owes_on_deals=True), 6)
    assert found


def test_a_bot_runs_before_it_is_sent_anything_and_until_the_next_look_but_one():
    async def main():
        session, process = Session(), Process()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(FrozenBots(lambda _: session).keep, BOT, process)
            await trio.sleep(1.01)
            assert process.is_frozen
            session.reach()
            assert not process.is_frozen
            await trio.sleep(LOOK_S)
            assert not process.is_frozen
            await trio.sleep(2 * LOOK_S)
            assert process.is_frozen
            process.exited.set()

    run(main)


def test_a_frozen_bot_runs_for_a_moment_now_and_then():
    _, process = run(watched, Session(), 4.5 * BREATH_EVERY_S)
    thawed = [at_s for frozen, at_s in process.changes if not frozen]
    frozen = [at_s for frozen, at_s in process.changes if frozen]
    assert len(thawed) >= 4
    for begin_s, end_s in zip(thawed, frozen[1:], strict=False):
        assert LOOK_S <= end_s - begin_s <= 3 * LOOK_S


def test_a_group_is_frozen_by_a_file(tmp_path):
    for frozen, text in ((True, "1"), (False, "0")):
        ControlGroup(str(tmp_path)).freeze(frozen=frozen)
        assert (tmp_path / "cgroup.freeze").read_text() == text
    ControlGroup(str(tmp_path / "removed")).freeze(frozen=False)
