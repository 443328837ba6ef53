"""The Rust SDK, where Cargo is: its own tests, generated code, and the kit."""

import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

from cardarena._games import FAMILIES
from tests.sdk import languages
from tests.sdk.kit import begun, judged, passes_every_case
from tests.sdk.languages import CLIENTS, PATIENCE_S, ROOT, SAMPLE_BOTS, called, plant

SDK = CLIENTS / "rust"
BOTS = SAMPLE_BOTS / "rust"
TARGET = SDK / "target"
pytestmark = [languages.mark_of("Rust"), pytest.mark.slow]


@pytest.fixture(scope="module", autouse=True)
def long(beside):
    """An idle stream is watched from the first test on."""
    return begun(languages.rust().client, beside)


def test_its_own_tests_pass():
    called("cargo", "test", "--locked", folder=SDK)


GENERATED = "// Generated from proto/ by scripts/proto: do not edit."


def generated(folder):
    texts = {path: path.read_text("utf-8") for path in folder.rglob("*.rs")}
    return {
        path.relative_to(folder).as_posix(): text
        for path, text in texts.items()
        if text.startswith(GENERATED)
    }


def test_generated_code_is_up_to_date(tmp_path):
    called(sys.executable, ROOT / "scripts" / "generate_rust.py", tmp_path)
    fresh, kept = generated(tmp_path), generated(SDK / "src")
    assert len(fresh) == len(FAMILIES) + 2
    assert sorted(fresh) == sorted(kept), "run scripts/proto"
    assert [name for name in fresh if fresh[name] != kept[name]] == [], "run scripts/proto"


def test_it_knows_the_games_that_python_knows():
    text = (SDK / "src" / "families.rs").read_text("utf-8")
    rows = re.findall(r"\(\w+,\s*\w+,\s*\d+,\s*(\w+),\s*\[(.*?)\]\)", text, re.DOTALL)
    told = {name: tuple(re.findall(r'"(\w+)"', games)) for name, games in rows}
    assert told == FAMILIES


def test_the_lock_holds_no_address():
    """But for the name of the public registry, as which Cargo writes it."""
    packages = tomllib.loads((SDK / "Cargo.lock").read_text("utf-8"))["package"]
    assert len(packages) > 50
    public = "registry+https://github.com/rust-lang/crates.io-index"
    assert {package.get("source", public) for package in packages} == {public}
    assert not (BOTS / "Cargo.lock").exists()


def test_the_readme_is_short():
    assert len((SDK / "README.md").read_text("utf-8").splitlines()) <= 60


@pytest.fixture(scope="module")
def copied():
    """A copy of the sources as a workspace of its own. Its place is always the same, so that little
    is built anew.
    """
    copy = TARGET / "copied"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(SDK, copy, ignore=shutil.ignore_patterns("target", "generate", "tests"))
    plant(copy, "Cargo.toml", 'members = ["generate", "../../sample_bots/rust"]\n', "")
    # A name of its own, as it lies beside the one that is right.
    (copy / "examples" / "conformance.rs").rename(copy / "examples" / "copied.rs")
    return copy


def built(copy, example):
    subprocess.run(
        ["cargo", "build", "--quiet", "--offline", "--example", example],
        cwd=copy,
        check=True,
        timeout=PATIENCE_S,
        env={**os.environ, "CARGO_TARGET_DIR": f"{TARGET}", "CARGO_PROFILE_DEV_DEBUG": "0"},
    )
    return [f"{TARGET}/debug/examples/{example}"]


def test_the_bot_of_the_readme_builds(copied):
    readme = (SDK / "README.md").read_text("utf-8")
    source = readme.partition("```rust\n")[2].partition("```")[0]
    assert 5 < len(source.splitlines()) <= 22
    (copied / "examples" / "readme.rs").write_text(f"//! The bot of the README.\n{source}")
    built(copied, "readme")


# fmt: off
FAULTS = [
    # file          what stands there                               what is planted                         found by
    ("session.rs",  ".filter(|last| last.asked.id() == ask_id) {",  ".filter(|_| false) {",                 "C3"),
    ("session.rs",  "            if last.open {\n                taken", "            if true {\n                taken", "C5"),
    ("session.rs",  "            self.settle(closed.ask_id);\n",    "",                                     "C7"),
    ("session.rs",  "        self.over.insert(number);\n",          "",                                     "C8"),
    ("session.rs",  "    if note.len() <= most || ",                "    if true || ",                      "C13"),
    ("redial.rs",   "            self.endpoint.clone_from(&self.address);\n", "",                           "C14-fallback"),
    ("dial.rs",     "            Some(_) if self.tls.is_some() => {\n", "            Some(_) if self.tls.is_some() => {\n                if self.tls.is_some() { return Ok(address.to_owned()); }\n", "C14-plain"),
    ("redial.rs",   "        retry + (self.jitter)",                "        retry * 0 + (self.jitter)",    "C17"),
    ("redial.rs",   '        Code::Aborted => "',                  '        Code::DataLoss => "',         "C18"),
    ("deals.rs",    "        self.told.clear();\n",                 "        self.told.clear();\n        self.known.clear();\n", "C19"),
    ("deals.rs",    "    if seal.len() != HASH_BYTES {",            "    if seal.len() > HASH_BYTES {",     "C21-unsealed"),
    ("error.rs",    "            Self::Lied { .. } => 3,",          "            Self::Lied { .. } => 0,",  "C21-wrong-secret"),
    ("deals.rs",    "&decision.to_be_bytes()[..], ",               "",                                     "C24"),
    ("dial.rs",     "PING_EVERY: Duration = Duration::from_secs(20)", "PING_EVERY: Duration = Duration::from_secs(2000)", "C25"),
    ("play.rs",     "                    failed(ask, &why)\n",      '                    panic!("{ask} {why}")\n', "C27"),
]
# fmt: on


@pytest.fixture(scope="module")
def planted(copied, tmp_path_factory):
    """Builds a client with a fault in it. All are built in one place, and kept in others."""

    def kept(name, old, new):
        right = (copied / "src" / name).read_text("utf-8")
        plant(copied / "src", name, old, new)
        try:
            (client,) = built(copied, "copied")
        finally:
            (copied / "src" / name).write_text(right)
        return [shutil.copy(client, tmp_path_factory.mktemp("faulty") / "client")]

    return kept


@pytest.fixture(scope="module")
def verdicts(planted, beside):
    return judged(FAULTS, planted, beside)


@pytest.mark.parametrize("found_by", [row[-1] for row in FAULTS])
def test_a_planted_fault_is_found(verdicts, found_by):
    assert not verdicts[found_by].result().passed


def test_it_passes_every_case_of_the_kit(long):
    passes_every_case(languages.rust().client, long)
