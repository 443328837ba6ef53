"""`arena match list`: which matches are listed, what is said of each, and one sentence for a mistake."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from arena.cli.owner_keys import KeyFile, OwnerKey
from arena.records.verify import verify_file
from arena.results.deal_sets import MatchOutcome, aborted
from arena.store import StoredMatch, open_store
from arena.store.data_folder import store_path
from tests.cli.test_expected_errors import BOT, arena
from tests.store.made import DEAL_SETS, MATCHES, made

AT = 1_795_176_000_000
"""When the first of them ended, in milliseconds since 1970: 2026-11-20, 12:00."""
OF_AUTUMN = MATCHES[0]


def outcome(match_id, scores=(12, -12), ending="completed", faults=({}, {})):
    places = (1, 2) if scores[0] > scores[1] else (2, 1)
    return MatchOutcome(match_id, scores, places, ending, faults, hands=4, decisions=99)


# fmt: off
ENDED = [
    # outcome                                                         game         bots              deal-set
    (outcome("m1"),                                                   "abstrac",   ("ann", "bob"),   ""),
    (outcome("m2", (-3, 3), "forfeit", ({"timeout": 9, "gone": 1}, {})), "abstrac", ("bob", "random"), ""),
    (aborted("m3", "error 0a1b"),                                     "sixty_six", ("ann", "random"), ""),
    (outcome("m4", faults=({}, {"illegal": 1})),                      "jam",       ("random", "ann"), ""),
    (outcome(OF_AUTUMN.id, (0, 7)),                                   "democracy", OF_AUTUMN.bots,   DEAL_SETS[OF_AUTUMN.id]),
]
# fmt: on
PUBLISHED = ["m1", "m2", OF_AUTUMN.id]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A data folder with five matches, each of which ended a minute after the one before."""
    data = tmp_path_factory.mktemp("matches")
    with open_store(store_path(data)) as store:
        made(store)
        for at, ended in enumerate(ENDED):
            store.matches().record([StoredMatch(*ended, AT + at * 60_000)])
        store.matches().mark_published(PUBLISHED)
    return data


def listed(data, *arguments):
    """The ids in the listing, in order, and its lines."""
    result = arena("match", "list", *arguments, "--data", data)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    found = [line.split()[2] for line in lines if re.match(r"\d{4}-\d\d-\d\d ", line)]
    return found, lines


def told(data, *arguments):
    """What a program is told."""
    result = arena("match", "list", "--json", *arguments, "--data", data)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


# Which matches.

A = OF_AUTUMN.id
# fmt: off
FILTERS = [
    ((),                                       [A, "m4", "m3", "m2", "m1"], "all of them, newest first"),
    (("--game", "abstrac"),                    ["m2", "m1"],                "of a game"),
    (("--game", "jam"),                        ["m4"],                      "of another game"),
    (("--game", "soko"),                       [],                          "of a game that nobody has played"),
    (("--bot", "bob"),                         [A, "m2", "m1"],             "with a bot at whatever seat"),
    (("--bot", "bob", "--bot", "ann"),         [A, "m1"],                   "with both of two bots"),
    (("--bot", "Bob"),                         [A, "m2", "m1"],             "with a bot in other letters"),
    (("--bot", "random_bot.py"),               ["m4", "m3", "m2"],          "with a bot by its file"),
    (("--competition", "autumn"),               [A],                         "of a competition, those that were played"),
    (("--ending", "completed"),                [A, "m4", "m1"],             "played to the end"),
    (("--ending", "forfeit"),                  ["m2"],                      "forfeited"),
    (("--ending", "aborted"),                  ["m3"],                      "stopped by the arena"),
    (("--faulted",),                           ["m4", "m2"],                "in which a bot was at fault"),
    (("--faulted", "--ending", "completed"),   ["m4"],                      "filters are all meant together"),
    (("--published",),                         PUBLISHED[::-1],             "with a replay"),
    (("--published", "--bot", "ann"),          [A, "m1"],                   "with a replay and a bot"),
    (("--game", "abstrac", "--bot", "ann"),    ["m1"],                      "a game with a bot"),
    (("--limit", "2"),                         [A, "m4"],                   "the newest of them"),
    (("--limit", "1", "--game", "abstrac"),    ["m2"],                      "the newest of those that fit"),
]
# fmt: on
EVERY_FILTER = pytest.mark.parametrize(
    ("arguments", "found", "why"), FILTERS, ids=[row[-1] for row in FILTERS]
)


