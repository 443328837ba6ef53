"""Writes a verdict in Markdown from the JSON of `arena check` and `arena compare`.

    verdict.py CHECK COMPARISON      # exits with 1 if the bot would not be qualified, or is worse
    verdict.py --versions SUBMITTED  # the new version and the active one, for `arena compare`

Bots and their authors choose what is in both files, so text of theirs is shown as code.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from google.protobuf.json_format import ParseDict

from arena.cli.comparisons import details, sentence
from arena.results.qualification_report import report_of
from cardarena.v1 import comparisons_pb2

MARK = "<!-- card-arena -->"
"""By which the comment is found again."""


def verdict(
    check: Mapping[str, Any] | None, comparison: Mapping[str, Any] | None
) -> tuple[str, bool]:
    """The verdict, and whether it is a good one. Each argument is the values of a file; None if it has none."""
    lines, good = [MARK, "### Card Arena", ""], True
    if check is None:
        lines.append("The bot could not be checked; the log of the step says why.")
        good = False
    else:
        report = report_of(check)
        good = report.qualified
        lines.append(f"**The bot would {'' if good else 'not '}be qualified.**")
        lines += ["", *code(report.words("bot"))] if not good else []
    if comparison is not None:
        known = {field.name for field in comparisons_pb2.Comparison.DESCRIPTOR.fields}
        fields = {name: value for name, value in comparison.items() if name in known}
        message = ParseDict(fields, comparisons_pb2.Comparison())
        lines += ["", *code([sentence(message), details(message)])]
        good = good and message.decision != comparisons_pb2.COMPARISON_DECISION_WORSE
    else:
        lines += ["", "It was not compared."]
    return "\n".join(lines) + "\n", good


def code(lines: Iterable[str]) -> list[str]:
    """Lines as a block of code, which no text of theirs can end."""
    text = "\n".join(filter(None, lines)).replace("```", "'''")
    return ["```text", text, "```"]


def versions(submitted: Mapping[str, Any]) -> str:
    """The submitted version and the one that was active then; empty if there was none."""
    version = submitted["version"]
    bot, parent = version["bot"], int(version.get("parent", 0))
    return f"{bot}@{version['version']} {bot}@{parent}" if parent else ""


def _read(path: str) -> dict[str, Any] | None:
    text = Path(path).read_text("utf-8").strip()
    values: dict[str, Any] | None = json.loads(text) if text else None
    return values


if __name__ == "__main__":
    if sys.argv[1] == "--versions":
        submitted = _read(sys.argv[2])
        print(versions(submitted) if submitted else "")
    else:
        text, good = verdict(*map(_read, sys.argv[1:3]))
        print(text, end="")
        sys.exit(0 if good else 1)
