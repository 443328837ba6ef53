"""A moment of fuzzing, always the same, and every input that is kept."""

import bisect
import contextlib
import io
import itertools
import random
import tracemalloc

import pytest

from arena.records.deal_book import DEALS_MAGIC, LOG_MAGIC
from arena.records.read import Replay
from arena.records.records import JOURNAL_MAGIC, framed
from arena.records.verify import verify
from tests.fuzz import recorded, session_model, sockets
from tests.fuzz.play_stream import honest_messages
from tests.fuzz.sitting import Sitting
from tests.fuzz.target import CORPUS, packed, unpacked
from tests.fuzz.targets import MODEL, TARGETS
from tests.fuzz.wild import sized

MESSAGES = 1_000
LONG = 0.25
"""Of the messages are as long as can be."""
MAX_GROWTH_BYTES = 5 << 20


@pytest.fixture(scope="module", autouse=True)
def arena_with_sockets():
    """Started by the first target that needs one."""
    yield
    sockets.close()


@contextlib.contextmanager
def promised():
    """Whatever is said, there is no error: that is a promise like the others."""
    try:
        yield
    except (AssertionError, ExceptionGroup):
        raise
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}") from error


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_nothing_made_up_breaks_a_promise(name):
    target = TARGETS[name]
    with promised():
        target.run(examples=target.short)


@pytest.mark.slow
def test_a_session_does_what_its_model_says():
    with promised():
        session_model.search(20)


def test_memory_stays_flat():
    """Thousands of messages, many of them as long as can be, leave next to nothing behind."""
    sitting = Sitting(max_open_asks=2)
    for _ in range(4):
        sitting.begin("abstrac")
    wild, said = sitting.wild, honest_messages()
    long = b"\x0a" + sized(b"x" * 60_000)
    chooser = random.Random(1)

    def say(times):
        for _ in range(times):
            data = bytearray(long if chooser.random() < LONG else chooser.choice(said))
            for _ in range(chooser.randrange(4)):
                data[chooser.randrange(len(data))] = chooser.randrange(256)
            wild.send(bytes(data))
            sitting.others_play()
            sitting.pass_time(0.05)
            for bot in (wild, *sitting.honest):
                bot.outbox.take_frames()
            if wild.outbox.closed:
                wild.session.detach(wild.outbox)
                wild.connect(max_open_asks=2)

    say(500)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        say(MESSAGES)
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert after - before < MAX_GROWTH_BYTES


KEPT = [
    pytest.param(target, data, id=f"{target.name}/{name}")
    for target in TARGETS.values()
    for name, data in target.kept().items()
]


@pytest.mark.parametrize(("target", "data"), KEPT)
def test_what_is_kept_breaks_no_promise(target, data):
    with promised():
        target.check(data)


STEPS = sorted((CORPUS / MODEL).glob("*"))


@pytest.mark.parametrize("path", STEPS, ids=[path.name for path in STEPS])
def test_steps_that_are_kept_agree_with_the_model(path):
    with promised():
        session_model.replay(path.read_bytes())


FILES = [
    (JOURNAL_MAGIC, "journal"),
    (DEALS_MAGIC, "deals"),
    (LOG_MAGIC, "log"),
]


@pytest.mark.parametrize(("magic", "name"), FILES, ids=[name for _, name in FILES])
def test_damage_anywhere_leaves_what_stood_before_it_and_nothing_else(magic, name):
    """Cut at every byte, a bit flipped in every byte: what is read is a prefix of what was."""
    data = getattr(recorded.files(), name)[:2_000]
    whole = recorded.bodies(data, magic)
    assert len(whole) > 1
    ends = list(itertools.accumulate((len(framed(body)) for body in whole), initial=len(magic)))
    for at in range(len(data)):
        sound = max(0, bisect.bisect_right(ends, at) - 1)
        flipped = bytearray(data)
        flipped[at] ^= 1 << at % 8
        for damaged in (data[:at], bytes(flipped)):
            assert recorded.bodies(damaged, magic) == whole[:sound]


def test_all_that_is_kept_belongs_to_a_target():
    folders = {path.name for path in CORPUS.iterdir() if path.is_dir()}
    assert folders <= {*TARGETS, MODEL, recorded.FOLDER.name}
    assert all(path.stat().st_size < 100_000 for path in CORPUS.rglob("*") if path.is_file())


def test_what_is_recorded_is_whole():
    """Otherwise lies would be told of what is a lie already: python -m tests.fuzz --record."""
    for data in recorded.files().replays:
        assert verify(Replay.read(io.BytesIO(data))).outcome.scores


@pytest.mark.parametrize(
    "parts", [[], [b""], [b"a", b""], [b"a" * 70_000, b"b"]], ids=["none", "empty", "two", "long"]
)
def test_inputs_of_several_parts_are_read_back(parts):
    assert unpacked(packed(parts)) == parts
