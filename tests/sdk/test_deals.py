"""Fair deals on the bot's side: what it answers, what it believes, and what it keeps."""

import ast
import hashlib
import json
from pathlib import Path

import grpc
import pytest

import cardarena
from cardarena._deals import (
    REMEMBERED,
    Deals,
    Opened,
    commitment_of,
    digest,
    key_of,
    seal_of,
    shown_of,
    transcript_of,
    view_of,
)
from cardarena._receipts import Folder, read, written
from cardarena._session import Session
from cardarena.v1.game_pb2 import MatchTerms
from cardarena.v1.play_pb2 import (
    ArenaMessage,
    BotMessage,
    DealClose,
    DealOpen,
    DealTranscript,
    Entropy,
    Hello,
    MatchStart,
)
from tests.doubles.fake_arena import FakeArena
from tests.sdk.messages import ask, asks, match_end, taken, welcome
from tests.sdk.test_sockets import NoWait, Second, unknown_token

GROUPS = json.loads((Path(__file__).parents[1] / "referee/deal/fd1_vectors.json").read_text())
SDK = Path(cardarena.__file__).parent

DEAL, SECRET = b"\1" * 32, b"\2" * 32
OWN, OTHER, BARE = b"\3" * 32, b"\4" * 32, b""
ME, YOU, ZOE = "me", "you", "zoe"
"""This bot, another one, and one that takes no part."""
SALTS = {ME: b"\5" * 32, YOU: b"\6" * 32, ZOE: b"\7" * 32}
CONTEXT = view_of(DEAL, ME, SALTS[ME])
NAME = CONTEXT.hex()[:12]
OWN_COMMITMENT = commitment_of(CONTEXT, ME, OWN)
YOURS = commitment_of(view_of(DEAL, YOU, SALTS[YOU]), YOU, OTHER)
COMMITMENTS = {ME: OWN_COMMITMENT, YOU: YOURS, ZOE: bytes(32)}
ENTROPIES = {ME: OWN, YOU: OTHER, ZOE: BARE}
NOTHING = dict.fromkeys(COMMITMENTS, b"")
SERVER_COMMITMENT = digest(b"server-commit", CONTEXT, SECRET)


def by_participant(values):
    return {name: bytes.fromhex(value) for name, value in values.items()}


@pytest.mark.parametrize("group", GROUPS, ids=[group["name"] for group in GROUPS])
def test_the_sdks_own_hashes_are_those_of_the_vectors(group):
    context, secret = bytes.fromhex(group["ctx"]), bytes.fromhex(group["S"])
    entropies, commitments = by_participant(group["r"]), by_participant(group["commits"])
    for name, entropy in entropies.items():
        assert not entropy or commitment_of(context, name, entropy) == commitments[name]
    assert digest(b"server-commit", context, secret).hex() == group["CS"]
    transcript = transcript_of(context, bytes.fromhex(group["CS"]), commitments)
    assert transcript.hex() == group["T"]
    assert key_of(transcript, secret, entropies).hex() == group["K"]


FD2 = json.loads((Path(__file__).parents[1] / "referee/deal/fd2_vectors.json").read_text())


@pytest.mark.parametrize("group", FD2, ids=[group["name"] for group in FD2])
def test_the_sdks_own_views_are_those_of_the_vectors(group):
    deal, salts = bytes.fromhex(group["ctx"]), by_participant(group["salts"])
    for name, view in by_participant(group["views"]).items():
        assert view_of(deal, name, salts[name]) == view
        entropy, commitment = bytes.fromhex(group["r"][name]), bytes.fromhex(group["commits"][name])
        assert not entropy or commitment_of(view, name, entropy) == commitment
        seal = seal_of(view, bytes.fromhex(group["T"]), salts[name])
        assert seal.hex() == group["seals"][name]
        own = name, commitment, seal
        shown = shown_of(view, bytes.fromhex(group["server_commits"][name]), *own)
        assert shown.hex() == group["view_transcripts"][name]


HANDED_ON = {"envs.py", "llm/_words.py", "local.py", "replay.py"}
"""What plays or draws by the arena's own rules, or shows its pictures, and judges nobody."""


def test_the_sdk_shares_no_code_with_the_arena_that_it_judges():
    paths = [
        path for path in SDK.rglob("*.py") if path.relative_to(SDK).as_posix() not in HANDED_ON
    ]
    assert len(paths) > 20
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in getattr(node, "names", [])]
            names.append(getattr(node, "module", None) or "")
            assert not [name for name in names if name.split(".")[0] == "arena"], path
            if path.name != "__init__.py":  # which only gives it its name
                assert not {"local", "cardarena.local"} & {*names}, path


