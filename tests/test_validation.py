"""TOML and JSON against dataclasses: what is refused, in which words, and with which place."""

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar

import pytest

from arena.validation import (
    NOT_EMPTY,
    OPEN,
    STRICT,
    Constraint,
    InvalidInput,
    Limits,
    read_json,
    text_of,
    toml_text,
    toml_values,
    validated,
)


def doubled(number, info):
    if number == info.context:
        raise ValueError("is the one that is not allowed")
    return 2 * number


@dataclass(frozen=True)
class Inner:
    number: Annotated[int, Limits(ge=1, le=9), Constraint(doubled)]
    words: tuple[Annotated[str, NOT_EMPTY], ...] = ()


@dataclass(frozen=True)
class Paper:
    pages: int


@dataclass(frozen=True)
class File:
    __pydantic_config__: ClassVar = STRICT

    title: str
    parts: tuple[Inner, ...] = ()
    named: dict[str, Inner] = field(default_factory=dict)
    share: Annotated[float, Limits(ge=0, le=1)] = 0.5
    print: Paper | None = None


@dataclass(frozen=True)
class Page:
    __pydantic_config__: ClassVar = OPEN

    title: str


def read(text):
    return validated(File, toml_values(text), context=7)


def problems(text):
    with pytest.raises(InvalidInput) as raised:
        read(text)
    return raised.value.problems


def test_a_file_becomes_the_dataclass_that_it_fits():
    text = 'title = "a"\nshare = 1\n[[parts]]\nnumber = 2\nwords = ["x"]\n[named.n]\nnumber = 1'
    assert read(text) == File("a", (Inner(4, ("x",)),), {"n": Inner(2)}, 1.0)


GOOD = 'title = "a"\n'
# fmt: off
WRONG = [
    ("",                                    "title: is missing",                                         "a key is missing"),
    ("title = 7",                           "title: should be a valid string, not 7",                    "another type"),
    (GOOD + "tite = 7",                     "there is no key 'tite'; did you mean title?",               "a key is misspelt"),
    (GOOD + "xyz = 7",                      "there is no key 'xyz'; the keys are: title, parts, named, share, print", "no key is near"),
    (GOOD + "pages = 7",                    "there is no key 'pages' here; it belongs to the table [print]", "a key of a table at the top"),
    (GOOD + "parts = 7",                    "parts: should be a valid list, not 7",                      "no list"),
    (GOOD + "parts = [7]",                  "parts[0]: should be a table, not 7",                        "no table"),
    (GOOD + "named = 7",                    "named: should be a table, not 7",                           "no table of tables"),
    (GOOD + "[[parts]]\nnumber = 0",        "parts[0].number: should be greater than or equal to 1, not 0", "too little"),
    (GOOD + "[[parts]]\nnumber = true",     "parts[0].number: should be a valid integer, not True",      "yes is no number"),
    (GOOD + "[[parts]]\nnumber = 2.0",      "parts[0].number: should be a valid integer, not 2.0",       "a number with a point"),
    (GOOD + '[[parts]]\nnumber = "2"',      "parts[0].number: should be a valid integer, not '2'",       "a text is no number"),
    (GOOD + "[[parts]]\nnumber = 7",        "parts[0].number: is the one that is not allowed",           "a check with a context"),
    (GOOD + "[[parts]]\nnumber = 2\nword = 1", "parts[0]: there is no key 'word'; did you mean words?",  "a key within"),
    (GOOD + '[[parts]]\nnumber = 2\nwords = ["x", " "]', "parts[0].words[1]: should not be empty",       "blank"),
    (GOOD + "[named.n]\nnumber = 2\nx = 1", "named.n: there is no key 'x'; the keys are: number, words", "a key within a table of tables"),
    (GOOD + "[named.number]\nnumber = 2\nx = 1", "named.number: there is no key 'x'; the keys are: number, words", "a name that is a key"),
    (GOOD + '[named."a\\nb"]\nnumber = 99', "named.'a\\nb'.number: should be less than or equal to 9, not 99", "a name that needs quotes"),
    (GOOD + "share = nan",                  "share: should be less than or equal to 1, not nan",         "no number"),
    (GOOD + f'parts = "{"x" * 99}"',        f"parts: should be a valid list, not '{'x' * 58}…",          "long values are cut"),
]
UNREADABLE = [
    ("title = ",                            "this is not TOML: ",       "no value"),
    (f"title = {'9' * 65}",                 "this has a key or a number of more than 64 digits", "a long number"),
    (f"title = 0x{'f' * 65}",               "this has a key or a number of more than 64 digits", "as hexadecimal"),
    (f"title = {'[' * 17}{']' * 17}",       "this has more than 16 arrays or tables within each other", "lists in lists"),
    (f"{'.'.join('a' * 17)} = 1",           "this has a key of more than 16 parts", "tables in tables"),
    (f"[{'.'.join('a' * 17)}]",             "this has a key of more than 16 parts", "a table in tables"),
    ('"a" . ' * 16 + "a = 1",               "this has a key of more than 16 parts", "with quotes and spaces"),
    ("#" * (2**20 + 1),                     "this has 1,048,577 characters, and at most 1,048,576 are read", "a long text"),
]
# fmt: on


