"""Generates the Go messages and game packages of proto/ with the locked grpcio-tools: see scripts/proto."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import grpc_tools

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
SDK = ROOT / "clients" / "go"
PLUGINS = {
    "protoc-gen-go": "google.golang.org/protobuf/cmd/protoc-gen-go",
    "protoc-gen-cardarena": "./internal/protoc-gen-cardarena",
}
MODULE = "cardarena.dev/cardarena"


def generate(out: Path) -> None:
    """Write the generated files below `out`, at their paths in the module."""
    files = sorted(PROTO.rglob("*.proto"))
    well_known = Path(grpc_tools.__file__).parent / "_proto"
    with tempfile.TemporaryDirectory() as folder:
        for name, package in PLUGINS.items():
            subprocess.run(["go", "build", "-o", f"{folder}/{name}", package], cwd=SDK, check=True)
        subprocess.run(
            [
                sys.executable,
                "-m",
                "grpc_tools.protoc",
                f"-I{PROTO}",
                f"-I{well_known}",
                f"--go_out={out}",
                f"--go_opt=module={MODULE}",
                f"--cardarena_out={out}",
                f"--cardarena_opt=module={MODULE}",
                *map(str, files),
            ],
            check=True,
            env={**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"},
        )
    subprocess.run(["gofmt", "-w", str(out)], check=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        generate(fresh)
        target = Path(sys.argv[1])
        for file in fresh.rglob("*.go"):
            place = target / file.relative_to(fresh)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)


if __name__ == "__main__":
    main()
