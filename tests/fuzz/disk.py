"""What the arena reads back: replays, journals, the two files of deals, receipts.

Whatever stands in them, only the sentences that are meant for it come out, and
what is called true is what was played.
"""

import contextlib
import io
import json
import tempfile
import tracemalloc
from pathlib import Path

from hypothesis import strategies as st

from arena.durable_files import Unwritten
from arena.games.contract import Seat
from arena.live.matches.interrupted import action_for, kept_order, spec_again
from arena.records.deal_book import (
    DEALS_MAGIC,
    DEALS_NAME,
    LOG_MAGIC,
    DealState,
    read_deals,
    read_log,
)
from arena.records.diagnosis import diagnose
from arena.records.export import export_lines
from arena.records.journal.deal_log import DealLog
from arena.records.journal.match_state import journaled_match
from arena.records.journal.recovery import recover
from arena.records.playback import Discrepancy
from arena.records.read import Replay, Unplayable
from arena.records.receipts import BadReceipt, Receipt, compare, concerns
from arena.records.records import JOURNAL_MAGIC, REPLAY_MAGIC, Damaged, framed, read_records
from arena.records.verify import verify
from arena.referee.deal import seeded_key
from arena.referee.spec import Ending
from cardarena.v1 import deals_pb2, journal_pb2
from tests.fuzz.recorded import files, lies
from tests.fuzz.target import Target, packed, unpacked
from tests.fuzz.wild import mutated

SENTENCES = (Damaged, Discrepancy, Unplayable)
MAX_EXTRA_BYTES = 8 << 20
"""Memory that reading a small file may take, whatever lengths it claims."""