# The handshake.


def open_(
    commitment=SERVER_COMMITMENT, participant=ME, context=CONTEXT, *, stands=b"", deadline_ms=5000
):
    return DealOpen(
        context=context,
        server_commitment=commitment,
        participant=participant,
        deadline_ms=deadline_ms,
        commitment=stands,
    )


def transcript(commitments=COMMITMENTS):
    return transcript_of(DEAL, digest(b"server-commit", DEAL, SECRET), commitments)


def shown(commitments=COMMITMENTS, *, seal=None):
    if seal is None:
        seal = seal_of(CONTEXT, transcript(commitments), SALTS[ME])
    return DealTranscript(context=CONTEXT, commitment=commitments.get(ME, b""), seal=seal)


def closed(
    secret=SECRET,
    entropies=ENTROPIES,
    void="",
    *,
    commitments=COMMITMENTS,
    salts=SALTS,
    deal=DEAL,
    names=None,
):
    parts = [
        Entropy(
            participant=name,
            entropy=entropies[name],
            commitment=commitments.get(name, bytes(32)),
            salt=salts.get(name, bytes(32)),
        )
        for name in (names or sorted(entropies))
    ]
    return DealClose(context=CONTEXT, secret=secret, entropies=parts, void_reason=void, deal=deal)


def start(match=1, context=CONTEXT):
    return MatchStart(match=match, terms=MatchTerms(game="abstrac"), deal_context=context)


HANDLERS = {
    DealOpen: Deals.on_open,
    DealTranscript: Deals.on_transcript,
    DealClose: Deals.on_close,
    MatchStart: Deals.on_match_start,
}


class Bot:
    """The deals of a bot that draws OWN, and what it sent and said."""

    def __init__(self, *messages, shelf=None):
        self.deals = Deals(shelf=shelf, draw=lambda size: OWN[:size])
        self.sent, self.said = [], []
        self.hear(*messages)

    def hear(self, *messages):
        for message in messages:
            if hasattr(message, "trailing_events"):
                reaction = self.deals.on_match_end(message)
            elif hasattr(message, "ask_id"):
                reaction = self.deals.on_ask(message)
            else:
                reaction = HANDLERS[type(message)](self.deals, message)
            self.said += reaction.say
            for sent in reaction.send:
                part = getattr(sent, sent.WhichOneof("body"))
                assert part.context == CONTEXT
                self.sent.append(getattr(part, "commitment", None) or part.entropy)
        return self


ended = match_end(1).match_end
swapped = {**COMMITMENTS, YOU: bytes(32)}

TOO_LATE = shown({**COMMITMENTS, ME: bytes(32)})
LATE_OPEN = open_(deadline_ms=0)
LATE_COMMITMENTS = {**COMMITMENTS, ME: bytes(32)}
WITHOUT = {"entropies": {**ENTROPIES, ME: b""}, "commitments": LATE_COMMITMENTS}
FORGOTTEN = commitment_of(CONTEXT, ME, OTHER)
"""Of entropy that this process does not know."""

# fmt: off
ANSWERS = [
    # what it hears                                     sent                          why
    ([open_()],                                         [OWN_COMMITMENT],             "it commits"),
    ([open_(), open_()],                                [OWN_COMMITMENT] * 2,         "asked again, it commits to the same"),
    ([open_(), shown()],                                [OWN_COMMITMENT, OWN],        "it reveals"),
    ([open_(), shown(), shown()],                       [OWN_COMMITMENT, OWN, OWN],   "shown again, it reveals the same"),
    ([open_(), shown(), open_(), shown()],              [OWN_COMMITMENT, OWN] * 2,    "all of it again, as after a loss"),
    ([open_(), shown(), start(), ended, closed()],      [OWN_COMMITMENT, OWN],        "a deal from beginning to end"),
    ([open_(), shown(), closed(), closed()],            [OWN_COMMITMENT, OWN],        "closed again"),
    ([open_(), shown(), closed(), shown()],             [OWN_COMMITMENT, OWN],        "shown again after the end"),
    ([shown()],                                         [],                           "shown what it had not committed to"),
    ([closed()],                                        [],                           "closed what it had no part in"),
    ([start(), ended],                                  [],                           "a match whose deal it had no part in"),
    ([start(context=b""), ended],                       [],                           "a match without a fair deal"),
    ([open_(), closed(entropies={ME: b"", YOU: OTHER})], [OWN_COMMITMENT],            "it committed too late"),
    ([open_(), closed(void="why", entropies=NOTHING)],       [OWN_COMMITMENT],             "void before it was shown anything"),
    ([open_(), shown(), closed(void="why", entropies={ME: b"", YOU: b""})],
                                                        [OWN_COMMITMENT, OWN],        "void, and its entropy came too late"),
    ([open_(), shown(), closed(void="why", entropies={ME: OWN, YOU: b"?"})],
                                                        [OWN_COMMITMENT, OWN],        "void, as another bot opened something else"),
    ([open_(), open_(stands=OWN_COMMITMENT), shown()],  [OWN_COMMITMENT, OWN],        "told again what the arena has of it"),
    ([LATE_OPEN, open_(stands=bytes(32)), TOO_LATE],    [OWN_COMMITMENT],             "told again that it was too late"),
    ([LATE_OPEN, TOO_LATE, closed(**WITHOUT)],  [OWN_COMMITMENT],             "it was too late, and checks the rest"),
    ([open_(stands=FORGOTTEN), shown({**COMMITMENTS, ME: FORGOTTEN}), closed(entropies={**ENTROPIES, ME: OTHER}, commitments={**COMMITMENTS, ME: FORGOTTEN})],
                                                        [],                           "it lost its memory, and another process opened"),
    ([open_(stands=FORGOTTEN), shown({**COMMITMENTS, ME: FORGOTTEN}), closed(void="why", entropies={ME: b"", YOU: OTHER})],
                                                        [],                           "it lost its memory, and nobody opened"),
    ([open_(context=b"short")],                         [],                           "a context that is none"),
    ([open_(commitment=b"short")],                      [],                           "a commitment that is none"),
]
# fmt: on


