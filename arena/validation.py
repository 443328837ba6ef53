"""Check TOML and JSON against dataclasses, by pydantic, and write TOML.

One pass finds all problems. Each is a sentence that begins with its place, such as `games[1].seats: …`, counted from
0. A dataclass that is read has a `__pydantic_config__`, `STRICT` or `OPEN`, which also applies to the dataclasses in
it. Its annotations define what is valid, with `Limits` and `Constraint`.

pydantic is imported at the first use, so that other commands start sooner.
"""

import codecs
import datetime as dt
import difflib
import functools
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from types import UnionType
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args, get_type_hints

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, TypeAdapter, ValidationInfo

OPEN: Final = {"strict": True, "validate_default": True}
"""The config of texts that may have unknown keys, such as the answer of a newer program."""
STRICT: Final = {**OPEN, "extra": "forbid"}
"""The config of files that people write: an unknown key is an error."""
MAX_PROBLEMS: Final = 50
"""The maximal number of listed problems of one text; further ones are only counted."""
_MOST_CHARS: Final = 60
_MOST_NAMES: Final = 30
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
MAX_TOML_CHARS: Final = 1 << 20
MAX_TOML_NESTING: Final = 16
"""The maximal number of nested arrays and tables, and of parts of a key: the time of `tomllib` grows with its square."""
MAX_TOML_DIGITS: Final = 64
_TOML_TEXTS: Final = (
    r'"""(?:[^\\]|\\.)*?"""',
    r"'''.*?'''",
    r'"(?:[^"\\\n]|\\.)*"',
    r"'[^'\n]*'",
    "#[^\n]*",  # a comment
)
_TOML_TEXT: Final = re.compile("|".join(_TOML_TEXTS), re.DOTALL)
_DIGITS: Final = re.compile(rf"[0-9A-Fa-f_]{{{MAX_TOML_DIGITS + 1}}}")
_KEYS: Final = re.compile(r"[^\n=,\[\]{}]+")
T = TypeVar("T")


class InvalidInput(ValueError):
    """A text is not valid; each problem is a sentence."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems: Final = tuple(problems)
        super().__init__("\n".join(self.problems))


class Limits:
    """Bounds of a value, in `Annotated`: those of pydantic's core schema, such as `ge` and `min_length`."""

    def __init__(self, **limits: Any) -> None:
        self._limits = limits

    def __get_pydantic_core_schema__(self, kind: Any, handler: "GetCoreSchemaHandler") -> Any:
        return {**handler(kind), **self._limits}


class Constraint:
    """A function that checks or changes a value, in `Annotated`.

    It is called after the check of the type, or before it if it is `first`. It receives the value and pydantic's
    `ValidationInfo`, whose `data` are the valid fields before this one and whose `context` is that of the reader. It
    returns the value of the field, or raises ValueError with the problem, which follows the place.
    """

    def __init__(
        self, check: Callable[[Any, "ValidationInfo"], Any], *, first: bool = False
    ) -> None:
        self._check = check
        self._first = first

    def __get_pydantic_core_schema__(self, kind: Any, handler: "GetCoreSchemaHandler") -> Any:
        from pydantic import AfterValidator, BeforeValidator

        validator = BeforeValidator if self._first else AfterValidator
        return validator(self._check).__get_pydantic_core_schema__(kind, handler)


def _not_empty(value: Any, _: object) -> Any:
    if not (value.strip() if isinstance(value, str) else value):
        raise ValueError("should not be empty")
    return value


NOT_EMPTY: Final = Constraint(_not_empty)
"""A text or a list that is not empty."""


