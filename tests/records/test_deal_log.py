"""The two files of deals: secrets before commitments, and nothing lost that was shown."""

import hashlib
import itertools
import os

import pytest
import trio

from arena import durable_files
from arena.durable_files import Unwritten
from arena.records import records
from arena.records.deal_book import (
    DEALS_MAGIC,
    DEALS_NAME,
    LOG_MAGIC,
    DealState,
    Opening,
    opens,
    read_deals,
    read_log,
)
from arena.records.journal.deal_log import STOPPED, DealLog
from arena.records.records import Damaged, framed, read_records
from arena.referee.deal import (
    NO_COMMITMENT,
    DealTerms,
    bot_commitment,
    context,
    opened_key,
    plan_hash,
    rules_hash,
    seeded_key,
    server_commitment,
    transcript,
)
from cardarena.v1 import deals_pb2, journal_pb2
from tests.rows import slow_unless

PLAN, SALT = "m1 0 ann/0 bob/0", bytes(range(32))
SISTERS = f"{PLAN}\nm2 1 bob/1 ann/1"
NAMES = ("aaaa", "bbbb")
TOLD = (b"a" * 32, b"b" * 32)


class Group:
    """What a deal-set of two bots is made of; the second may add nothing."""

    def __init__(self, log, deal_set="g1", *, bare=False, plan=PLAN):
        self.plan = plan
        self.secret = hashlib.sha256(deal_set.encode()).digest()
        deck = ("Js", "Qs", "Ks")
        rules = rules_hash("kuhn", 1, {})
        hashed = plan_hash(plan, SALT)
        self.terms = DealTerms("arena", deal_set, "kuhn", rules, deck, 0, hashed, NAMES, log.head)
        self.context = context(self.terms)
        self.commitment = server_commitment(self.context, self.secret)
        self.entropies = (TOLD[0], b"") if bare else TOLD
        self.commitments = tuple(
            bot_commitment(self.context, name, told) if told else NO_COMMITMENT
            for name, told in zip(NAMES, self.entropies, strict=True)
        )
        self.fair_deal = journal_pb2.FairDeal(
            server_id="arena",
            deal_set=deal_set,
            rules_hash=rules,
            deck=deck,
            plan_hash=hashed,
            participants=[
                journal_pb2.DealParticipant(participant=name, bot=bot)
                for name, bot in zip(NAMES, ("ann", "bob"), strict=True)
            ],
            log_head=log.head,
            server_commitment=self.commitment,
        )

    @property
    def key(self):
        commitments = dict(zip(NAMES, self.commitments, strict=True))
        return opened_key(
            self.context,
            self.commitment,
            commitments,
            transcript(self.context, self.commitment, commitments),
            self.secret,
            dict(zip(NAMES, self.entropies, strict=True)),
        )

    @property
    def opened(self):
        digest = hashlib.sha256(self.key).digest()
        return journal_pb2.Opened(fair_deal=self.fair_deal, deal_key_sha256=digest)


def draw(log, *args, **kwargs):
    group = Group(log, *args, **kwargs)
    log.drawn(group.context, group.fair_deal, group.secret, group.plan, SALT)
    return group


def fix(log, group):
    return log.fixed(group.context, group.commitments, group.entropies)


@pytest.fixture
def files(tmp_path):
    return tmp_path / "journal" / DEALS_NAME, tmp_path / "commitments"


def open_log(files, **kwargs):
    return DealLog(files[0].parent, public=files[1], **kwargs)


def entries(path):
    with path.open("rb") as file:
        return [
            deals_pb2.LogEntry.FromString(each.body).WhichOneof("body")
            for each in read_records(file, LOG_MAGIC)
        ]


# What is kept.


