"""What each deployment gives to its parts: what pages see, limits, probes, timers, networks and roles."""

import os
import re
import socket
import subprocess
import tarfile
import threading
from contextlib import closing

import psycopg
import pytest

from arena.api.metrics_page import of_the_store
from arena.api.site_archive import SiteArchive
from arena.api.store_figures import StoreFigures
from arena.bots.tokens import Tokens
from arena.live.tls import Certificate, TlsFiles
from arena.store import keep_in, open_store
from arena.store.data_folder import read_notice
from tests.doubles.certificates import Authority
from tests.live.running import running
from tests.sdk.archives import release
from tests.store.clusters import Cluster
from tests.store.made import made
from tests.test_alerts import RULES
from tests.test_deploy import (
    DEPLOY,
    PODS,
    RESOURCES,
    SERVICES,
    TIMERS,
    UNITS,
    mounts,
    settings,
)

PAGES_SEE = {"replays", "live"}
"""The folders of an arena that pages need."""
STATE = "/var/lib/card-arena"


def lists(unit, name):
    """The values of a setting that a unit may repeat."""
    text = unit.read_text("utf-8").replace("\\\n", "")
    lines = [line.partition("=")[2] for line in text.splitlines() if line.startswith(f"{name}=")]
    return [word for line in lines for word in line.split()]


def unit_named(stem):
    (unit,) = [unit for unit in UNITS if unit.stem == stem]
    return unit


def container_named(name):
    (container,) = [each for pod in PODS for each in pod["containers"] if each["name"] == name]
    return container


# Pages see neither keys nor secrets.


def test_pages_in_a_container_see_two_folders_of_the_arena():
    seen = {
        (below.partition("/")[2], target)
        for source, below, target in mounts(SERVICES["pages"])
        if source == "data"
    }
    assert seen == {(name, f"{STATE}/{name}") for name in PAGES_SEE}
    volumes = [each for each in SERVICES["pages"]["volumes"] if not isinstance(each, str)]
    assert all(each["read_only"] for each in volumes)
    assert SERVICES["pages"]["environment"]["ARENA_DATA"] == STATE


def test_pages_in_a_pod_see_two_folders_of_the_arena():
    seen = [each for each in container_named("pages")["volumeMounts"] if each["name"] == "data"]
    assert {(each["subPath"], each["mountPath"]) for each in seen} == {
        (f"arena/{name}", f"{STATE}/{name}") for name in PAGES_SEE
    }
    assert all(each["readOnly"] for each in seen)
    (folders,) = [each for pod in PODS for each in pod.get("initContainers", ())]
    made_before = set(folders["command"])
    assert made_before >= {f"{STATE}/arena/{name}" for name in PAGES_SEE}


def test_pages_as_a_service_see_two_folders_of_the_arena():
    unit = unit_named("card-arena-pages")
    cache = "/var/cache/card-arena-pages"
    seen = set(lists(unit, "BindReadOnlyPaths"))
    assert seen == {f"{STATE}/{name}:{cache}/{name}" for name in PAGES_SEE}
    hidden = {path.removeprefix("-") for path in lists(unit, "InaccessiblePaths")}
    assert hidden >= {STATE, "/etc/card-arena", "/var/backups/card-arena"}
    assert "StateDirectory" not in settings(unit)
    # Else it could read the memory and the files of the arena, whose user it has.
    assert settings(unit)["PrivateUsers"] == "yes"
    assert settings(unit)["ProtectSystem"] == "strict"


def test_pages_with_a_store_in_a_file_see_no_key_and_no_secret_of_deals():
    drop_in = DEPLOY / "systemd" / "card-arena-pages-file.conf"
    hidden = {path.removeprefix("-") for path in lists(drop_in, "InaccessiblePaths")}
    assert hidden >= {
        f"{STATE}/{name}" for name in ("arena-key", "journal", "notes", "blobs", "logs")
    }