def text_of(content: bytes, error: type[InvalidInput] = InvalidInput) -> str:
    """Return the text of a file in UTF-8, without the byte order mark that editors of Windows write.

    Raises `InvalidInput` as `error`, if it has another encoding.
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise error(
            ["this is text in UTF-16, as PowerShell and Notepad may write; save it as UTF-8"]
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as why:
        line = content[: why.start].count(b"\n") + 1
        raise error([f"this is not text in UTF-8, at line {line}; save it as UTF-8"]) from None


def toml_values(text: str, error: type[InvalidInput] = InvalidInput) -> dict[str, Any]:
    """Return the values of a TOML text.

    Raises `InvalidInput` as `error`, if it is not TOML, or would take long to parse.
    """
    if problem := _excess(text):
        raise error([problem])
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as why:  # for example a number that is too long for Python
        raise error([f"this is not TOML: {why}"]) from None


def _excess(text: str) -> str:
    """Return why a TOML text would take long to parse; empty if it would not."""
    if len(text) > MAX_TOML_CHARS:
        return f"this has {len(text):,} characters, and at most {MAX_TOML_CHARS:,} are read"
    bare = _TOML_TEXT.sub('""', text)
    depth = 0
    for char in bare:
        depth += (char in "[{") - (char in "]}")
        if depth > MAX_TOML_NESTING:
            return f"this has more than {MAX_TOML_NESTING} arrays or tables within each other"
    if any(each.group().count(".") >= MAX_TOML_NESTING for each in _KEYS.finditer(bare)):
        return f"this has a key of more than {MAX_TOML_NESTING} parts"
    if _DIGITS.search(bare):
        return f"this has a key or a number of more than {MAX_TOML_DIGITS} digits"
    return ""


def toml_text(values: Mapping[str, Any]) -> str:
    """Return values as TOML: texts, numbers, booleans, times, lists and mappings.

    Tables stand in one line. Raises `TypeError` for a value of another type.
    """
    return "".join(f"{_toml_key(name)} = {_toml_value(value)}\n" for name, value in values.items())


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, Mapping):
        pairs = (f"{_toml_key(name)} = {_toml_value(item)}" for name, item in value.items())
        return f"{{ {', '.join(pairs)} }}" if value else "{}"
    raise TypeError(f"TOML is not written of a {type(value).__name__}")


def _toml_key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    # TOML has the escapes of JSON, and one more for DEL; it has no pairs of surrogates.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def validated(
    kind: type[T],
    values: Mapping[str, Any],
    error: type[InvalidInput] = InvalidInput,
    context: Any = None,
) -> T:
    """Return the dataclass `kind` of the values of a file; dates among them may also be texts.

    Raises `InvalidInput` as `error`, with all problems.
    """
    try:
        text = json.dumps(values, default=str)
    except (ValueError, RecursionError) as why:
        raise error([f"this cannot be read: {why}"]) from None
    return read_json(kind, text, error, context)


def read_json(
    kind: type[T],
    text: str | bytes,
    error: type[InvalidInput] = InvalidInput,
    context: Any = None,
) -> T:
    """Return the dataclass `kind` of a JSON text. Raises `InvalidInput` as `error`, with all problems."""
    from pydantic import ValidationError

    try:
        read: T = _adapter(kind).validate_json(text, context=context)  # type: ignore[arg-type]
    except ValidationError as found:
        errors = found.errors(include_url=False)
        problems = [_problem(kind, each) for each in errors[:MAX_PROBLEMS]]
        if more := len(errors) - len(problems):
            problems.append(f"and {more} more")
        raise error(problems) from None
    return read


@functools.cache
def _adapter(kind: Any) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def no_such_key(name: str, known: Iterable[str]) -> str:
    """Return the problem of an unknown key."""
    return f"there is no key {name!r}; {suggestion(name, known)}"


def suggestion(name: str, known: Iterable[str], what: str = "keys") -> str:
    """Return the known name that is most similar to an unknown one, or all names, as part of a sentence."""
    names = list(known)
    if near := difflib.get_close_matches(name, names, 1):
        return f"did you mean {near[0]}?"
    more = ", …" if len(names) > _MOST_NAMES else ""
    return f"the {what} are: {', '.join(names[:_MOST_NAMES])}{more}"


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:
        return "a number of that length"
    return text if len(text) <= _MOST_CHARS else f"{text[: _MOST_CHARS - 1]}…"


def _problem(kind: Any, error: Mapping[str, Any]) -> str:
    place, value = list(error["loc"]), error["input"]
    match error["type"]:
        case "value_error":
            problem = str(error["ctx"]["error"])
        case "json_invalid":
            problem = f"this cannot be read: {error['ctx']['error']}"
        case "missing":
            problem = "is missing"
        case "unexpected_keyword_argument":
            name = place.pop()
            problem = no_such_key(name, _keys(kind, place))
            if table := _table_with(name, kind, place):
                problem = f"there is no key {name!r} here; it belongs to the table [{table}]"
        case "dataclass_type" | "dict_type":
            problem = f"should be a table, not {_shown(value)}"
        case _:
            problem = error["msg"].removeprefix("Input ").replace("array", "list")
            problem = f"{problem[0].lower()}{problem[1:]}, not {_shown(value)}"
    where = ""
    for part in place:
        key = part if _BARE.fullmatch(str(part)) else repr(part)
        where += f"[{part}]" if isinstance(part, int) else f".{key}" if where else str(key)
    return f"{where}: {problem}" if where else problem


def _table_with(name: str, kind: Any, place: Sequence[int | str]) -> str:
    """Return the table of a dataclass that has a key which the dataclass itself lacks; empty if there is none."""
    tables = get_type_hints(_at(kind, place)).items()
    single = [key for key, part in tables if is_dataclass(part) or isinstance(part, UnionType)]
    return next((key for key in single if name in _keys(kind, [*place, key])), "")


def _at(kind: Any, place: Iterable[int | str]) -> Any:
    """Return the dataclass at a place within another."""
    kind = _table(kind)
    for part in place:
        kind = _table(get_type_hints(kind, include_extras=True).get(str(part))) or kind
    return kind


def _keys(kind: Any, place: Iterable[int | str]) -> list[str]:
    kind = _at(kind, place)
    own = [name for name in get_type_hints(kind) if not name.startswith("_")]
    return [*own, *getattr(kind, "__more_keys__", ())]


def _table(kind: Any) -> Any:
    """Return the first dataclass in a type, as in `tuple[Plan, ...]`; None if it has none."""
    if is_dataclass(kind):
        return kind
    return next((found for each in get_args(kind) if (found := _table(each))), None)
