"""The Java SDK, where Maven is: its own tests, generated code, and the kit."""

import shutil
import sys

import pytest

from cardarena._games import FAMILIES
from tests.sdk import languages
from tests.sdk.kit import begun, judged, passes_every_case
from tests.sdk.languages import CLIENTS, ROOT, SAMPLE_BOTS, called, plant

SDK = CLIENTS / "java"
BOTS = SAMPLE_BOTS / "java"
SOURCES = SDK / "src" / "main" / "java" / "cardarena"
JOBS = 3
"""A virtual machine computes for a second before it plays."""
pytestmark = [languages.mark_of("Java"), pytest.mark.slow]


@pytest.fixture(scope="module", autouse=True)
def long(beside):
    """An idle stream is watched from the first test on."""
    return begun(languages.java().client, beside)


def test_generated_code_is_up_to_date(tmp_path):
    called(sys.executable, ROOT / "scripts" / "generate_java.py", tmp_path)
    fresh = {path.name: path.read_text("utf-8") for path in tmp_path.rglob("*.java")}
    kept = {path.name: path.read_text("utf-8") for path in (SOURCES / "games").glob("*.java")}
    assert len(fresh) == len(FAMILIES)
    assert fresh == kept, "run scripts/proto"


def test_no_address_but_that_of_its_format_is_in_a_project():
    for folder in (SDK, BOTS):
        text = (folder / "pom.xml").read_text("utf-8")
        assert text.count("://") == text.count("http://maven.apache.org/POM/4.0.0")
        assert "<repositor" not in text


def test_the_readme_is_short():
    assert len((SDK / "README.md").read_text("utf-8").splitlines()) <= 60


def test_the_bot_of_the_readme_builds(tmp_path):
    readme = (SDK / "README.md").read_text("utf-8")
    source = readme.partition("```java\n")[2].partition("```")[0]
    assert 5 < len(source.splitlines()) <= 22
    (tmp_path / "MyBot.java").write_text(source)
    called("javac", "-cp", languages.java_classes(), "-d", tmp_path, tmp_path / "MyBot.java")


# fmt: off
FAULTS = [
    # file               what stands there                                 what is planted                        found by
    ("Session.java",    "seat.ask != null && seat.ask.id() == id) {",      "seat.ask != null && seat.ask.id() == -id) {", "C3"),
    ("Session.java",    "        if (seat.ask.open) {\n          taken",   "        if (true) {\n          taken", "C5"),
    ("Session.java",    "    if (seat != null) {\n      seat.ask.open = false;\n", "    if (seat != null) {\n", "C7"),
    ("Session.java",    "    over.add(end.getMatch());\n",                 "",                                    "C8"),
    ("Choice.java",     "    if (note.codePointCount(0, note.length()) <= most) {", "    if (most > 0) {",       "C13"),
    ("Redial.java",     "    if (!end.welcomed) {\n      endpoint = address;\n    }\n", "",                      "C14-fallback"),
    ("Redial.java",     "    return retry.plusNanos(",                     "    return Duration.ZERO.plusNanos(0 * ", "C17"),
    ("Redial.java",     "          Status.Code.ABORTED, ",                 "          Status.Code.DATA_LOSS, ",   "C18"),
    ("Deals.java",      "    told.clear();",                               "    told.clear();\n    known.clear();", "C19"),
    ("Deals.java",      "    if (message.getSeal().size() != Hashes.HASH_BYTES) {", "    if (message.getSeal().size() < 0) {", "C21-unsealed"),
    ("CardArena.java",  "EXIT_LIED = 3;",                                 "EXIT_LIED = 0;",                      "C21-wrong-secret"),
    ("Deals.java",      "Hashes.sha256(shown.chain, Hashes.uint32(decision), payload)", "Hashes.sha256(shown.chain, payload)", "C24"),
    ("Dialer.java",     "PING_S = 20;",                                   "PING_S = 20_000;",                    "C25"),
    ("Author.java",     "        answer = firstMove(ask, error);",         "        System.exit(1);\n        answer = firstMove(ask, error);", "C27"),
]
# fmt: on


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Builds a client with a fault in it: but for the file with the fault, all is as it was."""
    classes = languages.java_classes()

    def built(name, old, new):
        folder = tmp_path_factory.mktemp("faulty")
        shutil.copy(SOURCES / name, folder)
        plant(folder, name, old, new)
        quick = [f"-J{option}" for option in languages.QUICK_START]
        called("javac", *quick, "-nowarn", "-cp", classes, "-d", folder, folder / name)
        return languages.java_client(f"{folder}:{classes}")

    return built


@pytest.fixture(scope="module")
def verdicts(planted, beside):
    return judged(FAULTS, planted, beside)


@pytest.mark.parametrize("found_by", [row[-1] for row in FAULTS])
def test_a_planted_fault_is_found(verdicts, found_by):
    assert not verdicts[found_by].result().passed


def test_it_passes_every_case_of_the_kit(long):
    passes_every_case(languages.java().client, long, JOBS)