@contextlib.contextmanager
def little_memory():
    """Fails if the block takes much more memory than there is to read."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MAX_EXTRA_BYTES, f"{peak} bytes"


def check_replay(data):
    """A file is read as a replay by everything that reads one."""
    try:
        replay = Replay.read(io.BytesIO(data))
    except Damaged:
        return
    verified = None
    with contextlib.suppress(*SENTENCES):
        verified = verify(replay)
    if verified is not None:
        _check_true(replay, verified)
    with contextlib.suppress(*SENTENCES):
        for _ in export_lines(replay):
            pass
    for seat in range(len(replay.opened.entrants)):
        with contextlib.suppress(*SENTENCES):
            diagnose(replay, Seat(seat))


def _check_true(replay, verified):
    """What is called true has the scores that its own moves make, as they were played."""
    for original in files().replays:
        true = Replay.read(io.BytesIO(original))
        if _play(replay) == _play(true) and verified.outcome.ending is not Ending.ABORTED:
            assert tuple(replay.closed.scores) == tuple(true.closed.scores)
            assert tuple(replay.closed.places) == tuple(true.closed.places)
            assert replay.closed.ending == true.closed.ending


def _play(replay):
    """All that the scores follow from."""
    opened = replay.opened
    return (
        opened.terms.game,
        [each.SerializeToString() for each in opened.terms.options],
        len(opened.entrants),
        replay.revealed.deal_key,
        [(each.seat, each.move.SerializeToString()) for each in replay.decided],
        [each.forfeited for each in replay.decided],
    )


def check_damaged(data):
    """A file that is not byte for byte a replay that was written is never read as one."""
    # From a real file: one in memory never reads more than there is.
    with tempfile.TemporaryFile() as file, little_memory():
        file.write(data)
        for magic in (REPLAY_MAGIC, JOURNAL_MAGIC):
            file.seek(0)
            with contextlib.suppress(Damaged):
                for _ in read_records(file, magic):
                    pass
    try:
        Replay.read(io.BytesIO(data))
    except Damaged:
        return
    assert data in files().replays, "damage went unnoticed"


def check_journal(data):
    """An arena starts on any journal and any file of deals, and goes on with what is sound."""
    journal, deals, *_ = [*unpacked(data), b"", b""]
    with tempfile.TemporaryDirectory(prefix="fuzz-journal-") as name:
        folder = Path(name)
        (folder / "journal").mkdir()
        (folder / "journal" / "20260101-000001.journal").write_bytes(journal)
        (folder / "journal" / DEALS_NAME).write_bytes(deals)
        found = recover(folder / "journal", folder / "replays", is_secret=lambda _: True)
        for each in found.unfinished:
            _go_on(each)
            journaled_match(folder / "journal", each.opened.match_id)
        for each in found.ended:
            true = [_closed(original) for original in files().replays]
            assert each.outcome.match_id
            if each.opened.match_id == "m1" and each.outcome.ending is not Ending.ABORTED:
                assert each.outcome.scores in [tuple(closed.scores) for closed in true]
        recover(folder / "journal", folder / "replays")  # as at the next start
        for path in (folder / "replays").glob("*"):
            assert path.parent == folder / "replays"
            Replay.open(path)


def _closed(original):
    return Replay.read(io.BytesIO(original)).closed


def _go_on(unfinished):
    """What the arena does with a match that was cut short, as far as it reads the journal."""
    action_for(unfinished)
    kept_order(unfinished.order, unfinished.opened.match_id)
    assert isinstance(unfinished.past, tuple)
    with contextlib.suppress(Unplayable):
        spec_again(unfinished)


def check_deals(data):
    """The files of deals are read whatever is in them, and can be gone on with."""
    secrets, public, *_ = [*unpacked(data), b"", b""]
    with tempfile.TemporaryDirectory(prefix="fuzz-deals-") as name:
        folder = Path(name)
        (folder / DEALS_NAME).write_bytes(secrets)
        (folder / "public").write_bytes(public)
        book = read_deals(folder / DEALS_NAME)
        for deal in book.deals():
            assert len(deal.shown_entropies) == len(deal.fair_deal.participants)
            assert isinstance(deal.defaulters, tuple)
            if deal.state in (DealState.FIXED, DealState.OPENED):
                assert len(deal.opening.key) == 32
            opened = journal_pb2.Opened(fair_deal=deal.fair_deal, deal_key_sha256=bytes(32))
            book.opening(opened)
        log = read_log(folder / "public")
        assert log.unopened <= log.committed.keys()
        with contextlib.suppress(Unwritten), DealLog(folder, public=folder / "public") as deals:
            assert all(deal.state is DealState.FIXED for deal in deals.live)
            whole = read_log(folder / "public")
            unread = [each for each in whole.damage if "twice" not in each and "yet" not in each]
            # Damage in the middle is never cut away, and told: others read no further than that.
            assert set(unread) <= set(deals.damage)
            assert unread or whole.head == deals.head


def check_receipt(data):
    """A receipt is read, or called none, and held against a replay."""
    with tempfile.TemporaryDirectory(prefix="fuzz-receipt-") as name:
        path = Path(name) / "receipt.json"
        path.write_bytes(data)
        try:
            receipt = Receipt.open(path)
        except BadReceipt:
            return
        replay = Replay.read(io.BytesIO(files().replays[1]))
        with contextlib.suppress(*SENTENCES):
            if concerns(receipt, replay):
                compare(replay, receipt)


# Inputs.

_RECORD = journal_pb2.Record
_DEAL = deals_pb2.DealRecord
_ENTRY = deals_pb2.LogEntry


def damaged():
    return st.one_of(mutated([*files().replays, files().journal]), st.binary(max_size=60))


def false_replays():
    return st.one_of(*(lies(REPLAY_MAGIC, base, _RECORD) for base in files().replays))


def journals():
    made = files()
    deals = _deals_of_journal(made)
    return st.one_of(
        st.tuples(lies(JOURNAL_MAGIC, made.journal, _RECORD, most=4), st.just(deals)),
        st.tuples(mutated([made.journal]), st.just(deals)),
        st.tuples(st.just(made.journal), lies(DEALS_MAGIC, deals, _DEAL)),
    ).map(packed)


def _deals_of_journal(made):
    """The file of secrets that opens the journal's matches, with other deal-sets beside."""
    seeded = deals_pb2.DealRecord(
        seeded=deals_pb2.DealSeeded(deal_key=seeded_key("a seed"), seed="a seed")
    )
    return made.deals + framed(seeded.SerializeToString())


def deal_files():
    made = files()
    return st.one_of(
        st.tuples(lies(DEALS_MAGIC, made.deals, _DEAL, most=4), st.just(made.log)),
        st.tuples(st.just(made.deals), lies(LOG_MAGIC, made.log, _ENTRY, most=4)),
        st.tuples(mutated([made.deals]), mutated([made.log])),
    ).map(packed)


def receipts():
    base = files().receipt
    values = st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("00" * 32),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
        max_leaves=5,
    )
    return st.one_of(mutated([base]), _changed_json(base, values))


@st.composite
def _changed_json(draw, base, values):
    fields = json.loads(base)
    name = draw(st.sampled_from(sorted(fields)))
    target = fields["matches"][0] if name == "matches" and draw(st.booleans()) else fields
    if target is not fields:
        name = draw(st.sampled_from(sorted(target)))
    target[name] = draw(values)
    return json.dumps(fields).encode()


REPLAY = Target(
    "replay", "replays with false records whose checksums and chain fit",
    check_replay, false_replays, short=40,
)  # fmt: skip
DAMAGE = Target(
    "damage", "replays and journals that were damaged", check_damaged, damaged, short=120
)
JOURNAL = Target(
    "journal", "a journal and the secrets beside it, damaged and false",
    check_journal, journals, short=20,
)  # fmt: skip
DEALS = Target(
    "deals", "the file of secrets and the public log, damaged and false",
    check_deals, deal_files, short=30,
)  # fmt: skip
RECEIPT = Target("receipt", "receipts of bots", check_receipt, receipts, short=50)
