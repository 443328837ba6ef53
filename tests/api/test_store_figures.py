"""Metrics of the store, of the newest backup and of the certificate."""

import asyncio
import threading
import time

import pytest
from cryptography import x509

from arena.api.metrics_page import of_the_store
from arena.api.store_figures import StoreFigures, StoreReader
from arena.app.backup import back_up, restore
from arena.app.backup_archive import BadBackup
from arena.live.tls import TlsFiles
from arena.results.states import Action, State
from arena.store import BotKind, StoreError, open_store
from arena.store.comparison_requests import Quota
from arena.store.data_folder import store_path
from tests.doubles.certificates import Authority
from tests.doubles.streams import PATIENCE_S
from tests.live.test_metrics import watched
from tests.store.made import NOW, made
from tests.store.test_registry import enter


def test_competitions_are_counted_by_state(tmp_path):
    with watched(tmp_path) as (_, _, page), open_store(store_path(tmp_path)) as store:
        competitions = made(store)
        made(store, "spring")
        assert page()("competitions", state="draft") == 2
        for action, reason in ((Action.START, ""), (Action.PAUSE, "a bot cannot be started")):
            competitions.control("autumn", action, who="org", now=NOW, reason=reason)
        competitions.control("spring", Action.START, who="org", now=NOW)
        shown = page()
        assert [shown("competitions", state=state.value) for state in State] == [0, 1, 1, 0]
        assert shown("competitions_paused_by_error") == 1
        competitions.control("spring", Action.PAUSE, who="org", now=NOW)
        assert page()("competitions_paused_by_error") == 1, "an organiser paused the other one"


def test_what_waits_in_the_store_is_counted(tmp_path):
    with watched(tmp_path) as (_, _, page), open_store(store_path(tmp_path)) as store:
        registry = store.registry()
        enter(registry, "ann")
        registry.create_bot("lynx", "ann", BotKind.UPLOADED, now=NOW)
        assert (page()("versions_waiting"), page()("comparisons_open")) == (0, 0)
        registry.submit("lynx", sha256="5a", manifest={}, now=NOW)
        store.comparison_requests().create("ann", {}, now=NOW, quota=Quota(1, 1, 1))
        assert (page()("versions_waiting"), page()("comparisons_open")) == (1, 1)
        assert page()("store_up") == 1


def test_deal_sets_that_wait_are_shown_by_speed_class():
    figures = StoreFigures({}, 0, 0, 0, {None: 4, -2: 0, 3: 17}, 0.1)
    again = {None: 0, 2: 0, 3: 1, 5: 2}
    (family,) = (row for row in of_the_store(figures, again) if row.name.endswith("sets_waiting"))
    shown = {sample.labels["speed_class"]: sample.value for sample in family.samples}
    assert shown == {"": 4, "-2": 0, "3": 18, "5": 2}


class FailingStore:
    """A store whose competitions cannot be read: at once, or as long as `answers` is not set."""

    def __init__(self, answers=None):
        self.answers = answers
        self.asked = 0

    def competitions(self):
        self.asked += 1
        if self.answers is not None:
            assert self.answers.wait(PATIENCE_S)
        raise StoreError("S-NO-ANSWER")


def test_a_store_that_fails_is_down():
    assert asyncio.run(StoreReader(FailingStore()).figures()) is None


def test_a_store_that_does_not_answer_is_down_and_is_asked_once(monkeypatch):
    monkeypatch.setattr("arena.api.store_figures.WAIT_S", 0)
    store = FailingStore(threading.Event())

    async def read():
        reader = StoreReader(store)
        figures = [await reader.figures() for _ in range(3)]
        store.answers.set()
        return figures

    assert asyncio.run(read()) == [None] * 3
    assert store.asked == 1


def test_a_store_that_is_down_has_no_other_metrics():
    assert [metric.name for metric in of_the_store(None, {})] == ["cardarena_store_up"]


def test_the_age_of_the_backup_follows_from_when_it_was_begun(tmp_path):
    with watched(tmp_path / "data") as (_, _, page):
        assert page()("backup_timestamp_seconds") == 0
        before_s = time.time()
        back_up(tmp_path / "data", tmp_path / "arena.backup")
        assert before_s <= page()("backup_timestamp_seconds") <= time.time()
        noted = page()("backup_timestamp_seconds")
        with pytest.raises(BadBackup):
            back_up(tmp_path / "data", tmp_path / "arena.backup")
        assert page()("backup_timestamp_seconds") == noted, "a backup that failed is none"
    restore(tmp_path / "arena.backup", tmp_path / "restored")
    with watched(tmp_path / "restored") as (_, _, page):
        assert page()("backup_timestamp_seconds") == 0, "this folder has none yet"


def test_the_expiry_is_that_of_the_certificate_in_use(tmp_path):
    ca = Authority.make(tmp_path, "ca")
    files = TlsFiles(*ca.sign("arena", "IP:127.0.0.1"))
    with watched(tmp_path / "data", tls=files) as (_, _, page):
        assert page()("certificate_expires_timestamp_seconds") == expiry(files)
        ca.sign("arena", "IP:127.0.0.1", days=90)
        assert page()("certificate_expires_timestamp_seconds") == expiry(files)


def expiry(files):
    certificate = x509.load_pem_x509_certificate(files.certificate.read_bytes())
    return certificate.not_valid_after_utc.timestamp()