@pytest.mark.parametrize(("messages", "sent", "why"), ANSWERS, ids=[row[-1] for row in ANSWERS])
def test_what_a_bot_answers_an_honest_arena(messages, sent, why):
    bot = Bot(*messages)
    assert bot.sent == sent
    assert bot.deals.lies == []


# fmt: off
SAID = [
    ([shown()],                                          "had not committed",              "shown what it had not committed to"),
    ([open_(context=b"short")],                          "not named as one",               "a context that is none"),
    ([open_(), closed(void="a reason", entropies=NOTHING)],               "is void: a reason",              "void"),
    ([open_(), closed(entropies={ME: b""})],             "without this bot's entropy",     "it committed too late"),
    ([LATE_OPEN, TOO_LATE, closed(**WITHOUT)],   "without this bot's entropy",     "it was too late, and was shown so"),
    ([open_(stands=FORGOTTEN), shown({**COMMITMENTS, ME: FORGOTTEN})],
                                                         "had not committed to it",        "it lost its memory"),
]
# fmt: on


@pytest.mark.parametrize(("messages", "says", "why"), SAID, ids=[row[-1] for row in SAID])
def test_the_author_is_told_of_what_is_out_of_the_ordinary(messages, says, why):
    (line,) = Bot(*messages).said
    assert says in line


def test_a_deal_in_order_is_not_talked_of():
    assert Bot(open_(), shown(), start(), ended, closed()).said == []


