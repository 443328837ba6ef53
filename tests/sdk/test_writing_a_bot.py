"""The examples of docs/writing-a-bot.md run, one after the other."""

import re
from pathlib import Path

from cardarena import local

PAGE = Path(__file__).resolve().parents[2] / "docs" / "writing-a-bot.md"


def test_the_examples_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(examples) == 5
    names = {}
    for example in examples:
        exec(compile(example, str(PAGE), "exec"), names)
    bold = local.play("soko", [names["Bold"]] * 2, seed=7, options={"hands": 20})
    assert not bold.faults
    thinking = local.play(
        "democracy", [names["Asking"], names["Learned"]], seed=7, options={"hands": 2}
    )
    assert not thinking.faults
    said = capsys.readouterr().out
    assert "decision 5 of seat 0" in said
    assert str(names["result"].replay) in said
