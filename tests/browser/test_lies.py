"""Replays with fitting checksums that say something untrue: the page and the arena refuse the same."""

import hashlib
import io
import json
from types import SimpleNamespace

import pytest

from arena.deal import (
    KeyedDeals,
    bot_commitment,
    group_key,
    plan_hash,
    server_commitment,
    transcript,
)
from arena.replay.deal_book import read_log
from arena.replay.fairness import check, context_of
from arena.replay.frames import Discrepancy
from arena.replay.read import Replay, Unplayable
from arena.replay.records import REPLAY_MAGIC, Damaged, chained, framed
from arena.replay.verify import verify
from cardarena._deals import Deal
from cardarena._receipts import written as sdk_written
from cardarena.v1 import deals_pb2
from tests.browser.fair_matches import (
    ALPHA,
    BETA,
    GAMMA,
    LOG_MAGIC,
    Bot,
    committed,
    drawn,
    head,
    log_file,
    opened,
    played,
    seeded,
    written,
)

BARE = Bot("bare", adds_entropy=False)


def failures(report):
    return [each["text"] for each in report["checks"] if each["state"] == "fail"]


def arena_refuses(replay):
    """Whether `arena replay verify` finds the same replay untrue, or the file damaged."""
    try:
        verify(Replay.read(io.BytesIO(replay)))
    except (Damaged, Discrepancy, Unplayable):
        return True
    return False


# fmt: off
HONEST = [
    (lambda: played(),                                          2, "two bots"),
    (lambda: played(bots=(ALPHA, BARE)),                        1, "a bare bot among them"),
    (lambda: played(bots=(ALPHA, BETA, GAMMA)),                 3, "three bots"),
    (lambda: played(bots=(Bot("a"), Bot("a", instance=3))),     2, "two processes of one bot"),
    (lambda: played(bots=(Bot("Ms. 50 %/x"), Bot("é"))),        2, "names that plans quote"),
    (lambda: played("jam"),                                     2, "two packs"),
    (lambda: played("eleusis", (ALPHA, BETA, GAMMA)),           3, "no pack before a choice"),
    (lambda: played(boards=2),                                  2, "a number of boards"),
    (lambda: played(company=["m2 1 beta%202/0 alpha/0"]),       2, "a second table"),
    (lambda: played(log=[committed(drawn("c"), drawn("s"))]),   2, "commitments before it"),
    (lambda: played(bots=(ALPHA, BETA, GAMMA), forfeited=(1,)), 2, "a bot that forfeited"),
]
# fmt: on


@pytest.mark.parametrize(("match", "added", "why"), HONEST, ids=[row[-1] for row in HONEST])
def test_an_honest_replay_holds(node, match, added, why):
    made = match()
    report = node.examine(made.replay, log=log_file(made.deal.log))
    assert (report["verdict"], report["added"], failures(report)) == ("fair", added, [])
    assert check(Replay.read(io.BytesIO(made.replay))).entropy_from == added


@pytest.mark.parametrize("game", ["abstrac", "chinese_poker", "democracy", "jam", "oklahoma_rummy"])
def test_the_packs_are_those_that_the_arena_deals(node, game):
    match = played(game)
    deals = KeyedDeals(match.deal.revealed.deal_key)
    report = node.examine(match.replay, boards=3)
    for board, shuffles in enumerate(report["dealt"]):
        assert [each["label"] for each in shuffles] == [each["label"] for each in report["shuffles"]]
        for shuffle, pack in zip(shuffles, report["shuffles"], strict=True):
            dealt = deals.shuffle(board, pack["label"], pack["cards"])
            assert shuffle["cards"] == list(dealt)


def lie(change, **match):
    """A match of which something was changed, by `change`, after it was played."""

    def told():
        made = played(**match)
        records = made.records
        change(
            SimpleNamespace(
                all=records,
                opened=records[0].opened,
                fair=records[0].opened.fair_deal,
                first=records[0].opened.fair_deal.participants[0],
                closed=records[-2].closed,
                revealed=records[-1].revealed,
            )
        )
        return made

    return told


def put(name, value):
    """A change of one field, as `fair.server_id`."""
    of, field = name.split(".")
    return lie(lambda r: setattr(getattr(r, of), field, value))


