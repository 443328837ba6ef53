"""`arena owners`, `new`, `check` and `bots`: an author's journey by command, and its mistakes in a sentence."""

import json
import stat
from dataclasses import replace

import pytest

from arena.app import qualification
from arena.app.qualification import checks_of
from arena.app.submission import packed_bot
from arena.bots.logs import logs_folder
from arena.cli.owner_keys import KeyFile, OwnerKey
from arena.cli.terminal.report import print_report
from arena.results.qualification_report import Check, QualificationReport
from arena.results.think_times import PhaseTimes, SdkTimes, TimeSpent
from arena.results.versions import VersionEvent
from tests.bots.test_submissions import NOW, open_desk
from tests.cli.test_expected_errors import arena as command


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with open_desk(tmp_path_factory.mktemp("arena")) as opened:
        yield opened


@pytest.fixture
def address(client):
    return client.address


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Whoever calls has a home of its own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("CARDARENA_TOKEN", "CARDARENA_OWNER_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def ok(*arguments):
    result = command(*arguments)
    assert result.exit_code == 0, result.output
    return result


def refused(*arguments, code=1):
    result = command(*arguments)
    assert result.exit_code == code, result.output
    return result.output


def invited(client, owner):
    at = ("--server", client.address, "--token", client.organiser)
    return ok("owners", "invite", owner, *at).stdout.strip()


def registered(client, owner):
    ok("owners", "register", client.address, "--code", invited(client, owner))


def qualified(client, bot, number):
    for event in (VersionEvent.CHECKED, VersionEvent.QUALIFIED):
        client.registry.record(bot, number, event, who="arena", now=NOW)


def test_who_registers_has_a_key_that_only_she_can_read(client, home):
    told = ok("owners", "register", client.address, "--code", invited(client, "ann")).stdout
    assert f"You are ann at {client.address}" in told
    path = home / "config" / "cardarena" / "owner-keys.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    (key,) = KeyFile().all()
    assert (key.address, key.owner) == (client.address, "ann")
    assert key.token not in told


def test_keys_of_several_arenas_are_kept_and_the_last_one_counts(home):
    keys = KeyFile()
    for address, token in (("one", "1"), ("other", "2"), ("one", "3")):
        keys.keep(OwnerKey(address, "ann", token))
    assert [(each.address, each.token) for each in keys.all()] == [("one", "3"), ("other", "2")]


def test_a_key_file_that_others_can_read_is_not_used(client, home):
    registered(client, "amy")
    KeyFile().path.chmod(0o644)
    assert "others can read" in refused("bots", "versions", "x")


def test_a_bot_is_made_submitted_and_activated(client, home, monkeypatch):
    monkeypatch.chdir(home)
    registered(client, "joe")
    assert "You have no bot there" in ok("bots", "owned").stdout
    assert "Next: my-bot/README.md" in ok("new", "my-bot").stdout
    assert {each.name for each in (home / "my-bot").iterdir()} == {
        "README.md",
        "bot.py",
        "bot.toml",
        "test_bot.py",
    }
    submitted = ok("bots", "submit", "joes", "my-bot", "--no-wait").stdout
    assert "joes@1 is submitted" in submitted
    assert "no report yet" in ok("bots", "report", "joes").stdout
    assert "it is submitted and cannot become active" in refused("bots", "activate", "joes@1")
    assert "joes@1, which is submitted" in refused("bots", "submit", "joes", "my-bot")
    report = QualificationReport("0" * 64, "q1", 9.0, _CHECKS)
    client.registry.keep_report("joes", 1, report.as_json(), now=NOW)
    qualified(client, "joes", 1)
    told = ok("bots", "report", "joes@1").stdout
    assert "qualified for 1 of 1 game in 9 s" in told
    assert "Next: arena bots activate joes@1" in told
    rows = [" ".join(line.split()) for line in told.splitlines()]
    assert "play klaberjass, 2 seats 30 0.200 s 0.700 s 0.800 s" in rows
    assert "klaberjass, 2 seats 39 6.500 s 0.400 s 1.600 s 0.070 s" in rows
    assert "bid" not in told, "its times are short"
    _, _, game = json.loads(ok("bots", "report", "joes", "--json").stdout)["report"]["checks"]
    assert [row["phase"] for row in game["phases"]] == ["bid", "play"]
    assert game["time"]["by_sdk"]["queue_us"] == "400000"
    active, *following = ok("bots", "activate", "joes@1").stdout.splitlines()
    assert "joes@1 is active" in active
    (key,) = KeyFile().all()
    assert following[-1].endswith(f"competition enter COMPETITION joes --server {key.address}")
    assert ok("bots", "owned").stdout.splitlines()[-1].split() == [
        *("joes", "uploaded", "joes@1", "joes@1,", "active"),
    ]
    (row,) = json.loads(ok("bots", "versions", "joes", "--json").stdout)["versions"]
    assert (row["version"], row["state"]) == (1, "VERSION_STATE_ACTIVE")
    assert "is inactive" in ok("bots", "deactivate", "joes@1").stdout
    assert "retired for good" in ok("bots", "retire", "joes@1").stdout


_CHECKS = (
    Check("manifest", passed=True),
    Check("start", passed=True),
    Check(
        "klaberjass",
        passed=True,
        seats=2,
        phases=(
            PhaseTimes("bid", 9, 900, 950, 999, 0),
            PhaseTimes("play", 30, 200_000, 700_000, 800_000, 0),
        ),
        time=TimeSpent(39, 6_500_000, 800, 70_000, SdkTimes(16, 400_000, 12, 1_600_000)),
    ),
)


def test_who_did_not_qualify_is_told_why_and_ends_with_3(client, home, monkeypatch):
    monkeypatch.chdir(home)
    registered(client, "kim")
    ok("new", "bot")
    ok("bots", "submit", "kims", "bot", "--no-wait")
    failed = Check("soko", passed=False, seats=4, problem="illegal move", again="arena check")
    report = QualificationReport("0" * 64, "q1", 9.0, (*_CHECKS[:2], failed))
    client.registry.keep_report("kims", 1, report.as_json(), now=NOW)
    told = refused("bots", "report", "kims@1", code=3)
    assert "FAILED soko, 4 seats: illegal move." in told
    found = json.loads(refused("bots", "report", "kims@1", "--json", code=3))
    assert found["report"]["checks"][2]["problem"] == "illegal move"
    folder = logs_folder(client.folder, client.registry.version("kims", 1))
    folder.mkdir(parents=True)
    (folder / "soko.log").write_text(
        "T * started\nT | thinking\nT | cardarena: bot.py:9: KeyError\nT |   Traceback\nT | ok\n"
    )
    assert ok("bots", "logs", "kims@1", "--match", "soko").stdout.count("\n") == 6
    errors = ok("bots", "logs", "kims@1", "--errors").stdout.splitlines()
    assert errors == ["== soko.log", "T | cardarena: bot.py:9: KeyError", "T |   Traceback"]
    assert "no such log" in ok("bots", "logs", "kims@1", "--match", "jam").stdout


def test_a_remote_bot_gets_its_token_alone_on_stdout(client, home):
    registered(client, "liz")
    token = ok("bots", "token", "lizs").stdout
    assert token.startswith("arena_")
    assert token.count("\n") == 1


def test_who_lost_a_key_gets_another_by_whoever_runs_the_arena(client, home, monkeypatch):
    assert "no such owner: 'nobody'" in refused(
        "keys", "new", "owner", "nobody", "--data", client.folder
    )
    registered(client, "sue")
    KeyFile().path.unlink()
    token = ok("keys", "new", "owner", "sue", "--data", client.folder).stdout.strip()
    monkeypatch.setenv("CARDARENA_OWNER_TOKEN", token)
    assert ok("bots", "token", "sues", "--server", client.address).stdout.startswith("arena_")


def test_owners_are_listed_and_banned(client, home):
    registered(client, "eve")
    at = ("--server", client.address, "--token", client.organiser)
    ok("owners", "ban", "eve", "--reason", "two accounts", *at)
    rows = {
        each["owner"]: each
        for each in json.loads(ok("owners", "list", "--json", *at).stdout)["owners"]
    }
    assert (rows["eve"]["invited_by"], rows["eve"]["banned"]) == ("org", "two accounts")


def test_the_report_of_the_present_folder_has_its_name(home, monkeypatch):
    monkeypatch.chdir(home)
    ok("new", "my-bot")
    monkeypatch.chdir(home / "my-bot")
    report = QualificationReport("0" * 64, "q1", 9.0, _CHECKS)
    monkeypatch.setattr(qualification, "check_bot", lambda *_: report)
    assert ok("check", ".", "--sandbox", "off").stdout.startswith("my-bot  sha256 ")


# fmt: off
MISTAKES = [
    (("new", "my/bot?"),                                   "is no name for a bot", 1),
    (("new", "good"),                                      "good is there already", 1),
    (("check", "nosuch"),                                  "does not exist", 2),
    (("check", "empty"),                                   "there is no bot.toml at its top", 1),
    (("check", "good/bot.py"),                             "a bot is a folder with bot.toml, or a zip of one", 1),
    (("check", "wrong"),                                   "there is no key 'comand'; did you mean command?", 1),
    (("check", "wrong"),                                   "games: is missing", 1),
    (("check", "good", "--only", "klaberjas"),             "there is no check 'klaberjas' of this bot", 1),
    (("check", "good", "--seats", "1"),                    "1 is not in the range", 2),
    (("check", "good", "--keep", "there"),                 "--keep makes it", 1),
    (("bots", "submit", "b", "wrong"),                     "wrong cannot be submitted", 1),
    (("bots", "submit", "b", "link"),                      "x is a link: only plain files", 1),
    (("bots", "submit", "b", "good"),                      "register first: arena owners register", 1),
    (("bots", "activate", "b"),                            "say which version, as in b@7", 2),
    (("bots", "activate", "b@0"),                          "one version of it as in my-bot@7", 2),
    (("bots", "token", "b"),                               "register first: arena owners register", 1),
    (("owners", "invite", "ann"),                          "see: arena keys new organiser", 1),
    (("owners", "register", "localhost:1", "--code", "x"), "no arena answers at localhost:1", 1),
]
# fmt: on


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    MISTAKES,
    ids=[f"{' '.join(row[0][:2])}: {row[1]}" for row in MISTAKES],
)
def test_a_mistake_is_told_in_a_sentence(client, home, monkeypatch, arguments, said, code):
    monkeypatch.chdir(home)
    monkeypatch.setenv("CARDARENA_ADDRESS", client.address)
    for name, toml in (("empty", None), ("wrong", "comand = 1"), ("good", GOOD), ("link", GOOD)):
        (home / name).mkdir()
        (home / name / "bot.py").write_text("")
        if toml:
            (home / name / "bot.toml").write_text(toml)
    (home / "link" / "x").symlink_to("/etc/passwd")
    (home / "there").mkdir()
    if "register first" in said:
        arguments = (*arguments, "--server", client.address)
    assert said in refused(*arguments, code=code)


