"""A SLURM of one machine with three processors, by the daemons of its packages: munged, slurmctld and slurmd."""

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

DAEMONS = ("munged", "slurmctld", "slurmd")
COMMANDS = ("sbatch", "squeue", "scancel", "scontrol", "sinfo")
PROCESSORS = 3
READY_S = 60.0
UNIFIED = Path("/sys/fs/cgroup/cgroup.controllers")
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge
CredType=cred/munge
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1
MessageTimeout=60
ReturnToService=2
KillWait=5
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""
PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"


def missing():
    """Why there can be no SLURM here; empty if there can."""
    if os.geteuid():
        return "needs root, as slurmd starts jobs of all users"
    lacks = [name for name in (*DAEMONS, *COMMANDS) if shutil.which(name, path=PATH) is None]
    return f"needs {', '.join(lacks)}: apt-get install slurmctld slurmd munge" if lacks else ""


def free_ports(number):
    """Ports that nothing listens at."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for listener in sockets:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in sockets]


@contextlib.contextmanager
def slurm():
    """Start it; yields its configuration file, which its commands find by `SLURM_CONF`."""
    with tempfile.TemporaryDirectory(prefix="slurm-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "state").mkdir()
        (folder / "spool").mkdir()
        key = folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(128))
        configuration = folder / "slurm.conf"
        configuration.write_text(
            CONFIGURATION.format(
                host=socket.gethostname(), folder=folder, ports=free_ports(2), processors=PROCESSORS
            )
        )
        groups = "v2\nIgnoreSystemd=yes" if UNIFIED.exists() else "v1"
        (folder / "cgroup.conf").write_text(f"CgroupPlugin=cgroup/{groups}\n")
        environment = {**os.environ, "SLURM_CONF": str(configuration), "PATH": PATH}
        munge = [
            *("munged", "--foreground", "--force", f"--key-file={key}"),
            *(f"--socket={folder}/munge", f"--pid-file={folder}/munge.pid"),
            *(f"--log-file={folder}/munge.log", f"--seed-file={folder}/munge.seed"),
        ]
        processes = []
        try:
            for command in (munge, ["slurmctld", "-D"], ["slurmd", "-D"]):
                log = (folder / f"{command[0]}.out").open("wb")
                with log:
                    processes.append(
                        subprocess.Popen(command, stdout=log, stderr=log, env=environment)
                    )
                if command is munge:
                    until((folder / "munge").exists, folder)
            until(lambda: b"idle" in printed("sinfo", environment), folder)
            yield configuration
        finally:
            subprocess.run(["scancel", "--full", "--user=root"], env=environment, check=False)
            for process in reversed(processes):
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(20)
                process.kill()
                process.wait()


def printed(command, environment):
    """What a command prints; nothing while SLURM does not answer."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        done = subprocess.run(
            [command], env=environment, capture_output=True, check=False, timeout=10
        )
        return done.stdout
    return b""


def until(is_so, folder):
    """Wait until something is so, as SLURM tells no event of it."""
    end_s = time.monotonic() + READY_S
    while not is_so():
        said = {
            path.name: path.read_text("utf-8", "replace")[-1500:] for path in folder.glob("*.out")
        }
        assert time.monotonic() < end_s, said
        time.sleep(0.2)
