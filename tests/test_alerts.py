"""The alerts of `deploy/alerts.yml`: which series fire them, which do not, and that they reach their receiver."""

import http.server
import json
import queue
import re
import socket
import subprocess
import threading
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import yaml

from arena.bots.tokens import Tokens
from arena.results.states import Action
from arena.store import open_store
from arena.store.data_folder import read_notice, store_path
from tests.doubles.streams import PATIENCE_S
from tests.live.running import running
from tests.programs import needs
from tests.store.made import NOW, made

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
RULES = {
    rule["alert"]: rule
    for group in yaml.safe_load((DEPLOY / "alerts.yml").read_text("utf-8"))["groups"]
    for rule in group["rules"]
}
UP = "cardarena_build_info"
STARTED = 'process_start_time_seconds{job="card-arena"}'
SYNCS = "cardarena_journal_sync_seconds_bucket"
EXPIRES = "cardarena_certificate_expires_timestamp_seconds"
BACKUP = "cardarena_backup_timestamp_seconds"
WAITING_3, WAITING_HERE = (
    f'cardarena_deal_sets_waiting{{speed_class="{label}"}}' for label in ("3", "")
)
PLAYING_3, PLAYING_2, PLAYING_HERE = (
    f'cardarena_worker_matches{{speed_class="{label}"}}' for label in ("3", "2", "")
)

