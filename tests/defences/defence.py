"""A defence, and what a file becomes without it.

`removals.toml` has them all, by the threat that each stands against: the words of the file
that are the defence, and what stands in their place. Words that are not found, or found
twice, are an error, so that a removal which no longer removes anything is noticed.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).parent / "removals.toml"


class Stale(ValueError):
    """An entry does not fit the files as they are. The text says why."""


@dataclass(frozen=True)
class Edit:
    """One place where a defence stands."""

    file: str
    """Below the root of the checkout."""
    text: str
    becomes: str

    def of(self, source):
        """The source without the defence.

        Raises:
          Stale: if the words of the defence are not there exactly once.
        """
        times = source.count(self.text)
        if times != 1:
            raise Stale(f"{self.file} has these words {times} times, not once: {self.text!r}")
        return source.replace(self.text, self.becomes)


@dataclass(frozen=True)
class Defence:
    """What stands against a threat, and the test that should fail without it."""

    row: int
    """Number of the threat in docs/security.md."""
    name: str
    """What is not so any more once it is removed, in words."""
    seen_by: str
    """A test that the row names, or one row of its table; it is tried first."""
    edits: tuple[Edit, ...]
    slow: bool = False
    """Whether the test takes too long for the short form."""

    def __str__(self):
        return f"row {self.row}: {self.name}"

    @property
    def files(self):
        return " ".join(sorted({edit.file for edit in self.edits}))

    def removed_from(self, root):
        """The sources of its files without the defence, by file.

        Raises:
          Stale: if the words of the defence are not there exactly once.
        """
        sources = {}
        for edit in self.edits:
            source = sources.get(edit.file)
            if source is None:
                source = (root / edit.file).read_text("utf-8")
            sources[edit.file] = edit.of(source)
        return sources


def defences(path=FILE):
    """All that are removed, by row.

    Raises:
      Stale: if an entry lacks something, changes nothing, or has a name that another has.
    """
    found = []
    for entry in tomllib.loads(path.read_text("utf-8"))["defence"]:
        try:
            edits = tuple(Edit(**edit) for edit in entry.pop("edit"))
            defence = Defence(**entry, edits=edits)
        except (TypeError, KeyError) as error:
            raise Stale(f"{path.name}: {entry}: {error}") from None
        if not edits or any(edit.text == edit.becomes for edit in edits):
            raise Stale(f"{path.name}: {defence} changes nothing")
        found.append(defence)
    names = [str(defence) for defence in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise Stale(f"{path.name}: {', '.join(sorted(twice))} stands twice")
    return sorted(found, key=lambda defence: defence.row)
