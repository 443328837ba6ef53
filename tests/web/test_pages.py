"""Pages as the server makes them: safe, small, and legible in both schemes."""

import gzip
import json
import re

import pytest

from arena.games.catalogue import GAMES
from arena.games.contract import Seat
from arena.pictures import Viewer
from arena.referee.spec import FaultKind
from arena.web import plots
from arena.web.assets import STATIC, asset, sprite
from arena.web.avatars import Avatars, symbol
from arena.web.emblems import emblem, emblem_use, symbols
from arena.web.live_match import encoded
from arena.web.page import as_json
from arena.web.steps import Pack
from arena.web.trees import ATTRIBUTES, TAGS, element, html, listed
from tests.rows import slow_unless
from tests.web.pages import LINKS, page, steps

CSS = STATIC.joinpath("arena.css").read_text("utf-8")
BUILDER = STATIC.joinpath("table.js").read_text("utf-8")
EVERY_GAME = pytest.mark.parametrize(
    "game", slow_unless(lambda game: "eleusis" not in game.id, GAMES), ids=lambda game: game.id
)


def colours(css, scheme):
    """The tokens of the sheet in a scheme, 0 for light and 1 for dark."""
    tokens = re.findall(r"--([\w-]+): (?:light-dark\()?(#[0-9a-f]{6})(?:, (#[0-9a-f]{6})\))?;", css)
    return {name: (light, dark or light)[scheme] for name, light, dark in tokens}


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
    *((text, ground) for text in ("ink", "soft") for ground in ("page", "panel", "band", "sunk")),
    *(
        (text, ground)
        for text in ("link", "good", "bad", "mark")
        for ground in ("page", "panel", "band")
    ),
    *(("ink", "here"), ("ink", "bad-paper"), ("ink", "mark-paper"), ("bad", "bad-paper")),
    *(("on-gold", "gold"), ("page", "ink")),
]
"""Text, and what it lies on."""
MARKS = [(mark, ground) for mark in ("edge", "data", "data-2") for ground in ("page", "panel")]
"""Borders of controls and marks of plots, and what they lie on."""
LIGHT, DARK = (colours(CSS, scheme) for scheme in range(2))


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), PAIRS, ids=[f"{a} on {b}" for a, b in PAIRS])
def test_text_can_be_read(scheme, text, ground):
    assert contrast(scheme[text], scheme[ground]) >= 4.5


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("mark", "ground"), MARKS, ids=[f"{a} on {b}" for a, b in MARKS])
def test_a_control_or_a_mark_can_be_seen(scheme, mark, ground):
    assert contrast(scheme[mark], scheme[ground]) >= 3


MOST_BYTES = {
    "arena.css": 14_000,
    "site.js": 2_500,
    "viewer.js": 5_500,
    "live.js": 4_000,
    "moment.js": 2_500,
    "follow.js": 6_500,
}
"""The most bytes of an asset, compressed."""


@pytest.mark.parametrize("name", MOST_BYTES)
def test_an_asset_is_small(name):
    assert len(gzip.compress(asset(name)[1], 9)) <= MOST_BYTES[name]


def test_the_shapes_of_all_pages_are_small():
    assert len(sprite().encode()) <= 2_500


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_a_game_has_an_emblem_of_its_own(game):
    drawn = html(emblem(game.id))
    assert len(drawn) <= 3_000
    assert drawn not in {html(emblem(other.id)) for other in GAMES if other is not game}
    ((_, target),) = emblem_use(game.id).children[0].attributes.items()
    assert f'id="{target.removeprefix("#")}"' in html(symbols())


NAMES_AND_MARKS = [
    ("ann", "ann@3", True, "versions of a bot share its mark"),
    ("ann", "bob", False, "bots differ"),
    ("ann", "Ann", False, "names differ by case"),
]


@pytest.mark.parametrize(("one", "other", "same", "why"), NAMES_AND_MARKS)
def test_a_mark_follows_from_the_name_of_its_bot(one, other, same, why):
    assert (html(symbol(one)) == html(symbol(other))) is same, why


@pytest.mark.parametrize("name", ["<img src=x>", "\u202e", "@", "", "名前"])
def test_a_mark_of_any_name_is_text(name):
    drawn = html(symbol(name))
    assert "<img" not in drawn
    assert len(drawn) < 1_000


def test_a_page_has_the_symbol_of_each_mark_once():
    marks = Avatars()
    marks.mark("ann")
    marks.use(("ann@2", "bob"))
    assert str(marks.symbols()).count("<symbol") == 2