def test_a_played_deal_set_is_opened_for_its_replays_and_in_the_public_log(files):
    with open_log(files) as log:
        group = draw(log)
        fix(log, group)
        log.opened(group.context)
    book, public = read_deals(files[0]), read_log(files[1])
    assert book.opening(group.opened) == Opening(
        group.key, "", group.secret, group.entropies, PLAN, SALT
    )
    (deal,) = book.deals()
    assert deal.state is DealState.OPENED
    assert [each.commitment for each in deal.fair_deal.participants] == list(group.commitments)
    assert public.committed[group.context].server_commitment == group.commitment
    assert public.heads[group.context] == group.fair_deal.log_head == bytes(32)
    assert public.opened[group.context] == deals_pb2.LogOpened(
        context=group.context, secret=group.secret, entropies=group.entropies
    )
    assert (book.damage, public.damage, public.unopened) == ([], [], set())


def test_the_opening_is_what_a_replay_reveals():
    opening = Opening(b"k", "s", b"secret", (b"a", b""), "plan", b"salt")
    assert opening.revealed == journal_pb2.Revealed(
        deal_key=b"k",
        seed="s",
        secret=b"secret",
        entropies=[b"a", b""],
        plan="plan",
        plan_salt=b"salt",
    )


def test_the_key_of_seeded_deals_is_written_once(files):
    key = seeded_key("seed")
    with open_log(files) as log:
        log.seeded(key, "seed")
        log.seeded(key, "seed")
        log.seeded(seeded_key("other"), "other")
    digest = hashlib.sha256(key).digest()
    opened = journal_pb2.Opened(deal_key_sha256=digest)
    assert read_deals(files[0]).opening(opened) == Opening(key, "seed")
    with files[0].open("rb") as file:
        assert len(list(read_records(file, DEALS_MAGIC))) == 2


def test_a_lost_deal_differs_from_an_open_one(files):
    with open_log(files) as log:
        log.seeded(seeded_key("seed"), "seed")
        drawn, void, fixed = draw(log, "drawn"), draw(log, "void"), draw(log, "fixed")
        fix(log, fixed)
        fix(log, void)
        log.voided(void.context, "the match was called off")
        assert log.book.opening(fixed.opened).key == fixed.key
        assert log.book.opening(drawn.opened) is None
        assert log.book.opening(void.opened) is None
    book = read_deals(files[0])
    assert book.opening(fixed.opened).key == fixed.key
    assert book.opening(void.opened) is None
    assert book.opening(journal_pb2.Opened(deal_key_sha256=b"?" * 32)) is None
    unknown = journal_pb2.FairDeal(server_commitment=b"?" * 32)
    assert book.opening(journal_pb2.Opened(fair_deal=unknown)) is None
    other_key = journal_pb2.Opened(fair_deal=fixed.fair_deal, deal_key_sha256=b"?" * 32)
    assert book.opening(other_key) is None


def test_the_head_is_the_hash_of_all_entries(files):
    with open_log(files) as log:
        for name in ("g1", "g2"):
            group = draw(log, name)
            log.voided(group.context, "no reason")
        head = log.head
    expected = bytes(32)
    with files[1].open("rb") as file:
        for each in read_records(file, LOG_MAGIC):
            expected = hashlib.sha256(expected + each.body).digest()
    assert head == expected == read_log(files[1]).head
    with open_log(files) as log:
        assert log.head == head


def test_terms_must_name_the_head_that_is(files):
    with open_log(files) as log:
        late = Group(log, "g2")
        draw(log, "g1")
        with pytest.raises(ValueError, match="has another entry"):
            log.drawn(late.context, late.fair_deal, late.secret, PLAN, SALT)


def test_secrets_are_for_the_arena_alone_and_commitments_for_everybody(files):
    open_log(files).close()
    assert files[0].stat().st_mode & 0o777 == 0o600
    assert files[1].stat().st_mode & 0o044 == 0o044


def test_the_public_log_says_nothing_of_a_deal_set_in_play(files):
    with open_log(files) as log:
        group = draw(log)
        fix(log, group)
    public = files[1].read_bytes()
    assert group.context in public
    secrets = (group.secret, *group.entropies, group.key, SALT)
    assert all(each not in public for each in secrets)
    assert all(each in files[0].read_bytes() for each in secrets if each != group.key)


# Void deal-sets.