SHORT = digest(b"server-commit", CONTEXT, b"short")
BOTH = [OWN_COMMITMENT, OWN]
COMMITTED = [OWN_COMMITMENT]
# fmt: off
LIES = [
    # what it hears                                                          sent       the lie                               why
    ([open_(), open_(commitment=bytes(32))],                                 COMMITTED, "committed itself twice",             "a second commitment of the arena's"),
    ([open_(), open_(participant="not me")],                                 COMMITTED, "committed itself twice",             "a second name for the bot"),
    ([open_(), open_(commitment=bytes(32)), shown()],                        COMMITTED, "committed itself twice",             "nothing is revealed after a lie"),
    ([open_(), shown({YOU: YOURS})],                                         COMMITTED, "left this bot's commitment out",     "without the bot"),
    ([open_(), shown({**COMMITMENTS, ME: b"short"})],                        COMMITTED, "left this bot's commitment out",     "a commitment of five bytes"),
    ([open_(), shown({**COMMITMENTS, ME: YOURS})],                           COMMITTED, "replaced this bot's commitment",     "another commitment of the bot's"),
    ([open_(), shown({**COMMITMENTS, ME: bytes(32)})],                       COMMITTED, "did not wait for this bot's",        "the bot's commitment taken for none in good time"),
    ([open_(), open_(stands=YOURS)],                                         COMMITTED, "replaced this bot's commitment",     "another commitment of the bot's, when told again"),
    ([open_(), open_(stands=YOURS), shown()],                                COMMITTED, "replaced this bot's commitment",     "nothing is revealed after that lie either"),
    ([open_(stands=YOURS), shown({**COMMITMENTS, ME: OTHER})],               [],        "replaced this bot's commitment",     "another commitment than the one that stood"),
    ([open_(), shown(seal=b"")],                                             COMMITTED, "does not bind itself",               "no seal"),
    ([open_(), shown(seal=b"short")],                                        COMMITTED, "does not bind itself",               "a seal of five bytes"),
    ([open_(), shown(seal=b"s" * 32), closed()],                             BOTH,      "than it had bound itself to",        "a seal that nothing opens"),
    ([open_(), shown(swapped), closed()],                                    BOTH,      "than it had bound itself to",        "another's commitment than was sealed"),
    ([open_(), shown(), closed(deal=b"d" * 32)],                             BOTH,      "another deal-set than it had named", "another deal-set"),
    ([open_(), shown(), closed(deal=b"")],                                   BOTH,      "another deal-set than it had named", "no deal-set"),
    ([open_(), shown(), closed(salts=SALTS | {ME: bytes(32)})],              BOTH,      "another deal-set than it had named", "another salt"),
    ([open_(), shown(), closed(salts=SALTS | {ME: b""})],                    BOTH,      "another deal-set than it had named", "no salt"),
    ([open_(), closed(deal=b"d" * 32, entropies=NOTHING, void="why")],       COMMITTED, "another deal-set than it had named", "another deal-set, of a void draw"),
    ([open_(), shown(), closed(salts=SALTS | {YOU: bytes(32)})],             BOTH,      "participant you does not open",      "another salt of another bot's"),
    ([open_(), shown(), closed(commitments=swapped | {ME: YOURS})],          BOTH,      "another commitment of this bot's",   "another commitment of the bot's in the end"),
    ([open_(), shown(), closed(names=[YOU, ME, ZOE])],                       BOTH,      "out of order",                       "participants out of order"),
    ([open_(), shown(), closed(names=[ME, YOU, YOU, ZOE])],                  BOTH,      "or one twice",                       "a participant twice"),
    ([open_(), shown(), closed(entropies={})],                               BOTH,      "another deal-set than it had named", "no participants"),
    ([open_(), shown(), shown(swapped)],                                     BOTH,      "a second transcript",                "a second transcript"),
    ([open_(), shown(), shown(swapped), shown()],                            BOTH,      "a second transcript",                "nor is it revealed again after a lie"),
    ([open_(), shown(), closed(secret=bytes(32))],                           BOTH,      "secret does not open",               "another secret"),
    ([open_(), shown(), closed(secret=b"")],                                 BOTH,      "secret does not open",               "no secret"),
    ([open_(), closed(secret=bytes(32), entropies=NOTHING)],                      COMMITTED, "secret does not open",               "another secret, of a deal without the bot"),
    ([open_(), shown(), closed(secret=bytes(32), void="why")],               BOTH,      "secret does not open",               "another secret, of a void deal"),
    ([open_(), shown(), closed(entropies={**ENTROPIES, ME: OTHER})],         BOTH,      "replaced this bot's entropy",        "other entropy of the bot's"),
    ([open_(), shown(), closed(entropies={**ENTROPIES, ME: b""})],           BOTH,      "replaced this bot's entropy",        "no entropy of the bot's"),
    ([open_(), shown(), closed(void="why", entropies={ME: OTHER})],          BOTH,      "replaced this bot's entropy",        "other entropy of the bot's in a void deal"),
    ([open_(), closed(entropies={ME: OTHER, YOU: OTHER})],                   COMMITTED, "that this bot never revealed",       "entropy in the name of a bot that revealed none"),
    ([open_(), closed(entropies={ME: OWN, YOU: OTHER})],                     COMMITTED, "that this bot never revealed",       "the entropy of a bot that revealed none"),
    ([open_(), closed(entropies={ME: OWN}, void="why")],                     COMMITTED, "that this bot never revealed",       "the same in a void deal"),
    ([open_(SHORT), shown(), closed(secret=b"short")],                       BOTH,      "secret does not open",               "a secret that can be guessed"),
    ([open_(), shown(), closed(entropies={**ENTROPIES, YOU: OWN})],          BOTH,      "participant you does not open",      "other entropy of another bot's"),
    ([open_(), shown(), closed(entropies={**ENTROPIES, YOU: b""})],          BOTH,      "participant you does not open",      "no entropy of another bot's"),
    ([open_(), shown(), closed(entropies={**ENTROPIES, ZOE: OTHER})],        BOTH,      "zoe added entropy without",          "entropy of a bot that takes no part"),
    ([open_(), shown(), closed(entropies={ME: OWN, YOU: OTHER})],            BOTH,      "than it had bound itself to",        "a participant less"),
    ([open_(), shown(), closed(entropies={**ENTROPIES, "late": OTHER})],     BOTH,      "than it had bound itself to",        "a participant more"),
    ([open_(), shown(), start(7), closed()],                                 BOTH,      "while match 7 is played with them",  "opened in the middle of a match"),
    ([open_(), shown(), closed(), open_()],                                  BOTH,      "opens a deal-set again",             "a deal-set that was opened before"),
    ([open_(), shown(), closed(), start(7)],                                 BOTH,      "begins match 7 with packs that are known", "a match by a deal that was opened before"),
    ([open_(), closed(void="why", entropies=NOTHING), start(7)],                  COMMITTED, "begins match 7 with packs that are known", "a match by a void deal"),
]
# fmt: on