# Values are as promtool reads them: `A+BxN` is A and N more, each B greater; `_` is no sample. There is one a minute from 1970
# on, or one in four minutes where the moment is in hours.
# fmt: off
FIRES = [
    # alert               at     series                                          reason
    ("ArenaDown",         "5m",  {"up": "0x5"},                                  "nothing was read"),
    ("ArenaRestarts",     "15m", {STARTED: "1 1 100 100 200 200 300 300x10"},    "three restarts, as of a unit that crashes"),
    ("WorkerRestarts",    "15m", {"cardarena_worker_starts_total": "1+1x20"},    "one a minute"),
    ("ArenaLate",         "10m", {"cardarena_loop_late_p99_seconds": "0.03x20"}, "30 ms for ten minutes"),
    ("StoreDown",         "5m",  {"cardarena_store_up": "0x5"},                  "it does not answer"),
    ("StoreSlow",         "10m", {"cardarena_store_read_seconds": "2x20"},       "two seconds for ten minutes"),
    ("CompetitionPaused", "1m",  {"cardarena_competitions_paused_by_error": "0 1"}, "at once"),
    ("SubmissionsWait",   "90m", {"cardarena_versions_waiting": "3x100"},        "more than an hour"),
    ("NoWorkers",         "20m", {WAITING_3: "5x20"},                            "no worker has joined"),
    ("NoWorkers",         "20m", {WAITING_3: "5x20", PLAYING_3: "0x20"},         "workers have joined that take none"),
    ("NoWorkers",         "20m", {WAITING_3: "5x20", PLAYING_2: "4x20", PLAYING_HERE: "4x20"}, "only workers of another class, and of the arena's machine, play"),
    ("BackupOld",         "37h", {BACKUP: "60x600"},                             "the last one is of yesterday"),
    ("BackupOld",         "37h", {BACKUP: "0x600"},                              "there was never one"),
    ("CertificateExpires", "2h", {EXPIRES: f"{10 * 86400}x200"},                 "ten days from now"),
    ("DiskAlmostFull",    "10m", {"cardarena_disk_bytes": "100x20", "cardarena_disk_free_bytes": "9x20"}, "nine in a hundred"),
    ("DiskSlow",          "12m", {f'{SYNCS}{{le="0.1"}}': "0x20", f'{SYNCS}{{le="0.2"}}': "0+10x20", f'{SYNCS}{{le="+Inf"}}': "0+10x20"}, "no sync within 100 ms"),
    ("ArenaError",        "3m",  {'cardarena_calls_total{code="INTERNAL",call="c"}': "0 0 1 1"}, "an internal error"),
    ("ArenaError",        "3m",  {'cardarena_matches_aborted_total{cause="error"}': "0 0 1 1"}, "a match was aborted for one"),
    ("Flooded",           "10m", {"cardarena_connections_cut_total": "0+12x20"}, "one in five seconds"),
]
QUIET = [
    ("ArenaDown",         "5m",  {UP: "1x5"},                                    "it is there"),
    ("ArenaDown",         "5m",  {UP: "1x2 _ 1 1"},                              "one scrape failed"),
    ("ArenaRestarts",     "15m", {STARTED: "1 1 100 100 200 200x10"},            "an upgrade, with a second try"),
    ("WorkerRestarts",    "15m", {"cardarena_worker_starts_total": "1 1 2 2x20"}, "one was killed"),
    ("ArenaLate",         "10m", {"cardarena_loop_late_p99_seconds": "0.03 0.01x20"}, "a moment"),
    ("StoreDown",         "5m",  {"cardarena_store_up": "0 1x5"},                "a database that was started again"),
    ("StoreSlow",         "10m", {"cardarena_store_read_seconds": "0.02x20"},    "20 ms"),
    ("CompetitionPaused", "1m",  {'cardarena_competitions{state="paused"}': "1x5"}, "an organiser paused it"),
    ("SubmissionsWait",   "90m", {"cardarena_versions_waiting": "20-1x20 0x90"}, "a class that submits, in 20 minutes"),
    ("NoWorkers",         "20m", {WAITING_3: "5x20", PLAYING_3: "4x20"},         "a worker plays, and more wait"),
    ("NoWorkers",         "20m", {WAITING_3: "5x20", PLAYING_3: "0x9 1 0x20"},   "one that played meanwhile"),
    ("NoWorkers",         "20m", {WAITING_3: "0x20"},                            "outside of the hours of play, when none waits"),
    ("NoWorkers",         "20m", {WAITING_HERE: "5x20"},                         "the arena's own machine plays them"),
    ("BackupOld",         "37h", {BACKUP: "0x359 86400x600"},                    "one a day"),
    ("BackupOld",         "20h", {BACKUP: "0x600"},                              "a new arena, before its first night"),
    ("CertificateExpires", "2h", {EXPIRES: f"{30 * 86400}x200"},                 "a month from now"),
    ("DiskAlmostFull",    "10m", {"cardarena_disk_bytes": "100x20", "cardarena_disk_free_bytes": "50x20"}, "half"),
    ("DiskSlow",          "12m", {f'{SYNCS}{{le="0.1"}}': "0+10x20", f'{SYNCS}{{le="+Inf"}}': "0+10x20"}, "all syncs within 100 ms"),
    ("ArenaError",        "3m",  {'cardarena_calls_total{code="NOT_FOUND",call="c"}': "0 0 1 1"}, "a client's error"),
    ("Flooded",           "10m", {"cardarena_connections_cut_total": "0 3x20"},  "three, once"),
]
# fmt: on


@pytest.mark.parametrize("rows", [FIRES, QUIET], ids=["fires", "stays quiet"])
def test_every_alert_has_a_case(rows):
    assert {row[0] for row in rows} == set(RULES)