def test_a_void_deal_set_shows_openings_and_defaulters(files):
    with open_log(files) as log:
        group = draw(log)
        log.voided(group.context, "bbbb lied", group.commitments, (TOLD[0], b"x" * 32))
        (deal,) = log.book.deals()
        assert [(each.bot, each.lied) for each in deal.defaulters] == [("bob", True)]
    opened = read_log(files[1]).opened[group.context]
    assert list(opened.entropies) == [TOLD[0], b""]
    assert opened.void_reason == "bbbb lied"


# fmt: off
BLAMED = [
    ((TOLD[0], b""),      [("bob", False)],                 "one told nothing"),
    ((TOLD[0], TOLD[0]),  [("bob", True)],                  "one told another's entropy"),
    ((b"", b""),          [("ann", False), ("bob", False)], "both told nothing"),
    (TOLD,                [],                               "the arena was at fault"),
]
# fmt: on


@pytest.mark.parametrize(("told", "blamed", "why"), BLAMED, ids=[row[2] for row in BLAMED])
def test_defaulters_are_known_after_restarts_until_the_deal_set_is_played(told, blamed, why, files):
    with open_log(files) as log:
        group = draw(log)
        log.voided(group.context, why, group.commitments, told)
    for _ in range(2):
        with open_log(files) as log:
            found = log.book.defaulters("g1")
            assert [(each.bot, each.lied) for each in found] == blamed
    with open_log(files) as log:
        again = draw(log)
        fix(log, again)
        log.opened(again.context)
        assert log.book.defaulters("g1") == ()
    with open_log(files) as log:
        assert list(log.book.deals()) == []


def test_a_bare_bot_is_never_to_blame(files):
    with open_log(files) as log:
        group = draw(log, bare=True)
        log.voided(group.context, "why", group.commitments, (b"", b""))
        assert [each.bot for each in log.book.defaulters("g1")] == ["ann"]


# fmt: off
ENDS = [
    (lambda log, void: fix_and_open(log),          "it is played"),
    (lambda log, void: log.given_up("g1"),         "it is given up"),
]
# fmt: on


def fix_and_open(log):
    again = draw(log, plan=SISTERS)
    fix(log, again)
    return log.opened(again.context)


@pytest.mark.parametrize("restarts", [0, 2], ids=["at once", "after restarts"])
@pytest.mark.parametrize("told", [(TOLD[0], b""), ()], ids=["a bot's fault", "the arena's fault"])
@pytest.mark.parametrize(("end", "why"), ENDS, ids=[row[-1] for row in ENDS])
def test_a_void_draw_of_several_tables_is_open_when_the_deal_set_is_over(
    end, why, told, restarts, files
):
    """Its opening says which processes play the same boards, and they do so yet."""
    with open_log(files) as log:
        void = draw(log, plan=SISTERS)
        assert log.voided(void.context, "why", void.commitments if told else (), told) == ()
    for _ in range(restarts):
        with open_log(files) as log:
            assert log.damage == []
    public = files[1].read_bytes()
    for secret in (void.secret, *filter(None, told)):
        assert secret not in public
    assert read_log(files[1]).unopened == {void.context}
    with open_log(files) as log:
        opened = end(log, void)
        assert opened[0].context == void.context
        assert list(log.book.deals()) == []
    assert read_log(files[1]).opened[void.context].secret == void.secret
    assert read_log(files[1]).unopened == set()
    with open_log(files) as log:
        assert (log.damage, log.given_up("g1")) == ([], ())


def test_the_void_draws_of_another_deal_set_stay_closed(files):
    with open_log(files) as log:
        void, other = draw(log, plan=SISTERS), draw(log, "g2", plan=SISTERS)
        for each in (void, other):
            log.voided(each.context, "why")
        assert [each.context for each in log.given_up("g1")] == [void.context]
        assert log.given_up("g1") == ()
    assert read_log(files[1]).unopened == {other.context}


@pytest.mark.parametrize("written", ["all of it", "the secrets alone"])
def test_an_opening_that_was_cut_short_is_brought_to_its_end(written, files):
    """The deal-set is open in the file of secrets; the public log lacks what follows."""
    with open_log(files) as log:
        void = draw(log, plan=SISTERS)
        log.voided(void.context, "why")
        again = draw(log, "g1", plan=SISTERS)
        fix(log, again)
    before = files[1].read_bytes()
    with open_log(files) as log:
        log.opened(again.context)
    if written == "the secrets alone":
        files[1].write_bytes(before)
    with open_log(files) as log:
        assert (log.damage, list(log.book.deals())) == ([], [])
    assert read_log(files[1]).opened.keys() == {void.context, again.context}


