"""Plays at a seat as a browser without a script does: reads the form of a page, and posts one of its buttons."""

import re
from html.parser import HTMLParser
from urllib.parse import urlencode

from arena.web.acting.visits import SCHEME, SECRET, VISITOR
from arena.web.play.seats import Seats
from arena.web.play.server import PlayPages
from tests.web.asking import Client

FORWARDED = {SECRET: "s3cret", VISITOR: "192.0.2.1", SCHEME: "http", "host": "arena.test"}


class Form(HTMLParser):
    """The controls of the form of a table."""

    def __init__(self, page):
        super().__init__()
        self.fields, self.buttons, self.lists = {}, [], {}
        self._inside, self._list, self._button, self._text = False, "", None, ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        has = dict(attrs)
        if tag == "form":
            self._inside = has.get("id") == "table"
        if not self._inside:
            return
        if tag == "input":
            self.fields[has["name"]] = has.get("value", "")
        elif tag == "textarea":
            self.fields[has["name"]] = ""
            self._text = has["name"]
        elif tag == "select":
            self._list = has["name"]
            self.lists[self._list] = []
        elif tag == "option":
            self.lists[self._list].append(has["value"])
        elif tag == "button" and "aria-disabled" not in has and has.get("class") != "hidden":
            self._button = has["name"], has["value"], has.get("aria-label", "")
            self.buttons.append(self._button)

    def handle_data(self, data):
        if self._text:
            self.fields[self._text] += data
        elif self._button is not None and not self._button[2]:
            name, value, _ = self._button
            self.buttons[-1] = name, value, data

    def handle_endtag(self, tag):
        if tag == "textarea":
            self._text = ""
        elif tag == "button":
            self._button = None
        elif tag == "form":
            self._inside = False


class Guest:
    """A guest at a table."""

    def __init__(self, folder, now_s=None):
        self.seats = Seats(folder, **({} if now_s is None else {"now_s": now_s}))
        self.client = Client(PlayPages(self.seats, "s3cret").application())
        self.path = ""

    def post(self, path, form, **headers):
        given = FORWARDED | {"origin": "http://arena.test"} | headers
        return self.client.request("POST", path, given, urlencode(form).encode())

    def sit(self, game, level="random", **more):
        answer = self.post(
            "/play/new", {"game": game, "level": level, "length": length_of(game)} | more
        )
        assert answer.status_code == 303, answer.text
        self.path = answer.headers["location"]
        return self.seats.get(self.path.rpartition("/")[2])

    def get(self, path):
        return self.client.get(path, FORWARDED, follow_redirects=False)

    def page(self, query=""):
        answer = self.get(self.path + query)
        assert answer.status_code == 200, answer.text
        return answer.text

    def press(self, form, button, pressed, more=()):
        answer = self.post(self.path, form.fields | dict(more) | {button: pressed})
        assert answer.status_code == 303, answer.text
        return self.page()


def wise(buttons, draw):
    """Choose one of the buttons, by name and value: any, but seldom one that takes something back."""
    named = {}
    for name, value in buttons:
        named.setdefault(name, []).append(value)
    likely = {"place": 0.9, "selected": 0.9, "wager": 0.3, "pick": 0.7, "row": 0.9}
    if (
        "pick" in named and "row" not in named
    ):  # picks at random seldom make a move: begin them again soon
        likely = {"selected": 0.9, "clear": 0.4, "choice": 0.5, **likely}
    for name, chance in likely.items():
        if name in named and draw.random() < chance:
            return name, draw.choice(named[name])
    forward = [name for name in sorted(named) if name not in ("undo", "clear", "build")]
    name = draw.choice(forward if forward and draw.random() < 0.9 else sorted(named))
    return name, draw.choice(named[name])


ONE_HAND = {
    *("abstrac_fiftytwo", "democracy", "chinese_poker", "arlington", "jam", "oklahoma_rummy"),
    *("open_face_chinese_poker", "eleusis", "eleusis_express"),
}
"""Games of which a hand has many turns: tests play one to its end. Of others, a deal by each seat."""


def length_of(game_id):
    """The length of a match, of those that the lobby offers, in which a whole match takes at most some 200 buttons."""
    return "hand" if game_id in ONE_HAND else "short"


def play_on(guest, draw, most=5_000):
    """Press buttons until the match is over; returns the kinds of buttons that were pressed."""
    pressed, page = set(), guest.page()
    while (form := Form(page)).buttons and most:
        most -= 1
        name, value = wise([button[:2] for button in form.buttons], draw)
        more = {}
        if "amount" in form.fields:
            low = int(form.fields["amount"])
            high = int(re.search(r'max="(\d+)"', page.partition('name="amount"')[2])[1])
            more["amount"] = draw.randint(low, high)
        if name in ("say", "build"):
            more = {label: draw.choice(values) for label, values in form.lists.items()}
            more["text"] = "card.color != last.color" if name == "say" else ""
        pressed.add(name)
        page = guest.press(form, name, value, more)
    return pressed