@pytest.mark.parametrize("name", ["compose.yaml", "kubernetes"])
def test_pages_connect_to_the_database_with_their_own_role(name):
    if name == "compose.yaml":
        store = SERVICES["pages"]["environment"]["ARENA_STORE"]
        assert store.startswith("postgresql://public_pages:${PAGES_PASSWORD")
        assert "ARENA_PASSWORD" not in str(SERVICES["pages"])
        assert "POSTGRES_PASSWORD" not in str({**SERVICES, "postgres": None}), "the superuser's"
    else:
        names = {
            each: [
                value["valueFrom"]["secretKeyRef"]["name"]
                for value in container_named(each)["env"]
                if "valueFrom" in value
            ]
            for each in ("arena", "pages")
        }
        assert names == {"arena": ["arena-store"], "pages": ["pages-store"]}


@pytest.mark.slow
def test_the_roles_of_a_new_database_are_those_of_the_arena_and_of_its_pages(tmp_path):
    with Cluster() as cluster:
        address = cluster.folder
        environment = {
            "PATH": os.environ["PATH"],
            "PGHOST": str(address),
            "POSTGRES_USER": "arena_tests",
            "ARENA_PASSWORD": "it's a password",
            "PAGES_PASSWORD": "another",
        }
        cluster.execute("CREATE ROLE arena_tests SUPERUSER LOGIN")
        cluster.execute("ALTER ROLE arena RENAME TO was_superuser", user="arena_tests")
        subprocess.run([DEPLOY / "roles.sh"], env=environment, check=True)
        arena, pages = (
            f"postgresql://{role}@/arena?host={address}" for role in ("arena", "public_pages")
        )
        path = tmp_path / "data" / "arena.db"
        keep_in(arena, path)
        with open_store(path) as store:
            made(store)
        with closing(SiteArchive(tmp_path / "pages", store_url=pages)) as archive:
            assert [each.name for each in archive.competitions()] == ["autumn"]
        with psycopg.connect(arena) as connection:
            rights = "SELECT rolsuper, rolcreaterole FROM pg_roles WHERE rolname IN ('arena', 'public_pages')"
            assert connection.execute(rights).fetchall() == [(False, False)] * 2


# Limits.


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_of_compose_has_a_limit_of_memory(name):
    assert "mem_limit" in SERVICES[name]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_has_limits(unit):
    assert {"MemoryMax", "TasksMax"} <= set(settings(unit))


@pytest.mark.parametrize(
    "container",
    [each for pod in PODS for each in (*pod.get("initContainers", ()), *pod["containers"])],
    ids=lambda each: each["name"],
)
def test_a_container_of_a_pod_has_limits(container):
    assert "memory" in container["resources"]["limits"]
    context = container["securityContext"]
    assert context["readOnlyRootFilesystem"]
    assert context["capabilities"] == {"drop": ["ALL"]}


def test_what_a_pod_writes_beside_its_volumes_is_limited():
    for pod in PODS:
        for volume in pod["volumes"]:
            assert volume.get("emptyDir", {"sizeLimit": ""}).get("sizeLimit") is not None, volume


def test_a_bot_that_is_out_of_memory_does_not_end_its_arena():
    for stem in ("card-arena", "card-arena-worker"):
        assert settings(unit_named(stem))["OOMPolicy"] == "continue"


# Probes.

ALL_TEXT = {
    path.relative_to(DEPLOY).as_posix(): path.read_text("utf-8")
    for path in DEPLOY.rglob("*")
    if path.is_file()
}


@pytest.mark.parametrize("name", ALL_TEXT)
def test_no_probe_starts_the_command(name):
    """`arena status` takes a second of processor time, most of it to start."""
    words = re.sub(r"(?m)^\s*#.*", "", ALL_TEXT[name])
    assert not re.search(r"arena[\"',\s]+status", words)


def test_the_arena_is_probed_at_its_status_page():
    arena = container_named("arena")
    for probe in ("startupProbe", "livenessProbe"):
        assert arena[probe]["httpGet"]["path"] == "/status"
        assert arena[probe]["httpGet"]["port"] in {each["name"] for each in arena["ports"]}
    assert 'HEALTHCHECK CMD ["healthy"]' in ALL_TEXT["Containerfile"]
    default = re.search(r'CMD \["serve".*', ALL_TEXT["Containerfile"])
    assert '"--metrics-port", "9464"' in default[0]


