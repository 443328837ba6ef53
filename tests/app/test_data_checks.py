"""`arena doctor data`: whatever is changed in one part of a data folder differs from the others."""

import contextlib
import json
import shutil
import sqlite3

import pytest
from click.testing import CliRunner

from arena.app import data_checks
from arena.app.data_checks import MOST_SHOWN, examine_data
from arena.app.findings import Readiness
from arena.cli import main as arena
from arena.contests.competition_service import CompetitionService
from arena.records.deal_book import read_log
from arena.records.signing import ArenaKey, arena_key
from arena.referee.wire.terms import terms_json
from arena.store import data_folder, open_store
from tests.app.test_backup import FAIR, FIRST, SECOND, bots_play
from tests.contests.test_competition_service import House
from tests.live.cuts import quick_disk
from tests.live.lives import arena_in, run
from tests.store import made

ONE, OTHER = FIRST.match_ids


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A folder with two deal-sets that were played, and official standings of another competition."""
    data = tmp_path_factory.mktemp("played") / "data"
    data.mkdir()
    key = arena_key(data)

    async def play():
        async with arena_in(data, store.matches(), signer=key) as (arena, nursery):
            await bots_play(arena, nursery)
            for order in (FIRST, SECOND):
                for match_id in order.match_ids:
                    assert (await arena.matches.play(order, match_id)).has_result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(made, "TERMS", terms_json(FAIR))
        with open_store(data_folder.store_path(data)) as store:
            made.made(store, "spring")
            with quick_disk(patch):
                run(play)
            house = House(store)
            house.service = CompetitionService(house.held, key, now=house.clock)
            house.made().act("start")
            house.run().act("finish")
    return data


@pytest.fixture
def data(played, tmp_path):
    return shutil.copytree(played, tmp_path / "data")


def problems(data):
    found = tuple(examine_data(data))
    return [finding.found for finding in found if finding.state is not Readiness.OK]


def test_an_honest_folder_is_whole(data):
    assert problems(data) == []


def sql(statement):
    def change(data):
        with contextlib.closing(sqlite3.connect(data / "arena.db")) as connection:
            connection.execute(statement)
            connection.commit()

    return change


def copied(data):
    shutil.copy(data / "replays" / f"{ONE}.replay", data / "replays" / f"{OTHER}.replay")


def removed(data):
    (data / "replays" / f"{ONE}.replay").unlink()


def flipped(data):
    path = data / "replays" / f"{ONE}.replay"
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 1
    path.write_bytes(whole)


def other_key(data):
    (data / "arena-key").write_bytes(ArenaKey.new().pem)


def cut_log(data):
    path = data / "commitments"
    path.write_bytes(path.read_bytes()[:-5])


def forgotten(data):
    """A match is removed from the store, with its replay."""
    removed(data)
    for table, column in (("match_seats", "match"), ("faults", "match"), ("matches", "id")):
        sql(f"DELETE FROM {table} WHERE {column} = '{ONE}'")(data)


# fmt: off
CHANGES = [
    # what is changed                                                                                  a problem that is found                              why
    (sql(f"UPDATE matches SET scores = (SELECT json_group_array(-value) FROM json_each(scores)) WHERE id = '{ONE}'"), f"match {ONE} has the scores", "scores are turned round"),
    (sql(f"UPDATE matches SET places = '[1, 1]' WHERE id = '{ONE}'"),                                  f"match {ONE} has the places",                       "a loss is a draw"),
    (sql(f"UPDATE matches SET forfeited = '[1, 0]' WHERE id = '{ONE}'"),                               f"match {ONE} has the forfeited",                    "a bot is said to have forfeited"),
    (sql("INSERT INTO faults VALUES ((SELECT min(id) FROM matches WHERE published), 0, 'timeout', 3)"), "has the faults",                                   "a bot is said to have been late"),
    (sql(f"""UPDATE matches SET bots = '["bob", "ann"]' WHERE id = '{ONE}'"""),                         f"match {ONE} has the bots",                         "bots change seats"),
    (copied,                                                                                           f"the replay of {OTHER}: it is of match {ONE}",      "a replay is copied over another"),
    (removed,                                                                                          f"the replay of {ONE} is missing",                   "a replay is removed"),
    (flipped,                                                                                          f"the replay of {ONE}: ",                            "a bit of a replay is another"),
    (forgotten,                                                                                        f"match {ONE} is of a deal that was played",         "a match is forgotten"),
    (other_key,                                                                                        f"the replay of {ONE}: ",                            "the arena has another key"),
    (cut_log,                                                                                          "",                                                  "the log of deals is cut off"),
    (sql("UPDATE official_standings SET body = replace(body, 'ann', 'eve')"),                          "official standings 1 of autumn: the signature",     "official standings name another bot"),
    (sql("UPDATE official_standings SET record = replace(record, '\"ann\"', '\"eve\"')"),                "official standings 1 of autumn: ",                  "their deal-sets name another bot"),
    (sql("UPDATE audit SET who = 'nobody' WHERE id = 1"),                                              "row 1 of the audit was changed",                    "the audit is changed"),
]
# fmt: on


@pytest.mark.parametrize(("change", "problem", "why"), CHANGES, ids=[row[-1] for row in CHANGES])
def test_a_change_of_one_part_is_found(data, change, problem, why):
    change(data)
    found = problems(data)
    assert [text for text in found if problem in text], found


def test_a_pruned_replay_is_no_problem(data):
    removed(data)
    with open_store(data_folder.store_path(data)) as store:
        store.matches().mark_removed([ONE])
    assert problems(data) == []


# fmt: off
MEANWHILE = [
    # first       once the replays are listed                                   why it is no problem
    ("aside",     "replays",                                                     "an arena publishes the replay"),
    ("replays",   "aside",                                                       "the replay is pruned"),
]
# fmt: on


@pytest.mark.parametrize(("first", "then", "why"), MEANWHILE, ids=[row[-1] for row in MEANWHILE])
def test_what_changes_while_it_looks_is_no_problem(data, monkeypatch, first, then, why):
    name = f"{ONE}.replay"
    (data / "aside").mkdir()

    def moved(start, end):
        (data / start / name).rename(data / end / name)

    def log_of(folder):
        moved(first, then)
        if then == "aside":
            with open_store(data_folder.store_path(data)) as store:
                store.matches().mark_removed([ONE])
        return read_log(folder)

    if first == "aside":
        moved("replays", first)
    monkeypatch.setattr(data_checks, "read_log", log_of)
    assert problems(data) == [], why


def test_many_problems_of_a_part_are_counted(data):
    for number in range(MOST_SHOWN + 5):
        (data / "replays" / f"x{number}.replay").write_bytes(b"no replay")
    *_, last = problems(data)
    assert last == "and 5 more"


@pytest.mark.slow
def test_the_command_says_what_differs_and_fails(data):
    command = ["doctor", "data", "--data", str(data)]
    whole = CliRunner().invoke(arena, command)
    assert (whole.exit_code, whole.stdout.count("ok ")) == (0, 4)
    copied(data)
    done = CliRunner().invoke(arena, [*command, "--json"])
    assert done.exit_code == 1
    (finding,) = [row for row in json.loads(done.stdout)["findings"] if row["state"] == "lacks"]
    assert finding["subject"] == "replays"
    assert "arena restore" in finding["cure"]


def test_a_folder_in_which_nothing_was_played(tmp_path):
    assert problems(tmp_path) == [f"nothing was played in {tmp_path} yet"]