@EVERY_FILTER
def test_a_filter_lists(arguments, found, why, data):
    ids, lines = listed(data, *arguments)
    assert ids == found
    assert ("No match fits." in lines) is (not found)


@EVERY_FILTER
def test_a_program_is_told_the_same_matches(arguments, found, why, data):
    page = told(data, *arguments)
    assert [each["match_id"] for each in page["matches"]] == found
    assert bool(page["next_page_token"]) is ("--limit" in arguments)


# fmt: off
LIMITS = [
    (4, True,  "one is left out"),
    (5, False, "they just fit"),
    (6, False, "there is room"),
]
# fmt: on


@pytest.mark.parametrize(("limit", "more", "why"), LIMITS, ids=[row[-1] for row in LIMITS])
def test_that_there_are_more_is_said(limit, more, why, data):
    ids, lines = listed(data, "--limit", limit)
    assert len(ids) == min(limit, 5)
    said = f"There are more; --limit shows up to 500, and {limit} are shown."
    assert (said in lines) is more


def test_a_page_of_five_hundred_is_full_and_says_that_there_are_more(tmp_path):
    with open_store(store_path(tmp_path)) as store:
        store.matches().record(
            [StoredMatch(outcome(f"m{at}"), "jam", ("ann", "bob"), "", AT) for at in range(501)]
        )
    page = told(tmp_path, "--limit", 500)
    assert (len(page["matches"]), bool(page["next_page_token"])) == (500, True)


# What is said of each.

# fmt: off
LINES = [
    ("m1", r"2026-11-20 12:00:00 +m1 +abstrac +ann \+12, bob -12 +completed +yes",              "a result"),
    ("m2", r"2026-11-20 12:01:00 +m2 +abstrac +bob -3, random \+3 +forfeit, 10 faults +yes",    "faults of all kinds together"),
    ("m3", r"2026-11-20 12:02:00 +m3 +sixty_six +ann, random +aborted +no",                 "no result"),
    ("m4", r"2026-11-20 12:03:00 +m4 +jam +random \+12, ann -12 +completed, 1 fault +no",   "one fault"),
    (A,    rf"2026-11-20 12:04:00 +{A} +democracy +{OF_AUTUMN.bots[0]} \+0, {OF_AUTUMN.bots[1]} \+7 +completed +yes +autumn", "a competition"),
]
# fmt: on


@pytest.mark.parametrize(("match_id", "line", "why"), LINES, ids=[row[-1] for row in LINES])
def test_a_match_is_one_line(match_id, line, why, data):
    _, lines = listed(data)
    (own,) = (each.strip() for each in lines if f" {match_id} " in each)
    assert re.fullmatch(line, own), own


def test_the_column_of_competitions_is_there_if_one_is_listed(data):
    assert listed(data)[1][0].split()[-1] == "competition"
    assert listed(data, "--game", "jam")[1][0].split()[-1] == "replay"


@pytest.mark.parametrize("width", [80, 100])
def test_on_a_terminal_ids_are_never_cut(width, data, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # to be taken for a terminal
    monkeypatch.setenv("COLUMNS", str(width))
    result = arena("match", "list", "--data", data)
    assert "\x1b[" in result.stdout
    text = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)
    lines = text.splitlines()
    assert "…" not in text
    assert all(len(line) <= width for line in lines if "arena replay" not in line)
    for ended, _, _, _ in ENDED:
        assert f" {ended.match_id} " in text


