"""No module of the Rust, TypeScript, Java and C++ SDKs imports itself through other modules.

Go has no such test, because its compiler rejects circles of packages.
"""

import graphlib
import posixpath
import re

import pytest

from tests.sdk.languages import CLIENTS


def rust_imports(files):
    """The modules that each module of a crate names by `crate::` or `super::`.

    A name at the root of the crate stands for the module that `lib.rs` re-exports it from.
    """
    root = files["lib.rs"]
    exports = {name: module for module, name in re.findall(r"pub use (\w+)::(\w+)", root)}
    for module, names in re.findall(r"pub use (\w+)::\{([^}]*)\}", root):
        exports |= dict.fromkeys(re.findall(r"\w+", names), module)
    imports = {}
    for path, text in files.items():
        if path == "lib.rs" or path.endswith(("tests.rs", "v1.rs")):  # v1.rs: generated messages
            continue
        code = re.sub(r"//.*", "", text)
        names = set(re.findall(r"\b(?:crate|super)::(\w+)", code))
        for group in re.findall(r"\bcrate::\{(.*?)\};", code, re.DOTALL):
            names |= set(re.findall(r"(?:^|,)\s*(\w+)", re.sub(r"\{[^{}]*\}", "", group)))
        if "crate::$module" in code:  # a macro that is applied to all families of games
            names |= set(re.findall(r"\d+, (\w+), \[", files["families.rs"]))
        module = re.split(r"[/.]", path)[0]
        imports[module] = {exports.get(name, name) for name in names} - {module}
    return imports


def typescript_imports(files):
    """The modules that each module names by a relative path, for values or for types."""
    found = re.compile(r'(?:from|import|new URL\() ?"(\.[^"]+)\.js"')
    return {
        path.removesuffix(".ts"): {
            posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
            for name in found.findall(text)
        }
        for path, text in files.items()
    }


def java_imports(files):
    """The classes of the SDK that each class names, generated messages excluded."""
    names = {path: posixpath.basename(path).removesuffix(".java") for path in files}
    imports = {}
    for path, text in files.items():
        code = re.sub(r'/\*.*?\*/|//[^\n]*|"[^"\n]*"', "", text, flags=re.DOTALL)
        code = re.sub(r"\bcardarena\.(?:games\.)?v1\.\w+", "", code)
        imports[names[path]] = set(re.findall(r"\b[A-Z]\w+\b", code)) & {*names.values()}
        imports[names[path]] -= {names[path]}
    return imports


def cpp_imports(files):
    """The modules whose headers each module includes. A module is a header with its source, or either."""
    imports = {}
    for path, text in files.items():
        names = re.findall(r'^#include "(\w+)\.hpp"', text, re.MULTILINE)
        module = posixpath.basename(path).partition(".")[0]
        imports.setdefault(module, set()).update(names)
        imports[module].discard(module)
    return imports


SDKS = {
    "rust": (CLIENTS / "rust/src", "*.rs", rust_imports),
    "typescript": (CLIENTS / "typescript/src", "*.ts", typescript_imports),
    "java": (CLIENTS / "java/src/main/java/cardarena", "*.java", java_imports),
    "cpp": (CLIENTS / "cpp/src", "*", cpp_imports),
}


def sources(language):
    """The texts of an SDK's files, by path."""
    folder, pattern, _ = SDKS[language]
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in folder.rglob(pattern)
    }


def check_order(language, files):
    """Sorts the modules so that each comes after its imports.

    Raises:
      graphlib.CycleError: if there is no such order.
    """
    imports = SDKS[language][2](files)
    own = {module: names & {*imports} for module, names in imports.items()}
    assert sum(map(len, own.values())) > len(own), "imports are found"
    graphlib.TopologicalSorter(own).prepare()


@pytest.mark.parametrize("language", SDKS)
def test_modules_import_in_one_direction(language):
    check_order(language, sources(language))


# fmt: off
PLANTED = [
    ("rust",       "ask.rs",             "use crate::bot::Choice;",                    "a path to a module"),
    ("rust",       "dial.rs",            "use crate::play;",                           "a name that the root re-exports"),
    ("rust",       "hashes.rs",          "use crate::{deals::{Deals, Reaction}, v1};", "a group of paths"),
    ("rust",       "game.rs",            "type Any = super::AnyGame;",                 "a path to the parent"),
    ("typescript", "redial.ts",          'import { Connection } from "./connection.js";', "a value"),
    ("typescript", "ask.ts",             'import type { Bot } from "./games/jam.js";', "a type, through another folder"),
    ("java",       "Hashes.java",        "class Planted { Deals deals; }",             "a class of the package"),
    ("java",       "Choice.java",        "import cardarena.Jam;",                      "an import"),
    ("cpp",        "hashes.cc",          '#include "deals.hpp"',                       "a header"),
]
# fmt: on


@pytest.mark.parametrize(
    ("language", "path", "line"), [pytest.param(*row, id=why) for *row, why in PLANTED]
)
def test_a_planted_circle_is_found(language, path, line):
    files = sources(language)
    files[path] += f"\n{line}\n"
    with pytest.raises(graphlib.CycleError):
        check_order(language, files)