# Restarts.


def test_a_restart_voids_drawn_deals_and_continues_fixed_ones(files):
    with open_log(files) as log:
        drawn, fixed = draw(log, "drawn"), draw(log, "fixed")
        fix(log, fixed)
    with open_log(files) as log:
        assert [each.context for each in log.live] == [fixed.context]
        assert log.live[0].opening.key == fixed.key
        public = read_log(files[1])  # at once: the arena may be killed again, or idle
    assert public.unopened == {fixed.context}
    assert public.opened[drawn.context].void_reason == STOPPED
    assert public.opened[drawn.context].secret == drawn.secret
    with open_log(files) as log:
        log.opened(fixed.context)
    assert read_log(files[1]).unopened == set()
    assert read_log(files[1]).damage == []


class Disk:
    """Notes what both files hold, and how much of it is on the disk, after each step."""

    def __init__(self, monkeypatch, files):
        self.files = files
        self.steps = []
        self.moments = []
        self.syncing = lambda: None
        self._synced = dict.fromkeys(files, 0)
        write_all, sync_data = records.write_all, durable_files.sync_data

        def noting_write(fd, data):
            write_all(fd, data)
            self._note("write", fd)

        def noting_sync(fd):
            path = self._path(fd)
            size = path.stat().st_size  # what comes while it syncs may not reach the disk
            self.syncing()
            sync_data(fd)
            self._synced[path] = size
            self._note("sync", fd)

        monkeypatch.setattr(records, "write_all", noting_write)
        monkeypatch.setattr(durable_files, "sync_data", noting_sync)

    def _path(self, fd):
        (path,) = (
            each
            for each in self.files
            if each.exists() and each.stat().st_ino == os.fstat(fd).st_ino
        )
        return path

    def _note(self, step, fd):
        self.steps.append((step, self._path(fd).name))
        self.moments.append(
            [(f.read_bytes() if f.exists() else b"", self._synced[f]) for f in self.files]
        )


def test_a_commitment_is_written_when_its_secret_is_on_the_disk(files, monkeypatch):
    async def main():
        with open_log(files) as log:
            disk.steps.clear()
            draw(log)
            disk.steps.append("drawn")
            await log.synced()
            told.extend(disk.steps)

    told = []
    disk = Disk(monkeypatch, files)
    trio.run(main)
    assert told == [
        ("write", "deals"),
        "drawn",
        ("sync", "deals"),
        ("write", "commitments"),
        ("sync", "commitments"),
    ]


def test_a_commitment_that_comes_during_a_sync_waits_for_the_next_one(files, monkeypatch):
    groups = []

    def another():
        disk_noted.syncing = lambda: None
        trio.from_thread.run_sync(lambda: groups.append(draw(log, "another")))

    async def main():
        groups.append(draw(log, "one"))
        disk_noted.syncing = another
        await log.synced()
        assert [group.context in files[1].read_bytes() for group in groups] == [True, False]
        await log.synced()
        assert [group.context in files[1].read_bytes() for group in groups] == [True, True]

    with open_log(files) as log:
        disk_noted = Disk(monkeypatch, files)
        trio.run(main)
    for (secrets, on_disk), (public, _) in disk_noted.moments:
        for group in groups:
            assert group.context not in public or group.secret in secrets[:on_disk]


@pytest.mark.parametrize("which", [0, 1], ids=["secrets", "public"])
def test_where_one_file_cannot_be_written_the_other_is_not_either(which, files, monkeypatch):
    def full(fd, data):
        if os.fstat(fd).st_ino == files[which].stat().st_ino:
            raise OSError(28, "No space left on device")
        write_all(fd, data)

    async def draw_and_wait():
        draw(log)
        await log.synced()

    async def main():
        with pytest.raises(Unwritten, match=r"the deals in .* cannot be written: No space left"):
            await draw_and_wait()
        with pytest.raises(Unwritten, match="No space left"):
            await log.synced()

    write_all = records.write_all
    told = []
    with open_log(files, on_broken=told.append) as log:
        monkeypatch.setattr(records, "write_all", full)
        trio.run(main)
        monkeypatch.undo()
        sizes = [path.stat().st_size for path in files]
        with pytest.raises(Unwritten, match="No space left"):
            log.seeded(seeded_key("seed"), "seed")
    assert [path.stat().st_size for path in files] == sizes
    assert len(told) == 1


