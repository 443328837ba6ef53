"""The TypeScript SDK, where Node is: its own tests, generated code, and the kit."""

import json
import shutil
import sys

import pytest

from arena.conformance.cases import load
from arena.conformance.play import judge
from cardarena._games import FAMILIES
from tests.sdk import languages
from tests.sdk.kit import KIT, begun, judged, passes_every_case
from tests.sdk.languages import CLIENTS, ROOT, SAMPLE_BOTS, called, plant

SDK = CLIENTS / "typescript"
BOTS = SAMPLE_BOTS / "typescript"
pytestmark = [languages.mark_of("TypeScript"), pytest.mark.slow]


@pytest.fixture(scope="module", autouse=True)
def long(beside):
    """An idle stream is watched from the first test on."""
    return begun(languages.typescript().client, beside)


def test_its_own_tests_pass():
    called("node", "--test", *sorted((SDK / "dist").glob("*.test.js")), folder=SDK)


def sources(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for name in ("gen", "games")
        for path in (folder / "src" / name).rglob("*.ts")
    }


def test_generated_code_is_up_to_date(tmp_path):
    called(sys.executable, ROOT / "scripts" / "generate_typescript.py", tmp_path)
    fresh, kept = sources(tmp_path), sources(SDK)
    assert len([name for name in fresh if name.startswith("src/games/")]) == len(FAMILIES)
    assert sorted(fresh) == sorted(kept), "run scripts/proto"
    assert [name for name in fresh if fresh[name] != kept[name]] == [], "run scripts/proto"


def test_each_family_has_a_module_that_bots_can_import():
    exports = json.loads((SDK / "package.json").read_text("utf-8"))["exports"]
    modules = {path.stem for path in (SDK / "src" / "games").glob("*.ts")}
    assert {name.removeprefix("./") for name in exports} == {".", "cards", *modules}


@pytest.mark.parametrize("folder", [SDK, BOTS], ids=["the SDK", "its bots"])
def test_locks_hold_no_address(folder):
    packages = json.loads((folder / "package-lock.json").read_text("utf-8"))["packages"]
    assert len(packages) > 5
    addresses = [entry.get("resolved", "") for entry in packages.values()]
    assert [address for address in addresses if "://" in address] == []


def test_the_readme_is_short():
    assert len((SDK / "README.md").read_text("utf-8").splitlines()) <= 60


def test_the_bot_of_the_readme_builds(tmp_path):
    readme = (SDK / "README.md").read_text("utf-8")
    source = readme.partition("```ts\n")[2].partition("```")[0]
    assert 5 < len(source.splitlines()) <= 22
    shutil.copytree(BOTS, tmp_path, symlinks=True, dirs_exist_ok=True, ignore=only_the_setup)
    (tmp_path / "node_modules").symlink_to(BOTS / "node_modules")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "bot.ts").write_text(source)
    called("npm", "run", "build", folder=tmp_path)


def only_the_setup(_folder, names):
    return [name for name in names if name in {"node_modules", "src", "dist"}]


BUSY = """
import { run } from "SDK";
const forever = new Int32Array(new SharedArrayBuffer(4));
const move = () => (Atomics.wait(forever, 0, 0, 4000), 0);
await run({ name: "busy", askForced: true, bot: () => ({ move }) });
"""
WHILE_IT_THINKS = {
    "id": "B1",
    "title": "the bot computes for four seconds, and awaits nothing",
    "must": "answer what else the arena says meanwhile",
    "source": "play.proto, DealOpen",
    "streams": [
        {
            "steps": [
                {"welcome": {}},
                {"match_start": 1},
                {"ask": [7]},
                {"wait_ms": 500},
                {"deal": "open"},
                {"expect": {"deal_commit": {}}},
                {"answers": {"7": 0}},
                {"match_end": 1},
                {"drain": 1000},
                {"end": "OK"},
            ]
        }
    ],
    "most_ms": 2000,
}