@pytest.mark.parametrize(("messages", "sent", "lie", "why"), LIES, ids=[row[-1] for row in LIES])
def test_a_lie_is_told_once_and_kept(messages, sent, lie, why):
    bot = Bot(*messages)
    assert bot.sent == sent
    (told,) = bot.deals.lies
    assert told.startswith(f"the arena LIED about deal-set {NAME}: ")
    assert lie in told
    assert told in bot.said
    bot.hear(messages[-1])
    assert bot.deals.lies == [told]


def test_many_deals_are_remembered_after_their_end_and_not_all_for_ever():
    bot = Bot(open_(), shown(), closed())
    contexts = [number.to_bytes(32, "big") for number in range(REMEMBERED)]
    for context in contexts[1:]:
        bot.deals.on_open(open_(context=context))
        bot.deals.on_close(DealClose(context=context, void_reason="why"))
    assert "opens a deal-set again" in bot.deals.on_open(open_()).say[0]
    bot.deals.on_open(open_(context=contexts[0]))
    bot.deals.on_close(DealClose(context=contexts[0], void_reason="why"))
    assert bot.deals.on_open(open_()).send


def test_deals_that_never_end_are_not_kept_for_ever():
    deals = Deals()
    for number in range(REMEMBERED + 1):
        deals.on_open(open_(context=number.to_bytes(32, "big")))
    again = deals.on_open(open_(context=bytes(32))).send[0].deal_commit
    last = deals.on_open(open_(context=REMEMBERED.to_bytes(32, "big"))).send[0].deal_commit
    assert len(deals._deals) == REMEMBERED
    assert again.commitment != last.commitment


def test_entropy_is_drawn_afresh_for_each_deal():
    deals = Deals()
    for number in range(100):
        deals.on_open(open_(context=bytes([number]) * 32))
    entropies = {deal.entropy for deal in deals._deals.values()}
    assert len(entropies) == 100
    assert {len(entropy) for entropy in entropies} == {32}


# What the bot was shown.


def link(chain, decision, message):
    payload = message.abstrac.SerializeToString(deterministic=True)
    return hashlib.sha256(chain + decision.to_bytes(4, "big") + payload).digest()


def ask_of(decision, moves=3, match=1):
    return ask(100 + decision, match, decision=decision, moves=moves, move_ms=decision)


class Memory:
    """A shelf in memory, which keeps the text of the last receipt."""

    def __init__(self):
        self.text = ""

    def keep(self, deal):
        self.text = written(deal)
        return ""

    def recall(self, context, participant=None):
        return None

    @property
    def matches(self):
        return json.loads(self.text)["matches"]


def test_a_receipt_is_a_chain_over_the_asks():
    memory = Memory()
    end = match_end(1, taken("As")).match_end
    end.replay_id = "m1"
    first, third = ask_of(1), ask_of(3, moves=2)
    Bot(open_(), shown(), start(), first, third, end, closed(), shelf=memory)
    (match,) = memory.matches
    one = link(bytes(32), 1, first)
    two = link(one, 3, third)
    assert match["asks"] == [[1, one.hex()[:8]], [3, two.hex()[:8]]]
    assert match["chain"] == two.hex()
    assert (match["replay_id"], match["game"], match["seat"]) == ("m1", "abstrac", 0)
    event = taken("As").SerializeToString(deterministic=True)
    told = len(event).to_bytes(4, "big") + event
    assert match["end"] == hashlib.sha256(told).hexdigest()


