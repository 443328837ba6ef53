"""`docs/stdio.md`: its bot plays the match whose lines it shows, and its tables are complete."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cardarena import __main__ as command
from cardarena.v1.play_pb2 import Answer

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "stdio.md"
PATIENCE_S = 120
VARYING = re.compile(r'("match_id":"|"replay_id":"|"last_round_trip_ms":)\w+')
"""What differs from run to run."""
TEE = """\
#!/bin/sh
sed -u 'w {folder}/to' | {bot} | sed -u 'w {folder}/from'
"""


def block(language):
    """The text of the page's block in a language."""
    return re.search(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[1]


def lines_of_match(folder):
    """All lines of the page's match, with what is to the bot and what is from it."""
    bot, tee = folder / "first.sh", folder / "tee.sh"
    bot.write_text(block("sh"))
    tee.write_text(TEE.format(folder=folder, bot=bot))
    for script in (bot, tee):
        script.chmod(0o755)
    line = re.search(r"^    arena (play soko .*)$", PAGE.read_text("utf-8"), re.MULTILINE)[1]
    words = [word.replace("./first.sh", str(tee)) for word in shlex.split(line)]
    subprocess.run(
        [sys.executable, "-m", "arena", *words, "--sandbox", "off", "--data", str(folder / "data")],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=PATIENCE_S,
    )
    sent, (*answers,) = ((folder / name).read_text().splitlines() for name in ("to", "from"))
    found = []
    for each in sent:
        found.append(f"> {each}")
        if each.startswith('{"ask":'):
            found.append(f"< {answers.pop(0)}")
    assert not answers
    return found


@pytest.mark.slow
def test_the_lines_of_the_match_are_true(tmp_path):
    found = lines_of_match(tmp_path)
    masked = [VARYING.sub(r"\1…", line) for line in found]
    kept = [VARYING.sub(r"\1…", line) for line in block("json-lines").splitlines()]
    assert masked == kept, "\n".join(found)
    assert sum(line.startswith("<") for line in found) > 1


def test_the_page_has_every_option_of_the_command_and_every_field_of_an_answer(capsys):
    page = PAGE.read_text("utf-8")
    with pytest.raises(SystemExit):
        command.main(["bridge", "--help"])
    options = set(re.findall(r"(--[a-z-]+)", capsys.readouterr().out.partition("examples:")[0]))
    options -= {"--help", "--client-cert", "--client-key", "--insecure"}
    assert [option for option in options if f"`{option}" not in page] == []
    for field in Answer.DESCRIPTOR.fields:
        assert f"| `{field.name}` |" in page