def test_nothing_shown_is_lost_whenever_the_arena_is_killed_or_the_power_fails(
    files, tmp_path, monkeypatch
):
    """Replays each moment of a run, with every mixture of what the disk may have kept."""
    shown = []  # (moments so far, what was shown then)

    async def main():
        with open_log(files) as log:

            async def step(kind, group):
                await log.synced()
                shown.append((len(disk.moments), kind, group.context))

            one, two = draw(log, "one"), draw(log, "two")
            await step("committed", one)
            fix(log, one)
            await step("fixed", one)
            log.voided(two.context, "lie", two.commitments, (TOLD[0], b""))
            await step("over", two)
            log.opened(one.context)
            await step("over", one)

    disk = Disk(monkeypatch, files)
    trio.run(main)
    monkeypatch.undo()
    assert len(disk.moments) > 10
    folders = (tmp_path / str(number) for number in itertools.count())
    for at, moment in enumerate(disk.moments):
        # A killed process keeps what was written, a power cut what was synced, of either file.
        kept = [{len(data), synced} for data, synced in moment]
        for sizes in itertools.product(*kept):
            folder = next(folders)
            copies = folder / "journal" / DEALS_NAME, folder / "commitments"
            copies[0].parent.mkdir(parents=True)
            for copy, (data, _), size in zip(copies, moment, sizes, strict=True):
                copy.write_bytes(data[:size])
            with open_log(copies) as log:
                assert log.damage == []
                live = {each.context for each in log.live}
            public = read_log(copies[1])
            assert public.unopened == live
            for told_at, kind, group in shown:
                if told_at <= at:
                    assert group in public.committed
                    if kind == "fixed":
                        assert group in live or public.opened[group].void_reason == ""
                    if kind == "over":
                        assert group in public.opened


# Damage.


def written(files):
    """A log with all kinds of records; its files' bytes."""
    with open_log(files) as log:
        log.seeded(seeded_key("s"), "s")
        fixed, void, played = draw(log, "fixed"), draw(log, "void"), draw(log, "played")
        fix(log, fixed)
        fix(log, played)
        log.voided(void.context, "lie", void.commitments, (b"", TOLD[1]))
        log.opened(played.context)
    return [path.read_bytes() for path in files]


@pytest.mark.parametrize(
    "which", slow_unless(lambda which: which == 1, [0, 1]), ids=["secrets", "public"]
)
def test_a_torn_end_is_cut_off_and_said(which, files):
    intact = written(files)
    with files[which].open("rb") as file:
        magic = (DEALS_MAGIC, LOG_MAGIC)[which]
        ends = {each.offset for each in read_records(file, magic)} | {0, len(intact[which])}
    ends.add(len(magic))
    for size in range(0, len(intact[which]), 3):
        for path, data in zip(files, intact, strict=True):
            path.write_bytes(data)
        files[which].write_bytes(intact[which][:size])
        with open_log(files) as log:
            torn = [each for each in log.damage if "were moved" in each]
            assert len(torn) == (size not in ends)
            head = log.head
        # What was cut off is gone for good, and the files can be gone on with.
        assert read_deals(files[0]).damage == []
        assert read_log(files[1]).head == head
        for kept in files[which].parent.glob("*.torn-*"):
            sound = int(kept.name.rpartition("-")[2])
            assert kept.read_bytes() == intact[which][sound:size]
            kept.unlink()


