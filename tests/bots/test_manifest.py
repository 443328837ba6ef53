"""Manifests: a row for every thing that may be wrong with one, and all of it told at once."""

import pytest

from arena.bots.manifest import BadManifest, Manifest, read_manifest
from arena.games.catalogue import GAMES

FILES = ("bot.py", "run", "bot.toml", "dist/main.js", "bot.jar")
GOOD = 'command = ["python", "bot.py"]\n'
SOKO = '[[games]]\nid = "soko"\n'


def test_the_least_that_a_manifest_says():
    found = read_manifest(GOOD + SOKO, FILES)
    assert found.command == ("python", "bot.py")
    (soko,) = found.games
    assert (soko.game.id, soko.seats) == ("soko", tuple(range(2, 9)))
    assert (found.runtime, found.memory_mb, found.processes) == (
        "python",
        512,
        64,
    )


def test_all_that_a_manifest_may_say():
    toml = (
        'command = ["./../x"]\n'.replace("./../x", "run")
        + 'runtime = "python"\nmemory_mb = 256\nprocesses = 2\nmax_matches = 1\n'
        + 'protocol = "stdio"\nstart_s = 90\nfiles = ["run"]\npublish_notes = true\n'
        + SOKO
        + "seats = [4, 2]\nrules = 2\naccepts_challenges = 3\naccepts_humans = 9\n"
    )
    found = read_manifest(toml, FILES)
    assert found.as_json() == {
        "command": ["run"],
        "files": ["run"],
        "runtime": "python",
        "games": [
            {
                "id": "soko",
                "seats": [2, 4],
                "rules": 2,
                "accepts_challenges": 3,
                "accepts_humans": 9,
            }
        ],
        "memory_mb": 256,
        "start_s": 90,
        "processes": 2,
        "max_matches": 1,
        "protocol": "stdio",
        "publish_notes": True,
    }


def test_every_game_can_be_declared():
    toml = GOOD + "".join(f'[[games]]\nid = "{game.id}"\n' for game in GAMES)
    assert [each.game for each in read_manifest(toml, FILES).games] == list(GAMES)


WRONG = [
    ("", "command: is missing", "nothing is said"),
    (GOOD, "games: is missing", "no games"),
    (GOOD + "games = []", "games: should not be empty", "an empty list of games"),
    (
        GOOD + 'games = ["soko"]',
        r"games\[0\]: should be a table, not 'soko'",
        "games are no tables",
    ),
    ("command = [", "is not TOML", "no TOML"),
    (
        'command = "python bot.py"\n' + SOKO,
        "command: should be a valid list, not 'python bot.py'",
        "a command is a text",
    ),
    ("command = []\n" + SOKO, "command: should not be empty", "an empty command"),
    (
        'command = ["python", 3]\n' + SOKO,
        r"command\[1\]: should be a valid string, not 3",
        "a word is a number",
    ),
    (
        'command = ["python", "a\\u0000b"]\n' + SOKO,
        "command: has a word with a NUL character",
        "a word with a NUL character",
    ),
    ('command = ["python", "bott.py"]\n' + SOKO, "did you mean bot.py", "a file is misspelled"),
    ('command = ["python"]\n' + SOKO, "names no file for python", "nothing to run"),
    ('command = ["/bin/sh", "-c", "id"]\n' + SOKO, "absolute path", "a program of the arena's"),
    ('command = ["sh", "bot.py"]\n' + SOKO, "or a file of the submission", "another interpreter"),
    ('command = ["../run"]\n' + SOKO, r"'\.\.'", "a program beside the submission"),
    ('command = ["node"]\n' + SOKO, "names no file for node to run", "node without a file"),
    ('command = ["node", "dist/man.js"]\n' + SOKO, "did you mean dist/main.js", "a script"),
    ('command = ["java", "-cp", "bot.jar", "Main"]\n' + SOKO, "no file for java", "no jar"),
    ('command = ["java", "-jar", "bott.jar"]\n' + SOKO, "did you mean bot.jar", "another jar"),
    (
        GOOD + 'runtime = "node"\n' + SOKO,
        "runtime: is node, and the command is run by python",
        "two",
    ),
    (
        GOOD + 'runtime = "Python 2"\n' + SOKO,
        "runtime: should be a runtime of the arena",
        "a runtime",
    ),
    (
        GOOD + "memory_mb = 0\n" + SOKO,
        "memory_mb: should be greater than or equal to 16, not 0",
        "no memory",
    ),
    (
        GOOD + "memory_mb = true\n" + SOKO,
        "memory_mb: should be a valid integer, not True",
        "yes is no number",
    ),
    (
        GOOD + "processes = 65\n" + SOKO,
        "processes: should be less than or equal to 64, not 65",
        "processes",
    ),
    (
        GOOD + 'processes = "8"\n' + SOKO,
        "processes: should be a valid integer, not '8'",
        "a text for a number",
    ),
    (
        GOOD + 'protocol = "uci"\n' + SOKO,
        "protocol: should be one of grpc, stdio, stdio-per-match, not 'uci'",
        "another protocol",
    ),
    (
        GOOD + 'protocol = "stdio"\nmemory_mb = 255\n' + SOKO,
        "protocol: is stdio, whose bridge needs memory_mb = 256 or more",
        "less memory than the bridge needs",
    ),
    (
        GOOD + "memory = 5\n" + SOKO,
        "there is no key 'memory'; did you mean memory_mb",
        "no such key",
    ),
    (GOOD + "[[games]]\nseats = [2]\n", r"games\[0\].id: is missing", "a game has no id"),
    (GOOD + '[[games]]\nid = "sokko"\n', "did you mean soko", "a game is misspelled"),
    (GOOD + '[[games]]\nid = "chess"\n', "the games are: abstrac, ", "another game"),
    (GOOD + SOKO + SOKO, "games: soko is declared twice", "a game is there twice"),
    (GOOD + SOKO + "seats = [2, 9, 12]", "not played with 9 or 12 seats, but with 2, 3", "seats"),
    (GOOD + SOKO + "seats = []", r"games\[0\].seats: should be a list of numbers", "no seats"),
    (
        GOOD + SOKO + "seats = 2",
        r"games\[0\].seats: should be a valid list, not 2",
        "seats are a number",
    ),
    (
        GOOD + SOKO + "rules = 7",
        "is 7, and the arena plays soko by its rules version 2",
        "other rules",
    ),
    (
        GOOD + SOKO + "hands = 2",
        r"games\[0\]: there is no key 'hands'; the keys are: id, seats, rules",
        "a key",
    ),
]


