"""What deploy/ has: its commands exist, systemd accepts its units, and the sandbox works below them."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest
import yaml

from arena.cli import main
from tests.programs import needs

DEPLOY = Path(__file__).resolve().parents[1] / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
TIMERS = sorted((DEPLOY / "systemd").glob("*.timer"))
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
SERVICES = COMPOSE["services"]
PROGRAM = "/opt/card-arena/bin/arena"
KUSTOMIZATION = yaml.safe_load((DEPLOY / "kubernetes/kustomization.yaml").read_text("utf-8"))
RESOURCES = [
    each
    for name in KUSTOMIZATION["resources"]
    for each in yaml.safe_load_all((DEPLOY / "kubernetes" / name).read_text("utf-8"))
]
PODS = [
    template["spec"]
    for each in RESOURCES
    for template in [each.get("spec", {}).get("jobTemplate", each)["spec"].get("template")]
    if template is not None
]


@pytest.fixture(scope="module")
def kubernetes():
    """Validates resources; loaded only here, because its grammars take seconds."""
    import kubernetes_validate

    return kubernetes_validate


def settings(unit):
    """The settings of a unit; of a repeated one the last."""
    text = unit.read_text("utf-8").replace("\\\n", "")
    return dict(line.split("=", 1) for line in text.splitlines() if re.match(r"[A-Z]\w*=", line))


@needs("systemd-analyze")
@pytest.mark.parametrize("unit", [*UNITS, *TIMERS], ids=lambda unit: unit.name)
def test_systemd_accepts_a_unit(unit, tmp_path):
    """With a program that exists on every machine in place of the arena, and all drop-ins."""
    for path in (unit, unit.with_suffix(".service")):
        (tmp_path / path.name).write_text(path.read_text("utf-8").replace(PROGRAM, "/bin/true"))
    here = tmp_path / unit.name
    for drop_in in unit.parent.glob(f"{unit.stem}-*.conf"):
        (tmp_path / f"{unit.name}.d").mkdir()
        shutil.copy(drop_in, tmp_path / f"{unit.name}.d")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", here], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def commands():
    """The arguments of `arena` that units and services have."""
    for unit in UNITS:
        program, *words = shlex.split(settings(unit)["ExecStart"])
        assert program == PROGRAM
        yield pytest.param(words, id=unit.name)
    for name in ("arena", "pages"):
        yield pytest.param(SERVICES[name]["command"], id=f"compose.yaml: {name}")
    for name in ("backup", "prune"):
        (words,) = re.findall(rf"arena ({name}[^;]*);", *SERVICES["backup"]["command"])
        yield pytest.param(words.split(), id=f"compose.yaml: {name}")
    for each in (each for pod in PODS for each in pod["containers"]):
        yield pytest.param(each["args"], id=f"kubernetes: {each['name']}")


@pytest.mark.parametrize("words", list(commands()))
def test_a_command_is_one_of_the_arena(words, tmp_path):
    context, secret = click.Context(main), tmp_path / "secret"
    secret.touch()
    words = [
        re.sub(r"(/run/secrets/worker|\${CREDENTIALS_DIRECTORY})/token", str(secret), each)
        for each in words
    ]
    replaced = {
        "${ARENA_WORKERS}": "4",
        "/var/backups/card-arena": str(tmp_path),
        "$(NODE_NAME)": "n1",
    }
    for old, new in replaced.items():
        words = [word.replace(old, new) for word in words]
    command = main.get_command(context, words[0])
    if isinstance(command, click.Group):
        command = command.get_command(context, command.default)
    command.make_context(words[0], words[1:])


def mounts(service):
    """Source, folder below it, and target of each volume of a service."""
    for each in service.get("volumes", ()):
        if isinstance(each, str):
            source, target = each.split(":")[:2]
            yield source, "", target
        else:
            yield each["source"], each["volume"]["subpath"], each["target"]


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_has_the_files_that_it_mounts(name):
    for source, _, _ in mounts(SERVICES[name]):
        if source == "./tls":
            continue  # the operator's
        if source.startswith("."):
            assert (DEPLOY / source).is_file()
        else:
            assert source in COMPOSE["volumes"]


KUBERNETES = ("1.30", "1.37")
"""The first version that wants a user namespace for an unmasked `/proc`, and the newest with a schema here."""


@pytest.mark.parametrize("version", KUBERNETES)
@pytest.mark.parametrize(
    "resource", RESOURCES, ids=lambda each: f"{each['kind']} {each['metadata']['name']}"
)
def test_kubernetes_knows_a_resource(kubernetes, resource, version):
    kubernetes.validate(resource, version, strict=True)


@pytest.mark.parametrize("version", KUBERNETES)
def test_a_field_that_kubernetes_does_not_know_is_found(kubernetes, version):
    (arena,) = [each for each in RESOURCES if each["kind"] == "StatefulSet"]
    with pytest.raises(kubernetes.ValidationError):
        kubernetes.validate(
            {**arena, "spec": {**arena["spec"], "replica": 1}}, version, strict=True
        )


# What the API server checks across fields, which schemas do not say: pkg/apis/core/validation/validation.go of Kubernetes
# 1.30.14 and 1.37.2. `scripts/check-kubernetes` runs that code itself.


def refusals(pod):
    """Why the API server of Kubernetes 1.30 and later refuses the specification of a pod."""
    for container in (*pod.get("initContainers", ()), *pod["containers"]):
        own = container.get("securityContext", {})
        added = own.get("capabilities", {}).get("add", ())
        if own.get("procMount") == "Unmasked" and pod.get("hostUsers", True):
            yield "procMount: `hostUsers` must be false to use `Unmasked`"  # ValidateSecurityContext
        if own.get("allowPrivilegeEscalation") is False and (
            own.get("privileged") or "CAP_SYS_ADMIN" in added
        ):
            yield "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
        if not pod.get("hostUsers", True) and container.get("volumeDevices"):
            yield "volumeDevices: forbidden when `hostUsers` is false"  # validateHostUsers
    if not pod.get("hostUsers", True):
        for name in ("hostNetwork", "hostPID", "hostIPC"):
            if pod.get(name):
                yield f"{name}: forbidden when `hostUsers` is false"


def pod_with(context=None, container=None, **fields):
    return {"containers": [{"securityContext": context or {}, **(container or {})}], **fields}


# fmt: off
REFUSED = [
    # pod                                                                    refused  why
    (pod_with({"procMount": "Unmasked"}),                                    1,       "an unmasked /proc of the host's users"),
    (pod_with({"procMount": "Unmasked"}, hostUsers=False),                   0,       "one in a user namespace"),
    (pod_with({"procMount": "Default"}),                                     0,       "a masked /proc"),
    (pod_with({"allowPrivilegeEscalation": False, "privileged": True}),      1,       "privileges that it gives up"),
    (pod_with(hostUsers=False, hostNetwork=True),                            1,       "the host's network in a user namespace"),
    (pod_with(None, {"volumeDevices": [{"name": "disk"}]}, hostUsers=False), 1,       "a device in a user namespace"),
]
# fmt: on


@pytest.mark.parametrize(("pod", "refused", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_what_the_api_server_refuses_is_found(pod, refused, why):
    assert len(list(refusals(pod))) == refused


@pytest.mark.parametrize("pod", PODS, ids=lambda each: each["containers"][0]["name"])
def test_the_api_server_accepts_a_pod(pod):
    assert list(refusals(pod)) == []


@pytest.mark.parametrize(
    "pod",
    [pod for pod in PODS if pod["containers"][0]["args"][0] in {"serve", "worker"}],
    ids=lambda each: each["containers"][0]["name"],
)
def test_a_pod_that_launches_bots_may_make_namespaces(pod):
    """As in `compose.yaml`: without one of these, its sandboxes have level S1, and it refuses to start."""
    launches = pod["containers"][0]
    assert "--sandbox=require" in launches["args"]
    assert launches["securityContext"]["procMount"] == "Unmasked"
    assert pod["securityContext"]["seccompProfile"]["type"] in {"Unconfined", "Localhost"}


def test_a_pod_mounts_the_volumes_that_it_has():
    (claims,) = [
        {each["metadata"]["name"] for each in resource["spec"]["volumeClaimTemplates"]}
        for resource in RESOURCES
        if resource["kind"] == "StatefulSet"
    ]
    for pod in PODS:
        containers = (*pod.get("initContainers", ()), *pod["containers"])
        mounted = {each["name"] for one in containers for each in one["volumeMounts"]}
        own = {each["name"] for each in pod["volumes"]}
        assert own <= mounted <= own | claims


def test_the_image_of_kubernetes_is_that_of_this_version():
    (image,) = KUSTOMIZATION["images"]
    assert SERVICES["arena"]["image"] == f"${{ARENA_IMAGE:-{image['name']}:{image['newTag']}}}"
    assert {each["image"] for pod in PODS for each in pod["containers"]} == {image["name"]}


def test_pages_and_prometheus_are_reached_where_they_listen():
    """Caddy has the network of the pages, whose limits count its connections as their machine's."""
    words = SERVICES["pages"]["command"]
    address = f"{words[words.index('--host') + 1]}:{words[words.index('--port') + 1]}"
    assert address in (DEPLOY / "Caddyfile").read_text("utf-8")
    assert SERVICES["caddy"]["network_mode"] == "service:pages"
    words = SERVICES["arena"]["command"]
    scraped = yaml.safe_load((DEPLOY / "prometheus.yml").read_text("utf-8"))["scrape_configs"]
    assert scraped[0]["static_configs"][0]["targets"] == [
        f"arena:{words[words.index('--metrics-port') + 1]}"
    ]


