"""Keys in the store, and the names that belong to their owners."""

import hashlib
import sqlite3
import threading
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from arena.store import Key, NameTaken, Scope, StoreError, open_store
from arena.store.keys import KeyIdTaken

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def keys(path):
    with open_store(path) as store:
        yield store.keys()


def key(key_id="k1", bot="alpha", owner="ann", created=NOW, **more):
    scope = Scope.BOT if bot else Scope.ORGANISER
    digest = hashlib.sha256(key_id.encode()).digest()
    return Key(key_id, digest, scope, owner, bot, created, **more)


def test_a_key_comes_back_as_it_was(path):
    given = key(expires=NOW + timedelta(days=30))
    organiser = key("k2", bot="")
    with open_store(path) as store:
        store.keys().add(given)
        store.keys().add(organiser)
    with open_store(path) as store:
        bots, organisers = store.keys().all()
    assert (bots.id, bots.token_sha256, bots.scope) == (given.id, given.token_sha256, Scope.BOT)
    assert (bots.owner, bots.bot) == ("ann", "alpha")
    assert (bots.created, bots.expires) == (NOW, NOW + timedelta(days=30))
    assert (bots.revoked, bots.used) == (None, None)
    assert (organisers.scope, organisers.bot, organisers.expires) == (Scope.ORGANISER, "", None)


def test_times_are_stored_in_utc_and_need_a_zone(keys):
    east = timezone(timedelta(hours=5))
    kept = keys.add(key(expires=NOW.astimezone(east)))
    assert kept.expires == NOW
    assert kept.expires.tzinfo is UTC
    with pytest.raises(ValueError, match="time zone"):
        keys.add(key("k2", expires=NOW.replace(tzinfo=None)))


# fmt: off
NAMES = [
    # bot       owner  what is said                                                        why
    ("alpha",   "ann", None,                                                              "a second key of a bot"),
    ("beta",    "ann", None,                                                              "a second bot of an owner"),
    ("ann",     "ann", None,                                                              "a bot named as its owner"),
    ("",        "ann", None,                                                              "an organiser's key of an owner"),
    ("beta",    "bob", None,                                                              "another owner's bot"),
    ("alpha",   "bob", "'alpha' belongs to the owner 'ann'",                     "another owner's bot's name"),
    ("ALPHA",   "bob", "'ALPHA' looks like 'alpha', which belongs to the owner 'ann'", "that name in capitals"),
    ("a1pha",   "bob", "'a1pha' looks like 'alpha', which belongs to the owner 'ann'", "a name that looks like it"),
    ("Alpha",   "ann", "'Alpha' is spelled 'alpha'",        "the owner's own bot in another spelling"),
    ("beta",    "Ann", "'Ann' is spelled 'ann'",            "an owner in another spelling"),
    ("ann",     "bob", "'ann' belongs to the owner 'ann'",                       "a bot named as another owner"),
    ("ANN",     "bob", "'ANN' looks like 'ann', which belongs to the owner 'ann'", "that name in capitals, for a bot"),
    ("beta",    "alpha", "'alpha' belongs to the owner 'ann'",                   "an owner named as another owner's bot"),
    ("",        "alpha", "'alpha' belongs to the owner 'ann'",                   "an organiser named as a bot"),
    ("house",   "bob", "'house' is reserved, as it could be taken for the arena's own name", "a bot with a reserved name"),
    ("beta",    "0rg", "'0rg' is reserved, as it could be taken for the arena's own name", "an owner who looks like an organiser"),
    ("",        "Org", None,                                                     "an organiser"),
]
# fmt: on