def test_the_receipt_has_the_whole_deal():
    memory = Memory()
    Bot(open_(), shown(), closed(), shelf=memory)
    receipt = json.loads(memory.text)
    seal = seal_of(CONTEXT, transcript(), SALTS[ME])
    assert receipt.pop("matches") == receipt.pop("lies") == []
    assert receipt == {
        "receipt": "fd2",
        "context": CONTEXT.hex(),
        "server_commitment": SERVER_COMMITMENT.hex(),
        "participant": ME,
        "entropy": OWN.hex(),
        "commitment": OWN_COMMITMENT.hex(),
        "shown": OWN_COMMITMENT.hex(),
        "seal": seal.hex(),
        "transcript": shown_of(CONTEXT, SERVER_COMMITMENT, ME, OWN_COMMITMENT, seal).hex(),
        "public_key": None,
        "signature": None,
        "refused": False,
        "deal": DEAL.hex(),
        "secret": SECRET.hex(),
        "commitments": {name: value.hex() for name, value in COMMITMENTS.items()},
        "entropies": {name: value.hex() for name, value in ENTROPIES.items()},
        "salts": {name: value.hex() for name, value in SALTS.items()},
        "deal_key": key_of(transcript(), SECRET, ENTROPIES).hex(),
        "void_reason": "",
    }


# fmt: off
TOLD_AGAIN = [
    ([ask_of(1), ask_of(1)],             [1],        "", "an ask that is told again counts once"),
    ([ask_of(1), ask_of(2), ask_of(1)],  [1, 2],     "", "an older ask is passed over"),
    ([ask_of(2), start(), ask_of(2)],    [2],        "", "a match that is told again goes on"),
    ([ask_of(5), ask_of(9)],             [5, 9],     "", "asks that were missed leave gaps"),
    ([ask_of(1, match=2)],               [],         "", "an ask of another match is not this one's"),
    ([ask_of(1), ask_of(1, moves=2)],    [1],        "asks decision 1 of match 1 twice", "an ask that is told again otherwise is a lie"),
]
# fmt: on


@pytest.mark.parametrize(
    ("messages", "decisions", "lie", "why"), TOLD_AGAIN, ids=[row[-1] for row in TOLD_AGAIN]
)
def test_asks_that_are_told_again(messages, decisions, lie, why):
    memory = Memory()
    bot = Bot(open_(), shown(), start(), *messages, ended, shelf=memory)
    assert [decision for decision, _ in memory.matches[0]["asks"]] == decisions
    assert [told.partition(": it ")[2] for told in bot.deals.lies] == [
        f"{lie}, and differently" for lie in [lie] if lie
    ]


def test_the_clock_is_no_part_of_what_was_shown():
    first, second = Memory(), Memory()
    Bot(open_(), shown(), start(), ask(1, move_ms=5), ended, shelf=first)
    Bot(open_(), shown(), start(), ask(1, move_ms=9), ended, shelf=second)
    assert first.matches == second.matches


# The folder.


def files(folder):
    return list(folder.iterdir())


def test_a_receipt_is_written_before_the_bot_commits_and_before_it_reveals(tmp_path):
    folder = tmp_path / "not/there/yet"
    bot = Bot(open_(), shelf=Folder(folder))
    (path,) = files(folder)
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(path.read_text())["transcript"] is None
    bot.hear(shown())
    assert json.loads(path.read_text())["transcript"] is not None
    assert files(folder) == [path]


def test_a_receipt_is_read_as_it_was_written(tmp_path):
    bot = Bot(open_(), shown(), start(), ask_of(1), shelf=Memory())
    (deal,) = bot.deals._deals.values()
    deal.lies.append("a lie")
    assert read(written(deal)) == deal
    deal.opened = Opened(DEAL, SECRET, COMMITMENTS, ENTROPIES, SALTS)
    deal.void_reason = "why"
    assert read(written(deal)) == deal


# fmt: off
RESTARTED = [
    # heard before    heard after                       sent after          why
    ([open_()],           [shown()],                    [OWN],              "it reveals what its former self had committed to"),
    ([open_()],           [open_(), shown()],           [OWN_COMMITMENT, OWN], "asked again, it commits to the same"),
    ([open_(), shown()],  [shown()],                    [OWN],              "it reveals again"),
    ([open_(), shown()],  [start(), ended, closed()],   [],                 "it checks what its former self was shown"),
    ([open_(), shown(), closed()], [shown(), closed()], [],                 "what is over is over"),
]
# fmt: on


@pytest.mark.parametrize(
    ("before", "after", "sent", "why"), RESTARTED, ids=[r[-1] for r in RESTARTED]
)
def test_a_bot_that_was_restarted_finds_its_receipt(before, after, sent, why, tmp_path):
    Bot(*before, shelf=Folder(tmp_path))
    again = Bot(shelf=Folder(tmp_path))
    again.deals._draw = lambda size: OTHER[:size]
    again.hear(*after)
    assert again.sent == sent
    assert again.deals.lies == []