@pytest.mark.parametrize("which", [0, 1], ids=["secrets", "public"])
def test_a_flipped_bit_never_gives_wrong_data(which, files):
    intact = written(files)
    whole_book = {each.context: each for each in read_deals(files[0]).deals()}
    whole_log = read_log(files[1])
    wrong = []
    for at in range(0, len(intact[which]), 5):
        flipped = bytearray(intact[which])
        flipped[at] ^= 1 << (at % 8)
        files[which].write_bytes(bytes(flipped))
        if which == 0:
            book = read_deals(files[0])
            if not book.damage:
                wrong.append(at)
            for deal in book.deals():
                assert deal.secret == whole_book[deal.context].secret
        else:
            log = read_log(files[1])
            if not log.damage or log.head == whole_log.head:
                wrong.append(at)
            assert log.committed.items() <= whole_log.committed.items()
    assert wrong == []


def test_the_secret_of_a_commitment_that_is_lost_is_named(files):
    with open_log(files) as log:
        draw(log)
    files[0].write_bytes(DEALS_MAGIC)
    with open_log(files) as log:
        assert [each for each in log.damage if "lost" in each]


# fmt: off
FOREIGN = [
    (0, b"PK\x03\x04 something else",   "is not a deal-book",   "secrets: another kind of file"),
    (1, b"cardarena deal-log 2\nfuture", "format 2",            "public: a newer format"),
    (1, DEALS_MAGIC,                     "is not a deal-log",   "public: the other file"),
]
# fmt: on


@pytest.mark.parametrize(("which", "data", "said", "why"), FOREIGN, ids=[row[3] for row in FOREIGN])
def test_a_file_that_is_not_ours_is_left_alone(which, data, said, why, files):
    files[0].parent.mkdir()
    files[which].write_bytes(data)
    with pytest.raises(Unwritten, match=said):
        open_log(files)
    assert files[which].read_bytes() == data


def test_a_second_writer_is_refused(files):
    with open_log(files), pytest.raises(Unwritten, match="another arena keeps its deals"):
        open_log(files)
    open_log(files).close()


# fmt: off
CONTRADICTIONS = [
    (deals_pb2.DealRecord(fixed=deals_pb2.DealFixed(context=b"c")),   "never drawn",  "fixed, not drawn"),
    (deals_pb2.DealRecord(opened=deals_pb2.DealOpened(context=b"c")), "never drawn",  "opened, not drawn"),
    (deals_pb2.DealRecord(voided=deals_pb2.DealVoided(context=b"c")), "never drawn",  "void, not drawn"),
    (deals_pb2.DealRecord.FromString(b"\x7a\x00"),                    "unknown kind", "a newer arena's"),
]
# fmt: on


@pytest.mark.parametrize(
    ("record", "said", "why"), CONTRADICTIONS, ids=[row[2] for row in CONTRADICTIONS]
)
def test_a_record_that_does_not_follow_is_damage(record, said, why, files):
    files[0].parent.mkdir()
    files[0].write_bytes(DEALS_MAGIC + framed(record.SerializeToString()))
    book = read_deals(files[0])
    assert said in book.damage[0]
    with pytest.raises(Damaged, match=said):
        book.add(record)


def test_a_deal_set_is_drawn_once(files):
    with open_log(files) as log:
        group = draw(log)
        with pytest.raises(Damaged, match="drawn twice"):
            log.book.add(deals_pb2.DealRecord(drawn=deals_pb2.DealDrawn(context=group.context)))


# fmt: off
OPENINGS = [
    (TOLD[0], TOLD[0],    True,  "its own entropy"),
    (TOLD[0], TOLD[1],    False, "another's entropy"),
    (TOLD[0], b"",        False, "nothing"),
    (b"",     b"",        True,  "nothing, as it took no part"),
    (b"",     TOLD[0],    False, "entropy, although it took no part"),
]
# fmt: on


@pytest.mark.parametrize(("drawn", "told", "right", "why"), OPENINGS, ids=[r[3] for r in OPENINGS])
def test_what_opens_a_commitment(drawn, told, right, why):
    commitment = bot_commitment(b"c" * 32, "aaaa", drawn) if drawn else NO_COMMITMENT
    participant = journal_pb2.DealParticipant(participant="aaaa", commitment=commitment)
    assert opens(b"c" * 32, participant, told) is right