def rekey(r, key):
    """Another key, with its fitting hash."""
    r.revealed.deal_key = key
    r.opened.deal_key_sha256 = hashlib.sha256(key).digest()


def replan(r, plan):
    """Another plan, with its fitting hash: what an arena would do that had published no context."""
    r.revealed.plan = plan
    r.fair.plan_hash = plan_hash(plan, r.revealed.plan_salt)


def opens_itself_anew(r, secret=None, entropy=None, context=None):
    """All that the arena can compute again, so that its own commitment and key fit."""
    context = context or context_of(r.opened)
    secret = secret or r.revealed.secret
    r.revealed.secret = secret
    r.fair.server_commitment = server_commitment(context, secret)
    commitments = {each.participant: each.commitment for each in r.fair.participants}
    entropies = dict(zip(commitments, r.revealed.entropies, strict=True))
    shown = transcript(context, r.fair.server_commitment, commitments)
    rekey(r, group_key(shown, secret, entropies))


def swap(one, other):
    """The two values of a list of bytes or texts in each other's place."""

    def swapped(values):
        values[one], values[other] = values[other], values[one]

    return swapped


def copied(r):
    """The second bot says what the first did."""
    r.fair.participants[1].commitment = r.first.commitment
    r.revealed.entropies[1] = r.revealed.entropies[0]
    opens_itself_anew(r)


def forged(r):
    """A bot's entropy and its commitment made anew, in its name: only the bot itself can tell."""
    context = context_of(r.opened)
    r.revealed.entropies[0] = drawn("forged")
    r.first.commitment = bot_commitment(context, r.first.participant, drawn("forged"))


SECRET = "The arena’s secret does not open its commitment"
RULES = "The game, its rules or its options are not those"
PACK = "The pack that was fixed is not the one"
PLAN = "The plan of who plays where is not the one"
SEATS = "The plan gives this match other bots or other seats"
ENTROPY = "does not open its commitment: it was replaced"
KEY = "The key of the packs does not follow"
BEGUN = "is not the one that the match was begun with"