# fmt: off
RESTARTED_LIES = [
    ([open_(), shown()],           [shown(swapped)],                     "a second transcript",         "another transcript after the restart"),
    ([open_(), shown()],           [closed(secret=bytes(32))],           "secret does not open",        "another secret after the restart"),
    ([open_(), shown(), closed()], [open_()],                            "opens a deal-set again",      "an opened deal-set after the restart"),
    ([open_(), shown(), start(), ask_of(4), ended], [start(), ask_of(4, moves=1)], "asks decision 4 of match 1 twice", "another ask after the restart"),
]
# fmt: on


@pytest.mark.parametrize(
    ("before", "after", "lie", "why"), RESTARTED_LIES, ids=[row[-1] for row in RESTARTED_LIES]
)
def test_a_restart_makes_no_lie_forgotten(before, after, lie, why, tmp_path):
    Bot(*before, shelf=Folder(tmp_path))
    (told,) = Bot(*after, shelf=Folder(tmp_path)).deals.lies
    assert lie in told


def spoiled(text):
    return lambda path: path.write_text(text)


def renamed(path):
    path.write_text(path.read_text().replace(CONTEXT.hex(), "02" * 32))


def doubled(path):
    path.with_name(path.name[:-6] + "x.json").write_text(path.read_text())


# fmt: off
UNUSABLE = [
    (spoiled(""),                   "an empty file"),
    (spoiled("[1]"),                "another kind of file"),
    (spoiled('{"receipt": "fd1"}'), "a receipt of another protocol"),
    (spoiled('{"receipt": "fd2"}'), "half a receipt"),
    (renamed,                       "a receipt under another name"),
    (doubled,                       "two bots in one folder"),
]
# fmt: on


@pytest.mark.parametrize(("spoil", "why"), UNUSABLE, ids=[row[-1] for row in UNUSABLE])
def test_a_receipt_that_cannot_be_used_is_as_none(spoil, why, tmp_path):
    Bot(open_(), shelf=Folder(tmp_path))
    (path,) = files(tmp_path)
    spoil(path)
    bot = Bot(shown(), shelf=Folder(tmp_path))
    assert bot.sent == []
    assert "had not committed" in bot.said[0]


def test_a_folder_that_is_gone_costs_the_receipt_and_not_the_deal(tmp_path):
    folder = tmp_path / "receipts"
    shelf = Folder(folder)
    folder.rmdir()
    bot = Bot(open_(), shown(), shelf=shelf)
    assert bot.sent == BOTH
    assert (
        bot.said == [f"the receipt of deal-set {NAME} is not kept: No such file or directory"] * 2
    )


def test_a_participant_is_no_path(tmp_path):
    folder = tmp_path / "inner"
    Bot(open_(participant="../../x/" + "y" * 500), shelf=Folder(folder))
    assert files(tmp_path) == [folder]
    assert len(files(folder)) == 1


# In a session.


def session(deals):
    hello = Hello(token="me", adds_entropy=deals is not None)
    return Session(hello, auto=True, now_s=lambda: 0.0, deals=deals)


def heard(of_session, *messages):
    sent, said = [], []
    for message in messages:
        received = of_session.receive(message.SerializeToString())
        sent += [BotMessage.FromString(frame).WhichOneof("body") for frame in received.send]
        said += received.say
    return sent, said


TALK = [
    ArenaMessage(deal_open=open_()),
    ArenaMessage(deal_transcript=shown()),
    ArenaMessage(deal_close=closed()),
]


def test_a_session_takes_part_in_deals():
    deals = Deals(draw=lambda size: OWN)
    sent, said = heard(session(deals), welcome(), *TALK)
    assert (sent, said) == (["deal_commit", "deal_reveal"], [])


def test_a_session_without_deals_says_nothing_to_them():
    of_session = session(None)
    assert heard(of_session, welcome(), *TALK) == ([], [])
    assert of_session.lies == ()


def test_a_session_tells_of_lies_and_plays_on():
    of_session = session(Deals(draw=lambda size: OWN))
    lie = ArenaMessage(deal_transcript=shown({YOU: YOURS}))
    sent, said = heard(of_session, welcome([1]), TALK[0], lie, asks(ask(1)))
    assert sent == ["deal_commit"]
    assert said == of_session.lies
    assert [each.ask_id for each in of_session.take().asks] == [1]


def test_deals_outlive_the_stream():
    of_session = session(Deals(draw=lambda size: OWN))
    heard(of_session, welcome(), TALK[0])
    of_session.lost()
    of_session.opened()
    sent, said = heard(of_session, welcome(epoch=2), *TALK)
    assert (sent, said) == (["deal_commit", "deal_reveal"], [])


def resumed(*matches):
    message = welcome(epoch=2)
    message.welcome.matches.extend(matches)
    return message