def test_where_replays_are_is_said_if_there_is_one(data):
    said = f"Watch one: arena replay show MATCH --data {data}"
    assert listed(data, "--game", "abstrac")[1][-1] == said
    assert said not in listed(data, "--ending", "aborted")[1]


def test_a_program_is_told_all_of_a_match(data):
    (match,) = told(data, "--ending", "forfeit")["matches"]
    assert match == {
        "match_id": "m2",
        "game": "abstrac",
        "bots": ["bob", "random"],
        "status": "MATCH_STATUS_ENDED",
        "scores": [-3, 3],
        "places": [2, 1],
        "ending": "ENDING_FORFEIT",
        "decisions": 99,
        "faults": [
            {
                "counts": [
                    {"kind": "FAULT_KIND_GONE", "count": 1},
                    {"kind": "FAULT_KIND_TIMEOUT", "count": 9},
                ]
            },
            {"counts": []},
        ],
        "hands": 4,
        "evidence": "",
        "competition": "",
        "deal_set": "",
        "ended_unix_ms": str(AT + 60_000),
        "published": True,
    }


# fmt: off
FIELDS = [
    ("m3", {"scores": [], "places": [], "faults": [], "evidence": "error 0a1b", "published": False}, "stopped by the arena"),
    ("m4", {"scores": [12, -12], "published": False},                         "a replay that is held back"),
    (A,    {"competition": "autumn", "deal_set": DEAL_SETS[A]},               "of a competition"),
]
# fmt: on


@pytest.mark.parametrize(("match_id", "fields", "why"), FIELDS, ids=[row[-1] for row in FIELDS])
def test_a_program_is_told_of_a_match(match_id, fields, why, data):
    (match,) = [each for each in told(data)["matches"] if each["match_id"] == match_id]
    assert {name: match[name] for name in fields} == fields


def test_a_name_in_brackets_is_no_markup(tmp_path):
    with open_store(store_path(tmp_path)) as store:
        named = StoredMatch(outcome("[red]m"), "jam", ("[b]ann", "b\x1b[2Job"), "", AT)
        store.matches().record([named])
    result = arena("match", "list", "--data", tmp_path)
    for words in ("[red]m", "[b]ann +12", "b\N{REPLACEMENT CHARACTER}[2Job -12"):
        assert words in result.stdout
    assert "\x1b" not in result.stdout


# What was really played.


def test_a_match_that_was_played_is_listed_with_its_result_and_its_replay(tmp_path):
    play = ("play", "abstrac", f"ann={BOT}", f"bob={BOT}", "-o", "hands=2", "--json")
    played = json.loads(arena(*play, "--data", tmp_path).stdout)
    before = datetime.now(UTC)
    (match,) = told(tmp_path)["matches"]
    assert match["match_id"] == played["match"]
    assert match["ending"] == f"ENDING_{played['ending'].upper()}"
    for name in ("game", "bots", "scores", "places"):
        assert match[name] == played[name], name
    assert match["published"]
    assert match["hands"] == 2
    assert abs(int(match["ended_unix_ms"]) / 1000 - before.timestamp()) < 3600
    verify_file(Path(played["replay"]))


# Those with a replay.


def test_the_replays_are_the_matches_that_have_one(data):
    page, replays = told(data), told(data, "--published")
    assert replays["matches"] == [each for each in page["matches"] if each["published"]]
    assert [each["match_id"] for each in replays["matches"]] == PUBLISHED[::-1]


# Names that there are not.

