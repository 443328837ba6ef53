"""A bot's own receipt as evidence: with it, its owner needs to trust nobody."""

import json
from pathlib import Path

import pytest

from arena.records.deal_book import view_of
from arena.referee.deal import seal, server_commitment, transcript, view_transcript
from cardarena._deals import Deal
from cardarena._receipts import written as sdk_written
from tests.browser.fair_matches import ALPHA, BARE, BETA, drawn, played
from tests.browser.node import failures
from tests.browser.test_lies import forged, lie, opens_itself_anew

FD1 = Path(__file__).parents[1] / "records" / "fd1"


def told(made, bot):
    """What a bot was told: context, the arena's commitment, its own commitment and the seal."""
    deal, participants = made.deal, made.deal.fair_deal.participants
    (own,) = (each for each in participants if each.participant == bot.participant)
    commitments = {each.participant: each.commitment for each in participants}
    fixed = transcript(deal.context, deal.fair_deal.server_commitment, commitments)
    view = view_of(deal.context, own)
    committed = server_commitment(view, deal.revealed.secret)
    return view, committed, own.commitment, seal(view, fixed, own.salt)


def receipt_of(made, bot=ALPHA, **fields):
    """What the bot's own software has kept, with some fields otherwise."""
    view, committed, own, sealed = told(made, bot)
    shown = view_transcript(view, committed, bot.participant, own, sealed)
    receipt = {
        "receipt": "fd2",
        "context": view.hex(),
        "server_commitment": committed.hex(),
        "participant": bot.participant,
        "entropy": bot.entropy.hex(),
        "transcript": shown.hex(),
        "lies": [],
        "matches": [{"match": 1, "replay_id": "m1"}],
    }
    return json.dumps(receipt | fields).encode()


def test_a_receipt_bears_a_replay_out(node):
    made = played()
    report = node.examine(made.replay, receipts=[receipt_of(made), receipt_of(made, BETA)])
    assert report["verdict"] == "fair"
    assert report["explanation"].endswith("The receipt of alpha and beta 2 bears that out.")
    texts = [each["text"] for each in report["checks"]]
    for name in ("alpha", "beta 2"):
        assert f"The receipt of {name} holds the entropy that the replay opens for it." in texts


def test_a_receipt_and_a_replay_of_fd1_are_held_to_it(node):
    receipt, log = (FD1 / "receipt.json").read_bytes(), (FD1 / "commitments").read_bytes()
    report = node.examine((FD1 / "fair.replay").read_bytes(), log=log, receipts=[receipt])
    assert (report["verdict"], failures(report)) == ("fair", [])
    assert report["explanation"].endswith("The receipt of ann bears that out.")


def test_a_receipt_in_anothers_name_is_told(node):
    made = played()
    crossed = receipt_of(made, BETA, context=told(made, ALPHA)[0].hex())
    (failure,) = failures(node.examine(made.replay, receipts=[crossed]))
    assert "who is not among those who could add entropy" in failure


# fmt: off
RECEIPTS = [
    ({"context": "00" * 32},                   "promised other terms",               "other terms for this match"),
    ({"server_commitment": "00" * 32},         "another commitment of the arena",    "another commitment"),
    ({"transcript": "00" * 32},                "another transcript",                 "two stories"),
    ({"transcript": None},                     "another transcript",                 "a reveal without commitments shown"),
    ({"entropy": "00" * 32},                   "other entropy",                      "entropy replaced"),
    ({"participant": "nobody"},                "is of nobody, who is not among",     "a bot left out"),
    ({"lies": ["it told a story"]},            "caught a lie: it told a story",      "a lie that the bot caught"),
    ({"receipt": "fd3"},                       "not of protocol fd2 or fd1",                "another protocol"),
    ({"entropy": 7},                           "a field is missing or of another kind", "no receipt of the SDK"),
    ({"matches": None},                        "a field is missing or of another kind", "no matches"),
]
# fmt: on


@pytest.mark.parametrize(("fields", "said", "why"), RECEIPTS, ids=[row[-1] for row in RECEIPTS])
def test_a_receipt_that_says_otherwise_is_told(node, fields, said, why):
    made = played()
    report = node.examine(made.replay, receipts=[receipt_of(made, **fields)])
    assert report["verdict"] == "lie"
    assert any(said in text for text in failures(report))


# fmt: off
NO_PART = [
    (ALPHA, {"entropy": None},     "does not know its entropy any more",   "a bot that was restarted"),
    (BARE,  {"entropy": "ab" * 32}, "added no entropy, and was shown so",  "a bot whose commitment came too late"),
]
# fmt: on


@pytest.mark.parametrize(("bot", "fields", "said", "why"), NO_PART, ids=[r[-1] for r in NO_PART])
def test_a_receipt_of_a_bot_that_cannot_vouch_for_its_entropy(node, bot, fields, said, why):
    made = played(bots=(ALPHA, BARE))
    report = node.examine(made.replay, receipts=[receipt_of(made, bot, **fields)])
    assert failures(report) == []
    assert any(said in each["text"] for each in report["checks"])
    assert "bears that out" not in report["explanation"]


def test_a_receipt_cut_short_is_told(node):
    made = played()
    (failure,) = failures(node.examine(made.replay, receipts=[receipt_of(made)[:-2]]))
    assert failure == "A receipt cannot be used: it is not whole."


def test_forged_entropy_is_caught_by_the_bots_own_receipt(node):
    """All but one may be of the arena's making: who holds a receipt needs to trust nobody."""
    honest = played()
    told = lie(lambda r: (forged(r), opens_itself_anew(r)))()
    assert node.examine(told.replay)["verdict"] == "fair"
    victim = min((ALPHA, BETA), key=lambda bot: bot.participant)
    report = node.examine(told.replay, receipts=[receipt_of(honest, victim)])
    assert report["verdict"] == "lie"
    assert len(failures(report)) == 2


def test_a_receipt_of_other_deals_is_not_used(node):
    made = played()
    other = receipt_of(made, context="00" * 32, matches=[])
    report = node.examine(made.replay, receipts=[other])
    assert report["verdict"] == "fair"
    assert report["checks"][-1] == {
        "state": "note",
        "text": "A receipt was not used: it is of other deals.",
    }


def test_a_bot_that_was_shown_no_commitments_says_so(node):
    made = played(bots=(ALPHA, BARE))
    receipt = receipt_of(made, BARE, entropy=drawn("unused").hex(), transcript=None)
    report = node.examine(made.replay, receipts=[receipt])
    assert report["verdict"] == "fair"
    assert "was shown no commitments, so it added no entropy" in report["checks"][-1]["text"]


def test_the_sdk_writes_receipts_that_the_page_reads(node):
    """The receipt here has the fields that the SDK gives one."""
    made = played()
    view, committed, own, sealed = told(made, ALPHA)
    deal = Deal(
        context=view,
        server_commitment=committed,
        participant=ALPHA.participant,
        entropy=ALPHA.entropy,
        shown=own,
        seal=sealed,
    )
    report = node.examine(made.replay, receipts=[sdk_written(deal).encode()])
    assert report["verdict"] == "fair"
    assert "The receipt of alpha holds the same transcript" in report["checks"][-2]["text"]


@pytest.mark.parametrize("bot", [BARE, None], ids=["a bare bot's receipt", "no receipt"])
def test_without_a_receipt_entropy_is_the_arenas_word(node, bot):
    made = played(bots=(ALPHA, BARE))
    report = node.examine(made.replay, receipts=[receipt_of(made, bot)] if bot else [])
    assert report["verdict"] == "fair"
    assert report["explanation"].endswith("until the bot’s receipt is added.")
