"""Each SDK is named in every place that docs/sdk-authors.md lists: the tests of an SDK are slow, and miss some of them."""

import pytest

from tests.sdk.languages import LANGUAGES, ROOT

# fmt: off
PLACES = [
    # file                            what names the SDK there  why
    (".ci/run",                       "{tool}",                 "continuous integration needs its tool"),
    ("scripts/lint",                  "clients/{folder}",       "its style is checked"),
    ("scripts/generate_all.py",       "clients/{folder}",       "scripts/proto writes its messages"),
    ("scripts/new_game.py",           "clients/{folder}",       "scripts/new-game writes its part of a game"),
    ("scripts/release.py",            "clients/{folder}",       "a release has its package"),
    ("docs/sdks.md",                  "clients/{folder}",       "authors compare SDKs"),
    ("arena/cli/new.py",              '"{folder}"',             "arena new creates a bot in it"),
    ("tests/cli/test_new.py",         '"{folder}"',             "that bot is built and tested"),
    ("tests/deep.py",                 "clients/{folder}/*",     "its deep tests run when it changes"),
    ("tests/sdk/test_languages.py",   "planted.{planted}",      "its own tests and the kit are run"),
]
# fmt: on


@pytest.mark.parametrize("language", LANGUAGES[1:], ids=str)
@pytest.mark.parametrize(("file", "named", "why"), PLACES, ids=[row[-1] for row in PLACES])
def test_an_sdk_stands_in_every_place(file, named, why, language):
    folder = language.folder
    wanted = named.format(tool=language.tool, folder=folder, planted=folder.upper())
    text = (ROOT / file).read_text("utf-8")
    assert wanted in text, f"{why}: {file} needs {wanted}; see Files in docs/sdk-authors.md"


@pytest.mark.parametrize("place", ["clients", "sample_bots", "arena/cli/templates"])
@pytest.mark.parametrize("language", LANGUAGES[1:], ids=str)
def test_an_sdk_has_its_folders(place, language):
    assert (ROOT / place / language.folder).is_dir(), "see Files in docs/sdk-authors.md"
