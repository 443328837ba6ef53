"""The page of status: the numbers of the metrics for a program, and nothing of anybody."""

import json
from dataclasses import asdict

from arena.api.metrics_source import DEAL_STEPS
from arena.api.status_page import StatusPage
from arena.bots.tokens import Tokens
from arena.games.catalogue import GAMES
from arena.referee.spec import AbortCause, Ending, FaultKind
from arena.validation import read_json
from tests.live.running import running
from tests.live.test_metrics import Page, busy_page, get, notice_of, watched


def pages(folder):
    """The page of status and that of metrics, as they are served."""
    url = notice_of(folder).metrics
    return get(url, path="/status")[1], Page(get(url)[1])


def test_the_page_is_read_by_the_command(tmp_path):
    with running(tmp_path, Tokens(guests=True), metrics_port=0):
        text, _ = pages(tmp_path)
    page = read_json(StatusPage, text)
    assert json.loads(text) == json.loads(json.dumps(asdict(page)))
    assert page.matches.taken


def test_status_and_metrics_tell_the_same(tmp_path):
    (text, page), _ = busy_page(tmp_path, lambda: pages(tmp_path))
    found = json.loads(text)

    def by(name, label):
        """Samples of a metric by a label, those above 0."""
        counted = {}
        for (sample, labels), value in page.samples.items():
            if sample == f"cardarena_{name}_total" and value:
                key = dict(labels)[label]
                counted[key] = counted.get(key, 0) + value
        return counted

    assert found["matches"] == {
        "in_play": page("matches_in_play"),
        "begun": sum(by("matches_begun", "game").values()),
        "ended": by("matches_ended", "ending"),
        "aborted": by("matches_aborted", "cause"),
        "taken": bool(page("admission_open")),
        "refused": page("admission_refused_total"),
    }
    assert found["matches"]["begun"] == 1
    assert found["bots"] == {"connected": page("sessions_connected"), "known": page("sessions")}
    assert found["bots"] == {"connected": 1, "known": 2}
    assert found["decisions"] == by("decisions", "game") != {}
    assert found["faults"] == by("faults", "kind") != {}
    assert found["refused"]["calls"] == by("calls_refused", "reason") != {}
    assert found["refused"]["messages"] == by("messages_refused", "reason") != {}
    assert found["deal_sets"] == by("deal_sets", "step")
    assert found["waiting_bytes"] == page("outbox_bytes")
    assert found["journal"]["written_bytes"] == page("journal_written_bytes_total") > 0
    for name, metric in (
        ("charged", "charged_seconds"),
        ("turnaround", "turnaround_seconds"),
        ("journal_sync", "journal_sync_seconds"),
    ):
        assert found["times_ms"][name]["count"] == page(f"{metric}_count") > 0
    assert found["process"]["open_files"] > 0
    assert found["process"]["threads"] > 0  # each at its moment
    assert page("process_threads") > 0
    assert found["process"]["started_unix_s"] == page.samples["process_start_time_seconds", ()]


def test_the_most_frequent_comes_first_and_what_never_was_is_left_out(tmp_path):
    with watched(tmp_path) as (arena, _, _):
        faults = arena.metrics.counts.faults
        faults.update({FaultKind.TIMEOUT: 3, FaultKind.ILLEGAL: 3, FaultKind.GONE: 1})
        faults[FaultKind.MALFORMED] = 0
        text, _ = pages(tmp_path)
    found = json.loads(text)["faults"]
    assert list(found.items()) == [("illegal", 3), ("timeout", 3), ("gone", 1)]


def test_words_are_from_closed_vocabularies_and_tell_of_nobody(tmp_path):
    (text, _), secrets = busy_page(tmp_path, lambda: pages(tmp_path))
    found = json.loads(text)
    assert found["decisions"].keys() <= {game.id for game in GAMES}
    assert found["faults"].keys() <= {each.name.lower() for each in FaultKind}
    assert found["matches"]["ended"].keys() <= {each.name.lower() for each in Ending}
    assert found["matches"]["aborted"].keys() <= {each.name.lower() for each in AbortCause}
    assert found["deal_sets"].keys() <= set(DEAL_STEPS)
    assert not [each for each in secrets if each in text]