def log_of(*bodies):
    return LOG_MAGIC + b"".join(
        framed(deals_pb2.LogEntry(**each).SerializeToString()) for each in bodies
    )


COMMITTED = {"committed": deals_pb2.LogCommitted(context=b"c", server_commitment=b"s")}
OPENED = {"opened": deals_pb2.LogOpened(context=b"c", secret=b"s")}
# fmt: off
LOGS = [
    ((COMMITTED, OPENED),         "",                 "opened once"),
    ((OPENED,),                   "not committed to", "opened, not committed to"),
    ((COMMITTED, OPENED, OPENED), "opened twice",     "opened twice"),
    ((COMMITTED, COMMITTED),      "committed to twice", "committed to twice"),
]
# fmt: on


@pytest.mark.parametrize(("bodies", "said", "why"), LOGS, ids=[row[2] for row in LOGS])
def test_a_public_log_that_contradicts_itself_is_found(bodies, said, why, files):
    files[1].write_bytes(log_of(*bodies))
    damage = read_log(files[1]).damage
    assert (said in damage[0]) if said else (damage == [])


# A disk that fails.


def test_a_failed_disk_ends_writing_for_all_waiting_callers(files, monkeypatch):
    def broken(fd):
        raise OSError(5, "Input/output error")

    told, refused = [], []

    async def main():
        with open_log(files, on_broken=told.append) as log:
            await log.synced()
            monkeypatch.setattr(durable_files, "sync_data", broken)
            group = draw(log)

            async def wait():
                with pytest.raises(Unwritten, match="Input/output error"):
                    await log.synced()
                refused.append(True)

            async with trio.open_nursery() as nursery:
                for _ in range(3):
                    nursery.start_soon(wait)
            monkeypatch.undo()  # it is not tried again, even though it would work now
            with pytest.raises(Unwritten):
                await log.synced()
            with pytest.raises(Unwritten):
                fix(log, group)

    trio.run(main)
    assert (len(told), len(refused)) == (1, 3)
    assert entries(files[1]) == []


def test_whichever_write_fails_the_files_stay_sound_and_nothing_follows(
    files, tmp_path, monkeypatch
):
    def run(log):
        group = draw(log)
        fix(log, group)
        log.opened(group.context)

    write_all = records.write_all
    for failing in range(5):
        folder = tmp_path / str(failing)
        here = folder / "journal" / DEALS_NAME, folder / "commitments"
        folder.mkdir()
        count = itertools.count()

        def full(fd, data, count=count, failing=failing):
            number = next(count)
            assert number <= failing, "written after a failure"
            if number == failing:
                write_all(fd, data[: len(data) // 2])
                raise OSError(28, "No space left on device")
            write_all(fd, data)

        log = open_log(here)
        monkeypatch.setattr(records, "write_all", full)
        told = []
        log._on_broken = told.append

        async def main(log=log):
            run(log)
            await log.synced()

        if failing < 4:
            with pytest.raises(Unwritten, match="No space left"):
                trio.run(main)
        else:
            trio.run(main)
        monkeypatch.undo()
        log.close()
        assert len(told) == (failing < 4)
        with open_log(here) as log:
            live = {each.context for each in log.live}
        assert read_log(here[1]).unopened == live


def test_waits_for_the_disk_share_syncs(files, monkeypatch):
    syncs = []
    sync_data = durable_files.sync_data
    monkeypatch.setattr(durable_files, "sync_data", lambda fd: (sync_data(fd), syncs.append(fd)))

    async def main():
        with open_log(files) as log:

            async def one(name):
                group = draw(log, name)
                await log.synced()
                assert group.context in files[1].read_bytes()

            async with trio.open_nursery() as nursery:
                for at in range(30):
                    nursery.start_soon(one, f"g{at}")

    trio.run(main)
    assert len(read_log(files[1]).committed) == 30
    assert len(syncs) < 12


def test_a_cancelled_wait_loses_nothing(files):
    async def main():
        with open_log(files) as log:
            draw(log)
            with trio.CancelScope() as scope:
                scope.cancel()
                await log.synced()
            await log.synced()
            assert entries(files[1]) == ["committed"]

    trio.run(main)