def promtool(folder, row, *, fires):
    """What `promtool test rules` says about a row; empty if it came out so."""
    alert, at, series, _ = row
    interval = "4m" if at.endswith("h") else "1m"
    firing = f'count(ALERTS{{alertname="{alert}", alertstate="firing"}}) or vector(0)'
    test = {
        "interval": interval,
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [
            {"expr": firing, "eval_time": at, "exp_samples": [{"value": int(fires)}]}
        ],
    }
    content = {
        "rule_files": [str(DEPLOY / "alerts.yml")],
        "evaluation_interval": interval,
        "tests": [test],
    }
    # JSON is YAML.
    (folder / "tests.yml").write_text(json.dumps(content), "utf-8")
    done = subprocess.run(
        ["promtool", "test", "rules", "tests.yml"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr if done.returncode else ""


@needs("promtool")
@pytest.mark.parametrize("row", FIRES, ids=lambda row: f"{row[0]}: {row[-1]}")
def test_an_alert_fires(row, tmp_path):
    assert promtool(tmp_path, row, fires=True) == ""


@needs("promtool")
@pytest.mark.parametrize("row", QUIET, ids=lambda row: f"{row[0]}: {row[-1]}")
def test_an_alert_stays_quiet(row, tmp_path):
    assert promtool(tmp_path, row, fires=False) == ""


def test_every_alert_says_what_to_do():
    """In the table of the operator's page, and with a severity by which it is routed."""
    text = (ROOT / "docs" / "server.md").read_text("utf-8")
    table = text.partition("| alert | what to do |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| (\w+) \|", table, re.MULTILINE) == list(RULES)
    assert {rule["labels"]["severity"] for rule in RULES.values()} == {"page", "ticket"}
    assert all(rule["annotations"]["summary"] for rule in RULES.values())


# From the arena to the receiver.


@contextmanager
def receiver():
    """The address of a web hook, and the alerts that it gets."""
    received = queue.SimpleQueue()

    class Hook(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()
            for alert in json.loads(body)["alerts"]:
                received.put((alert["labels"]["alertname"], alert["status"]))

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/", received
        finally:
            server.shutdown()


@contextmanager
def program(folder, *command):
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def free_address():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def config(name, folder, change):
    """A changed copy of a file of `deploy/`."""
    folder.mkdir()
    values = yaml.safe_load((DEPLOY / name).read_text("utf-8"))
    change(values)
    (folder / name).write_text(json.dumps(values), "utf-8")
    return f"--config.file={folder / name}"


@needs("prometheus")
@pytest.mark.slow
def test_a_paused_competition_reaches_the_receiver(tmp_path):
    """The files of `deploy/`, with addresses of this machine and without waits."""
    prometheus_at, alertmanager_at = free_address(), free_address()
    data = tmp_path / "data"
    with ExitStack() as stack:
        hook, received = stack.enter_context(receiver())
        stack.enter_context(running(data, Tokens(), metrics_port=0))
        store = stack.enter_context(open_store(store_path(data)))
        arena_at = read_notice(data).metrics.removeprefix("http://").removesuffix("/metrics")

        def on_this_machine(values):
            values["global"] |= {"scrape_interval": "1s", "evaluation_interval": "1s"}
            values["scrape_configs"][0]["static_configs"][0]["targets"] = [arena_at]
            values["rule_files"] = [str(DEPLOY / "alerts.yml")]
            values["alerting"]["alertmanagers"][0]["static_configs"][0]["targets"] = [
                alertmanager_at
            ]

        def without_waits(values):
            values["route"] |= {"group_wait": "0s", "group_interval": "1s"}
            values["receivers"] = [{"name": "operator", "webhook_configs": [{"url": hook}]}]

        alertmanager, prometheus = tmp_path / "alertmanager", tmp_path / "prometheus"
        words = config("alertmanager.yml", alertmanager, without_waits)
        stack.enter_context(program(alertmanager, "prometheus-alertmanager", words,
            "--storage.path=data", f"--web.listen-address={alertmanager_at}", "--cluster.listen-address="))  # fmt: skip
        words = config("prometheus.yml", prometheus, on_this_machine)
        stack.enter_context(program(prometheus, "prometheus", words,
            "--storage.tsdb.path=data", f"--web.listen-address={prometheus_at}"))  # fmt: skip
        competitions = made(store)
        competitions.control("autumn", Action.START, who="org", now=NOW)
        competitions.control(
            "autumn", Action.PAUSE, who="arena", now=NOW, reason="a bot is missing"
        )
        assert received.get(timeout=2 * PATIENCE_S) == ("CompetitionPaused", "firing")
        competitions.control("autumn", Action.RESUME, who="org", now=NOW)
        assert received.get(timeout=2 * PATIENCE_S) == ("CompetitionPaused", "resolved")


@needs("prometheus")
@pytest.mark.parametrize(
    "command",
    [("promtool", "check", "config", "--syntax-only", "prometheus.yml"), ("amtool", "check-config", "alertmanager.yml")],
    ids=["Prometheus", "Alertmanager"],
)  # fmt: skip
def test_a_configuration_is_valid(command):
    done = subprocess.run(command, cwd=DEPLOY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
