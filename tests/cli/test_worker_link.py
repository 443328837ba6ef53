"""What a worker takes from an arena: archives by the hash of their contents, and nothing else."""

import os

import pytest

from arena.cli import worker_link
from arena.cli.worker import MEASURE_AGAIN_S, SpeedClass
from arena.cli.worker_link import _Call, limit_cache
from arena.server.workers.messages import BadMessage, frame
from arena.store import Blobs
from arena.store.blobs import size_of
from arena.submission.archive import read_archive
from cardarena.v1 import work_pb2
from tests.submission.test_archive import BOT, zipped


class Client:
    """Answers every request for an archive with these bytes, in small pieces."""

    def __init__(self, data):
        self.data, self.asked = data, []
        self.stub = self

    GetArchive = "GetArchive"

    def stream(self, method, request):
        assert method == self.GetArchive
        self.asked.append(request.sha256)
        for at in range(0, len(self.data), 100):
            yield work_pb2.GetArchiveResponse(piece=self.data[at : at + 100])


class Process:
    """A worker process; what was passed on to it."""

    def __init__(self):
        self.stdin, self.passed_on = self, []

    def write(self, data):
        self.passed_on.append(data)

    def flush(self):
        pass


@pytest.fixture
def archive(tmp_path):
    return read_archive(zipped(tmp_path / "good.zip"))


def call(folder, data):
    return _Call(Client(data), Process(), Blobs(folder), folder)


def assigned(sha256):
    entrants = [work_pb2.WorkEntrant(name="ann", archive_sha256=sha256)]
    return work_pb2.ToWorker(assignment=work_pb2.WorkAssignment(entrants=entrants))


def test_an_archive_is_fetched_once_and_before_its_deal_set_begins(tmp_path, archive):
    own, message = call(tmp_path, archive.path.read_bytes()), assigned(archive.sha256)
    for _ in range(2):
        own._pass_on(message.SerializeToString())
    assert own._client.asked == [archive.sha256]
    assert own._process.passed_on == [frame(message)] * 2
    assert (Blobs(tmp_path).unpacked(archive.sha256) / "bot.py").read_bytes() == BOT["bot.py"]


def other(path):
    return zipped(path, BOT | {"bot.py": b"print(2)"}).read_bytes()


# fmt: off
POISONED = [
    # what comes                                                       the error
    (other,                                                            "has other contents"),
    (lambda path: b"no zip",                                           "is damaged"),
    (lambda path: zipped(path).read_bytes()[:-30],                     "is damaged"),
    (lambda path: zipped(path, BOT | {"../x": b""}).read_bytes(),      "is damaged"),
    (lambda path: b"x" * 1001,                                         "is too large"),
]
# fmt: on


@pytest.mark.parametrize(
    ("made", "error"),
    POISONED,
    ids=["another bot", "no archive", "cut off", "a file outside", "a flood"],
)
def test_a_poisoned_archive_is_refused(made, error, tmp_path, archive, monkeypatch):
    monkeypatch.setattr(worker_link, "MAX_ARCHIVE_BYTES", 1000)
    own = call(tmp_path, made(tmp_path / "bad.zip"))
    with pytest.raises(BadMessage, match=error):
        own._pass_on(assigned(archive.sha256).SerializeToString())
    assert own._process.passed_on == []
    assert not Blobs(tmp_path).has(archive.sha256)


def bot_of(number):
    return BOT | {"bot.py": f"print({number})".encode()}


def test_archives_that_were_used_longest_ago_are_removed_at_the_next_start(tmp_path):
    archives = [read_archive(zipped(tmp_path / f"{n}.zip", bot_of(n))) for n in range(3)]
    blobs = Blobs(tmp_path)
    for at, archive in enumerate(archives):
        own = call(tmp_path, archive.path.read_bytes())
        own._pass_on(assigned(archive.sha256).SerializeToString())
        blobs.unpacked(archive.sha256)
        os.utime(tmp_path / "blobs" / archive.sha256, (at, at))
    own._pass_on(assigned(archives[0].sha256).SerializeToString())  # it is used again
    size = size_of(tmp_path / "blobs") + size_of(tmp_path / "unpacked")
    limit_cache(tmp_path, size * 5 // 6)
    assert [blobs.has(each.sha256) for each in archives] == [True, False, True]
    assert len([*(tmp_path / "unpacked").iterdir()]) == 2


def test_installed_wheels_are_removed_where_they_are_too_many(tmp_path):
    package = tmp_path / "installed" / "aa" / "package.py"
    package.parent.mkdir(parents=True)
    package.write_bytes(b"x" * 1000)
    limit_cache(tmp_path, 1000)
    assert package.exists()
    limit_cache(tmp_path, 999)
    assert not package.parent.exists()


def test_what_is_in_play_is_counted(tmp_path, archive):
    own = call(tmp_path, archive.path.read_bytes())
    own._pass_on(assigned(archive.sha256).SerializeToString())
    assert own.in_play == 1
    own._pass_on(work_pb2.ToWorker(done=work_pb2.WorkDone()).SerializeToString())
    assert own.in_play == 0


class Link:
    """A link that notes the speed class that it enrols with."""

    def __init__(self, *, is_idle):
        self.is_idle, self.enrolled = is_idle, []

    def change_speed_class(self, speed_class):
        self.enrolled.append(speed_class)


# fmt: off
MEASURED_AGAIN = [
    # after so long             idle   found  enrols anew  why
    (MEASURE_AGAIN_S - 1,       True,  3,     [],          "it is too early"),
    (MEASURE_AGAIN_S,           True,  3,     [3],         "an hour has passed, and the machine is faster"),
    (MEASURE_AGAIN_S,           True,  2,     [],          "the class is the same"),
    (MEASURE_AGAIN_S,           False, 3,     [],          "bots are playing, which would slow the measurement"),
]
# fmt: on


@pytest.mark.parametrize(
    ("after_s", "idle", "found", "enrols", "why"),
    MEASURED_AGAIN,
    ids=[r[-1] for r in MEASURED_AGAIN],
)
def test_the_speed_class_is_measured_again(after_s, idle, found, enrols, why):
    now = [0.0]
    speed_class = SpeedClass(2, lambda: found, lambda: now[0])
    links = [Link(is_idle=True), Link(is_idle=idle)]
    now[0] = after_s
    for _ in range(2):
        speed_class.measure_if_due(links)
    assert [link.enrolled for link in links] == [enrols, enrols]
