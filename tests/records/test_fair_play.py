"""A fair deal from the commands' side: real processes, and receipts held against the replay."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.cli.replay import replay as command

BOT = Path(__file__).parents[2] / "sample_bots" / "random_bot.py"
PATIENCE_S = 60
BARE = """
import cardarena

class Bare(cardarena.Bot):
    adds_entropy = False
    def move(self, ask):
        return 0

cardarena.run(Bare)
"""


@pytest.mark.slow
def test_bots_prove_their_own_cards(tmp_path):
    """Two bots keep receipts, a third adds no entropy; all that any of them saw is accounted for."""
    bare = tmp_path / "bare.py"
    bare.write_text(BARE)
    folders = [tmp_path / "ann", tmp_path / "ben"]
    bots = [
        f"{folder.name}={shlex.join([sys.executable, str(BOT), '--receipts', str(folder)])}"
        for folder in folders
    ]
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from arena.cli import main; main()", "play", "democracy"),
            *(*bots, f"bare={shlex.join([sys.executable, str(bare)])}"),
            *("-o", "hands=3", "--data", str(tmp_path / "data"), "--json"),
            # What a sandboxed bot writes goes when it ends, its receipt too.
            *("--sandbox", "off"),
        ],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    logs = "".join(path.read_text() for path in (tmp_path / "data/bots").rglob("*.log"))
    assert "LIED" not in logs
    receipts = [path for folder in folders for path in folder.iterdir()]
    assert len(receipts) == 2
    arguments = [str(tmp_path / "data/replays"), "--log", str(tmp_path / "data/commitments")]
    for path in receipts:
        arguments += ["--receipt", str(path)]
    verified = CliRunner().invoke(command, ["verify", "--json", *arguments])
    assert verified.exit_code == 0, verified.output
    (told,) = json.loads(verified.stdout)["replays"]
    assert (told["entropy_from"], told["participants"], told["in_log"]) == (2, 3, True)
    assert told["receipts"] == 2
    assert told["asks_compared"] == told["decisions"] * 2 // 3 > 0
    for path in receipts:
        receipt = json.loads(path.read_text())
        assert receipt["deal_key"] is not None
        assert receipt["lies"] == []
