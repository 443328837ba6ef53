"""What deploy/ has: its commands exist, systemd accepts its units, and the sandbox works below them."""

import re
import shlex
import subprocess
from pathlib import Path

import click
import kubernetes_validate
import pytest
import yaml

from arena.cli import main
from tests.programs import needs

DEPLOY = Path(__file__).resolve().parents[1] / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
SERVICES = COMPOSE["services"]
PROGRAM = "/opt/card-arena/bin/arena"
KUSTOMIZATION = yaml.safe_load((DEPLOY / "kubernetes/kustomization.yaml").read_text("utf-8"))
RESOURCES = [
    each
    for name in KUSTOMIZATION["resources"]
    for each in yaml.safe_load_all((DEPLOY / "kubernetes" / name).read_text("utf-8"))
]
PODS = [each["spec"]["template"]["spec"] for each in RESOURCES if "template" in each["spec"]]


def settings(unit):
    """The settings of a unit; of a repeated one the last."""
    text = unit.read_text("utf-8").replace("\\\n", "")
    return dict(line.split("=", 1) for line in text.splitlines() if re.match(r"[A-Z]\w*=", line))


@needs("systemd-analyze")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_accepts_a_unit(unit, tmp_path):
    """With a program that exists on every machine in place of the arena."""
    here = tmp_path / unit.name
    here.write_text(unit.read_text("utf-8").replace(PROGRAM, "/bin/true"))
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
    for each in (each for pod in PODS for each in pod["containers"]):
        yield pytest.param(each["args"], id=f"kubernetes: {each['name']}")


@pytest.mark.parametrize("words", list(commands()))
def test_a_command_is_one_of_the_arena(words, tmp_path):
    context, secret = click.Context(main), tmp_path / "secret"
    secret.touch()
    words = [re.sub(r"/run/secrets/worker/\w+", str(secret), each) for each in words]
    command = main.get_command(context, words[0])
    if isinstance(command, click.Group):
        command = command.get_command(context, command.default)
    command.make_context(words[0], words[1:])


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_has_the_files_that_it_mounts(name):
    mounted = [each.split(":")[0] for each in SERVICES[name].get("volumes", ())]
    for source in mounted:
        if source.startswith("."):
            assert (DEPLOY / source).is_file()
        else:
            assert source in COMPOSE["volumes"]


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda each: each["kind"])
def test_kubernetes_knows_a_resource(resource):
    kubernetes_validate.validate(resource, "1.34", strict=True)


def test_a_field_that_kubernetes_does_not_know_is_found():
    (arena,) = [each for each in RESOURCES if each["kind"] == "StatefulSet"]
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(
            {**arena, "spec": {**arena["spec"], "replica": 1}}, "1.34", strict=True
        )


def test_a_pod_mounts_the_volumes_that_it_has():
    (claims,) = [
        {each["metadata"]["name"] for each in resource["spec"]["volumeClaimTemplates"]}
        for resource in RESOURCES
        if resource["kind"] == "StatefulSet"
    ]
    for pod in PODS:
        mounted = {each["name"] for one in pod["containers"] for each in one["volumeMounts"]}
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


@pytest.mark.parametrize("name", FORBID_SANDBOXES)
def test_the_unit_of_the_arena_leaves_out_what_forbids_sandboxes(name):
    (arena,) = [settings(unit) for unit in UNITS if unit.stem == "card-arena"]
    assert name not in arena, FORBID_SANDBOXES[name]
    assert "memory" in arena["Delegate"]


def test_pages_can_change_nothing_but_the_data_folder():
    (pages,) = [settings(unit) for unit in UNITS if unit.stem == "card-arena-pages"]
    assert (pages["ProtectSystem"], pages["StateDirectory"]) == ("strict", "card-arena")
    assert pages["RestrictNamespaces"] == pages["NoNewPrivileges"] == "yes"
