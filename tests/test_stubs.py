"""The checked-in stubs are what proto/ generates today."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SDK = ROOT / "clients" / "python"


def generated(folder):
    found = {p for pattern in ("*_pb2.py*", "*_pb2_grpc.py*") for p in folder.rglob(pattern)}
    return {p.relative_to(folder).as_posix(): p.read_text("utf-8") for p in found}


def test_the_stubs_are_up_to_date(tmp_path):
    subprocess.run([sys.executable, ROOT / "scripts/generate_stubs.py", tmp_path], check=True)
    fresh, kept = generated(tmp_path), generated(SDK)
    assert fresh
    hint = "run scripts/proto"
    assert sorted(fresh) == sorted(kept), hint
    assert [name for name in fresh if fresh[name] != kept[name]] == [], hint


def test_every_generated_folder_is_a_package(tmp_path):
    assert {p.parent for p in SDK.rglob("*_pb2.py")} <= {p.parent for p in SDK.rglob("__init__.py")}
