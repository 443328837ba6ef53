"""The receipt of the vectors is the one that the SDK keeps and the arena reads."""

import json

from arena.records.receipts import Receipt
from arena.referee.deal.streams import encode_parts
from cardarena._deals import Deals
from cardarena._receipts import Folder
from cardarena._session import Session
from cardarena.v1.play_pb2 import Hello
from tests.referee.deal.receipt_vectors import PATH, text, vector


def test_the_file_is_what_is_made_today():
    assert PATH.read_text("utf-8") == text(), "run `python -m tests.referee.deal.receipt_vectors`"


def test_the_sdk_keeps_the_receipt_of_the_vectors(tmp_path):
    known = vector()
    deals = Deals(shelf=Folder(tmp_path), draw=lambda _: bytes.fromhex(known["bot_draws"]))
    session = Session(Hello(), auto=False, now_s=lambda: 0.0, deals=deals)
    for data in known["arena_says"]:
        session.receive(bytes.fromhex(data))
    (path,) = tmp_path.iterdir()
    assert json.loads(path.read_text("utf-8")) == known["receipt"]


def test_the_arena_reads_it_so(tmp_path):
    known = vector()
    path = tmp_path / "receipt.json"
    path.write_text(json.dumps(known["receipt"]), "utf-8")
    (shown,) = Receipt.open(path).shown
    assert (shown.replay_id, shown.asks[0][0], shown.asks[1][0]) == ("m1", 1, 3)
    assert shown.chain == known["links"][-1]["chain"]
    events = [bytes.fromhex(each) for each in known["end_events"]]
    assert encode_parts(*events).hex() == known["end_hashed"]
