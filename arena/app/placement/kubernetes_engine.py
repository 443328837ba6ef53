"""Workers as the pods of a Deployment, whose size is set. The Deployment has the worker's program, key and options."""

import contextlib
from collections.abc import Iterator, Sequence

from kubernetes import client, config
from kubernetes.client.exceptions import ApiException
from kubernetes.config.config_exception import ConfigException
from urllib3.exceptions import HTTPError

from arena.app.placement.placement import PlacedWorker, WorkerPlacement, WorkerProgram
from arena.local.engines import EngineError

ANSWER_S = 20.0
LINES = 200
"""The number of last lines of a pod's output that are shown."""


class KubernetesPlacement(WorkerPlacement):
    """Places workers as pods. See `WorkerPlacement`. Kubernetes chooses the pods that it ends, by SIGTERM, which drains."""

    def __init__(self, deployment: str, namespace: str) -> None:
        self._deployment, self._namespace = deployment, namespace
        self._apps, self._core = client.AppsV1Api(), client.CoreV1Api()

    def scale(self, number: int) -> None:
        with _plain_errors():
            self._apps.patch_namespaced_deployment_scale(
                self._deployment,
                self._namespace,
                {"spec": {"replicas": number}},
                _request_timeout=ANSWER_S,
            )

    def running(self) -> Sequence[PlacedWorker]:
        with _plain_errors():
            deployment = self._apps.read_namespaced_deployment(
                self._deployment, self._namespace, _request_timeout=ANSWER_S
            )
            labels = deployment.spec.selector.match_labels
            pods = self._core.list_namespaced_pod(
                self._namespace,
                label_selector=",".join(f"{key}={value}" for key, value in labels.items()),
                _request_timeout=ANSWER_S,
            )
        return [
            PlacedWorker(pod.metadata.name, pod.status.phase, pod.spec.node_name or "")
            for pod in pods.items
            if pod.metadata.deletion_timestamp is None
            if pod.status.phase in ("Pending", "Running")
        ]

    def logs(self, worker_id: str) -> Iterator[str]:
        with _plain_errors():
            text = self._core.read_namespaced_pod_log(
                worker_id, self._namespace, tail_lines=LINES, _request_timeout=ANSWER_S
            )
        yield from text.splitlines()

    def close(self) -> None:
        """Do as `WorkerPlacement.close` says."""


@contextlib.contextmanager
def _plain_errors() -> Iterator[None]:
    """Turn refusals of the API within the block into sentences."""
    try:
        yield
    except ApiException as error:
        raise EngineError(f"Kubernetes refused: {error.status} {error.reason}") from error
    except HTTPError as error:
        raise EngineError(f"Kubernetes does not answer: {error}") from error


def connect(
    _program: WorkerProgram, *, deployment: str = "workers", namespace: str = "default"
) -> KubernetesPlacement:
    """Use the cluster of the pod that this program runs in, or of the file that `kubectl` uses.

    Raises `EngineError` if there is neither.
    """
    try:
        try:
            config.load_incluster_config()
        except ConfigException:
            config.load_kube_config()
    except ConfigException as error:
        raise EngineError(f"no cluster of Kubernetes is known here: {error}") from error
    return KubernetesPlacement(deployment, namespace)
