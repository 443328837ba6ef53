"""Files that real matches left, to be damaged and lied in.

They are kept in `corpus/recorded`, so that every run begins with the same
bytes. `python -m tests.fuzz --record` makes them anew, as after a change of
rules or records.
"""

import contextlib
import functools
import io
import tempfile
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.message import DecodeError
from hypothesis import strategies as st

from arena.records.deal_book import LOG_MAGIC
from arena.records.journal.deal_log import DealLog
from arena.records.journal.journal import Journal
from arena.records.records import (
    CHAIN_START,
    JOURNAL_MAGIC,
    REPLAY_MAGIC,
    Damaged,
    chained,
    framed,
    read_records,
)
from arena.referee.deal import bot_commitment
from cardarena.v1 import deals_pb2, journal_pb2
from tests.fuzz.target import CORPUS
from tests.fuzz.wild import Messages, edit, mutated
from tests.records.matches import ILLEGAL, LATE, MALFORMED, PLAY, Bot, cut, play
from tests.referee.deal.house import BARE, SDK, House

CARDS = ("As", "7h", "2c", "abstrac", "chinese_poker", "ann", "a bare bot", "hands", "m1", "../m")
HASHES = (bytes(32), bytes(range(32)))


@dataclass(frozen=True)
class Files:
    """What an arena had on disk after some matches."""

    replays: tuple[bytes, ...]
    journal: bytes
    deals: bytes
    log: bytes
    receipt: bytes


FOLDER = CORPUS / "recorded"


@functools.cache
def files():
    """What is kept."""
    return Files(
        replays=tuple((FOLDER / f"{name}.replay").read_bytes() for name in ("faulty", "fair")),
        journal=(FOLDER / "journal").read_bytes(),
        deals=(FOLDER / "deals").read_bytes(),
        log=(FOLDER / "commitments").read_bytes(),
        receipt=(FOLDER / "receipt.json").read_bytes(),
    )


def record():
    """Play four matches and keep what they leave: one has faults, one a fair deal, one is torn."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fuzz-recorded-") as name:
        folder = Path(name)
        script = [PLAY, ILLEGAL, MALFORMED, LATE, PLAY]
        with Journal(folder / "journal") as journal:
            bots = [Bot(1, script, note="a note"), Bot(2)]
            faulty = cut(folder, play(journal, bots=bots, match_id="m1"))
            play(journal, "democracy", match_id="m2", options={"hands": 2})
            whole = play(journal, match_id="m3", bots=[Bot(3), Bot(4)])
            torn = journal.match(_Named("m4"))
            for body in whole.log.bodies[:7]:
                named = body.replace(b"\x08\x03", b"\x08" + bytes((torn._number,)), 1)
                journal.append(named.replace(b"m3", b"m4"))
        (segment,) = (folder / "journal").glob("*.journal")
        house = House(folder / "fair", {"ann": SDK, "a bare bot": BARE, "ben": SDK}).run()
        for kept, data in {
            "faulty.replay": faulty.read_bytes(),
            "fair.replay": house.replay_file().read_bytes(),
            "journal": segment.read_bytes(),
            "deals": _deals(folder),
            "commitments": _log(house),
            "receipt.json": house.receipt_file("ann").read_bytes(),
        }.items():
            (FOLDER / kept).write_bytes(data)


@dataclass(frozen=True)
class _Named:
    match_id: str


def bodies(data, magic):
    """The bodies of a file's records, up to the first that is damaged."""
    found = []
    with contextlib.suppress(Damaged):
        found.extend(record.body for record in read_records(io.BytesIO(data), magic))
    return found


def rebuilt(magic, parts):
    """A file of these records, its checksums and hash chains made to fit."""
    chains, out = {}, [magic]
    for part in parts:
        body = part
        if magic in (REPLAY_MAGIC, JOURNAL_MAGIC):
            try:
                record = journal_pb2.Record.FromString(body)
            except DecodeError:
                record = journal_pb2.Record()
            chain = chains.get(record.match, CHAIN_START)
            if record.HasField("opened"):
                chain = CHAIN_START
            if record.HasField("closed"):
                record.closed.chain = chain
                body = record.SerializeToString()
            if record.WhichOneof("body") in ("opened", "decided", "closed", "revealed"):
                chains[record.match] = chained(chain, body)
        out.append(framed(body) if body else b"")
    return b"".join(out)


@st.composite
def lies(draw, magic, base, message, most=2):
    """A file whose checksums fit, with records changed, taken out, exchanged or made up.

    `message` is the type of its records.
    """
    parts = list(bodies(base, magic))
    structured = Messages(texts=CARDS, byte_strings=HASHES, wild=0.0, most_fields=6)
    for _ in range(draw(st.integers(1, most)) if parts else 0):
        last = len(parts) - 1
        # The first and the last records say more than those between.
        ends = st.sampled_from((0, min(1, last), max(0, last - 1), last))
        at = draw(st.one_of(ends, ends, ends, st.integers(0, last)))
        how = draw(st.sampled_from("eeeeeemmdrsi"))
        if how == "e":
            parts[at] = _edited(draw, message, parts[at])
        elif how == "m":
            parts[at] = draw(mutated([parts[at]], most=2))
        elif how == "d" and len(parts) > 1:
            del parts[at]
        elif how == "r":
            parts.insert(at, parts[at])
        elif how == "s":
            other = draw(st.integers(0, last))
            parts[at], parts[other] = parts[other], parts[at]
        elif how == "i":
            parts.insert(at, draw(structured.of(message.DESCRIPTOR)))
    return rebuilt(magic, parts)


def _edited(draw, message, body):
    """A record with one field set to something else, or taken out."""
    try:
        record = message.FromString(body)
    except DecodeError:
        return body
    kind = record.WhichOneof("body")
    if kind is not None:
        edit(draw, getattr(record, kind), CARDS, HASHES)
    return record.SerializeToString()


def _deals(folder):
    """A file of secrets with one deal-set of each fate."""
    with DealLog(folder / "deals", public=folder / "public") as log:
        for number, fate in enumerate(("drawn", "fixed", "opened", "voided")):
            context = bytes([number]) * 32
            fair = journal_pb2.FairDeal(
                server_id="0" * 32,
                deal_set=f"g{number}",
                deck=["As", "Kh"],
                participants=[journal_pb2.DealParticipant(participant="p", bot="ann")],
                log_head=log.head,
                server_commitment=bytes([number]) * 32,
            )
            log.drawn(context, fair, b"s" * 32, "m 0 ann/0", b"t" * 32)
            entropy = b"e" * 32
            commitment = bot_commitment(context, "p", entropy)
            if fate == "voided":
                log.voided(context, "a reason", [commitment], [b"x" * 32])
            elif fate != "drawn":
                log.fixed(context, [commitment], [entropy])
            if fate == "opened":
                log.opened(context)
        log.seeded(b"k" * 32, "a seed")
    return (folder / "deals" / "deals").read_bytes()


def _log(house):
    """The public log of the house's deal."""
    commitment, secret, commitments, entropies = house.published()
    entries = [
        deals_pb2.LogEntry(
            committed=deals_pb2.LogCommitted(context=house.context, server_commitment=commitment)
        ),
        deals_pb2.LogEntry(
            opened=deals_pb2.LogOpened(
                context=house.context,
                secret=secret,
                entropies=[entropies[participant] for participant in sorted(commitments)],
            )
        ),
    ]
    return LOG_MAGIC + b"".join(framed(entry.SerializeToString()) for entry in entries)