# fmt: off
UNKNOWN = [
    (("--bot", "nobody"),        "no bot named 'nobody' has played; there are ann, bob, ", "a bot that never came"),
    (("--bot", "an"),            "no bot named 'an' has played; perhaps 'ann' is meant",   "a beginning of a name is not the name"),
    (("--competition", "winter"), "there is no such competition: 'winter' (R-UNKNOWN-COMPETITION); there are autumn",      "a competition that is not there"),
    (("--competition", "Autum"),  "there is no such competition: 'Autum' (R-UNKNOWN-COMPETITION); perhaps 'autumn' is meant", "one that is nearly there"),
]
# fmt: on


@pytest.mark.parametrize(("arguments", "words", "why"), UNKNOWN, ids=[row[-1] for row in UNKNOWN])
def test_who_is_not_known_is_said(arguments, words, why, data):
    result = arena("match", "list", *arguments, "--data", data)
    assert (result.exit_code, result.stdout) == (1, "")
    assert words in " ".join(result.stderr.split())


def test_the_arena_of_an_owner_is_proposed_where_the_folder_lacks_a_competition(
    data, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    KeyFile().keep(OwnerKey("cards.test:7654", "ann", "token"))
    result = arena("match", "list", "--competition", "winter", "--data", data)
    words = (
        "--server ADDRESS names another arena, such as cards.test:7654, where you are registered"
    )
    assert words in " ".join(result.stderr.split())


def test_a_bot_that_may_be_several_is_asked_for(tmp_path):
    with open_store(store_path(tmp_path)) as store:
        store.matches().record([StoredMatch(outcome("m1"), "jam", ("my", "MyBot"), "", AT)])
    result = arena("match", "list", "--bot", "my_bot", "--data", tmp_path)
    assert "'my_bot' may be MyBot or my: give the name" in result.stderr


# Where there is nothing, and what is no question.

# fmt: off
MISTAKES = [
    (("--game", "nosuch"),       "there is no game 'nosuch'; the games are: abstrac",    "an unknown game"),
    (("--ending", "won"),        "'won' is not one of 'completed', 'forfeit', 'aborted'", "an ending that there is not"),
    (("--limit", "0"),           "0 is not in the range 1<=x<=500",                      "no match at all"),
    (("--limit", "501"),         "501 is not in the range 1<=x<=500",                    "more than a page"),
    (("--limit", "many"),        "'many' is not a valid integer range",                  "no number"),
    (("ann",),                   "unexpected extra argument (ann)",                      "a bot without --bot"),
]
# fmt: on


@pytest.mark.parametrize(("arguments", "words", "why"), MISTAKES, ids=[row[-1] for row in MISTAKES])
def test_a_mistake_is_told_in_a_sentence(arguments, words, why, data):
    result = arena("match", "list", *arguments, "--data", data)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in " ".join(result.stderr.split())


# fmt: off
NOTHING = [
    ("",       "nothing was played in the folder {} yet"),
    ("nosuch", "there is no folder {}: name an arena's data with --data"),
]
# fmt: on


@pytest.mark.parametrize("as_json", [(), ("--json",)], ids=["for people", "for programs"])
@pytest.mark.parametrize(("folder", "words"), NOTHING, ids=["an empty folder", "no folder"])
def test_where_no_match_was_played_that_is_said_and_nothing_is_made(
    folder, words, as_json, tmp_path
):
    result = arena("match", "list", *as_json, "--data", tmp_path / folder)
    assert (result.exit_code, result.stdout) == (1, "")
    assert words.format(tmp_path / folder) in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_where_none_has_ended_that_is_said(tmp_path):
    with open_store(store_path(tmp_path)) as store:
        made(store)
    result = arena("match", "list", "--data", tmp_path)
    assert (result.exit_code, result.stdout) == (0, "No match has ended yet.\n")
    assert told(tmp_path) == {"matches": [], "next_page_token": ""}


def test_a_damaged_database_is_said(tmp_path):
    store_path(tmp_path).write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)
    result = arena("match", "list", "--data", tmp_path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert str(store_path(tmp_path)) in result.stderr
    assert "Traceback" not in result.output
