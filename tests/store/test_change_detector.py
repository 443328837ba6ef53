"""Who looks into the store again and again is told when it is worth while."""

from arena.store import open_store
from arena.store.change_detector import MOST_SKIPPED, ChangeDetector
from tests.store.test_keys import key


def test_a_commit_of_another_program_is_news(path):
    with open_store(path) as store, open_store(path) as other:
        news = store.change_detector()
        news()
        for number in range(3):
            other.keys().add(key(f"k{number}", bot=f"bot{number}"))
            assert news()


def test_a_commit_of_ones_own_is_news_to_others_and_to_oneself(path):
    with open_store(path) as store:
        ours, others = store.change_detector(), store.change_detector()
        ours(), others()
        store.keys().add(key())
        assert ours()
        assert others()


def test_a_file_shows_that_nothing_was_written(path, database):
    with open_store(path) as store:
        news = store.change_detector()
        assert news(), "nothing was seen yet"
        store.keys().all()
        assert news() is (database == "postgresql"), "there only looking tells"


def test_a_look_that_came_to_nothing_is_made_again(path):
    with open_store(path) as store:
        news = store.change_detector()
        news()
        news.forget()
        assert news()


def test_a_poll_is_made_after_the_most_skipped_ones():
    """Whoever relies on it is a while late at most."""
    news = ChangeDetector(lambda: (1,))
    assert [news() for _ in range(MOST_SKIPPED + 2)] == [True, *[False] * MOST_SKIPPED, True]
