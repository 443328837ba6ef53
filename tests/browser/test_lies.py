"""Replays with fitting checksums that say something untrue: the page and the arena refuse the same."""

import hashlib
import io
import operator
from types import SimpleNamespace

import pytest

from arena.records.deal_book import view_of
from arena.records.fairness import check, context_of
from arena.records.playback import Discrepancy
from arena.records.read import Replay, Unplayable
from arena.records.records import Damaged
from arena.records.verify import verify
from arena.referee.deal import (
    KeyedDeals,
    bot_commitment,
    deal_set_key,
    plan_hash,
    server_commitment,
    transcript,
)
from tests.browser.fair_matches import (
    ALPHA,
    BARE,
    BETA,
    GAMMA,
    Bot,
    committed,
    drawn,
    log_file,
    played,
    seeded,
)
from tests.browser.node import failures


def arena_refuses(replay):
    """Whether `arena replay verify` finds the same replay untrue, or the file damaged."""
    try:
        verify(Replay.read(io.BytesIO(replay)))
    except (Damaged, Discrepancy, Unplayable):
        return True
    return False


# fmt: off
HONEST = [
    (played,                                                    2, "two bots"),
    (lambda: played(bots=(ALPHA, BARE)),                        1, "a bare bot among them"),
    (lambda: played(bots=(ALPHA, BETA, GAMMA)),                 3, "three bots"),
    (lambda: played(bots=(Bot("a"), Bot("a", instance=3))),     2, "two processes of one bot"),
    (lambda: played(bots=(Bot("Ms. 50 %/x"), Bot("é"))),        2, "names that plans quote"),
    (lambda: played(bots=(Bot("\ufeffa"), BETA)),                2, "a name that begins with a byte order mark"),
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
        assert [each["label"] for each in shuffles] == [
            each["label"] for each in report["shuffles"]
        ]
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
    of, field = name.rsplit(".", 1)
    return lie(lambda r: setattr(operator.attrgetter(of)(r), field, value))


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
    rekey(r, deal_set_key(shown, secret, entropies))


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


def exchanged(r):
    """Two bots change places among those who could add entropy."""
    first, second, *_ = r.fair.participants
    first.bot, second.bot = second.bot, first.bot
    first.instance, second.instance = second.instance, first.instance


def forged(r):
    """A bot's entropy and its commitment made anew, in its name: only the bot itself can tell."""
    view = view_of(context_of(r.opened), r.first)
    r.revealed.entropies[0] = drawn("forged")
    r.first.commitment = bot_commitment(view, r.first.participant, drawn("forged"))


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
    (put("fair.deal_set", "another deal-set"),                  SECRET,     "another deal-set"),
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
    (lie(exchanged),                                            "the bots were exchanged", "two bots exchanged among the participants"),
    (put("first.salt", drawn("salt")),                          ENTROPY,    "another salt of a bot"),
    (put("first.salt", b""),                                    "have a salt of 32 bytes", "a salt left out"),
    (put("first.salt", b"short"),                               "have a salt of 32 bytes", "half a salt"),
    (lie(lambda r: [each.ClearField("salt") for each in r.fair.participants]), ENTROPY, "all salts left out, as in fd1"),
    (put("first.commitment", b"short"),                         ENTROPY,    "half a commitment"),
    (put("first.bot", "gamma"),                                 "was left out|left it out", "another bot's name"),
    (put("first.instance", 9),                                  "was left out|left it out", "another process"),
    (lie(lambda r: r.fair.participants.add().CopyFrom(r.first)), "not listed in order", "a bot that takes part twice"),
    (lie(lambda r: setattr(r.fair.participants[1], "participant", r.first.participant)), "not listed in order", "one pseudonym for two bots"),
    (lie(lambda r: r.fair.participants.pop()),                  "left it out", "a bot left out"),
    (lie(lambda r: r.fair.participants.reverse()),              "not listed in order", "participants out of order"),
    # Every field of the match that is bound to it.
    (put("opened.match_id", "m2"),                              "does not name this match", "another match"),
    (put("opened.terms.game", "pineapple"),                           RULES,      "another game"),
    (put("opened.terms.rules_version", 99),                           RULES,      "another version of the rules"),
    (lie(lambda r: setattr(r.opened.terms.options[0], "number", 4)),  RULES,      "another value of an option"),
    (lie(lambda r: setattr(r.opened.terms.options[0], "flag", True)), RULES,      "another kind of an option"),
    (lie(lambda r: r.opened.terms.options.add(name="joker", flag=True)), RULES,   "an option more"),
    (lie(lambda r: r.opened.entrants.reverse()),                SEATS,      "other seats"),
    (lie(lambda r: setattr(r.opened.entrants[0], "name", "x")), SEATS,      "another bot"),
    (lie(lambda r: r.opened.entrants.add(name="x")),            SEATS,      "a bot more"),
    (put("opened.deal_key_sha256", drawn("K")),                 BEGUN,      "another key's hash"),
    (put("opened.terms.seeded", True),                                "seeded and a fair deal at the same time", "a fair deal that is seeded"),
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
    match.records[0].opened.terms.seeded = False
    assert failures(node.examine(match.replay)) == [
        "The match names a seed, but is not said to be seeded."
    ]
