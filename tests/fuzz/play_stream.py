"""The play stream, in process: anything said in a session, and any move said at any game."""

import re

import grpc
from hypothesis import strategies as st

from arena.games.catalogue import GAMES
from arena.live.session.asks import ask_id
from arena.live.session.limits import MAX_MESSAGE_BYTES, MAX_STRIKES
from arena.live.session.stream import MAX_FRAME_BYTES
from arena.referee.wire.fields import varint
from cardarena.v1 import game_pb2, play_pb2
from tests.fuzz.sitting import Sitting
from tests.fuzz.target import Target, packed, unpacked
from tests.fuzz.wild import Messages, edit, mutated, sized, tag

MATCHES = 3
OPEN_ASKS = 2
ASK_IDS = tuple(ask_id(match, decision) for match in range(5) for decision in (0, 1, 2, 3, 9))
INSIDE = re.compile(r"DecodeError|protobuf|upb|Traceback|Exception|object at 0x|/arena/")
"""What no text for a client may hold."""
ENDS = {"TOO_MANY_REFUSALS", "TOO_MANY_MESSAGES"}
NOT_OFFERED = play_pb2.RefusalReason.REFUSAL_REASON_NOT_OFFERED
TICK_S = 0.05
"""Between two messages: as often as one may say more than was asked for."""


def check_session(data):
    """A bot says `data`, in messages; nobody else notices, and its own matches go on."""
    sitting = Sitting(max_open_asks=OPEN_ASKS)
    for _ in range(MATCHES):
        sitting.begin("abstrac")
    wild, refused = sitting.wild, []
    wild.session.incoming._on_refusal = refused.append
    for message in unpacked(data)[:40]:
        told_before = len(wild.outbox.messages)
        wild.send(message[:MAX_MESSAGE_BYTES])
        sitting.others_play()
        _check_told(wild.outbox, told_before)
        counted = [reason for reason in refused if reason != NOT_OFFERED]
        assert len(counted) <= MAX_STRIKES + 1, "a stream that is closed is worked for still"
        if wild.outbox.closed:
            verdict = wild.outbox.verdict
            assert verdict.code is grpc.StatusCode.RESOURCE_EXHAUSTED
            assert verdict.reason in ENDS
            _reconnect(sitting)
        sitting.pass_time(TICK_S)
    _reconnect(sitting)
    sitting.play_out()
    assert all(table.outcome is not None for table in sitting.tables)
    sitting.check_nobody_else_suffered()


def _check_told(outbox, since):
    """What the bot was told of its last message: in bounds, and nothing from inside."""
    told = outbox.messages[since:]
    refusals = [each.refusal for each in told if each.HasField("refusal")]
    assert len(refusals) <= MAX_STRIKES + 1
    for message in told:
        assert message.ByteSize() <= MAX_FRAME_BYTES
    closed = [each.ask_closed.reason for each in told if each.HasField("ask_closed")]
    for text in [*(each.text for each in refusals), *closed]:
        assert text
        assert len(text) < 1000
        assert not INSIDE.search(text), text


def _reconnect(sitting):
    """The bot comes back: it is told exactly what is not settled, and asked no more at once."""
    wild, session = sitting.wild, sitting.wild.session
    before = session.epoch
    session.detach(wild.outbox)
    still_open = set(session.asks.table.open_ids)
    assert len(still_open) <= OPEN_ASKS
    waiting = {entry.number for entry in session.asks.table.waiting}
    welcome = wild.connect(max_matches=8, max_open_asks=OPEN_ASKS)
    assert welcome.epoch == before + 1
    listed = [ask.ask_id for ask in welcome.open_asks]
    assert {*listed, *welcome.later_asks} == still_open | waiting
    again = play_pb2.ArenaMessage(asks=play_pb2.Asks(asks=welcome.open_asks))
    wild.outbox.post(again.SerializeToString())  # so that the honest end finds them
    session.incoming._on_refusal.__self__.clear()


def check_move(data):
    """A bot answers one ask of any game by any bytes as its move."""
    if len(data) < 2:
        return
    game = GAMES[data[0] % len(GAMES)]
    sitting, asked = _at(game.id, data[1] % STEPS)
    wild = sitting.wild
    for number in asked:
        answer = tag(1, 0) + varint(number) + tag(3, 2) + sized(data[2:])
        wild.send(tag(3, 2) + sized(tag(1, 2) + sized(answer)))
        sitting.others_play()
        _check_told(wild.outbox, 0)
    sitting.check_nobody_else_suffered()
    kinds = {each.fault for each in sitting.ledgers[0].decisions if each.fault}
    assert kinds <= {2, 3}, kinds  # illegal, malformed


STEPS = 24
"""Own moves after which a wild one may come."""


_LAST = {}
"""The most own moves after which a match still asks, by game, as far as it is known."""


def _at(game_id, steps):
    """A match after some honest moves, and the asks that are open to the wild bot."""
    steps = min(steps, _LAST.get(game_id, steps))
    sitting = Sitting(max_open_asks=8)
    sitting.begin(game_id)
    sitting.others_play()
    for _ in range(steps):
        sitting.wild_plays()
    asked = sitting.wild.outbox.take_asks()
    if not asked and steps:
        _LAST[game_id] = steps - 1
        return _at(game_id, steps - 1)
    return sitting, [ask.ask_id for ask in asked]