# A batch system. Options as in sbatch(1) of SLURM 24.05.
SBATCH_OPTIONS = {"job-name", "cpus-per-task", "mem", "time", "requeue", "signal", "array"}
SLURM = DEPLOY / "slurm" / "workers.sbatch"


def submitted(folder, arena, **variables):
    """Runs the script as a task of a job would, with a program in place of the arena."""
    (folder / "bin").mkdir()
    program = folder / "bin" / "arena"
    program.write_text(arena)
    program.chmod(0o755)
    environment = {
        "PATH": f"{folder / 'bin'}:/usr/bin:/bin",
        "HOME": str(folder),
        "SLURM_CPUS_PER_TASK": "8",
        "ARENA_SPEED_CLASS": "3",
        "SLURM_JOB_ID": "17",
        "TMPDIR": str(folder),
    }
    return subprocess.Popen(
        [SLURM],
        env=environment | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_slurm_accepts_the_options_of_the_script():
    options = re.findall(r"^#SBATCH --([\w-]+)", SLURM.read_text("utf-8"), re.MULTILINE)
    assert len(options) == len(set(options)) >= 5
    assert set(options) <= SBATCH_OPTIONS


def test_a_task_of_slurm_runs_a_worker_for_each_two_cores(tmp_path):
    (tmp_path / ".arena-worker").touch()
    task = submitted(tmp_path, '#!/bin/sh\necho "$@"\n', ARENA_SERVER="https://arena.example:7654")
    words = task.communicate()[0].split()
    test_a_command_is_one_of_the_arena(words, tmp_path)
    assert words[words.index("--workers") + 1] == "4"
    assert words[words.index("--speed-class") + 1] == "3"
    assert words[words.index("--host") + 1], "spot checks compare machines, though jobs share a key"
    assert float(words[words.index("--for") + 1]) < 12 * 3600, "it ends before its job does"
    assert "--exit-when-idle" in words
    assert words[words.index("--data") + 1] == f"{tmp_path}/card-arena-17"


def test_the_worker_gets_the_signal_of_a_task(tmp_path):
    """With `B:` SLURM signals the shell of the task alone."""
    drains = (
        "#!/bin/sh\ntrap 'echo drained; exit 0' TERM\necho runs\nwhile :; do sleep 0.05; done\n"
    )
    task = submitted(tmp_path, drains, ARENA_SERVER="https://arena.example:7654")
    assert task.stdout.readline() == "runs\n"
    task.terminate()
    assert (task.communicate()[0], task.returncode) == ("drained\n", 0)


def test_a_task_without_an_arena_says_what_is_missing(tmp_path):
    task = submitted(tmp_path, "#!/bin/sh\n")
    assert "ARENA_SERVER: set it to the address of the arena" in task.communicate()[1]
    assert task.returncode != 0


def test_a_task_without_a_speed_class_says_what_is_missing(tmp_path):
    """Nodes that measured their own could be of two classes in one array."""
    server = "https://arena.example:7654"
    task = submitted(tmp_path, "#!/bin/sh\n", ARENA_SERVER=server, ARENA_SPEED_CLASS="")
    assert "ARENA_SPEED_CLASS: set it to the speed class of the nodes" in task.communicate()[1]
    assert task.returncode != 0


def test_an_arena_has_the_time_that_it_needs_to_drain():
    (arena,) = [settings(unit) for unit in UNITS if unit.stem == "card-arena"]
    (drain,) = [each.default for each in main.get_command(click.Context(main), "serve").params
                if each.name == "drain"]  # fmt: skip
    assert int(arena["TimeoutStopSec"]) > drain
    assert int(SERVICES["arena"]["stop_grace_period"].removesuffix("s")) > drain
    assert arena["KillMode"] == "mixed", "the drain is the arena's, not its bots'"


FORBID_SANDBOXES = {
    "RestrictNamespaces": "bots run in namespaces",
    "ProtectProc": "a covered /proc allows no other one below it",
    "ProcSubset": "likewise",
    "ProtectKernelTunables": "likewise",
    "ProtectKernelLogs": "likewise",
    "ProtectControlGroups": "each bot has a control group",
    "ProtectHostname": "it covers a file of /proc",
    "MemoryDenyWriteExecute": "Node and Java compile while they run",
    "PrivateUsers": "its user namespace maps one user",
}


@pytest.mark.parametrize("stem", ["card-arena", "card-arena-worker"])
@pytest.mark.parametrize("name", FORBID_SANDBOXES)
def test_a_unit_that_launches_bots_leaves_out_what_forbids_sandboxes(name, stem):
    (unit,) = [settings(unit) for unit in UNITS if unit.stem == stem]
    assert name not in unit, FORBID_SANDBOXES[name]
    assert "memory" in unit["Delegate"]
