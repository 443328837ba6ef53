"""JSON Lines: everything that a replay holds, for programs."""

import io
import json

import pytest

from arena.games.catalogue import game_by_id
from arena.games.notation import Notation
from arena.records.export import export_lines, plain_value
from arena.records.playback import Discrepancy, play_back
from arena.records.read import Replay
from arena.referee.spec import FaultKind, ForfeitedSeat
from tests.records.matches import ILLEGAL, PLAY, Bot, record, retold


@pytest.fixture(scope="module", params=["abstrac", "democracy", "chinese_poker"])
def path(request, tmp_path_factory):
    bots = [Bot(0, (PLAY, ILLEGAL), note='a "note"'), Bot(1)]
    return record(tmp_path_factory.mktemp("export"), request.param, bots, {"hands": 2})


def lines(path):
    return [json.loads(line) for line in export_lines(Replay.open(path))]


def of_type(path, kind):
    return [line for line in lines(path) if line["type"] == kind]


def test_one_match_line_comes_first_and_one_result_line_last(path):
    kinds = [line["type"] for line in lines(path)]
    assert (kinds[0], kinds[-1]) == ("match", "result")
    assert set(kinds[1:-1]) == {"decision", "event"}


def test_the_match_line_has_the_terms(path):
    (match,) = of_type(path, "match")
    assert match["options"]["hands"] == 2
    assert [bot["name"] for bot in match["bots"]] == ["bot 0", "bot 1"]
    assert (match["fair"], match["seed"]) == (False, "a seed")


def test_every_decision_is_there_and_says_the_same_in_both_ways(path):
    replay = Replay.open(path)
    notation = Notation(game_by_id(replay.opened.terms.game).messages.Move)
    decisions = of_type(path, "decision")
    assert len(decisions) == len(replay.decided)
    for line in decisions:
        move = notation.read(line["text"])
        assert line["move"] == plain_value(move)
        assert line["text"].startswith(line["verb"])
    assert [line["fault"] for line in decisions if line["fault"]] == ["illegal"]
    hashes = [each.note_sha256.hex() or None for each in replay.decided]
    assert [line["note_sha256"] for line in decisions] == hashes
    assert len(set(hashes)) > 2, "each note has a hash of its own"


def test_a_fault_has_its_evidence(path):
    (decided,) = (each for each in Replay.open(path).decided if each.fault)
    for line in of_type(path, "decision"):
        if line["fault"] is None:
            assert line["evidence"] is None
        else:
            assert line["evidence"] == {
                "due_us": decided.evidence.due_us,
                "received_us": None,  # these bots answer without bytes
                "answer_bytes": 0,
                "answer_sha256": "",
                "away_ms": 0,
            }
            assert line["evidence"]["due_us"] > line["sent_us"] + 1_000_000
        assert line["refunded_us"] == 0


def test_an_abort_has_its_cause(tmp_path):
    *_, result = lines(record(tmp_path, "abstrac", stop_after_s=2.0))
    assert (result["ending"], result["cause"], result["incident"]) == ("aborted", "stopped", "")


def test_seats_that_were_out_before_the_deal_are_named(tmp_path):
    out = (ForfeitedSeat(1, FaultKind.TIMEOUT, "it did not open its commitment"),)
    match, *_ = lines(record(tmp_path, "abstrac", forfeited_seats=out))
    (told,) = match["forfeited_seats"]
    assert told == {"seat": 1, "fault": "timeout", "reason": "it did not open its commitment"}


def test_every_event_names_its_receivers(path):
    told = [each for frame in play_back(Replay.open(path)) for each in frame.events]
    events = of_type(path, "event")
    assert len(events) == len(told)
    for line, each in zip(events, told, strict=True):
        assert line["seats"] == (None if each.sent_to is None else list(each.sent_to))


def test_the_result_line_adds_up(path):
    (result,) = of_type(path, "result")
    totals = [sum(hand[seat] for hand in result["hand_scores"]) for seat in range(2)]
    assert result["scores"] == totals
    assert (result["ending"], result["faults"]) == ("completed", 1)


def test_nothing_false_is_exported(path):
    lying = retold(path, lambda records: records[-2].closed.scores.append(9))
    with pytest.raises(Discrepancy):
        list(export_lines(Replay.read(io.BytesIO(lying))))