def test_dark_is_a_scheme_of_its_own():
    assert luminance(DARK["page"]) < 0.05 < luminance(LIGHT["page"])


def test_the_script_builds_what_the_server_does():
    """Its lists of tags and attributes are those of `trees`."""
    tags, attributes = (
        set(re.search(rf'const {name} = new Set\("([^"]*)"', BUILDER)[1].split())
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
    with pytest.raises(ValueError, match="a picture has no"):
        build()


def test_text_and_attributes_are_escaped():
    tree = element("span", 'a"b', "<i>&", aria_label="<'\">")
    written = '<span class="a&quot;b" aria-label="&lt;&#x27;&quot;&gt;">&lt;i&gt;&amp;</span>'
    assert html(tree) == written


UNSEEN = {
    "turns the order of letters": "\u202e",
    "isolates letters": "\u2066",
    "marks letters as Arabic": "\u061c",
    "has no width": "\u200b",
    "ends a line": "\u2028",
    "begins a command of a terminal": "\x1b",
    "does that in one byte": "\x9b",
    "is a tag": "\U000e0041",
}
SHOWN = {
    "page": lambda text: page("klaberjass", 2, Viewer.ALL, names=(f"an{text}n", "bob")).html(LINKS),
    "feed": lambda text: encoded({"name": f"an{text}n"}).decode(),
    "JSON": lambda text: as_json({"name": f"an{text}n"}),
}


@pytest.mark.parametrize("kind", SHOWN)
@pytest.mark.parametrize("char", UNSEEN.values(), ids=UNSEEN)
def test_a_character_that_nobody_sees_is_not_in_a(kind, char):
    shown = SHOWN[kind](char)
    assert char not in shown
    assert kind != "page" or "an\N{REPLACEMENT CHARACTER}n" in shown


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


def test_each_kind_of_fault_has_its_own_shape():
    kinds = [kind.name.lower() for kind in FaultKind]
    drawn = html(plots.faults_plot(kinds, [plots.FaultMark(0, 1, kinds[0])], 1))
    shapes = {re.sub(r"^M[-\d.,]+", "", path) for path in re.findall(r'd="([^"]+)"', drawn)}
    assert len(shapes) == len(kinds)


def test_a_plot_of_many_faults_is_thinned():
    many = [plots.FaultMark(at % 50, at, "gone") for at in range(9_000)]
    assert len(html(plots.faults_plot(["gone"], many, 50))) < 200_000


def test_data_in_a_page_cannot_end_its_script():
    hostile = "</script><script>alert(1)"
    drawn = page("klaberjass", 2, Viewer.ALL, names=(hostile, "bob")).html(LINKS)
    data = drawn.partition('id="data">')[2].rpartition("</script>")[0]
    assert "<" not in data
    assert hostile in str(json.loads(data))


@EVERY_GAME
def test_a_page_is_small(game):
    """60 kB gz are for the page with its style sheet and its script, on the first visit."""
    drawn = page(game.id, game.seats[0], Viewer.ALL)
    whole = "".join(
        (drawn.html(LINKS), CSS, *(asset(name)[1].decode() for name in ("site.js", "viewer.js")))
    ).encode()
    assert len(gzip.compress(whole)) <= 60_000


@EVERY_GAME
def test_the_picture_is_there_without_a_script(game):
    """Cards of the step that was asked for stand in the page itself."""
    drawn = page(game.id, game.seats[0], Viewer.ALL)
    last = len(drawn.steps) - 1
    body = drawn.html(LINKS, last).split('<script type="application/json"')[0]
    assert html(drawn.steps[last].table) in body
    assert all(html(step.text) in body for step in drawn.steps)


@EVERY_GAME
def test_what_the_banner_says_is_not_said_again_beside_it(game):
    """Caption and list have the other sentences; a screen reader hears all of them."""
    for step in steps(game.id, game.seats[0], Viewer.ALL):
        banner = re.findall("<p>(.*?)</p>", html(step.table))
        assert not any(each in html(step.text) for each in banner), step.label
        assert html(step.text) != '<span class="said"></span>'


def test_a_short_form_of_what_the_banner_says_is_left_out_too():
    step = next(step for step in steps("pineapple", 2, Viewer.ALL) if step.ends_hand)
    assert re.search("”? wins ", step.spoken)
    assert " wins " not in html(step.text)


def test_the_result_is_shown_when_it_is_asked_for():
    drawn = page("klaberjass", 2, Viewer.ALL).html(LINKS)
    assert drawn.count("played to the end") == 1
    closed = '<details class="result"><summary>result</summary><p>played to the end</p></details>'
    assert closed in drawn


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
