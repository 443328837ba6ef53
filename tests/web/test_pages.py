"""Pages as the server makes them: safe, small, and legible in both schemes."""

import gzip
import itertools
import json
import re

import pytest

from arena.games.catalogue import GAMES
from arena.games.contract import Seat
from arena.scenes import Viewer
from arena.web import plots
from arena.web.document import STATIC
from arena.web.steps import Pack, pack_of
from arena.web.trees import ATTRIBUTES, TAGS, element, html, listed
from tests.rows import slow_unless
from tests.web.pages import LINKS, page, steps

CSS = STATIC.joinpath("arena.css").read_text("utf-8")
SCRIPT = STATIC.joinpath("viewer.js").read_text("utf-8")
EVERY_GAME = pytest.mark.parametrize(
    "game", slow_unless(lambda game: "eleusis" not in game.id, GAMES), ids=lambda game: game.id
)


def colours(css):
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", css))


def luminance(colour):
    """Relative luminance, by the formula of WCAG 2.1."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, two):
    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


SUITS = ("spades", "hearts", "diamonds", "clubs", "joker")
PAIRS = [
    *((suit, "card") for suit in SUITS),
    *((f"dim-{suit}", "card-dim") for suit in SUITS),
    *((f"dim-{suit}", "card-wrong") for suit in SUITS),
    *((f"text-{suit}", ground) for suit in SUITS for ground in ("page", "panel", "here")),
    *(
        (text, ground)
        for text in ("on-felt", "soft-on-felt")
        for ground in ("felt", "seat", "chip")
    ),
    *(("gold", ground) for ground in ("felt", "seat")),
    *((text, ground) for text in ("ink", "soft") for ground in ("page", "panel")),
    *((text, ground) for text in ("link", "bad") for ground in ("page", "panel")),
    *(("ink", "here"), ("on-gold", "gold"), ("on-accent", "accent"), ("page", "ink")),
]
LIGHT = colours(CSS.split("@media (prefers-color-scheme: dark)")[0])
DARK = LIGHT | colours(CSS.split("@media (prefers-color-scheme: dark)")[1].split("}\n}")[0])


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), PAIRS, ids=[f"{a} on {b}" for a, b in PAIRS])
def test_text_can_be_read(scheme, text, ground):
    assert contrast(scheme[text], scheme[ground]) >= 4.5


def test_dark_is_a_scheme_of_its_own():
    assert luminance(DARK["page"]) < 0.05 < luminance(LIGHT["page"])


def test_the_script_builds_what_the_server_does():
    """Its lists of tags and attributes are those of `trees`."""
    tags, attributes = (
        set(re.search(rf'const {name} = new Set\("([^"]*)"', SCRIPT)[1].split())
        for name in ("TAGS", "ATTRIBUTES")
    )
    assert (tags, attributes) == (TAGS, ATTRIBUTES)


@pytest.mark.parametrize(
    "build",
    [
        lambda: element("script"),
        lambda: element("img"),
        lambda: element("div", onclick="x"),
        lambda: element("div", style="x"),
    ],
    ids=["a script", "an image", "a handler", "a style"],
)
def test_a_tree_holds_nothing_that_a_page_must_not_have(build):
    with pytest.raises(ValueError, match="a page has no"):
        build()


def test_text_and_attributes_are_escaped():
    tree = element("span", 'a"b', "<i>&", aria_label="<'\">")
    written = '<span class="a&quot;b" aria-label="&lt;&#x27;&quot;&gt;">&lt;i&gt;&amp;</span>'
    assert html(tree) == written


def unpacked(tree, pool):
    if isinstance(tree, int):
        return unpacked(pool[tree], pool)
    if isinstance(tree, str):
        return tree
    tag, attributes, *inner = tree
    return [tag, attributes, *(unpacked(each, pool) for each in inner)]


def test_packing_keeps_every_tree_and_equal_subtrees_once():
    drawn = steps("klaberjass", 2, Viewer.ALL)
    pack = Pack()
    places = [pack.add(step.table) for step in drawn]
    pool = json.loads(pack.pool())
    for step, place in zip(drawn, places, strict=True):
        assert unpacked(place, pool) == listed(step.table)
    written = [json.dumps(each) for each in pool]
    assert len(written) == len(set(written))


def test_a_line_that_grows_is_packed_by_its_places():
    """Each step of Eleusis adds a card to a line of a hundred: the page must not hold the square of it."""
    drawn = steps("eleusis_express", 3, Viewer.ALL)[:60]
    pack = Pack()
    places = [pack.add(step.table) for step in drawn]
    pool = json.loads(pack.pool())
    packed = sum(len(json.dumps(pool[place])) for place in places)
    whole = sum(len(json.dumps(listed(step.table))) for step in drawn)
    assert packed + len(json.dumps(pool)) < whole / 2


FAULTS = [
    plots.FaultMark(0, 3, "timeout"),
    plots.FaultMark(1, 90, "illegal"),
    plots.FaultMark(1, 91, "timeout"),
]


def test_faults_are_drawn_a_shape_a_kind_and_inside():
    drawn = html(plots.faults_plot(["illegal", "timeout"], FAULTS, 2))
    # One of each kind is the legend's.
    assert [drawn.count(f'class="fault-{kind}"') for kind in (0, 1)] == [2, 3]
    assert "3 faults by match and decision" in drawn
    places = [tuple(map(float, each)) for each in re.findall(r'd="M([\d.]+),([\d.]+)', drawn)]
    wide, high = map(float, re.search(r'viewBox="0 0 (\d+) (\d+)"', drawn).groups())
    assert all(0 <= x <= wide and 0 <= y <= high for x, y in places)


def test_a_plot_of_no_faults_says_so():
    assert "no faults" in html(plots.faults_plot([], [], 0))


def test_a_plot_of_many_faults_is_thinned():
    many = [plots.FaultMark(at % 50, at, "gone") for at in range(9_000)]
    assert len(html(plots.faults_plot(["gone"], many, 50))) < 200_000


def test_data_in_a_page_cannot_end_its_script():
    drawn = steps("klaberjass", 2, Viewer.ALL, names=("</script><script>alert(1)", "bob"))
    assert "<" not in pack_of(drawn, 0)


@EVERY_GAME
def test_a_page_is_small(game):
    """60 kB gz are for the page with its style sheet and its script, on the first visit."""
    drawn = page(game.id, game.seats[0], Viewer.ALL)
    whole = "".join((drawn.html(LINKS), CSS, SCRIPT)).encode()
    assert len(gzip.compress(whole)) <= 60_000


@EVERY_GAME
def test_the_picture_is_there_without_a_script(game):
    """Cards of the step that was asked for stand in the page itself."""
    drawn = page(game.id, game.seats[0], Viewer.ALL)
    last = len(drawn.steps) - 1
    body = drawn.html(LINKS, last).split('<script type="application/json"')[0]
    assert html(drawn.steps[last].table) in body
    assert all(html(step.words) in body for step in drawn.steps)


@pytest.mark.parametrize("game_id", ["klaberjass", "pineapple", "chinese_poker"])
def test_a_page_shows_its_viewer_no_more_than_the_viewer_may_know(game_id):
    """Cards that only others hold are nowhere in the bytes: not hidden, not in the data."""
    mine, theirs = (page(game_id, 2, eyes).html(LINKS) for eyes in (Seat(0), Seat(1)))
    spectator = page(game_id, 2, Viewer.SPECTATOR).html(LINKS)
    everybody = page(game_id, 2, Viewer.ALL).html(LINKS)
    sizes = [
        len(re.findall(r"(?:of|a) (?:spades|hearts|diamonds|clubs)", text))
        for text in (spectator, mine, theirs, everybody)
    ]
    assert sizes[0] < min(sizes[1:3]) <= max(sizes[1:3]) < sizes[3]


def test_keys_of_trees_are_unique_in_a_picture():
    for step in steps("pineapple", 6, Viewer.ALL):
        keys = re.findall(r'data-key="([^"]*)"', html(step.table))
        assert len(keys) == len(set(keys))
        assert not any(map(str.endswith, keys, itertools.repeat("aside")))