# fmt: off
LIES = [
    # The seven of the protocol's own list, as far as they leave a trace in a replay.
    (lie(lambda r: opens_itself_anew(r, secret=drawn("other"), context=drawn("x"))), SECRET, "the seed is swapped, and its commitment made of another context"),
    (put("revealed.secret", drawn("other")),                    SECRET,     "the seed is swapped"),
    (lie(lambda r: swap(0, 1)(r.revealed.entropies)),           ENTROPY,    "reveals are swapped"),
    (lie(lambda r: setattr(r.first, "commitment", drawn("c"))), ENTROPY,    "another transcript"),
    (lie(lambda r: (setattr(r.first, "commitment", drawn("c")), opens_itself_anew(r))), ENTROPY, "two stories, told the second way"),
    (lie(lambda r: r.revealed.entropies.__setitem__(0, drawn("e"))), ENTROPY, "entropy is replaced"),
    (lie(lambda r: setattr(r.first, "commitment", bytes(32))),  "had not committed to", "entropy comes late"),
    (lie(copied),                                               ENTROPY,    "a commitment is copied"),
    (lie(forged),                                               KEY,        "entropy and commitment are forged, the key kept"),
    # Every field of what was fixed.
    (put("fair.server_id", "arena.other"),                      SECRET,     "another arena"),
    (put("fair.group_id", "another deal-set"),                  SECRET,     "another deal-set"),
    (put("fair.rules_hash", drawn("rules")),                    RULES,      "other rules"),
    (lie(lambda r: swap(0, 1)(r.fair.deck)),                    PACK,       "two cards change places in the pack"),
    (lie(lambda r: r.fair.deck.append("As")),                   PACK,       "a card is added"),
    (lie(lambda r: r.fair.deck.pop()),                          PACK,       "a card is left out"),
    (lie(lambda r: r.fair.deck.__delitem__(slice(None))),       PACK,       "no pack"),
    (lie(lambda r: None, deck=("As",) * 52),                    PACK,       "52 aces of spades, committed to"),
    (put("fair.boards", 7),                                     SECRET,     "another number of boards"),
    (put("fair.plan_hash", drawn("plan")),                      PLAN,       "another plan's hash"),
    (put("fair.log_head", drawn("head")),                       SECRET,     "another place in the log"),
    (put("fair.log_head", b""),                                 "does not say where in the arena’s log", "no place in the log"),
    (put("fair.server_commitment", drawn("CS")),                SECRET,     "another commitment"),
    (put("fair.server_commitment", b""),                        SECRET,     "no commitment"),
    (put("first.participant", "0000000000000000"),              SECRET,     "another pseudonym"),
    (put("first.commitment", b"short"),                         ENTROPY,    "half a commitment"),
    (put("first.bot", "gamma"),                                 "was left out|left it out", "another bot's name"),
    (put("first.instance", 9),                                  "was left out|left it out", "another process"),
    (lie(lambda r: r.fair.participants.add().CopyFrom(r.first)), "not listed in order", "a bot that takes part twice"),
    (lie(lambda r: r.fair.participants.pop()),                  "left it out", "a bot left out"),
    (lie(lambda r: r.fair.participants.reverse()),              "not listed in order", "participants out of order"),
    # Every field of the match that is bound to it.
    (put("opened.match_id", "m2"),                              "does not name this match", "another match"),
    (put("opened.game", "pineapple"),                           RULES,      "another game"),
    (put("opened.rules_version", 2),                            RULES,      "another version of the rules"),
    (lie(lambda r: setattr(r.opened.options[0], "number", 4)),  RULES,      "another value of an option"),
    (lie(lambda r: setattr(r.opened.options[0], "flag", True)), RULES,      "another kind of an option"),
    (lie(lambda r: r.opened.options.add(name="joker", flag=True)), RULES,   "an option more"),
    (lie(lambda r: r.opened.entrants.reverse()),                SEATS,      "other seats"),
    (lie(lambda r: setattr(r.opened.entrants[0], "name", "x")), SEATS,      "another bot"),
    (lie(lambda r: r.opened.entrants.add(name="x")),            SEATS,      "a bot more"),
    (put("opened.deal_key_sha256", drawn("K")),                 BEGUN,      "another key's hash"),
    (put("opened.seeded", True),                                "seeded and a fair deal at the same time", "a fair deal that is seeded"),
    # Every field of the opening.
    (put("revealed.deal_key", drawn("K")),                      KEY,        "another key"),
    (put("revealed.deal_key", drawn("K")),                      BEGUN,      "another key than the match was begun with"),
    (lie(lambda r: rekey(r, drawn("K"))),                       KEY,        "another key, with its hash"),
    (put("revealed.seed", "a seed"),                            "not said to be seeded", "a seed beside it"),
    (put("revealed.secret", b""),                               SECRET,     "no secret"),
    (lie(lambda r: opens_itself_anew(r, secret=b"short")),      SECRET,     "a short secret"),
    (lie(lambda r: r.revealed.entropies.pop()),                 "but 1 are opened|but 1 is opened", "entropy left out"),
    (lie(lambda r: r.revealed.entropies.append(b"")),           "but 3 are opened", "entropy too many"),
    (lie(lambda r: r.revealed.entropies.__setitem__(0, b"")),   ENTROPY,    "entropy not opened"),
    (put("revealed.plan", "m1 0 alpha/0 gamma/0"),              PLAN,       "another plan"),
    (put("revealed.plan_salt", drawn("s")),                     PLAN,       "another salt"),
    (lie(lambda r: replan(r, "m1 0 alpha/0 beta%202/0 x/0")),   SEATS,      "a plan with a bot more"),
    (lie(lambda r: replan(r, "m1 0 beta%202/0 alpha/0")),       SEATS,      "a plan with other seats"),
    (lie(lambda r: replan(r, "m1 0 alpha/0 beta%202/0\nm1 1 beta%202/0 alpha/0")), "more than once", "a plan that names the match twice"),
    (lie(lambda r: (replan(r, "m1 0 alpha/0 beta%202/1"), opens_itself_anew(r))), "left it out", "a process that could not add entropy"),
    (lie(lambda r: r.fair.Clear()),                             SECRET,     "an empty fair deal"),
    (lie(lambda r: r.opened.ClearField("fair_deal")),           "opens commitments that it does not have", "no fair deal"),
]
# fmt: on


@pytest.mark.parametrize(("told", "said", "why"), LIES, ids=[row[-1] for row in LIES])
def test_a_lie_is_told_in_a_sentence(node, told, said, why):
    replay = told().replay
    report = node.examine(replay)
    assert report["verdict"] == "lie"
    assert any(part in text for text in failures(report) for part in said.split("|"))
    assert report["explanation"].startswith(failures(report)[0])
    assert arena_refuses(replay)


