"""Generates the Rust messages and games of proto/ with the locked grpcio-tools: see scripts/proto."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import grpc_tools

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
SDK = ROOT / "clients" / "rust"
CONTRACT = PROTO / "cardarena" / "v1" / "play.proto"
"""The service of bots; its file imports all others that they need."""


def generate(out: Path) -> None:
    """Write the generated files below `out`, at their paths in the crate's `src`."""
    well_known = Path(grpc_tools.__file__).parent / "_proto"
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        descriptors = Path(folder) / "descriptors"
        subprocess.run(
            [
                *(sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTO}", f"-I{well_known}"),
                *("--include_imports", "--include_source_info"),
                *(f"--descriptor_set_out={descriptors}", str(CONTRACT)),
            ],
            check=True,
        )
        subprocess.run(
            ["cargo", "run", "--quiet", "--locked", "-p", "generate", "--", descriptors, out],
            cwd=SDK,
            check=True,
        )
    files = sorted(out.rglob("*.rs"))
    subprocess.run(
        ["rustfmt", "--edition=2024", "--config-path", SDK / "rustfmt.toml", *files], check=True
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        generate(fresh)
        target = Path(sys.argv[1])
        for file in fresh.rglob("*.rs"):
            place = target / file.relative_to(fresh)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)


if __name__ == "__main__":
    main()
