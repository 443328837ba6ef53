"""Stands in for sbatch, squeue, scancel and scontrol: jobs are files of a folder, and as many run as there are machines."""

import json
import os
import sys
from pathlib import Path

FOLDER = Path(os.environ.get("FAKE_SLURM", ""))
MACHINES = 3


def jobs():
    return [json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.job"))]


def keep(job):
    (FOLDER / f"{job['id']}.job").write_text(json.dumps(job))


def options(words):
    return dict(
        word.removeprefix("--").partition("=")[::2] for word in words if word.startswith("--")
    )


def sbatch(words):
    given = options(words)
    number = int(given["array"].partition("-")[2])
    array = len({job["array"] for job in jobs()}) + 100
    for element in range(1, number + 1):
        kept = {name: os.environ[name] for name in os.environ if name.startswith("ARENA_")}
        job = {
            "id": f"{array}_{element}",
            "array": array,
            "name": given["job-name"],
            "environment": kept,
        }
        keep(job | {"script": words[-1], "options": given})
    return f"{array}\n"


def squeue(words):
    named = [job for job in jobs() if job["name"] == options(words)["name"]]
    states = [
        ("RUNNING", f"n{at}") if at < MACHINES else ("PENDING", "") for at in range(len(named))
    ]
    rows = zip(named, states, strict=True)
    return "".join(f"{job['id']} {state} {node}\n" for job, (state, node) in rows)


def scancel(words):
    for job in [job for job in jobs() if job["id"] in words]:
        if "--signal=TERM" in words:
            keep(job | {"signalled": True})
        else:
            (FOLDER / f"{job['id']}.job").unlink()
    return ""


def scontrol(words):
    changed = dict(word.split("=") for word in words if "=" in word)
    (job,) = (job for job in jobs() if job["id"] == changed["JobId"])
    keep(job | {"name": changed["JobName"]})
    return ""


def main():
    name, words = Path(sys.argv[0]).name, sys.argv[1:]
    if (FOLDER / "down").exists():
        sys.exit(f"{name}: error: Unable to contact slurm controller")
    sys.stdout.write(
        {"sbatch": sbatch, "squeue": squeue, "scancel": scancel, "scontrol": scontrol}[name](words)
    )


if __name__ == "__main__":
    main()