# fmt: off
AWAY = [
    # heard on the next stream                     a lie   why
    ([resumed(), TALK[2]],                         False,  "the match has ended meanwhile"),
    ([TALK[2], resumed()],                         False,  "it may have ended: nothing was told of it yet"),
    ([resumed(start()), TALK[2]],                  True,   "the match goes on"),
    ([resumed(start()), match_end(1), TALK[2]],    False,  "the match went on and has ended"),
]
# fmt: on


@pytest.mark.parametrize(("messages", "lie", "why"), AWAY, ids=[row[-1] for row in AWAY])
def test_a_deal_that_is_opened_after_the_bot_was_away(messages, lie, why):
    of_session = session(Deals(draw=lambda size: OWN))
    heard(of_session, welcome(), *TALK[:2], ArenaMessage(match_start=start()))
    of_session.lost()
    of_session.opened()
    heard(of_session, *messages)
    assert bool(of_session.lies) == lie


def test_a_session_keeps_what_it_was_shown():
    memory = Memory()
    of_session = session(Deals(draw=lambda size: OWN, shelf=memory))
    begun = ArenaMessage(match_start=start())
    heard(of_session, welcome(), *TALK[:2], begun, asks(ask_of(1)), asks(ask_of(1)))
    of_session.lost()
    again = welcome(open_asks=[ask_of(1)], epoch=2)
    again.welcome.matches.append(start())
    heard(of_session, again, asks(ask_of(2, moves=1)), match_end(1), TALK[2])
    (match,) = memory.matches
    assert [decision for decision, _ in match["asks"]] == [1, 2]
    assert of_session.lies == []


# Over a socket.


def lying(arena, stream, hello):
    arena.heard.append(hello.adds_entropy)
    yield welcome()
    yield TALK[0]
    arena.heard.append(stream.read().deal_commit.context)
    yield ArenaMessage(deal_transcript=shown({YOU: YOURS}))


def test_a_bot_that_was_lied_to_ends_with_code_3(capsys, monkeypatch):
    monkeypatch.setenv("CARDARENA_ONCE", "1")
    with FakeArena(lying) as arena, pytest.raises(SystemExit) as ended_with:
        cardarena.run(Second, argv=["--address", arena.address])
    assert ended_with.value.code == 3
    lie, last = capsys.readouterr().err.splitlines()
    assert lie.startswith(f"cardarena: the arena LIED about deal-set {NAME}: it left")
    assert last == "cardarena: the arena lied about its deals, as told above"
    assert arena.heard == [True, CONTEXT]


def test_a_program_that_runs_bots_is_told_of_lies_when_play_is_over():
    with FakeArena(lying) as arena, pytest.raises(cardarena.PlayError) as caught:
        cardarena.play(Second, address=arena.address, token="me", once=True, random=NoWait())
    assert isinstance(caught.value, cardarena.Lied)
    (lie,) = caught.value.lies
    assert lie == str(caught.value)
    assert "the arena LIED about" in lie


def test_a_lie_counts_more_than_being_refused_afterwards():
    def breaks_off(arena, stream, hello):
        yield from lying(arena, stream, hello)
        stream.abort(grpc.StatusCode.UNAVAILABLE, "restarting")

    with FakeArena(breaks_off, unknown_token) as arena, pytest.raises(cardarena.Lied):
        cardarena.play(Second, address=arena.address, token="me", once=True, random=NoWait())


def test_a_bot_may_take_no_part():
    class Bare(Second):
        adds_entropy = False

    def script(arena, stream, hello):
        arena.heard.append(hello.adds_entropy)
        yield welcome()
        yield from TALK[:2]

    with FakeArena(script) as arena:
        cardarena.play(Bare, address=arena.address, token="me", once=True, random=NoWait())
    assert arena.heard == [False]


def test_receipts_are_kept_where_the_command_line_says(tmp_path, monkeypatch):
    monkeypatch.setenv("CARDARENA_ONCE", "1")

    def script(arena, stream, hello):
        yield welcome()
        yield TALK[0]
        stream.read()

    for way in ("argument", "environment"):
        folder = tmp_path / way
        argv = ["--receipts", str(folder)]
        if way == "environment":
            argv = []
            monkeypatch.setenv("CARDARENA_RECEIPTS", str(folder))
        with FakeArena(script) as arena:
            cardarena.run(Second, argv=["--address", arena.address, *argv])
        assert len(files(folder)) == 1


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit) as ended_with:
        cardarena.run(Second, argv=["--receipts", str(tmp_path / "file")])
    assert ended_with.value.code == 2
    line = f"cardarena: receipts cannot be kept in {tmp_path / 'file'}: File exists\n"
    assert capsys.readouterr().err == line
