"""The page itself: one file without network, whose policy allows its own script and style alone."""

import re

import pytest

from tests.browser import PAGE, hash_source, inline, policy, with_hashes
from tests.browser.fair_matches import ALPHA, BETA, GAMMA, Bot, log_file, played, seeded

TEXT = PAGE.read_text("utf-8")
SCRIPT = inline("script", TEXT)


def test_the_policy_allows_this_script_and_this_style_and_nothing_else():
    """After a change of the page: `python -m tests.browser`."""
    assert policy(TEXT) == {
        "default-src": ["'none'"],
        "script-src": [hash_source(SCRIPT)],
        "style-src": [hash_source(inline("style", TEXT))],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }


def test_the_policy_stands_before_anything_that_it_governs():
    assert TEXT.index("Content-Security-Policy") < min(map(TEXT.index, ("<style", "<script")))


@pytest.mark.parametrize("tag", ["script", "style"])
def test_any_change_of_the_page_changes_its_policy(tag):
    changed = TEXT.replace(f"</{tag}>", f" </{tag}>")
    assert policy(with_hashes(changed)) != policy(TEXT)


# fmt: off
FORBIDDEN = [
    (r"\b(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment",
                                                        "markup made of text"),
    (r"\beval\b|\bFunction\s*\(|setTimeout|setInterval", "text run as script"),
    (r"\bfetch\b|XMLHttpRequest|WebSocket|EventSource|sendBeacon|\bimport\b|RTCPeer|Worker",
                                                        "the network"),
    (r"\b(?:src|href|action|style|on\w+)\s*=\s*\"",      "an address, or a script in an attribute"),
    (r"https?://|//[a-z]",                              "an address"),
    (r"localStorage|sessionStorage|indexedDB|cookie",   "memory of what was checked"),
    (r"Math\.random|getRandomValues",                   "chance"),
]
# fmt: on


@pytest.mark.parametrize(("pattern", "why"), FORBIDDEN, ids=[row[1] for row in FORBIDDEN])
def test_the_page_does_without(pattern, why):
    assert re.findall(pattern, TEXT) == []


def test_the_script_is_strict():
    assert SCRIPT.lstrip().startswith('"use strict";')


def test_the_language_the_labels_and_the_live_region_are_there():
    assert '<html lang="en">' in TEXT
    assert re.search(r'id="verdict" role="status" aria-live="polite"', TEXT)
    assert re.search(r'<label [^>]*id="drop">\s*<input type="file"', TEXT)
    labels = set(re.findall(r'aria-(?:labelledby|describedby)="([\w-]+)"', TEXT))
    assert labels
    assert labels <= set(re.findall(r'\bid="([\w-]+)"', TEXT))


def colours(text):
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", text))