def test_a_participant_that_plays_nowhere_is_named(node):
    """As when the arena adds a bot of its own, to be able to say that entropy came from many."""
    made = played(bots=(BARE, BETA), strangers=(ALPHA,))
    assert failures(node.examine(made.replay)) == [
        "alpha could add entropy, but plays in no match of the plan."
    ]
    assert arena_refuses(made.replay)


# fmt: off
NOT_FAIR = [
    (lambda r: setattr(r, "seed", "other"),           "does not follow from the seed",    "another seed"),
    (lambda r: setattr(r, "deal_key", drawn("K")),    "does not follow from the seed",    "another key"),
    (lambda r: setattr(r, "secret", drawn("S")),      "commitments that it does not have", "a secret"),
]
# fmt: on


@pytest.mark.parametrize(("change", "said", "why"), NOT_FAIR, ids=[row[-1] for row in NOT_FAIR])
def test_a_lie_about_a_seeded_deal_is_told(node, change, said, why):
    match = seeded()
    change(match.records[-1].revealed)
    report = node.examine(match.replay)
    assert report["verdict"] == "lie"
    assert any(said in text for text in failures(report))


def test_a_seeded_replay_called_fair_is_a_lie(node):
    match = seeded()
    match.records[0].opened.seeded = False
    assert failures(node.examine(match.replay)) == [
        "The match names a seed, but is not said to be seeded."
    ]


# Damage: what is not as it was written.


def bodies(match):
    written(match.records)  # makes the chain fit
    return [record.SerializeToString() for record in match.records]


def chain_of(pieces):
    """A file of these bodies, with checksums, and the chain as they have it."""
    return REPLAY_MAGIC + b"".join(map(framed, pieces))


def reordered(change):
    pieces = bodies(played())
    change(pieces)
    return chain_of(pieces)


def with_body(at, body):
    return reordered(lambda pieces: pieces.__setitem__(at, body(pieces[at])))


FIRST_BYTE = len(REPLAY_MAGIC)

# fmt: off
DAMAGED = [
    (reordered(swap(2, 3)),                       "hash chain is broken",      "two records swapped"),
    (reordered(lambda p: p.pop(4)),               "hash chain is broken",      "a record left out"),
    (reordered(lambda p: p.insert(2, p[2])),      "hash chain is broken",      "a record doubled"),
    (reordered(swap(0, 1)),                       "out of place",              "the first record second"),
    (reordered(lambda p: p.append(p[-1])),        "out of place",              "two openings"),
    (reordered(lambda p: p.pop()),                "which opens the deals",     "no opening"),
    (reordered(lambda p: p.__delitem__(slice(-2, None))), "before the end of the match", "no end"),
    (REPLAY_MAGIC,                                "before its first record",   "no records"),
    (with_body(3, lambda b: b"\x08\x02" + b[2:]), "belongs to another match",  "a record of another match"),
    (with_body(3, lambda b: b"\x08\x01"),         "of an unknown kind",        "a record that says nothing"),
    (with_body(3, lambda b: b"\x08\x01\x32\x00"), "of an unknown kind",        "a record of journals"),
    (with_body(0, lambda b: b[:-1]),              "cut off",                   "a message cut short"),
    (with_body(0, lambda b: b + b"\x22\x00"),     "opened and closed at the same time", "two things at a time"),
    (with_body(0, lambda b: b + b"\x12\x00"),     "stands there twice",        "a record opened twice"),
    (with_body(0, lambda b: b"\x08" + b"\xff" * 9 + b"\x7f"), "too long",      "a number without end"),
    (with_body(0, lambda b: b"\x08" + b"\xff" * 5 + b"\x01"), "too large",     "a number beyond its kind"),
    (with_body(0, lambda b: b"\x0a\x00"),         "another kind",              "text for a number"),
    (with_body(0, lambda b: b"\x10\x00"),         "another kind",              "a number for a message"),
    (with_body(0, lambda b: b"\x00\x00"),         "no number",                 "field number 0"),
    (with_body(0, lambda b: b"\x0b\x0c"),         "no known kind",             "a group"),
    (with_body(0, lambda b: b"\x08\x01\x12\x04\x12\x02\xff\xfe"), "not UTF-8", "a text that is none"),
    (played().replay[:FIRST_BYTE] + bytes(64),    "impossible length",         "zeros"),
]
# fmt: on


