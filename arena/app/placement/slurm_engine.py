"""Workers as jobs of SLURM, by its commands only: the machine that submits needs no Python packages of an engine."""

import os
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from arena.app.placement.placement import NAME, PlacedWorker, WorkerPlacement, WorkerProgram
from arena.local.engines import EngineError

COMMAND_S: Final = 60.0
"""The longest time in seconds for a command of SLURM."""


class SlurmPlacement(WorkerPlacement):
    """Places workers as jobs, each an element of an array. See `WorkerPlacement`."""

    def __init__(
        self, program: WorkerProgram, script: Path, name: str, options: Sequence[str], logs: Path
    ) -> None:
        self._program, self._script, self._name = program, script, name
        self._options, self._logs = options, logs

    def scale(self, number: int) -> None:
        placed = self.running()
        if number > len(placed):
            self._submit(number - len(placed))
        surplus = sorted(placed, key=lambda worker: bool(worker.where))[: len(placed) - number]
        waiting = [worker.id for worker in surplus if not worker.where]
        if waiting:
            _run("scancel", *waiting)
        for worker in surplus[len(waiting) :]:
            # The signal goes to the job's shell, which the worker has replaced: it finishes what it plays.
            _run("scancel", "--batch", "--signal=TERM", worker.id)
            _run("scontrol", "update", f"JobId={worker.id}", f"JobName={self._name}-drains")

    def _submit(self, number: int) -> None:
        program = self._program
        variables = {
            "ARENA_SERVER": program.server,
            "ARENA_TOKEN_FILE": program.files["token"],
            "ARENA_SPEED_CLASS": str(program.speed_class),
            "ARENA_WORKER_OPTIONS": " ".join(self._worker_options()),
        }
        _run(
            *("sbatch", "--parsable", f"--job-name={self._name}", f"--array=1-{number}"),
            *("--export=ALL", f"--output={self._logs}/%A_%a.log", *self._options),
            str(self._script),
            variables=variables,
        )

    def _worker_options(self) -> list[str]:
        program = self._program
        ca = ("--ca", program.files["ca"]) if "ca" in program.files else ()
        words = [*ca, *program.options]
        if odd := [word for word in words if word != shlex.quote(word)]:
            raise EngineError(
                f"the batch script gets options as plain words, which {odd[0]!r} is not"
            )
        return words

    def running(self) -> Sequence[PlacedWorker]:
        printed = _run(
            *("squeue", "--me", "--noheader", "--array", f"--name={self._name}"),
            "--format=%i %T %N",
        )
        placed = [PlacedWorker(*line.split(maxsplit=2)) for line in printed.splitlines()]
        return [worker for worker in placed if worker.state not in ("COMPLETING", "COMPLETED")]

    def logs(self, worker_id: str) -> Iterator[str]:
        path = self._logs / f"{worker_id}.log"
        if not path.exists():
            raise EngineError(
                f"there is no {path}: the job has not begun, or writes somewhere else"
            )
        yield from path.read_text("utf-8", errors="replace").splitlines()

    def close(self) -> None:
        """Do as `WorkerPlacement.close` says."""


def _run(*command: str, variables: Mapping[str, str] | None = None) -> str:
    """Run a command of SLURM, and return its output. Raises `EngineError` if it fails."""
    environment = None if variables is None else {**os.environ, **variables}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=COMMAND_S, env=environment
        )
    except FileNotFoundError:
        raise EngineError(f"there is no {command[0]} on this machine, as it has no SLURM") from None
    except subprocess.TimeoutExpired:
        raise EngineError(f"{command[0]} has not answered within {COMMAND_S:.0f} s") from None
    if done.returncode:
        raise EngineError(f"{command[0]} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def connect(
    program: WorkerProgram,
    *,
    script: str = "",
    name: str = NAME,
    logs: str = ".",
    submit: Sequence[str] = (),
) -> SlurmPlacement:
    """Use the SLURM of this machine.

    Args:
      program: The program of the jobs. Its files must be readable on all machines.
      script: The batch script, as `deploy/slurm/workers.sbatch`.
      name: The name of the jobs, which are found by it.
      logs: The folder of their output.
      submit: Further options of `sbatch`, as `--partition=long`.

    Raises `EngineError` if there is no such script.
    """
    path = Path(script)
    if not path.is_file():
        raise EngineError("give --script, a batch script like deploy/slurm/workers.sbatch")
    return SlurmPlacement(program, path, name, submit, Path(logs).absolute())