@pytest.mark.parametrize(("text", "sentence", "_why"), WRONG, ids=[row[-1] for row in WRONG])
def test_what_is_wrong_is_a_sentence_with_its_place(text, sentence, _why):
    assert problems(text) == (sentence,)


@pytest.mark.parametrize(("text", "begin", "_why"), UNREADABLE, ids=[r[-1] for r in UNREADABLE])
def test_what_cannot_be_read_is_refused(text, begin, _why):
    (problem,) = problems(text)
    assert problem.startswith(begin)
    assert "\n" not in problem


@pytest.mark.parametrize("quote", ['"', "'", '"""', "'''"])
def test_a_text_may_hold_what_would_be_too_much_outside_of_it(quote):
    text = "[" * 99 + "." * 99 + "9" * 99
    assert read(f"title = {quote}{text}{quote}  # {text}") == File(text)


# fmt: off
TEXTS = [
    # content                           its text, or what is wrong                                                                 why
    (b"a = 1",                          "a = 1",                                                                                   "plain"),
    ("\ufeffa = 1".encode(),            "a = 1",                                                                                   "with the mark of Notepad"),
    ("a = 1".encode("utf-16"),          "this is text in UTF-16, as PowerShell and Notepad may write; save it as UTF-8",           "of PowerShell"),
    ("x = 1\na = 'Jörg'".encode("cp1252"), "this is not text in UTF-8, at line 2; save it as UTF-8",                               "of an old editor"),
]
# fmt: on


@pytest.mark.parametrize(("content", "read", "why"), TEXTS, ids=[row[-1] for row in TEXTS])
def test_files_of_windows_are_read_or_told_with_the_cure(content, read, why):
    if read == "a = 1":
        assert text_of(content) == read
    else:
        with pytest.raises(InvalidInput, match=f"^{read}$"):
            text_of(content)


def test_all_problems_are_found_at_once():
    assert len(problems("title = 1\nshare = 2\nx = 3\n[[parts]]\n[[parts]]\nnumber = 0")) == 5


def test_of_very_many_problems_the_first_are_told():
    told = problems("title = 1\n" + "".join(f"x{number} = 1\n" for number in range(99)))
    assert len(told) == 51
    assert told[-1] == "and 50 more"


def test_an_open_class_may_have_more_keys():
    assert read_json(Page, '{"title": "a", "more": 1}') == Page("a")


def test_pydantic_is_imported_when_something_is_read():
    """Also where an arena is started: what reads plans and manifests is loaded there."""
    program = (
        "import sys, arena.cli.serve, arena.cli.competition, arena.cli.bots, arena.cli.status\n"
        "print('pydantic' in sys.modules)\n"
        "from arena.bots.runtime_file import read_runtime\n"
        'read_runtime(\'name = "ml"\\npackages = ["x"]\')\n'
        "print('pydantic' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1],
    )  # fmt: skip
    assert done.stdout.split() == ["False", "True"]


@pytest.mark.parametrize("text", ['"quoted"', "back\\slash", "\x7f\x01\n", "é 🂡"])
def test_texts_are_written_as_they_are_read(text):
    values = {text or "x": [text, {"a b": text}], "n": 1.5, "yes": True}
    assert toml_values(toml_text(values)) == values