def healthy(port):
    script = ["bash", DEPLOY / "healthy", str(port)]
    return (
        subprocess.run(script, check=False, stderr=subprocess.DEVNULL, timeout=20).returncode == 0
    )


def test_a_running_arena_is_healthy_and_none_is_not(tmp_path):
    with running(tmp_path, Tokens(), metrics_port=0):
        port = int(read_notice(tmp_path).metrics.rpartition(":")[2].partition("/")[0])
        assert healthy(port)
    assert not healthy(port)


@pytest.mark.parametrize("answer", [b"HTTP/1.1 503 Busy\r\n\r\n", b""], ids=["an error", "nothing"])
def test_another_answer_is_not_healthy(answer):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answered():
            with server.accept()[0] as connection:
                connection.recv(1 << 10)
                connection.sendall(answer)

        thread = threading.Thread(target=answered)
        thread.start()
        assert not healthy(server.getsockname()[1])
        thread.join()


def test_the_image_gets_what_its_file_copies():
    """`.containerignore` lets nothing else be copied."""
    copied = re.findall(r"^COPY (?!--from)(\S+)", ALL_TEXT["Containerfile"], re.MULTILINE)
    ignored = (DEPLOY.parent / ".containerignore").read_text("utf-8").splitlines()
    let_in = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    assert {path.removesuffix("/${VERSION}") for path in copied} == let_in


# Timers, and certificates.


@pytest.mark.parametrize("timer", TIMERS, ids=lambda timer: timer.name)
def test_a_timer_starts_a_service_that_is_there(timer):
    assert settings(timer)["Persistent"] == "yes"
    assert settings(unit_named(timer.stem))["Type"] == "oneshot"


def test_backups_and_old_files_have_timers_everywhere():
    assert {timer.stem for timer in TIMERS} == {"card-arena-backup", "card-arena-prune"}
    jobs = {
        each["metadata"]["name"]: each["spec"] for each in RESOURCES if each["kind"] == "CronJob"
    }
    assert set(jobs) == {"backup", "prune"}
    assert {job["concurrencyPolicy"] for job in jobs.values()} == {"Forbid"}
    assert "sleep 86400" in SERVICES["backup"]["command"][0]
    # One a day, before the alert.
    assert "24 * 3600" not in RULES["BackupOld"]["expr"]
    assert settings(TIMERS[0])["OnCalendar"].startswith("*-*-*")
    assert jobs["backup"]["schedule"].endswith("* * *")


