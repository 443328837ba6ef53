"""Plots of the sweeps: drawn from their figures alone, with words for all that they show."""

import copy
import functools
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from bench import __main__ as bench
from bench import plots

pytestmark = pytest.mark.slow  # draws with matplotlib

SHOWN = Path(__file__).parents[1] / "docs/pictures/sweeps"
"""The pictures of docs/benchmarks.md, and the figures that they were drawn from."""
SVG = "{http://www.w3.org/2000/svg}"
ASK = {"asks": 100, "us": 20.0, "size_bytes": 300.0}
PACED = {"done_per_s": 500, "decisions": 10_000, "p50_ms": 0.4, "p90_ms": 0.9, "p99_ms": 3.0}
FIGURES = {
    "date": "2026-11-23",
    "quick": False,
    "versions": {"python": "3.11.7", "grpcio": "1.75.1", "arena": "pure", "cpu": "A & B", "cpu_count": 2},
    "sweeps": {
        "decisions": [
            {"streams": streams, "matches": matches, "per_s": 900 * streams, "bare_per_s": 1_000 + matches}
            for streams in (2, 8, 64)
            for matches in (1, 64)
        ],
        "turnarounds": [
            {"server": server, "offered_per_s": per_s, **PACED, "p999_ms": 9.0, "most_ms": 12.0}
            for server, per_s in [("arena", 500), ("bare", 500), ("arena", 1_000), ("bare", 1_000)]
        ],
        "memory": [
            {"game": game, "matches": matches, "memory_mb": 100.0 + matches / 10}
            for game in ("trivial", "jam")
            for matches in (0, 400)
        ],
        "asks": [
            {"game": "loo", "seats": 5, **ASK, "by_held": []},
            {"game": "loo", "seats": 6, **ASK, "us": 30.0, "by_held": []},
            {
                "game": "jam",
                "seats": 2,
                **ASK,
                "by_held": [{"held": held, "asks": 60, "us": 10.0 * held} for held in (1, 2, 3, 6)],
            },
        ],
    },
}  # fmt: skip
NAMES = ["decisions", "turnarounds", "memory", "asks-by-seats", "asks-by-cards-held"]


@pytest.fixture(scope="module")
def drawn():
    """What draws plots, where there is matplotlib; the same figures once."""
    pytest.importorskip("matplotlib", reason="scripts/setup bench has matplotlib")
    once = functools.cache(lambda text: plots.plots(json.loads(text)))
    return lambda figures: once(json.dumps(figures))


@pytest.fixture
def run(tmp_path):
    """Draws as a person would, from a file with this in it."""

    def draw(text, folder="pictures"):
        file = tmp_path / "figures.json"
        if text is not None:
            file.write_text(text)
        return CliRunner().invoke(bench.main, ["--plots", str(file), str(tmp_path / folder)])

    return draw


@pytest.mark.usefixtures("drawn")
def test_the_same_figures_make_the_same_bytes(run, tmp_path):
    assert run(json.dumps(FIGURES), "one").exit_code == 0
    assert run(json.dumps(FIGURES, sort_keys=True), "two").exit_code == 0
    one, two = (
        {path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()}
        for folder in ("one", "two")
    )
    assert sorted(one) == sorted(f"{name}.svg" for name in NAMES)
    assert one == two


def test_the_pictures_of_the_documents_are_drawn_from_the_figures_beside_them(drawn):
    made = drawn(plots.read(SHOWN / "figures.json"))
    assert {path.stem: path.read_text() for path in SHOWN.glob("*.svg")} == made


def words_of(svg):
    return [each.text for each in ET.fromstring(svg).iter(f"{SVG}text")]


# fmt: off
SAID = [
    # picture              what stands in it                                               why
    ("decisions",          {"streams", "decisions a second", "1 match each", "64 matches each", "bare gRPC"},
                                                                                           "axes and lines are named"),
    ("decisions",          {"2", "8", "64"},                                               "streams are marked where they were measured"),
    ("turnarounds",        {"ms", "p50", "p99.9", "p99, bare gRPC"},                       "percentiles of both servers"),
    ("memory",             {"matches in play", "MiB", "trivial", "jam", "0", "150"},       "memory has its unit, and starts at nothing"),
    ("asks-by-seats",      {"seats", "µs of processor time", "loo", "5", "6"},             "games of several numbers of seats"),
    ("asks-by-cards-held", {"cards held", "jam, 2"},                                       "games whose hands change"),
]
# fmt: on


