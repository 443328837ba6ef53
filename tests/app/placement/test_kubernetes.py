"""Workers as pods of a Deployment, by a stand-in for the API server."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from arena.app.placement.placement import (
    PlacedWorker,
    WorkerProgram,
    open_placement,
)
from arena.local.engines import EngineError

pytest.importorskip("kubernetes", reason="needs cardarena-engine[kubernetes]")

DEPLOYMENT = "/apis/apps/v1/namespaces/arena/deployments/workers"
PODS = "/api/v1/namespaces/arena/pods"


class Api(BaseHTTPRequestHandler):
    """Three paths of the API of Kubernetes; the server has the Deployment's size and its pods."""

    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == DEPLOYMENT:
            labels = {"app": "workers", "of": "autumn"}
            self.answer({"spec": {"selector": {"matchLabels": labels}, "template": {}}})
        elif url.path == PODS:
            assert parse_qs(url.query)["labelSelector"] == ["app=workers,of=autumn"]
            self.answer({"items": self.server.pods})
        elif url.path == f"{PODS}/workers-a/log":
            self.answer("it plays\nStopped.\n")
        else:
            self.answer({}, 404)

    def do_PATCH(self):
        if self.path != f"{DEPLOYMENT}/scale":
            self.answer({}, 403)
            return
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.sizes.append(body["spec"]["replicas"])
        self.answer({"spec": body["spec"]})

    def answer(self, body, status=200):
        text = body if isinstance(body, str) else json.dumps(body)
        self.send_response(status, "Forbidden" if status == 403 else None)
        self.send_header(
            "Content-Type", "text/plain" if isinstance(body, str) else "application/json"
        )
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        """Print nothing."""


def pod(name, phase="Running", node="m1", **metadata):
    return {
        "metadata": {"name": name, **metadata},
        "spec": {"nodeName": node, "containers": []},
        "status": {"phase": phase},
    }


@pytest.fixture
def api(tmp_path, monkeypatch):
    """The API server, which the file of `kubectl` names."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    server.sizes, server.pods = [], []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    cluster = {"server": f"http://127.0.0.1:{server.server_port}"}
    named = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "it",
        "clusters": [{"name": "it", "cluster": cluster}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "users": [{"name": "it", "user": {}}],
    }
    file = tmp_path / "config"
    file.write_text(yaml.safe_dump(named))
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(file))
    yield server
    server.shutdown()
    server.server_close()


def placed(**options):
    return open_placement("kubernetes", WorkerProgram("", ""), {"namespace": "arena", **options})


def test_the_size_of_the_deployment_is_set(api):
    placed().scale(7)
    assert api.sizes == [7]


def test_pods_of_the_deployment_that_end_or_have_ended_do_not_count(api):
    api.pods = [
        pod("workers-a"),
        pod("workers-b", phase="Pending", node=None),
        pod("workers-c", phase="Failed"),
        pod("workers-d", deletionTimestamp="2026-11-29T12:00:00Z"),
    ]
    assert placed().running() == [
        PlacedWorker("workers-a", "Running", "m1"),
        PlacedWorker("workers-b", "Pending", ""),
    ]


def test_the_last_lines_of_a_pod(api):
    assert list(placed().logs("workers-a")) == ["it plays", "Stopped."]


def test_a_refusal_is_a_sentence(api):
    with pytest.raises(EngineError, match="Kubernetes refused: 403 Forbidden"):
        placed(deployment="others").scale(1)


def test_without_a_cluster_there_is_a_sentence(tmp_path, monkeypatch):
    location = "kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION"
    monkeypatch.setattr(location, str(tmp_path / "none"))
    with pytest.raises(EngineError, match="no cluster of Kubernetes is known here"):
        placed()
