"""A receipt from beginning to end, for who writes one: `python -m tests.referee.deal.receipt_vectors`.

`receipt_vectors.json` has what an arena says as encoded messages, the bytes that are hashed, and
the receipt that follows. Nothing of the SDK or of the arena has a part in the hashes here.
"""

import hashlib
import hmac
import json
from pathlib import Path

from cardarena import abstrac
from cardarena.games.v1.abstrac_pb2 import AbstracAsk
from cardarena.v1.game_pb2 import ENDING_COMPLETED, GameEvent, MatchTerms
from cardarena.v1.play_pb2 import (
    ArenaMessage,
    Ask,
    Asks,
    DealClose,
    DealOpen,
    DealTranscript,
    Entropy,
    MatchEnd,
    MatchStart,
)

PATH = Path(__file__).with_name("receipt_vectors.json")
DEAL, SECRET, OWN, OTHER = (bytes([number]) * 32 for number in (1, 2, 3, 4))
ME, YOU, ZOE = "me", "you", "zoe"
"""The bot, another one, and one that takes no part."""


def enc(*parts):
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def h(label, *parts):
    return hashlib.sha256(enc(b"fd1", label, *parts)).digest()


def pairs(values):
    return [enc(name.encode(), values[name]) for name in sorted(values)]


SALTS = {ME: bytes([5]) * 32, YOU: bytes([6]) * 32, ZOE: bytes([7]) * 32}
VIEWS = {name: h(b"view", DEAL, name.encode(), salt) for name, salt in SALTS.items()}
CONTEXT = VIEWS[ME]
COMMITMENTS = {
    ME: h(b"bot-commit", VIEWS[ME], ME.encode(), OWN),
    YOU: h(b"bot-commit", VIEWS[YOU], YOU.encode(), OTHER),
    ZOE: bytes(32),
}
ENTROPIES = {ME: OWN, YOU: OTHER, ZOE: b""}
SERVER_COMMITMENT = h(b"server-commit", CONTEXT, SECRET)
OF_ALL = h(b"transcript", DEAL, h(b"server-commit", DEAL, SECRET), *pairs(COMMITMENTS))
SEAL = h(b"seal", CONTEXT, OF_ALL, SALTS[ME])
TRANSCRIPT = h(
    b"view-transcript", CONTEXT, SERVER_COMMITMENT, enc(ME.encode(), COMMITMENTS[ME]), SEAL
)
KEY = hmac.digest(OF_ALL, enc(SECRET, *pairs(ENTROPIES)), "sha256")

GAMES = [
    # The second decision was made without asking the bot, as when it was away.
    (
        1,
        AbstracAsk(
            view=abstrac.View(phase=abstrac.PHASE_TAKE, row=["As", "Kd", "2c"], limit=2),
            events=[abstrac.Event(kind=abstrac.TAKEN, seat=1, cards=["Qh"])],
            moves=[abstrac.Move(verb=abstrac.TAKE, count=count) for count in (1, 2)],
            moves_complete=True,
        ),
    ),
    (
        3,
        AbstracAsk(
            view=abstrac.View(phase=abstrac.PHASE_TAKE, row=["2c"], limit=1),
            moves=[abstrac.Move(verb=abstrac.TAKE, count=1)],
            moves_complete=True,
        ),
    ),
]
TOLD_AT_END = [
    abstrac.Event(kind=abstrac.TAKEN, seat=0, cards=["2c"]),
    abstrac.Event(kind=abstrac.SCORED, points=[30, 28], totals=[30, 28]),
]


def messages():
    """What the arena says to the bot, in order. The first ask comes twice, as after a loss."""
    asks = [
        Ask(ask_id=77 + decision, match=5, decision=decision, abstrac=game)
        for decision, game in GAMES
    ]
    return [
        ArenaMessage(
            deal_open=DealOpen(context=CONTEXT, server_commitment=SERVER_COMMITMENT, participant=ME)
        ),
        ArenaMessage(
            deal_transcript=DealTranscript(
                context=CONTEXT,
                commitment=COMMITMENTS[ME],
                seal=SEAL,
            )
        ),
        ArenaMessage(
            match_start=MatchStart(
                match=5, terms=MatchTerms(game="abstrac"), deal_context=CONTEXT, match_id="m1"
            )
        ),
        ArenaMessage(asks=Asks(asks=asks[:1])),
        ArenaMessage(asks=Asks(asks=asks)),
        ArenaMessage(
            match_end=MatchEnd(
                match=5,
                trailing_events=[GameEvent(abstrac=event) for event in TOLD_AT_END],
                ending=ENDING_COMPLETED,
                replay_id="m1",
            )
        ),
        ArenaMessage(
            deal_close=DealClose(
                context=CONTEXT,
                secret=SECRET,
                entropies=[
                    Entropy(
                        participant=name,
                        entropy=ENTROPIES[name],
                        commitment=COMMITMENTS[name],
                        salt=SALTS[name],
                    )
                    for name in sorted(ENTROPIES)
                ],
                deal=DEAL,
            )
        ),
    ]


def vector():
    """The whole of it, as values that JSON can hold."""
    chain, links = bytes(32), []
    payloads = [(decision, game.SerializeToString(deterministic=True)) for decision, game in GAMES]
    for decision, payload in payloads:
        chain = hashlib.sha256(chain + decision.to_bytes(4, "big") + payload).digest()
        links.append({"decision": decision, "payload": payload.hex(), "chain": chain.hex()})
    events = [event.SerializeToString(deterministic=True) for event in TOLD_AT_END]
    end = enc(*events)
    return {
        "arena_says": [
            message.SerializeToString(deterministic=True).hex() for message in messages()
        ],
        "bot_draws": OWN.hex(),
        "links": links,
        "end_events": [event.hex() for event in events],
        "end_hashed": end.hex(),
        "receipt": {
            "receipt": "fd2",
            "context": CONTEXT.hex(),
            "server_commitment": SERVER_COMMITMENT.hex(),
            "participant": ME,
            "entropy": OWN.hex(),
            "commitment": COMMITMENTS[ME].hex(),
            "shown": COMMITMENTS[ME].hex(),
            "seal": SEAL.hex(),
            "transcript": TRANSCRIPT.hex(),
            "public_key": None,
            "signature": None,
            "refused": False,
            "deal": DEAL.hex(),
            "secret": SECRET.hex(),
            "commitments": {name: commitment.hex() for name, commitment in COMMITMENTS.items()},
            "entropies": {name: entropy.hex() for name, entropy in ENTROPIES.items()},
            "salts": {name: salt.hex() for name, salt in SALTS.items()},
            "deal_key": KEY.hex(),
            "void_reason": "",
            "lies": [],
            "matches": [
                {
                    "match": 5,
                    "replay_id": "m1",
                    "game": "abstrac",
                    "seat": 0,
                    "asks": [[link["decision"], link["chain"][:8]] for link in links],
                    "chain": chain.hex(),
                    "end": hashlib.sha256(end).hexdigest(),
                    "last_sha256": hashlib.sha256(payloads[-1][1]).hexdigest(),
                }
            ],
        },
    }


def text():
    return json.dumps(vector(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
