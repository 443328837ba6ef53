"""The arena's public log as evidence: it bears a replay out, or it does not."""

import pytest

from arena.records.deal_book import read_log
from cardarena.v1 import deals_pb2
from tests.browser.fair_matches import (
    LOG_MAGIC,
    Bot,
    committed,
    drawn,
    head,
    log_file,
    opened,
    played,
    seeded,
)
from tests.browser.node import failures

BARE = Bot("bare", adds_entropy=False)


def entries_of(change, **match):
    def told():
        made = played(**match)
        entries = list(made.deal.log)
        change(entries, made)
        return made, log_file(entries)

    return told


def recommit(entries, made, **fields):
    """The commitment as another one, everything after it as it was."""
    at = next(at for at, entry in enumerate(entries) if entry.HasField("committed"))
    entry = deals_pb2.LogEntry.FromString(entries[at].SerializeToString())
    for name, value in fields.items():
        setattr(entry.committed, name, value)
    entries[at] = entry


EARLIER = (committed(drawn("c"), drawn("s")),)

# fmt: off
LOGS = [
    (entries_of(lambda e, m: e.__delitem__(slice(None))),              "does not hold this one",  "an empty log"),
    (entries_of(lambda e, m: recommit(e, m, context=drawn("x"))),      "does not hold this one",  "a commitment to other terms"),
    (entries_of(lambda e, m: recommit(e, m, server_commitment=b"x")),  "another commitment",      "another commitment"),
    (entries_of(lambda e, m: e.append(e[0])),                          "more than once",          "a commitment twice"),
    (entries_of(lambda e, m: e.insert(0, EARLIER[0])),                 "was changed since",       "an entry put before it"),
    (entries_of(lambda e, m: e.pop(0), log=EARLIER),                   "was changed since",       "an entry before it left out"),
    (entries_of(lambda e, m: e.__setitem__(0, committed(drawn("c"), drawn("t"))), log=EARLIER),
                                                                       "was changed since",       "an entry before it changed"),
    (entries_of(lambda e, m: e.__setitem__(1, opened(m.deal.context, m.deal.revealed, "no reveal"))),
                                                                       "these deals are void",    "a void deal that was played"),
    (entries_of(lambda e, m: setattr(e[1].opened, "secret", drawn("s"))), "otherwise than the replay", "another secret"),
    (entries_of(lambda e, m: e[1].opened.entropies.pop()),             "otherwise than the replay", "entropy left out"),
    (entries_of(lambda e, m: e[1].opened.entropies.__setitem__(0, b"")), "otherwise than the replay", "other entropy"),
]
# fmt: on


@pytest.mark.parametrize(("told", "said", "why"), LOGS, ids=[row[-1] for row in LOGS])
def test_a_log_that_does_not_bear_a_replay_out_is_told(node, told, said, why):
    made, log = told()
    report = node.examine(made.replay, log=log)
    assert report["verdict"] == "unlogged"
    (failure,) = failures(report)
    assert said in failure
    assert report["explanation"] == f"The replay itself holds together. {failure}"


def test_a_damaged_log_is_told_apart_from_a_damaged_replay(node):
    made = played()
    log = bytearray(log_file(made.deal.log))
    log[-1] ^= 1
    (failure,) = failures(node.examine(made.replay, log=log))
    assert failure.startswith("The log of commitments is damaged: the record at byte")


def test_a_log_that_was_copied_in_mid_write_is_used_as_far_as_it_goes(node):
    made = played()
    report = node.examine(made.replay, log=log_file(made.deal.log)[:-3])
    assert report["verdict"] == "fair"
    notes = " ".join(each["text"] for each in report["checks"] if each["state"] == "note")
    assert "The log ends in the middle of a record" in notes
    assert "does not show these deals opened yet" in notes


def test_the_log_counts_what_was_abandoned(node):
    """An arena that draws until it likes the packs leaves the others behind, for all to see."""
    game_log = [committed(drawn(f"{n}"), drawn("s")) for n in range(3)]
    game_log.append(opened(drawn("0"), seeded().records[-1].revealed, "no reveal"))
    made = played(log=game_log)
    (info,) = (
        each["text"]
        for each in node.examine(made.replay, log=log_file(made.deal.log))["checks"]
        if each["state"] == "info" and "in the log" in each["text"]
    )
    assert info == "Of 4 commitments in the log, 2 are still to be opened and 1 is void."


def test_the_log_here_is_the_logs_own_format(tmp_path):
    """The builder of these tests agrees with the arena's reader."""
    made = played(log=EARLIER)
    (tmp_path / "log").write_bytes(log_file(made.deal.log))
    log = read_log(tmp_path / "log")
    assert log.damage == []
    assert log.head == head(made.deal.log)
    assert log.heads[made.deal.context] == made.deal.fair_deal.log_head
    assert log_file([]) == LOG_MAGIC


def test_a_log_says_nothing_of_a_seeded_match(node):
    report = node.examine(seeded().replay, log=log_file(played().deal.log))
    assert report["verdict"] == "seeded"
    assert "The other files were not used" in report["checks"][-1]["text"]