@pytest.mark.parametrize(("toml", "sentence", "_why"), WRONG, ids=[row[-1] for row in WRONG])
def test_what_is_wrong_is_said(toml, sentence, _why):
    with pytest.raises(BadManifest, match=sentence):
        read_manifest(toml, FILES)


def test_all_that_is_wrong_is_said_at_once():
    toml = 'comand = 1\nruntime = 2\nmemory_mb = 1\n[[games]]\nid = "x"\n[[games]]\nseats = [1]\n'
    with pytest.raises(BadManifest) as raised:
        read_manifest(toml, FILES)
    assert len(raised.value.problems) == 7


def test_a_module_is_run_without_naming_its_file():
    assert isinstance(read_manifest('command = ["python", "-m", "bot"]\n' + SOKO, FILES), Manifest)


# fmt: off
RUN_BY = [
    # command                            runtime
    ('["python", "bot.py"]',              "python"),
    ('["python3", "-u", "bot.py"]',       "python"),
    ('["node", "dist/main.js"]',          "node"),
    ('["java", "-ea", "-jar", "bot.jar"]', "java"),
    ('["run"]',                            "own"),
]
# fmt: on


@pytest.mark.parametrize(("command", "runtime"), RUN_BY, ids=[row[1] + row[0] for row in RUN_BY])
def test_a_command_says_what_runs_it(command, runtime):
    assert read_manifest(f"command = {command}\n{SOKO}", FILES).runtime == runtime


# fmt: off
BUILT = [
    # command                      built here      what is wrong                                            why
    ('["python", "bot.py"]',        ("ml", "old"),  "",                                                      "it is here"),
    ('["python", "bot.py"]',        None,           "",                                                      "nobody knows here, as on a laptop"),
    ('["python", "bot.py"]',        ("old",),       "arena: python, node, java, old, own; .* `arena runtimes build`", "it is not here"),
    ('["python", "bot.py"]',        (),             "runtime: should be a runtime of the arena",         "none was built"),
    ('["node", "dist/main.js"]',    ("ml",),        "runtime: is ml, which runs Python, and the command is run by node", "of another language"),
    ('["run"]',                     ("ml",),        "which runs Python, and the command is run by run",      "a program by itself"),
]
# fmt: on


@pytest.mark.parametrize(
    ("command", "built", "sentence", "_why"), BUILT, ids=[r[-1] for r in BUILT]
)
def test_a_manifest_may_name_a_runtime_that_was_built(command, built, sentence, _why):
    toml = f'command = {command}\nruntime = "ml"\n{SOKO}'
    if not sentence:
        found = read_manifest(toml, FILES, built=built)
        assert (found.runtime, found.is_built, found.runs_python) == ("ml", True, True)
        return
    with pytest.raises(BadManifest, match=sentence):
        read_manifest(toml, FILES, built=built)


def test_an_arena_takes_what_it_can_run():
    node = 'command = ["node", "dist/main.js"]\n' + SOKO
    with pytest.raises(BadManifest, match="the arena has no node; it has python, java"):
        read_manifest(node, FILES, ("python", "java"))
    assert read_manifest('command = ["run"]\n' + SOKO, FILES, ()).runtime == "own"