def test_a_bot_that_computes_does_not_hold_up_its_stream(tmp_path):
    """Its own answer takes longer than the case allows: the commitment before it came in time."""
    shutil.copytree(KIT, tmp_path / "kit")
    for path in (tmp_path / "kit" / "cases").iterdir():
        path.unlink()
    (tmp_path / "kit" / "cases" / "busy.json").write_text(json.dumps([WHILE_IT_THINKS]))
    bot = tmp_path / "busy.mjs"
    bot.write_text(BUSY.replace("SDK", (SDK / "dist" / "index.js").as_uri()))
    (case,) = load(tmp_path / "kit")
    verdict = judge(case, ["node", f"{bot}"], tmp_path / "kit")
    assert not verdict.passed
    assert "answer" in verdict.sentence, verdict.sentence


# fmt: off
FAULTS = [
    # file           what stands there                                what is planted                         found by
    ("session.ts",  "seat.ask?.askId === ask.askId) {",               "seat.ask?.askId === ask.askId + 1n) {", "C3"),
    ("session.ts",  "      if (seat.ask?.open) {\n        taken",     "      if (seat.ask) {\n        taken", "C5"),
    ("session.ts",  "    if (seat) {\n      this.#settle(seat);\n    }\n    if (closed", "    if (closed",    "C7"),
    ("session.ts",  "    this.#over.add(end.match);\n",               "",                                     "C8"),
    ("session.ts",  "    if (note.length <= most) {",                 "    if (note) {",                      "C13"),
    ("redial.ts",   "    if (!end.welcomed) {\n      this.#endpoint = this.#address;\n    }\n", "",          "C14-fallback"),
    ("dial.ts",     "      throw new MisconfiguredError(`${endpoint} is plain text, where TLS was asked for`)", "      Object.assign(safety, { tls: undefined })", "C14-plain"),
    ("redial.ts",   "    return retryMs + this",                      "    return 0 * retryMs + this",        "C17"),
    ("redial.ts",   "  [status.ABORTED, ",                            "  [status.DATA_LOSS, ",                "C18"),
    ("deals.ts",    "    this.#told.clear();",                        "    this.#told.clear();\n    this.#known.clear();", "C19"),
    ("deals.ts",    "  if (seal.length !== HASH_BYTES) {",            "  if (seal.length < 0) {",             "C21-unsealed"),
    ("run.ts",      "lied: 3,",                                       "lied: 0,",                             "C21-wrong-secret"),
    ("deals.ts",    "sha256(shown.chain, uint32(ask.decision), ask.payload)", "sha256(shown.chain, uint32(0), ask.payload)", "C24"),
    ("dial.ts",     '"grpc.keepalive_time_ms": 20_000',               '"grpc.keepalive_time_ms": 2_000_000',  "C25"),
    ("author.ts",   "          (error: unknown) => this.#failed(seat, asked, error),\n", "",                "C27"),
]
# fmt: on


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Builds a client with a fault in it, whose types do not matter."""

    def built(name, old, new):
        copy = tmp_path_factory.mktemp("faulty")
        shutil.copytree(SDK / "src", copy / "src")
        for each in ("package.json", "tsconfig.json"):
            shutil.copy(SDK / each, copy)
        (copy / "node_modules").symlink_to(SDK / "node_modules")
        plant(copy / "src", name, old, new)
        called("node_modules/.bin/tsc", "--noCheck", "--declaration", "false", folder=copy)
        return ["node", f"{copy}/dist/conformance/client.js"]

    return built


@pytest.fixture(scope="module")
def verdicts(planted, beside):
    return judged(FAULTS, planted, beside)


@pytest.mark.parametrize("found_by", [row[-1] for row in FAULTS])
def test_a_planted_fault_is_found(verdicts, found_by):
    assert not verdicts[found_by].result().passed


def test_it_passes_every_case_of_the_kit(long):
    passes_every_case(languages.typescript().client, long)