GOOD = 'command = ["python", "bot.py"]\n[[games]]\nid = "klaberjass"\n'


def test_a_wrong_code_is_told_and_no_key_is_written(client, home):
    told = refused("owners", "register", client.address, "--code", "AAAA-BBBB-CCCC")
    assert "(R-BAD-CODE)" in told
    assert not (home / "config").exists()


@pytest.mark.slow
def test_a_bot_of_the_template_passes_its_own_test_and_is_qualified(home, monkeypatch):
    monkeypatch.chdir(home)
    ok("new", "my-bot", "--game", "klaberjass")
    result = command("check", "my-bot", "--only", "klaberjass", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [check["passed"] for check in found["checks"]] == [True] * 3
    assert found["partial"]


def test_the_check_of_the_manifest_can_be_asked_for_alone(tmp_path):
    (tmp_path / "bot.py").write_text("")
    (tmp_path / "bot.toml").write_text(GOOD)
    with packed_bot(tmp_path) as archive:
        assert checks_of(archive, tmp_path / "data")[:2] == ("manifest", "start")


def test_without_notes_of_the_sdk_the_fastest_decision_bounds_the_network(capsys):
    checks = tuple(
        replace(check, time=check.time and replace(check.time, by_sdk=None)) for check in _CHECKS
    )
    print_report(QualificationReport("0" * 64, "q1", 9.0, checks), "joes@1")
    assert "not noted  ≤ 0.001 s each" in capsys.readouterr().out
