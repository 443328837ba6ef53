"""The examples of docs/writing-a-bot.md and docs/research.md run, one after the other."""

import re
from pathlib import Path

from cardarena import local

DOCS = Path(__file__).resolve().parents[2] / "docs"


def run(page):
    """The names that the examples of a page leave, and their number."""
    examples = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)
    names = {}
    for example in examples:
        exec(compile(example, page, "exec"), names)
    return names, len(examples)


def test_the_examples_of_research_run(capsys):
    assert run("research.md")[1] == 4
    assert "points of this hand:" in capsys.readouterr().out


def test_the_examples_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names, count = run("writing-a-bot.md")
    assert count == 6
    bold = local.play("soko", [names["Bold"]] * 2, seed=7, options={"hands": 20})
    assert not bold.faults
    thinking = local.play(
        "democracy", [names["Asking"], names["Learned"]], seed=7, options={"hands": 2}
    )
    assert not thinking.faults
    said = capsys.readouterr().out
    assert "decision 5 of seat 0" in said
    assert str(names["result"].replay) in said