@pytest.mark.parametrize(("name", "said", "why"), SAID, ids=[f"{r[0]}: {r[2]}" for r in SAID])
def test_a_picture_says_what_it_shows(drawn, name, said, why):
    assert said <= set(words_of(drawn(FIGURES)[name]))


def test_a_game_of_one_number_of_seats_has_no_line_by_seats(drawn):
    assert "jam" not in words_of(drawn(FIGURES)["asks-by-seats"])


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_stands_alone_and_says_whose_figures_it_has(drawn, name):
    root = ET.fromstring(drawn(FIGURES)[name])
    assert root.tag == f"{SVG}svg"
    caption = "2026-11-23 · A & B, 2 processors · Python 3.11.7, pure · grpcio 1.75.1"
    assert words_of(drawn(FIGURES)[name]).count(caption) == 1
    assert root.findtext(f"{SVG}title").endswith(caption)
    links = {each.get("{http://www.w3.org/1999/xlink}href", "#") for each in root.iter()}
    assert all(link.startswith("#") for link in links), "nothing is loaded"


def test_a_plot_may_have_no_lines(drawn):
    figures = copy.deepcopy(FIGURES)
    figures["sweeps"]["asks"] = figures["sweeps"]["asks"][:1]
    assert "cards held" in words_of(drawn(figures)["asks-by-cards-held"])


def test_two_lines_never_look_alike(drawn):
    points = [
        {"game": f"game{at}", "seats": seats, **ASK, "us": 1.0 + at, "by_held": []}
        for at in range(9)
        for seats in (2, 3)
    ]
    figures = copy.deepcopy(FIGURES)
    figures["sweeps"]["asks"] += points
    svg = ET.fromstring(drawn(figures)["asks-by-seats"])
    marks = {each.get("style") for each in svg.iter(f"{SVG}use")}
    assert len({mark for mark in marks if "#000000" not in mark}) == 10


def test_a_quick_run_is_called_no_measurement(drawn):
    for svg in drawn(FIGURES | {"quick": True}).values():
        assert "A QUICK RUN, NO MEASUREMENT" in svg
    for svg in drawn(FIGURES).values():
        assert "QUICK" not in svg


def without(*path):
    figures = copy.deepcopy(FIGURES)
    place = figures
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    return json.dumps(figures)


HOW = "make them by scripts/bench --only sweeps --json FILE"
# fmt: off
REFUSED = [
    # file                                    said                                          why
    (None,                                    "No such file or directory",                  "there is no such file"),
    ("<svg/>",                                "figures.json is not JSON",                   "it is something else"),
    ("[]",                                    "figures.json holds no figures of scripts/bench", "it is other JSON"),
    ('{"sweeps": {}}',                        f"no sweeps of asks, decisions, memory, turnarounds: {HOW}", "other parts were measured"),
    (without("sweeps"),                       f"no sweeps of asks, decisions, memory, turnarounds: {HOW}", "an older run had none"),
    (without("sweeps", "memory"),             f"no sweeps of memory: {HOW}",                "one of them is missing"),
]
# fmt: on


@pytest.mark.parametrize(("text", "said", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_what_cannot_be_drawn_is_said_in_a_sentence(run, tmp_path, text, said, why):
    done = run(text)
    assert done.exit_code == 1
    assert done.output.startswith("Error: ")
    assert said in done.output
    assert not (tmp_path / "pictures").exists(), "nothing is half drawn"


@pytest.mark.usefixtures("drawn")
def test_what_another_version_measured_is_refused(run, tmp_path):
    done = run(without("sweeps", "memory", 0, "game"))
    assert done.exit_code == 1
    assert "which looks for 'game': measure again" in done.output
    assert not (tmp_path / "pictures").exists(), "nothing is half drawn"


def test_drawing_goes_with_no_measurement(tmp_path):
    done = CliRunner().invoke(bench.main, ["--plots", "a.json", "b", "--only", "wire"])
    assert done.exit_code == 2
    assert "--plots measures nothing, and goes alone" in done.output


@pytest.mark.usefixtures("drawn")
def test_where_nothing_can_be_written_it_says_so(run, tmp_path):
    (tmp_path / "pictures").write_text("a file is in the way")
    done = run(json.dumps(FIGURES))
    assert done.exit_code == 1
    assert done.output == f"Error: cannot write to {tmp_path}/pictures: File exists\n"