def test_a_backup_job_is_where_the_volume_of_the_arena_is():
    (claim,) = {each["metadata"]["name"] for each in RESOURCES if each["kind"] == "StatefulSet"}
    jobs = [
        each["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        for each in RESOURCES
        if each["kind"] == "CronJob"
    ]
    for pod in jobs:
        (rule,) = pod["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        assert rule["labelSelector"]["matchLabels"] == {"app": claim}
        volumes = {each["name"]: each for each in pod["volumes"]}
        assert volumes["data"]["persistentVolumeClaim"]["claimName"] == f"data-{claim}-0"


def test_a_certificate_that_certbot_renews_is_the_next_one(tmp_path):
    ca = Authority.make(tmp_path, "ca")
    lineage, folder = tmp_path / "lineage", tmp_path / "tls"
    lineage.mkdir()
    folder.mkdir()

    def renew(days):
        certificate, key = ca.sign("arena", "IP:127.0.0.1", days=days)
        certificate.replace(lineage / "fullchain.pem")
        key.replace(lineage / "privkey.pem")
        group = str(os.getegid())
        environment = {
            **os.environ,
            "RENEWED_LINEAGE": str(lineage),
            "ARENA_TLS": str(folder),
            "ARENA_GROUP": group,
        }
        subprocess.run([DEPLOY / "certbot-hook"], env=environment, check=True)

    renew(days=1)
    used = Certificate(TlsFiles(folder / "tls.crt", folder / "tls.key"))
    expires = used.expires_unix_s
    renew(days=90)
    assert used.expires_unix_s > expires
    assert {path.name for path in folder.iterdir()} == {"tls.crt", "tls.key"}
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o640}


def test_a_renewed_certificate_is_seen_by_each_arena():
    """A copy as of the start, or a mounted file, would stay the old one."""
    assert "LoadCredential" not in settings(unit_named("card-arena"))
    assert ("./tls", "", "/run/tls") in list(mounts(SERVICES["arena"]))
    (tls,) = [each for each in container_named("arena")["volumeMounts"] if each["name"] == "tls"]
    assert "subPath" not in tls


# Networks and pools.

POLICIES = {
    each["metadata"]["name"]: each["spec"] for each in RESOURCES if each["kind"] == "NetworkPolicy"
}
PORTS = {
    port["name"] for pod in PODS for each in pod["containers"] for port in each.get("ports", ())
}


def test_nothing_is_let_in_or_out_by_default():
    assert POLICIES["nothing-else"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_names_pods_and_ports_that_there_are(name):
    policy = POLICIES[name]
    ports = [
        port["port"]
        for rule in (*policy.get("ingress", ()), *policy.get("egress", ()))
        for port in rule["ports"]
    ]
    assert {port for port in ports if isinstance(port, str)} <= PORTS
    apps = {
        template["metadata"]["labels"]["app"]
        for each in RESOURCES
        for template in [each["spec"].get("jobTemplate", each)["spec"].get("template")]
        if template
    }
    selector = policy["podSelector"]
    named = {*selector.get("matchLabels", {}).values()}
    named |= {value for row in selector.get("matchExpressions", ()) for value in row["values"]}
    assert named <= apps


def test_metrics_are_for_the_monitoring_alone_and_bots_come_from_everywhere():
    by_port = {
        port["port"]: rule.get("from")
        for rule in POLICIES["arena"]["ingress"]
        for port in rule["ports"]
    }
    assert by_port["grpc"] is None
    assert all(by_port[port] for port in ("metrics", "pages"))


def test_a_pool_of_workers_has_one_speed_class():
    (pool,) = [pod for pod in PODS if pod["containers"][0]["args"][0] == "worker"]
    speed_class = pool["nodeSelector"]["card-arena/speed-class"]
    assert f"--speed-class={speed_class}" in pool["containers"][0]["args"]


def test_workers_are_scaled_by_the_deal_sets_that_wait_for_their_class():
    (pool,) = [pod for pod in PODS if pod["containers"][0]["args"][0] == "worker"]
    (scaler,) = [each["spec"] for each in RESOURCES if each["kind"] == "HorizontalPodAutoscaler"]
    (metric,) = [each["external"]["metric"] for each in scaler["metrics"]]
    waiting = {int(pool["nodeSelector"]["card-arena/speed-class"]): 3, 9: 40}
    shown = [
        sample.value
        for family in of_the_store(StoreFigures({}, 0, 0, 0, waiting, 0.1), {})
        for sample in family.samples
        if sample.name == metric["name"]
        and metric["selector"]["matchLabels"].items() <= sample.labels.items()
    ]
    assert shown == [3]


# The release.


def test_a_release_has_the_deployments(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    root = DEPLOY.parent
    release.build_deploy(root, tmp_path)
    name = f"card-arena-deploy-{release.written(release.version_of(root))}"
    with tarfile.open(tmp_path / f"{name}.tar.gz") as archive:
        members = {each.name.removeprefix(f"{name}/"): each for each in archive}
    assert {"deploy/compose.yaml", "deploy/alerts.yml", "docs/dashboard.json"} <= set(members)
    runs = {path for path, each in members.items() if each.mode == 0o755}
    assert {"deploy/healthy", "deploy/roles.sh", "deploy/certbot-hook"} <= runs
    mounted = [source for service in SERVICES.values() for source, *_ in mounts(service)]
    files = {os.path.normpath(f"deploy/{each}") for each in mounted if each.startswith(".")}
    assert files - {"deploy/tls"} <= set(members)
    assert "deploy" in release.PARTS