def luminance(colour):
    """Relative luminance by WCAG 2."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


# fmt: off
PAIRS = [
    ("ink", "page"), ("ink", "sheet"), ("soft", "page"), ("soft", "sheet"), ("accent", "sheet"),
    ("red", "sheet"), ("black", "sheet"), ("good", "good-sheet"), ("warn", "warn-sheet"),
    ("bad", "bad-sheet"), ("good", "page"), ("warn", "page"), ("bad", "page"),
    ("ink", "good-sheet"), ("ink", "warn-sheet"), ("ink", "bad-sheet"),
]
# fmt: on


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("one", "other"), PAIRS, ids="{0[0]} on {0[1]}".format)
def test_text_stands_out_from_what_is_behind_it(one, other, theme):
    """WCAG 2 level AA asks for a contrast of 4.5."""
    light, dark = inline("style", TEXT).split("@media (prefers-color-scheme: dark)")
    chosen = colours(light) if theme == "light" else colours(dark)
    darker, lighter = sorted(luminance(chosen[name]) for name in (one, other))
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def file(data, name="m1.replay"):
    return {"name": name, "data": data.hex()}


def show(node, *handfuls, clicks=0):
    return node.call("show", handfuls=handfuls, clicks=clicks)


def elements(tree):
    """All elements below one, in order."""
    for child in tree["children"]:
        if isinstance(child, dict):
            yield child
            yield from elements(child)


def classes(page, node_id):
    return [each["class"] for each in elements(page[node_id]["tree"])]


def test_a_fair_deal_is_shown(node):
    page = show(node, [file(played().replay)])
    assert page["verdict"]["class"] == "verdict pass"
    assert "A fair deal: entropy from 2 of 2" in page["verdict"]["text"]
    assert not page["result"]["hidden"]
    assert page["facts"]["text"].split("\n")[:4] == [
        "Match",
        "m1",
        "Game",
        "chinese_poker, hands = 2",
    ]
    assert set(classes(page, "checks")) == {"pass", "info", "sign", "spoken", ""}
    assert page["boards"]["text"].count("Board ") == 2
    assert page["more"]["hidden"]


def test_cards_have_suits_and_red_ones_are_red(node):
    page = show(node, [file(played().replay)])
    cards = [each for each in elements(page["boards"]["tree"]) if "card" in each["class"]]
    assert len(cards) == 2 * 52
    for card in cards:
        (text,) = card["children"]
        assert re.fullmatch("(?:10|[2-9JQKA])[♣♦♥♠]\ufe0e", text)
        assert card["class"] == ("card red" if text[-2] in "♦♥" else "card")


def test_a_bot_that_runs_as_several_is_told_apart_by_process(node):
    page = show(node, [file(played(bots=(Bot("a"), Bot("a", instance=3))).replay)])
    assert (
        "the arena, a (process 0) and a (process 3) all worked together" in page["verdict"]["text"]
    )


def test_further_boards_come_on_demand(node):
    match = played("abstrac", options={"hands": 12})
    for clicks, shown, more in [(0, 5, True), (1, 10, True), (2, 12, False)]:
        page = show(node, [file(match.replay)], clicks=clicks)
        boards = re.findall(r"Board (\d+)", page["boards"]["text"])
        assert boards == [str(number) for number in range(shown)]
        assert page["more"]["hidden"] is not more


# fmt: off
VERDICTS = [
    (lambda: played(bots=(ALPHA, Bot("bare", False))),  "pass", "entropy from 1 of 2",  "one bare bot"),
    (lambda: played(bots=(Bot("a", False), Bot("b", False))), "note", "no bot added entropy", "bare bots only"),
    (seeded,                                            "note", "Seeded, not a fair deal", "a seed"),
    (lambda: seeded(""),                                "note", "drew these packs alone", "a key of the arena's"),
]
# fmt: on


@pytest.mark.parametrize(
    ("match", "state", "said", "why"), VERDICTS, ids=[row[-1] for row in VERDICTS]
)
def test_what_holds_but_proves_less_is_not_shown_as_proof(node, match, state, said, why):
    page = show(node, [file(match().replay)])
    assert page["verdict"]["class"] == f"verdict {state}"
    assert said in page["verdict"]["text"]


# fmt: off
REFUSED = [
    (b"",                                  "This file is empty.",               "nothing"),
    (b"GIF89a",                            "not a replay of the arena",         "a picture"),
    (b"cardarena rep",                     "cut off within its first line",     "half a line"),
    (b"cardarena replay 2\nxyz",           "has format 2",                      "a newer replay"),
    (b"cardarena journal 1\nxyz",          "an arena’s journal",                "a journal"),
    (b"cardarena deal-book 1\nxyz",        "file of secrets",                   "the secrets"),
    (played().replay[:-1],                 "it is cut off at byte",             "a replay cut short"),
    (played().replay[:-9] + b"\xff" * 9,   "does not match its checksum",       "a replay overwritten"),
]
# fmt: on


@pytest.mark.parametrize(("data", "said", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_what_cannot_be_checked_gets_one_sentence(node, data, said, why):
    page = show(node, [file(played().replay)], [file(data)])
    assert page["verdict"]["class"] == "verdict fail"
    assert said in page["verdict"]["text"]
    assert page["result"]["hidden"]


def test_a_file_too_large_for_a_replay_is_not_read(node):
    page = show(node, [{"name": "film.mp4", "data": "", "size": 1 << 40}])
    assert "larger than any replay" in page["verdict"]["text"]


def test_the_log_is_kept_for_further_replays(node):
    match = played()
    log = file(log_file(match.deal.log), "deal-log")
    alone = show(node, [log])
    assert "Now choose the replay" in alone["verdict"]["text"]
    assert alone["verdict"]["class"] == "verdict note"
    for handfuls in ([[log], [file(match.replay)]], [[file(match.replay), log]]):
        page = show(node, *handfuls)
        assert "The log of commitments holds this one, once." in page["checks"]["text"]
        assert "m1.replay, deal-log" in page["facts"]["text"]


HOSTILE = "<img src=x onerror=alert(1)>\u202e\u2028"


def test_what_others_wrote_is_text_and_cannot_reorder_text(node):
    match = played(bots=(Bot(HOSTILE), BETA, GAMMA))
    match.records[0].opened.entrants[0].version = HOSTILE
    match.records[0].opened.fair_deal.server_id = HOSTILE
    page = show(node, [{"name": HOSTILE, "data": match.replay.hex()}])
    shown = "".join(each["text"] for each in page.values())
    assert shown.count("<img src=x onerror=alert(1)>\ufffd\ufffd") >= 5
    assert "\u202e" not in shown
    assert "\u2028" not in shown
    tags = {each["tag"] for part in page.values() for each in elements(part["tree"])}
    assert tags <= {"span", "div", "h2", "h3", "p", "dt", "dd", "li", "ol", "code"}
