"""Generates the Python stubs of proto/ with the locked grpcio-tools: see scripts/proto."""

import os
import re
import sys
import tempfile
from pathlib import Path

import grpc_tools
from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"

# For the packages below `cardarena`, as protoc writes none.
PACKAGE_INIT = '"""Generated from proto/{folder} by scripts/proto: do not edit."""\n'


def generate(out: Path) -> None:
    """Run protoc into the empty folder `out`."""
    # The generators of the .pyi files are commands beside this Python.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    files = sorted(PROTO.rglob("*.proto"))
    services = [f for f in files if re.search(r"^service\s", f.read_text("utf-8"), re.MULTILINE)]
    run(files, f"--python_out={out}", f"--mypy_out=quiet:{out}")
    if services:
        run(services, f"--grpc_python_out={out}", f"--mypy_grpc_out=quiet:{out}")
    top = out / "cardarena"
    stubs = out.rglob("*_pb2.py")
    for folder in {folder for stub in stubs for folder in stub.parents if top in folder.parents}:
        text = PACKAGE_INIT.format(folder=folder.relative_to(out).as_posix())
        (folder / "__init__.py").write_text(text, encoding="utf-8")


def run(files: list[Path], *outputs: str) -> None:
    well_known = Path(grpc_tools.__file__).parent / "_proto"
    status = protoc.main(["protoc", f"-I{PROTO}", f"-I{well_known}", *outputs, *map(str, files)])
    if status != 0:
        sys.exit("protoc failed; the stubs are unchanged")


def replace(new: Path, old: Path) -> None:
    """Make the generated files of `old` equal to those of `new`; equal files are left alone."""
    wanted = {f.relative_to(new): f.read_bytes() for f in new.rglob("*") if f.is_file()}
    for stub in {*old.glob("cardarena/**/*_pb2.py*"), *old.glob("cardarena/**/*_pb2_grpc.py*")}:
        if stub.relative_to(old) not in wanted:
            stub.unlink()
    for name, content in wanted.items():
        target = old / name
        if not target.exists() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def main() -> None:
    with tempfile.TemporaryDirectory() as fresh:
        generate(Path(fresh))
        replace(Path(fresh), Path(sys.argv[1]))


if __name__ == "__main__":
    main()
