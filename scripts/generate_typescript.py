"""Generates the TypeScript messages and game modules of proto/ with the locked grpcio-tools: see scripts/proto."""

import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import grpc_tools

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
SDK = ROOT / "clients" / "typescript"
TOOLS = SDK / "node_modules" / ".bin"
SPOKEN = ["cardarena/v1/game.proto", "cardarena/v1/play.proto"]
DETAILS = ["google/rpc/error_details.proto", "google/rpc/status.proto"]
"""The files that a client needs: the play stream, all games, and details of errors."""


def google_apis() -> Path:
    """Return the folder with google/rpc/status.proto, which a distribution of the locked tools has."""
    spec = find_spec("google.rpc")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(next(iter(spec.submodule_search_locations))).parents[1]


def install() -> None:
    """Install the locked packages, unless they are installed."""
    if not TOOLS.is_dir():
        subprocess.run(["npm", "ci", "--ignore-scripts"], cwd=SDK, check=True)


def generate(out: Path) -> None:
    """Write the generated files below `out`, at their paths in src/."""
    games = sorted(
        str(path.relative_to(PROTO)) for path in PROTO.glob("cardarena/games/v1/*.proto")
    )
    messages = out / "gen"
    messages.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [
            sys.executable,
            "-m",
            "grpc_tools.protoc",
            f"-I{PROTO}",
            f"-I{google_apis()}",
            f"-I{Path(grpc_tools.__file__).parent / '_proto'}",
            f"--plugin=protoc-gen-es={TOOLS / 'protoc-gen-es'}",
            f"--es_out={messages}",
            "--es_opt=target=ts,import_extension=js",
            f"--plugin=protoc-gen-cardarena={SDK / 'generator' / 'protoc-gen-cardarena.js'}",
            f"--cardarena_out={out}",
            "--cardarena_opt=target=ts,import_extension=js",
            *SPOKEN,
            *games,
            *DETAILS,
        ],
        check=True,
        env=dict(os.environ),
    )
    subprocess.run(
        ["npm", "run", "--silent", "format", "--", "--config-path=.", str(out / "games")],
        cwd=SDK,
        check=True,
    )


def main() -> None:
    install()
    target = Path(sys.argv[1]) / "src"
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        generate(fresh)
        for name in ("gen", "games"):
            shutil.rmtree(target / name, ignore_errors=True)
            shutil.copytree(fresh / name, target / name)


if __name__ == "__main__":
    main()
