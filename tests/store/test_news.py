"""Who looks into the store again and again is told when it is worth while."""

import pytest

from arena.store import open_store
from arena.store.news import MOST_SKIPPED, News
from tests.store.test_keys import key


@pytest.fixture
def path(tmp_path):
    return tmp_path / "arena.db"


def test_a_commit_of_another_program_is_news(path):
    with open_store(path) as store, open_store(path) as other:
        news = store.news()
        news()
        for number in range(3):
            other.keys().add(key(f"k{number}", bot=f"bot{number}"))
            assert news()


def test_a_commit_of_ones_own_is_news_to_others_and_to_oneself(path):
    with open_store(path) as store:
        ours, others = store.news(), store.news()
        ours(), others()
        store.keys().add(key())
        assert ours()
        assert others()


def test_of_a_file_it_is_told_when_nothing_was_written(path, database):
    with open_store(path) as store:
        news = store.news()
        assert news(), "nothing was seen yet"
        store.keys().all()
        assert news() is (database == "postgresql"), "there only looking tells"


def test_a_look_that_came_to_nothing_is_made_again(path):
    with open_store(path) as store:
        news = store.news()
        news()
        news.forget()
        assert news()


def test_some_look_is_made_whatever_is_told():
    """Whoever relies on it is a while late at most."""
    news = News(lambda: (1,))
    assert [news() for _ in range(MOST_SKIPPED + 2)] == [True, *[False] * MOST_SKIPPED, True]
