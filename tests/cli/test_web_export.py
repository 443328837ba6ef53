"""`arena web export`: what it says before and while it writes."""

import pytest
from click.testing import CliRunner

from arena.cli.web_export import ExportProgress, export, sentences
from arena.web.site_export import ExportEstimate
from tests.web import house


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported") / "data"
    house.build(folder)
    return folder


def exported(data, *arguments):
    return CliRunner().invoke(export, [*map(str, arguments), "--data", str(data)])


WHOLE = "1 match in about 3 files, 2.5 MB, 7 s on 2 processors."
# fmt: off
ESTIMATES = [
    # matches, left out, all MB, open deal-sets, what is said, why
    (1, 0, 2.5, 0, [WHOLE], "nothing is left out"),
    (1, 40, 99.2, 0,
     [WHOLE, "Left out: the oldest 40 matches. With all it would be 99 MB: --limit-mb 101."],
     "the limit"),
    (1, 0, 2.5, 2, [WHOLE, "Left out: 2 deal-sets in play, until complete."], "a competition in play"),
]
# fmt: on


@pytest.mark.parametrize(
    ("matches", "left_out", "all_mb", "opened", "said", "why"),
    ESTIMATES,
    ids=[row[5] for row in ESTIMATES],
)
def test_what_is_written_and_left_out_is_said_first(matches, left_out, all_mb, opened, said, why):
    found = ExportEstimate(matches, 3, 2.5, 7.2, left_out, all_mb, opened)
    assert list(sentences(found, 2)) == said


def test_without_a_terminal_each_tenth_is_a_line(capsys):
    with ExportProgress(30) as progress:
        for done in range(1, 31):
            progress.show(done)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "3 of 30 matches"
    assert lines[-1] == "30 of 30 matches"
    assert len(lines) == 10


def test_an_estimate_writes_nothing(data, tmp_path):
    done = exported(data, "autumn", tmp_path / "site", "--estimate")
    assert done.exit_code == 0
    assert "0 matches in about 0 files" in done.output  # their replays are not in the folder
    assert "Left out: 1 deal-set in play" in done.output
    assert not (tmp_path / "site").exists()


@pytest.mark.slow
def test_an_export_ends_with_its_size_and_where_it_begins(data, tmp_path):
    done = exported(data, "autumn", tmp_path / "site")
    assert done.exit_code == 0
    files = sum(each.is_file() for each in (tmp_path / "site").rglob("*"))
    last = done.output.splitlines()[-1]
    assert last.startswith(f"{files} files, ")
    assert last.endswith(f"Open {(tmp_path / 'site' / 'index.html').as_uri()}")


WRONG = [
    (["spring", "site"], "no such competition: 'spring'", "no competition"),
    (["autumn"], "name a folder for the pages, or give --estimate", "no folder"),
    (["autumn", "site", "--viewers", "dogs"], "no viewer dogs", "no viewer"),
]


@pytest.mark.parametrize(("arguments", "said", "why"), WRONG, ids=[row[2] for row in WRONG])
def test_mistakes_are_said(data, arguments, said, why):
    done = exported(data, *arguments)
    assert done.exit_code != 0
    assert said in done.output