@pytest.mark.parametrize(("bot", "owner", "said", "why"), NAMES, ids=[row[-1] for row in NAMES])
@pytest.mark.parametrize("revoked", [False, True], ids=["while in use", "long after"])
def test_a_name_is_one_owners(keys, bot, owner, said, why, revoked):
    keys.add(key())
    if revoked:
        keys.revoke("k1", NOW)
    if said is None:
        assert keys.add(key("k2", bot, owner)).owner == owner
        return
    with pytest.raises(NameTaken) as raised:
        keys.add(key("k2", bot, owner))
    assert str(raised.value) == f"the name is taken: {said} (R-NAME-TAKEN)"
    assert len(keys.all()) == 1
    assert keys.owner_of("beta") is None, "a key that is refused claims no name"


def test_the_file_itself_holds_no_two_names_that_look_alike(path, keys):
    keys.add(key())
    with sqlite3.connect(path) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute("INSERT INTO names VALUES ('alpha', 'a1pha', 'ann')")
    connection.close()


def test_the_owner_of_a_bot(keys):
    keys.add(key())
    assert [keys.owner_of(name) for name in ("alpha", "ALPHA", "beta")] == ["ann", "ann", None]


def test_an_id_is_given_once(keys):
    keys.add(key())
    with pytest.raises(KeyIdTaken):
        keys.add(key())


def test_a_key_is_revoked_once_and_for_good(keys):
    keys.add(key())
    later = NOW + timedelta(days=1)
    assert keys.revoke("k1", NOW).revoked == NOW
    change = keys.all()[0].changed
    assert keys.revoke("k1", later).revoked == NOW
    assert keys.all()[0].changed == change, "what does not change is not told again"


def test_an_unknown_key_cannot_be_revoked(keys):
    with pytest.raises(StoreError, match="there is no such key: 'k9'"):
        keys.revoke("k9", NOW)


def test_a_caller_with_the_last_change_gets_each_change_once(keys):
    keys.add(key("k1"))
    keys.add(key("k2"))
    first = keys.changed_since(0)
    assert [each.id for each in first] == ["k1", "k2"]
    seen = first[-1].changed
    assert keys.changed_since(seen) == ()
    keys.revoke("k1", NOW)
    keys.add(key("k3"))
    assert [each.id for each in keys.changed_since(seen)] == ["k1", "k3"]


def test_concurrent_changes_are_all_reported(path):
    """Two programs write while a third one follows: it sees each key, whenever it looks."""

    def write(name):
        with open_store(path) as store:
            for number in range(10):
                store.keys().add(key(f"{name}{number}"))

    seen, told = 0, []
    with open_store(path) as store:
        writers = [threading.Thread(target=write, args=(name,)) for name in "ab"]
        for writer in writers:
            writer.start()
        while any(writer.is_alive() for writer in writers) or store.keys().changed_since(seen):
            for each in store.keys().changed_since(seen):
                seen = each.changed
                told.append(each.id)
    assert len(told) == 20
    assert len(set(told)) == 20


def test_all_keys_are_listed_oldest_first(keys):
    keys.add(key("k1", created=NOW - timedelta(days=1)))
    keys.add(key("k2"))
    keys.add(key("k3"))
    keys.revoke("k1", NOW)
    assert [each.id for each in keys.all()] == ["k1", "k2", "k3"]


def test_the_last_use_is_a_day_and_no_change(keys):
    keys.add(key("k1"))
    keys.add(key("k2"))
    seen = keys.all()[-1].changed
    keys.mark_used({"k1"}, date(2026, 11, 21))
    assert [each.used for each in keys.all()] == [date(2026, 11, 21), None]
    assert keys.changed_since(seen) == ()


@pytest.mark.parametrize(
    ("bot", "owner"),
    [
        ("c\u0430rl", "ann"),
        ("alpha", ""),
        ("alpha", "a" * 33),
        ("al/pha", "ann"),
        ("alpha", " ann"),
    ],
    ids=["a look-alike", "no owner", "too long", "a slash", "a space in front"],
)
def test_a_name_that_is_none_is_not_kept_whoever_asks(keys, bot, owner):
    with pytest.raises(ValueError, match="a name has 1 to 32 letters"):
        keys.add(key("k1", bot, owner))
