"""What becomes of a match that was cut short."""

import pytest

from arena.live.matches.interrupted import RecoveryAction, action_for
from arena.live.orders import (
    BY_HAND,
    SCHEDULED,
    DealSetOrder,
    TableOrder,
    deal_set_message,
    ordered_message,
)
from arena.records.deal_book import seeded_opening
from arena.records.journal.journal import boot_id
from arena.records.journal.recovery import UnfinishedMatch
from arena.testing.orders import match_order
from cardarena.v1 import journal_pb2

ALONE = match_order("abstrac", ("ann", "bob"), {"hands": 2}, seed="1", match_id="m")
SET = DealSetOrder("set", ALONE.terms, (TableOrder("m", ALONE.bots),), ALONE.seed)
HERE, BEFORE = boot_id(), "another boot"
RESUMES, WAITS, ENDS, DAMAGED = (
    RecoveryAction.RESUME_NOW,
    RecoveryAction.RESUME_WHEN_ORDERED,
    RecoveryAction.ABORT,
    RecoveryAction.ABORT_AS_DAMAGED,
)
OPENING = seeded_opening(ALONE.seed)

ACTIONS = [
    pytest.param(ALONE, BY_HAND, HERE, RESUMES, id="made by hand, the arena was killed"),
    pytest.param(ALONE, BY_HAND, "", RESUMES, id="made by hand, boots are not told apart"),
    pytest.param(ALONE, BY_HAND, BEFORE, ENDS, id="made by hand, the power was cut"),
    pytest.param(SET, SCHEDULED, HERE, WAITS, id="of a tournament, the arena was killed"),
    pytest.param(SET, SCHEDULED, BEFORE, WAITS, id="of a tournament, never from its first card"),
    pytest.param(ALONE, SCHEDULED, HERE, ENDS, id="of arena play, which has ended"),
    pytest.param(None, None, HERE, ENDS, id="its order is lost"),
]


@pytest.mark.parametrize(("order", "policy", "boot", "action"), ACTIONS)
def test_the_recovery_action_of_a_match(order, policy, boot, action):
    message = ordered_message(deal_set_message(order), "m", policy) if order else None
    deal_set = "set" if order is SET else ""
    opened = journal_pb2.Opened(match_id="m", deal_set=deal_set)
    assert action_for(UnfinishedMatch(opened, (), OPENING, (), message, boot)) is action
    # Whoever orders it again would play it with other packs than its bots have seen.
    assert action_for(UnfinishedMatch(opened, (), None, (), message, boot)) is DAMAGED