# What is said.

STRUCTURED = {
    "ints": ASK_IDS,
    "texts": ("guest:wild", "abstrac", "a note"),
    "byte_strings": (bytes(32), b"\x01" * 32),
}


def honest_messages():
    """What honest bots say, as bytes."""
    moves = [{"index": 0}, {"index": 1}, {"index": 200}, {"move": game_pb2.GameMove()}]
    answers = [
        play_pb2.Answer(ask_id=number, note="x" * (number % 7), **move)
        for number in ASK_IDS
        for move in moves
    ]
    hello = play_pb2.Hello(
        token="guest:wild",
        sdk="cardarena-python/0.1",
        games=[play_pb2.GameSupport(game="abstrac", rules_version=1, seats=[2])],
        max_matches=8,
        max_open_asks=4,
        want_text=True,
        adds_entropy=True,
    )
    commit = play_pb2.DealCommit(context=bytes(32), commitment=b"\x01" * 32)
    reveal = play_pb2.DealReveal(context=bytes(32), entropy=b"\x02" * 32)
    said = [
        {"hello": hello},
        {"ready": play_pb2.Ready(max_matches=3)},
        {"deal_commit": commit},
        {"deal_reveal": reveal},
        {"answers": play_pb2.Answers(answers=answers[:4])},
        {"answers": play_pb2.Answers(answers=answers)},
        {"answers": play_pb2.Answers(answers=[play_pb2.Answer()] * 3000)},
        {"answers": play_pb2.Answers()},
        *({"answers": play_pb2.Answers(answers=[each])} for each in answers),
    ]
    return [play_pb2.BotMessage(**each).SerializeToString() for each in said]


def bot_messages():
    """A strategy for single messages: honest, mutated, structured, and pure noise."""
    descriptor = play_pb2.BotMessage.DESCRIPTOR
    honest = honest_messages()
    return st.one_of(
        st.sampled_from(honest),
        mutated(honest),
        Messages(wild=0.0, **STRUCTURED).of(descriptor),
        Messages(wild=0.1, **STRUCTURED).of(descriptor),
        st.binary(max_size=60),
    )


def sessions():
    return st.lists(bot_messages(), min_size=1, max_size=12).map(packed)


@st.composite
def moves(draw):
    at, steps = draw(st.integers(0, len(GAMES) - 1)), draw(st.integers(0, STEPS - 1))
    head = bytes((at, steps))
    offered = offered_moves(GAMES[at].id, steps)
    how = draw(st.sampled_from("beeees" if offered else "s"))
    if how == "b":
        return head + draw(mutated(offered, most=3))
    if how == "e":
        return head + _edited_move(draw, draw(st.sampled_from(offered)))
    wild = draw(st.sampled_from((0.0, 0.1)))
    family = {field.name: field for field in game_pb2.GameMove.DESCRIPTOR.fields}
    known = _family(offered, family)
    if known is None or draw(st.integers(0, 7)) == 0:
        return head + draw(Messages(wild=wild).of(game_pb2.GameMove.DESCRIPTOR))
    inner = Messages(wild=wild, texts=CARDS, most_fields=6).of(known.message_type)
    return head + tag(known.number, 2) + sized(draw(inner))


def _edited_move(draw, encoded):
    """A move that was offered, with one or two fields changed."""
    move = game_pb2.GameMove.FromString(encoded)
    for _ in range(draw(st.integers(1, 2))):
        edit(draw, getattr(move, move.WhichOneof("game")), CARDS)
    return move.SerializeToString()


CARDS = ("As", "Kh", "7d", "2c", "Ts", "card.rank > last.rank")
_OFFERED = {}


def offered_moves(game_id, steps):
    """The encoded moves that are offered at this point of a match; some of very many."""
    if (game_id, steps) not in _OFFERED:
        sitting, asked = _at(game_id, steps)
        open_asks = [sitting.wild.session.asks.table._open[number].ask for number in asked]
        codec = sitting.tables[0]._codec
        found = [codec.game_move(move) for ask in open_asks for move in ask.moves.offered]
        _OFFERED[game_id, steps] = found[:: max(1, len(found) // 12)]
    return _OFFERED[game_id, steps]


def _family(offered, fields):
    if not offered:
        return None
    return fields[game_pb2.GameMove.FromString(offered[0]).WhichOneof("game")]


def session_samples():
    """What honest bots say, and single messages with as many answers as fit."""
    one, nothing = play_pb2.Answer(ask_id=ask_id(1, 1), index=0), play_pb2.Answer()
    said = {"one-answer-5000-times": [one] * 5000, "answers-to-nothing": [nothing] * 3000}
    samples = {
        name: packed([play_pb2.BotMessage(answers={"answers": answers}).SerializeToString()])
        for name, answers in said.items()
    }
    return {"honest": packed(honest_messages()[:14])} | samples


SESSION = Target(
    "session", "anything said on a play stream, with three matches in play",
    check_session, sessions, short=25, samples=session_samples,
)  # fmt: skip
MOVES = Target(
    "moves", "any bytes as a move, at any point of any game",
    check_move, moves, short=60,
)  # fmt: skip