@pytest.mark.parametrize(("replay", "said", "why"), DAMAGED, ids=[row[-1] for row in DAMAGED])
def test_damage_is_told_in_a_sentence(node, replay, said, why):
    report = node.examine(replay)
    assert set(report) == {"damaged"}
    assert said in report["damaged"]


def test_every_flipped_byte_is_found(node):
    intact = played().replay
    flipped = [
        intact[:at] + bytes([intact[at] ^ 1 << at % 8]) + intact[at + 1 :]
        for at in range(FIRST_BYTE, len(intact))
    ]
    assert set(node.call("verdicts", replays=flipped)) == {"damaged"}


def test_every_cut_tail_is_found(node):
    intact = played().replay
    cut = [intact[:size] for size in range(FIRST_BYTE, len(intact))]
    assert set(node.call("verdicts", replays=cut)) == {"damaged"}


@pytest.mark.parametrize("which", ["fair_deal", "revealed"])
def test_no_byte_of_what_was_fixed_or_opened_can_change_with_fitting_checksums(node, which):
    match = played()
    records = match.records
    message = records[0].opened.fair_deal if which == "fair_deal" else records[-1].revealed
    intact = message.SerializeToString()
    pieces = [record.SerializeToString() for record in records]
    at_record = 0 if which == "fair_deal" else len(pieces) - 1
    start = pieces[at_record].index(intact)
    replays = []
    for at in range(start, start + len(intact)):
        body = bytearray(pieces[at_record])
        body[at] ^= 1 << at % 7
        changed = [*pieces[:at_record], bytes(body), *pieces[at_record + 1 :]]
        closed = type(records[-2]).FromString(changed[-2])
        closed.closed.chain = head_of(changed[:-2])
        changed[-2] = closed.SerializeToString()
        replays.append(chain_of(changed))
    verdicts = node.call("verdicts", replays=replays)
    assert set(verdicts) == {"damaged", "lie"}


def head_of(pieces):
    chain = bytes(32)
    for piece in pieces:
        chain = chained(chain, piece)
    return chain


# The arena's public log.


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
        if each["state"] == "info"
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


# Receipts.


def receipt_of(made, bot=ALPHA, **fields):
    """What the bot's own software has kept, with some fields otherwise."""
    deal = made.deal
    commitments = {each.participant: each.commitment for each in deal.fair_deal.participants}
    shown = transcript(deal.context, deal.fair_deal.server_commitment, commitments)
    receipt = {
        "receipt": "fd1",
        "context": deal.context.hex(),
        "server_commitment": deal.fair_deal.server_commitment.hex(),
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
    texts = [each["text"] for each in report["checks"]]
    for name in ("alpha", "beta 2"):
        assert f"The receipt of {name} holds the entropy that the replay opens for it." in texts


# fmt: off
RECEIPTS = [
    ({"context": "00" * 32},                   "promised other terms",               "other terms for this match"),
    ({"server_commitment": "00" * 32},         "another commitment of the arena",    "another commitment"),
    ({"transcript": "00" * 32},                "another transcript",                 "two stories"),
    ({"transcript": None},                     "another transcript",                 "a reveal without commitments shown"),
    ({"entropy": "00" * 32},                   "other entropy",                      "entropy replaced"),
    ({"participant": "nobody"},                "is of nobody, who is not among",     "a bot left out"),
    ({"lies": ["it told a story"]},            "caught a lie: it told a story",      "a lie that the bot caught"),
    ({"receipt": "fd2"},                       "not of protocol fd1",                "another protocol"),
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
    participants = made.deal.fair_deal.participants
    deal = Deal(
        context=made.deal.context,
        server_commitment=made.deal.fair_deal.server_commitment,
        participant=ALPHA.participant,
        entropy=ALPHA.entropy,
        commitments={each.participant: each.commitment for each in participants},
    )
    report = node.examine(made.replay, receipts=[sdk_written(deal).encode()])
    assert report["verdict"] == "fair"
    assert "The receipt of alpha holds the same transcript" in report["checks"][-2]["text"]
