"""Sign-in and forms: journeys of owners, who may do what, and forms that others send."""

import contextlib
import csv
import io
import json
import math
import re
import shutil
from datetime import timedelta
from html import unescape

import pytest
from starlette.requests import ClientDisconnect

from arena.api.admission import key_reload
from arena.bots.archive import pack, read_archive
from arena.bots.blobs import Blobs
from arena.bots.logs import logs_folder
from arena.contests.comparison_requests import QUOTA
from arena.contests.plan import read_plan
from arena.games.catalogue import GAMES
from arena.records.frames import events_of_hand
from arena.referee.wire.enums import enum_number
from arena.referee.wire.games import codec_of
from arena.results.deal_sets import MatchOutcome
from arena.results.qualification_report import Check, QualificationReport
from arena.results.think_times import PhaseTimes, TimeSpent
from arena.results.versions import VersionEvent
from arena.store import Challenge, StoredMatch, open_store
from arena.web.acting import guard
from arena.web.acting.entering import next_step
from arena.web.acting.failed_ask import of_failure, picture
from arena.web.acting.guard import POSTS, WRONG_KEYS, Who
from arena.web.acting.organise import EXAMPLES, example_plan
from arena.web.acting.process import ACTS
from arena.web.trees import html
from cardarena.v1 import bots_pb2, competitions_pb2, owners_pb2
from tests.bots.test_archive import BOT, zipped
from tests.bots.test_submissions import NOW, open_desk
from tests.pictures.matches import played
from tests.records.matches import Bot, record
from tests.web.forms import Acting


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack:
        patch.setattr(key_reload, "MAX_LOOK_UPS", math.inf)  # many owners register in a second
        patch.setattr("arena.store.keys.SIGN_INS", 1_000)  # the rows below share owners
        yield stack.enter_context(open_desk(tmp_path_factory.mktemp("arena")))


@pytest.fixture
def acting(desk):
    acting = Acting(desk.address)
    yield acting
    acting.close()


@pytest.fixture
def browser(acting):
    return acting.browser()


OWNERS = iter(range(1, 1000))


@pytest.fixture
def owner(desk):
    """A new owner's name and key."""
    name = f"owner-{next(OWNERS)}"
    return name, desk.owner(name)


def invited(desk, name):
    request = owners_pb2.InviteRequest(owner=name)
    return desk.call(desk.owners.Invite, request, desk.organiser).code


def bot_zip(desk, name):
    return zipped(desk.folder / f"{name}.zip", BOT | {"name.txt": name}).read_bytes()


# Journeys.


WEIGHTY = re.compile(
    r"<details[^>]*><summary>([^<]*)</summary>(?=(?:(?!</details>).)*type=\"checkbox\" required)",
    re.DOTALL,
)
"""What a page folds away and asks to be checked, as it cannot be undone."""


def test_someone_with_an_invitation_registers_uploads_a_bot_and_reads_its_report(desk, browser):
    told = browser.post("/register", {"code": invited(desk, "rosa")})
    assert "Welcome, rosa" in told.words
    assert re.search(r"arena_[0-9A-Za-z]{49}", told.words), "the key is shown once"
    files = [("zip", "bot.zip", bot_zip(desk, "rosas"))]
    sent = browser.post("/me/submit", {"bot": "rosas"}, page="/me", files=files)
    assert (sent.status, sent.one("location")) == (303, "/me/bots/rosas/1")
    waits = browser.get("/me/bots/rosas/1")
    assert "rosas@1 is submitted" in waits.words
    assert waits.one("refresh") == "3"
    check = Check(
        "klaberjass",
        passed=False,
        seats=2,
        problem="illegal move: <b>Ah</b>",
        ask=41,
        answered="Ah",
        offered=("Kc", "Qc"),
        last_lines=("play Ah",),
        again="arena check my-bot --only klaberjass",
        phases=(PhaseTimes("play", 30, 200_000, 700_000, 800_000, 0),),
        time=TimeSpent(30, 6_500_000, 800, 70_000, None),
    )
    report = QualificationReport("0" * 64, "q7", 9.4, (Check("start", passed=True), check))
    desk.registry.keep_report("rosas", 1, report.as_json(), now=NOW)
    for event in (VersionEvent.CHECKED, VersionEvent.QUALIFIED):
        desk.registry.record("rosas", 1, event, who="arena", now=NOW)
    logs = logs_folder(desk.folder, desk.registry.version("rosas", 1))
    logs.mkdir(parents=True)
    (logs / "klaberjass.log").write_text("<script>alert(1)</script>\n")
    shown = browser.get("/me/bots/rosas/1")
    assert not shown.all("refresh")
    for words in (
        "failed at ask 41",
        "illegal move: <b>Ah</b>",
        "arena check my-bot --only",
        "0.700 s",
    ):
        assert words in shown.words
    assert "<b>Ah</b>" not in shown.text
    log = browser.get("/me/bots/rosas/1/logs/klaberjass~2Elog")
    assert log.text == "<script>alert(1)</script>\n"
    assert log.one("content-type") == "text/plain; charset=utf-8"
    assert "sandbox" in log.one("content-security-policy")
    assert WEIGHTY.findall(shown.text) == ["Retire for good"]
    for state, words in (
        ("active", "is active"),
        ("inactive", "is inactive"),
        ("retired", "is retired"),
    ):
        done = browser.post("/me/bots/rosas/1/state", {"state": state}, page="/me/bots/rosas/1")
        assert done.status == 303, done.words
        assert words in browser.get("/me/bots/rosas/1").words
    assert "rosas@1" in browser.get("/me").words
    assert "session, this one: Firefox on Linux" in browser.get("/me/keys").words
    assert "rosas@1" in browser.get("/me/bots/rosas").words


def test_an_organiser_runs_a_competition_and_bans_an_owner(desk, browser, owner):
    browser.sign_in(desk.organiser)
    lacks = browser.post(
        "/organise", {"plan": "name = 'autumn'", "act": "create"}, page="/organise"
    )
    assert lacks.status == 422
    assert "name = &#39;autumn&#39;" in lacks.text, "the plan stays in the form"
    assert re.search(r"<li>\s*<code>kind</code>: is missing\s*</li>", lacks.text), (
        "a line for each error"
    )
    fields = {"plan": PLAN.replace("\n", "\r\n"), "act": "estimate", "entrants": "2"}
    estimated = browser.post("/organise", fields, page="/organise")
    assert "2 bots; 8 matches" in estimated.words
    assert "quick &#34;and&#34; fair" in estimated.text
    assert "\r" not in estimated.text
    assert 'aria-current="true"' not in estimated.text, "a plan of one's own is no example"
    of_file = browser.post(
        "/organise",
        {"act": "estimate", "entrants": "2"},
        page="/organise",
        files=[("file", "autumn.toml", PLAN.encode())],
    )
    assert ("2 bots; 8 matches" in of_file.words, "quick &#34;and&#34;" in of_file.text) == (
        True,
        True,
    )
    one = browser.post("/organise", {"plan": PLAN, "act": "create"}, page="/organise").one(
        "location"
    )
    assert "draft" in browser.get(one).words
    assert WEIGHTY.findall(browser.get(one).text) == ["Delete the draft"]
    browser.post(f"{one}/announcement", {"text": "<b>Begins at noon</b>"}, page=one)
    shown = browser.get(one)
    assert "<b>Begins" not in shown.text
    assert "<b>Begins at noon</b>" in shown.words
    name, key = owner
    bot = f"{name}s"
    desk.create(key, bot, bots_pb2.BOT_KIND_REMOTE)
    entered = competitions_pb2.EnterBotRequest(name="autumn", bot=bot)
    desk.call(desk.competitions.EnterBot, entered, desk.organiser)
    for act in ("disqualify", "reinstate"):
        fields = {"bot": bot, "reason": f"to {act}", "act": act}
        done = browser.post(f"{one}/bots", fields, page=one)
        assert done.status == 303, done.words
    refused = browser.post(f"{one}/control", {"action": "pause"}, page=one)
    assert (refused.status, "cannot pause" in refused.words) == (409, True)
    assert (
        browser.post(f"{one}/control", {"action": "delete"}, page=one).one("location")
        == "/organise"
    )
    assert browser.get(one).status == 404
    fields = {"owner": name, "reason": "two accounts"}
    assert browser.post("/organise/owners/ban", fields, page="/organise/owners").status == 303
    assert f"{name} org two accounts" in browser.get("/organise/owners").words
    told = browser._acting.browser().post("/signin", {"key": key})
    assert told.status in (401, 403)


def test_a_competition_is_planned_by_fields_and_by_toml(desk, browser):
    browser.sign_in(desk.organiser)
    page, rounds = "/organise", r'name="swiss.rounds" [^>]*value="5"'

    def sent(fields):
        return browser.post(page, fields, page=page)

    assert not re.search(rounds, browser.get(page).text)
    assert re.search(rounds, browser.get(f"{page}?format=swiss").text)
    wrong = FIELDS | {"seats": "two", "options": "hands: 4", "season": "a & b"}
    refused = sent(wrong | {"act": "create"})
    assert refused.status == 422
    assert re.findall(r'id="([^"]*)-error">([^<]*)<', refused.text)[0][0] == "options"
    refused = sent(wrong | {"options": "hands = 4", "act": "create"})
    ((key, words),) = re.findall(r'id="([^"]*)-error">([^<]*)<', refused.text)
    assert (key, words[:25]) == ("seats", "Should be a valid integer")
    assert 'value="a &amp; b"' in refused.text, "what was typed stays"
    shown = sent(FIELDS | {"act": "toml"})
    plan = unescape(
        re.search(r'<textarea id="plan"[^>]*>(.*?)</textarea>', shown.text, re.DOTALL)[1]
    )
    assert read_plan(plan).games[0].options == {"hands": 4}
    assert '<details id="as-toml" open>' in shown.text
    assert re.search(r'<textarea id="plan"[^>]* autofocus>', shown.text), "its reader sees it"
    filled = sent({"plan": plan.replace("hands = 4", "hands = 8"), "act": "form"})
    assert (
        "hands = 8" in re.search(r'<textarea id="options"[^>]*>(.*?)<', filled.text, re.DOTALL)[1]
    )
    broken = sent({"plan": "seats: 2", "act": "form"}).text
    assert re.search(r'<textarea id="plan"[^>]* autofocus>seats: 2<', broken)
    assert 'id="plan-error"' in broken, "why it is no plan stands where its reader looks"
    assert "2 bots; 8 matches" in sent(FIELDS | {"act": "estimate", "entrants": "2"}).words
    made = sent(FIELDS | {"act": "create"})
    assert made.one("location") == "/organise/competitions/by-fields"
    assert "round robin" in browser.get(made.one("location")).words.lower()


FIELDS = {
    "name": "by-fields",
    "kind": "tournament",
    "format": "round_robin",
    "game": "sixty_six",
    "seats": "2",
    "deal_sets": "4",
    "options": "hands = 4",
    "fair": "on",
}


@pytest.mark.parametrize("format_name", EXAMPLES)
def test_an_example_plan_is_a_plan(format_name):
    assert read_plan(example_plan(format_name)).name == f"my-{format_name.replace('_', '-')}"


def test_an_organiser_exports_a_competition(desk, browser):
    browser.sign_in(desk.organiser)
    fields = {"plan": PLAN.replace("autumn", "played"), "act": "create"}
    one = browser.post("/organise", fields, page="/organise").one("location")
    assert f'href="{one}/export"' in browser.get(one).text
    sent = browser.get(f"{one}/export")
    assert sent.one("content-disposition") == 'attachment; filename="played.jsonl"'
    assert json.loads(sent.text.splitlines()[0])["cardarena"] == "deals 1"


def test_an_owner_enters_a_bot_in_a_competition_and_withdraws_it(desk, browser, owner):
    name, key = owner
    bot, page = f"{name}s", f"/me/bots/{name}s"
    desk.create(key, bot, bots_pb2.BOT_KIND_REMOTE)
    for plan in (
        PLAN.replace("autumn", "winter"),
        PLAN.replace("autumn", "guests") + 'entry = "invited"',
    ):
        made = competitions_pb2.CreateCompetitionRequest(config=plan)
        desk.call(desk.competitions.CreateCompetition, made, desk.organiser)
    browser.sign_in(key)
    offers = browser.get(page).text
    assert ('"Enter winter"' in offers, '"Enter guests"' in offers) == (True, False)
    path, fields = "/me/competitions/winter", {"bot": bot}
    assert f"{bot} a bot on your machine not entered" in browser.get(path).words
    sent = browser.post(path, fields, page=path)
    assert (sent.status, sent.one("location")) == (303, path)
    assert f"{bot} a bot on your machine entered" in browser.get(path).words
    assert '"Withdraw from winter"' in browser.get(page).text
    assert browser.post(path, fields | {"act": "withdraw"}, page=path).status == 303
    assert '"Enter winter"' in browser.get(page).text
    assert "Its organiser enters the bots" in browser.get("/me/competitions/guests").words
    refused = browser.post("/me/competitions/guests", fields, page=path)
    assert "an organiser" in refused.words


NEXT_STEPS = [
    # kind, state of the newest version, active version, what next, why
    ("uploaded", None,        0, "activate or submit a version", "there is no version"),
    ("uploaded", "submitted", 0, "wait for its qualification",   "it is being qualified"),
    ("uploaded", "rejected",  0, "see why it failed",            "it was not qualified"),
    ("uploaded", "rejected",  1, "see why it failed",            "an older version plays on"),
    ("uploaded", "qualified", 0, "activate it",                  "it may play"),
    ("uploaded", "retired",   0, "activate or submit a version", "it never plays again"),
    ("uploaded", "active",    2, "enter: spring",                "it plays"),
    ("remote",   None,        0, "enter: spring",                "it plays without a version"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "state", "active", "words", "_"), NEXT_STEPS)
def test_a_bot_is_offered_what_can_be_done(kind, state, active, words, _):
    owned = bots_pb2.OwnedBot(bot="b", kind=enum_number(bots_pb2.BotKind, kind), active=active)
    if state is not None:
        owned.newest.version, owned.newest.state = 2, enum_number(bots_pb2.VersionState, state)
    assert next_step(owned, [competitions_pb2.CompetitionInfo(name="spring")])[0] == words


@pytest.mark.parametrize(
    ("games", "words"),
    [((), "enter: spring"), (["jam"], "enter: summer"), (["loo"], "")],
    ids=["its games are not known", "a game of the second", "a game of neither"],
)
def test_a_bot_is_offered_competitions_of_its_games(games, words):
    owned = bots_pb2.OwnedBot(bot="b", kind=bots_pb2.BOT_KIND_UPLOADED, active=1)
    spring, summer = (
        competitions_pb2.CompetitionInfo(
            name=name, games=[competitions_pb2.CompetitionGame(game=game)]
        )
        for name, game in (("spring", "soko"), ("summer", "jam"))
    )
    assert next_step(owned, [spring, summer], games)[0] == words


def test_an_owner_is_shown_competitions_of_the_games_of_the_own_bots(desk, browser, owner):
    name, key = owner
    desk.create(key, f"{name}s")
    desk.submit(key, f"{name}s", zipped(desk.folder / f"{name}.zip", BOT | {"name.txt": name}))
    report = QualificationReport("0" * 64, "q7", 9.4, (Check("soko", passed=True, seats=2),))
    desk.registry.keep_report(f"{name}s", 1, report.as_json(), now=NOW)
    for game in ("soko", "sixty_six"):
        plan = PLAN.replace("sixty_six", game).replace("autumn", f"of-{game}")
        made = competitions_pb2.CreateCompetitionRequest(config=plan)
        desk.call(desk.competitions.CreateCompetition, made, desk.organiser)
    browser.sign_in(key)
    shown = browser.get("/me").words
    assert ("of-soko" in shown, "of-sixty_six" in shown) == (True, False)


def test_a_bot_without_an_active_version_is_not_asked_to_enter(desk, browser, owner):
    name, key = owner
    desk.create(key, f"{name}s", bots_pb2.BOT_KIND_UPLOADED)
    made = competitions_pb2.CreateCompetitionRequest(config=PLAN.replace("autumn", "spring"))
    desk.call(desk.competitions.CreateCompetition, made, desk.organiser)
    browser.sign_in(key)
    for page in ("/me/competitions/spring", f"/me/bots/{name}s"):
        assert "Enter " not in re.findall(r'aria-label="(Enter )', browser.get(page).text), page
    assert "activate or submit a version" in browser.get("/me/competitions/spring").words


PLAN = """
# quick "and" fair
name = "autumn"
kind = "tournament"
format = "round_robin"
game = "sixty_six"
seats = 2
deal_sets = 4
"""


def test_codes_of_invitations_are_a_file_without_formulas(desk, browser):
    browser.sign_in(desk.organiser)
    names = "zoe\n\n zoe \n=HYPERLINK(1)\n@sum\nyan\n"
    sent = browser.post("/organise/owners", {"names": names}, page="/organise/owners")
    assert sent.one("content-disposition") == 'attachment; filename="codes.csv"'
    head, zoe, formula, at, yan = csv.reader(io.StringIO(sent.text))
    assert head == ["name", "code", "problem"], "and so without a heading"
    assert [row[0] for row in (zoe, formula, at, yan)] == ["zoe", "'=HYPERLINK(1)", "'@sum", "yan"]
    assert (formula[1], "a name has" in formula[2]) == ("", True)
    assert "Welcome, zoe" in browser._acting.browser().post("/register", {"code": zoe[1]}).words
    assert "yan" in browser.get("/organise/owners").words


# fmt: off
CLASSES = [
    # file                                   answer
    ("name;mail\nxia;x@y\nx!;=1+1\n",         "name,code,problem,mail", "columns and a name that is refused"),
    ("xeno\nyuri\n\nXENO\n",                "Line 4: 'XENO' is on line 1 already", "a name twice"),
    ('"xu\n',                                 "Not done",               "an open quote"),
    ("name,mail\n",                          "The file has no names",  "no names"),
    (b"\xff\xfe\x00",                        "Not done",               "no text"),
]
# fmt: on


@pytest.mark.parametrize(("content", "told", "_"), CLASSES, ids=[row[-1] for row in CLASSES])
def test_a_class_is_invited_by_a_file(desk, browser, content, told, _):
    browser.sign_in(desk.organiser)
    data = content if isinstance(content, bytes) else content.encode()
    page, files = "/organise/owners", [("file", "class.csv", data)]
    sent = browser.post(page, {"names": ""}, page=page, files=files)
    if sent.status == 422:
        assert told in sent.words
        assert "xeno" not in browser.get(page).words, "nobody is invited"
        return
    assert sent.text.splitlines()[0] == told
    xia, refused = [*csv.reader(io.StringIO(sent.text))][1:]
    assert (xia[0], bool(xia[1]), xia[2:]) == ("xia", True, ["", "x@y"])
    assert (refused[1], refused[3]) == ("", "'=1+1")
    assert refused[2].startswith("line 3: ")


def test_an_owner_compares_two_versions(desk, browser, owner):
    name, key = owner
    bot = f"{name}s"
    browser.sign_in(key)
    desk.create(key, bot)
    for number in (1, 2):
        content = {**BOT, "name.txt": f"{bot}{number}"}
        desk.submit(key, bot, zipped(desk.folder / f"{bot}{number}.zip", content))
        for event in (VersionEvent.CHECKED, VersionEvent.QUALIFIED):
            desk.registry.record(bot, number, event, who="arena", now=NOW)
    checks = tuple(Check(game, passed=True, seats=2) for game in ("soko", "jam"))
    report = QualificationReport("0" * 64, "q7", 9.4, checks).as_json()
    desk.registry.keep_report(bot, 2, report, now=NOW)
    offered = re.findall(r'<option value="(\w+)"', browser.get("/me/compare").text)
    assert offered == ["soko", "jam"], "the games of the owner's bots alone"
    assert re.findall(r'<option value="(\S+@\d)"', browser.get("/me/compare").text) == [
        *(f"{bot}@2", f"{bot}@1") * 2
    ]
    fields = {"first": f"{bot}@2", "second": f"{bot}@1", "game": "klaberjass"}
    made = browser.post("/me/compare", fields, page="/me/compare")
    assert made.status == 303, made.words
    path = made.one("location")
    with open_store(desk.folder / "arena.db") as store:
        number = int(path.rpartition("/")[2])
        store.comparison_requests().keep_margins(number, [0.5, -0.5, 0.25], 60, now=NOW)
    shown = browser.get(path)
    assert "Not decided after 3 deal-sets" in shown.words
    assert shown.text.count('<rect class="a"') == 2
    assert shown.text.count('<rect class="b"') == 1
    assert shown.one("refresh") == "10"
    assert browser.post(f"{path}/stop", page=path).status == 303
    assert "its owner stopped it" in browser.get(path).words


def test_an_owner_challenges_and_declines_on_pages(desk, browser, owner):
    name, key = owner
    bot = f"{name}s"
    browser.sign_in(key)
    desk.create(key, bot)
    desk.submit(key, bot, zipped(desk.folder / f"{bot}.zip", {**BOT, "name.txt": bot}))
    for event in (VersionEvent.CHECKED, VersionEvent.QUALIFIED, VersionEvent.ACTIVE):
        desk.registry.record(bot, 1, event, who="arena", now=NOW)
    page = f"/me/bots/{bot}"
    game = desk.registry.active(bot).manifest["games"][0]["id"]
    fields = {"opponent": "house-sample", "game": game}
    made = browser.post(f"{page}/challenge", fields, page=page)
    assert made.status == 303, made.words
    assert f"{bot}@1 and house-sample" in browser.get(made.one("location")).words
    assert "challenge" in browser.get("/me/compare").words
    for wrong, words in (({"opponent": "nosuch"}, "house-random"), ({"game": "nosuch"}, "Game: ")):
        refused = browser.post(f"{page}/challenge", fields | wrong, page=page)
        assert (refused.status, words in refused.words) == (422, True)
    with open_store(desk.folder / "arena.db") as store:
        requests = store.comparison_requests()
        query = requests.of_owner(name)[0].query | {"first": "rivals@1", "second": f"{bot}@1"}
        received = requests.create("rival", query, Challenge(bot, None), now=NOW, quota=QUOTA)
    assert f"rivals@1 challenged {bot}@1" in browser.get("/me/compare").words
    path = f"/me/compare/{received.id}"
    assert browser.post(f"{path}/stop", page=path).status == 303
    assert "the owner of the challenged bot declined it" in browser.get(path).words


def test_an_owner_reads_the_notes_of_a_match(desk, acting, tmp_path):
    """Of the own bot alone; no other page has them, and those of a deal-set that is not over are on none."""
    keys = {name: desk.owner(name) for name in ("una", "oto")}
    for number, name in enumerate(keys):
        desk.create(keys[name], f"bot {number}", bots_pb2.BOT_KIND_REMOTE)
    bots = [Bot(seat, note=f"<b>secret {seat}</b>") for seat in range(2)]
    path = record(tmp_path, "sixty_six", bots, {"hands": 2}, match_id="noted")
    shutil.copytree(tmp_path / "notes", desk.folder / "notes", dirs_exist_ok=True)
    shutil.copytree(path.parent, desk.folder / "replays", dirs_exist_ok=True)
    outcome = MatchOutcome("noted", (1, -1), (1, 2), "completed", ({}, {}), hands=2, decisions=9)
    with open_store(desk.folder / "arena.db") as store:
        stored = StoredMatch(outcome, "sixty_six", ("bot 0", "bot 1"), "", 1_795_176_000_000)
        store.matches().record([stored], ["noted"])
    for number, name in enumerate(keys):
        browser = acting.browser()
        browser.sign_in(keys[name])
        assert 'href="/me/matches/noted"' in browser.get(f"/me/bots/bot~20{number}").text
        page = browser.get("/me/matches/noted")
        assert "Sixty-Six, bot 0 against bot 1" in page.words
        assert f"<b>secret {number}</b>" in page.words
        assert "secret" not in page.text.replace(f"secret {number}&lt;/b&gt;", "")
        assert re.search(
            rf'href="/m/noted\.html\?viewer=seat-{number}&amp;hand=1&amp;step=\d+"', page.text
        )
    other, (_, key) = acting.browser(), ("", desk.owner("vera"))
    other.sign_in(key)
    refused = other.get("/me/matches/noted")
    assert (refused.status, "No bot of yours" in refused.words, "secret" in refused.text) == (
        404,
        True,
        False,
    )
    (desk.folder / "replays" / "noted.replay").unlink()
    assert browser.get("/me/matches/noted").status == 404


def test_webhooks_are_added_tested_and_deleted(desk, browser, owner):
    browser.sign_in(owner[1])
    page, fields = "/me/webhooks", {"url": "https://bots.example/<b>"}
    made = browser.post(page, fields, page=page)
    assert re.search(r"whsec_[0-9A-Za-z+/=]{44}", made.words), "the secret is shown once"
    number = re.search(r"Webhook (\d+)", made.words)[1]
    shown = browser.get(page)
    assert "https://bots.example/<b> your bots on" in shown.words
    assert "whsec_" not in shown.text
    assert browser.post(f"{page}/{number}/test", page=page).status == 303
    with open_store(desk.folder / "arena.db") as store:
        hooks = store.webhooks()
        for delivery in hooks.due(now=NOW + timedelta(days=1), most=99)[0]:
            hooks.settle(delivery, "", 0.0, now=NOW, off="its receiver is gone")
    assert "off: its receiver is gone" in browser.get(page).words
    assert browser.post(f"{page}/{number}/test", page=page).status == 303
    assert "off: its receiver is gone" not in browser.get(page).words
    assert browser.post(f"{page}/{number}/delete", page=page).status == 303
    assert "You have no webhook yet" in browser.get(page).words
    for url, words in (("https://10.0.0.1/", "not a public"), ("http://x/", "begins with https")):
        refused = browser.post(page, {"url": url}, page=page)
        assert (refused.status, words in refused.words) == (422, True)
    fields["competition"] = "autumn"
    refused = browser.post(page, fields, page=page)
    assert "only an organiser names a competition" in refused.words
    browser.sign_in(desk.organiser)
    refused = browser.post(page, fields | {"competition": "none"}, page=page)
    assert "qualified" not in browser.get(page).text, "an organiser is not told of it"
    assert refused.status == 404
    refused = browser.post(page, fields | {"competition": ""}, page=page)
    assert "an organiser names a competition" in refused.words


@pytest.mark.parametrize("game", GAMES, ids=[game.id for game in GAMES])
def test_the_ask_at_which_a_bot_failed_is_drawn_as_its_seat_saw_it(game):
    seats = game.seats[0]
    _, steps = played(game.id, seats)
    step = next(step for step in steps[2:] if step.decisions)
    (seat, *_) = (decision.seat for decision in step.decisions)
    check = asked_at(steps, seat, step)
    tree = html(picture("my-bot", check))
    assert "failed here" in tree
    assert "my-bot" in tree
    check.failed.view.Clear()
    assert picture("my-bot", check) is None, "what cannot be read is not drawn"


@pytest.mark.parametrize(
    ("lines", "shown", "_"),
    [
        (
            ["totals: 0", "cardarena: it fails", "  x"],
            ["cardarena: it fails", "  x"],
            "its own output",
        ),
        (["Traceback", "  x"], ["Traceback", "  x"], "a bot that does not use the SDK"),
        ([], [], "no output"),
    ],
)
def test_a_log_begins_where_the_bot_failed(lines, shown, _):
    assert of_failure(lines) == shown


def asked_at(steps, seat, at):
    """The check of a bot that failed at a step, as the qualification writes it."""
    codec, events = codec_of(at.game), ()
    check = bots_pb2.Check(name=at.game.id, seats=at.game.seats[0])
    check.failed.seat = seat
    for step in steps[: at.index]:
        sent = tuple(event.event for event in step.events_for(seat))
        events = events_of_hand(at.game, events + sent)
    check.failed.view.ParseFromString(codec.game_view(at.game.rules.view(at.before, seat)))
    for event in events:
        check.failed.events.add().ParseFromString(codec.game_event(event))
    return check


# Who may do what.

VERSION = "/me/bots/{bot}/{number:number}"
ONE = "/organise/competitions/{name}"
# What each route answers to somebody without a session, a guest, an owner whose bot it is not, its owner, and an
# organiser. 303 of GET leads to the page of sign-in; 422 and 409 are forms that were read and lack something.
# fmt: off
ROUTES = {
    #                                   nobody guest other owner organiser
    ("GET", "/signin"):                   (200, 200, 200, 200, 200),
    ("POST", "/signin"):                  (422, 422, 422, 422, 422),
    ("GET", "/signin/with/{provider}"):   (404, 404, 404, 404, 404),
    ("GET", "/signin/from/{provider}"):   (404, 404, 404, 404, 404),
    ("POST", "/register"):                (422, 422, 422, 422, 422),
    ("POST", "/signout"):                 (303, 303, 303, 303, 303),
    ("GET", "/me/keys"):                  (303, 303, 200, 200, 200),
    ("POST", "/me/keys/revoke"):          (401, 401, 404, 404, 404),
    ("GET", "/me"):                       (303, 303, 200, 200, 200),
    ("POST", "/me/submit"):               (401, 401, 422, 422, 403),
    ("POST", "/me/tokens"):               (401, 401, 409, 409, 403),
    ("GET", "/me/bots/{bot}"):            (303, 303, 404, 200, 403),
    ("POST", "/me/bots/{bot}/challenge"): (401, 401, 404, 422, 403),
    ("GET", VERSION):                     (303, 303, 404, 200, 200),
    ("POST", f"{VERSION}/state"):         (401, 401, 404, 409, 403),
    ("GET", f"{VERSION}/logs/{{log}}"):   (303, 303, 404, 404, 404),
    ("GET", "/me/matches/{match}"):       (303, 303, 404, 404, 403),
    ("GET", "/me/competitions/{name}"):   (303, 303, 404, 404, 403),
    ("POST", "/me/competitions/{name}"):  (401, 401, 404, 404, 403),
    ("GET", "/me/compare"):               (303, 303, 200, 200, 403),
    ("POST", "/me/compare"):              (401, 401, 422, 422, 403),
    ("GET", "/me/compare/{id:number}"):      (303, 303, 404, 404, 403),
    ("POST", "/me/compare/{id:number}/stop"): (401, 401, 404, 404, 403),
    ("GET", "/me/webhooks"):              (303, 303, 200, 200, 200),
    ("POST", "/me/webhooks"):             (401, 401, 422, 422, 422),
    ("POST", "/me/webhooks/{id:number}/delete"): (401, 401, 404, 404, 404),
    ("POST", "/me/webhooks/{id:number}/test"): (401, 401, 404, 404, 404),
    ("GET", "/organise"):                 (303, 303, 403, 403, 200),
    ("POST", "/organise"):                (401, 401, 403, 403, 422),
    ("GET", "/organise/owners"):          (303, 303, 403, 403, 200),
    ("POST", "/organise/owners"):         (401, 401, 403, 403, 422),
    ("POST", "/organise/owners/ban"):     (401, 401, 403, 403, 404),
    ("GET", ONE):                         (303, 303, 403, 403, 404),
    ("GET", f"{ONE}/export"):             (303, 303, 403, 403, 404),
    ("POST", f"{ONE}/control"):           (401, 401, 403, 403, 404),
    ("POST", f"{ONE}/bots"):              (401, 401, 403, 403, 404),
    ("POST", f"{ONE}/announcement"):      (401, 401, 403, 403, 404),
    ("POST", f"{ONE}/workers"):           (401, 401, 403, 403, 404),
}
# fmt: on
SENT = {
    "/me/keys/revoke": {"key_id": "Xy3kPq9A"},
    "/me/submit": {"bot": "BOT"},
    "/me/tokens": {"bot": "BOT"},
    f"{VERSION}/state": {"state": "active"},
    "/me/competitions/{name}": {"bot": "BOT"},
    "/me/bots/{bot}/challenge": {"opponent": "nosuch", "game": "klaberjass"},
    "/me/compare": {"first": "BOT@1", "second": "BOT@1", "game": "klaberjass"},
    "/organise/owners/ban": {"owner": "none", "reason": "x"},
    f"{ONE}/control": {"action": "start"},
    f"{ONE}/bots": {"bot": "BOT", "reason": "x"},
    f"{ONE}/workers": {"worker": "m1", "reason": "x"},
}
"""What the forms hold; a form that is not listed is empty. BOT is a bot of the owner."""
PARTS = {
    "{bot}": "anns",
    "{number:number}": "1",
    "{log}": "x~2Elog",
    "{id:number}": "77",
    "{name}": "none",
    "{provider}": "none",
    "{match}": "none",
}
ROLES = ("nobody", "guest", "other", "owner", "organiser")


def test_every_route_has_a_row():
    assert [(act.method, act.path) for act in ACTS] == list(ROUTES)
    assert {act.path for act in ACTS if act.who is Who.ANYONE} == {
        "/signin",
        "/signin/with/{provider}",
        "/signin/from/{provider}",
        "/register",
        "/signout",
    }


@pytest.fixture(scope="module")
def people(desk):
    """A bot with a version, and the keys of those who ask for it."""
    ann, eve = desk.owner("ann"), desk.owner("eve")
    desk.create(ann, "anns")
    desk.submit(ann, "anns", zipped(desk.folder / "anns.zip", BOT | {"name.txt": "anns"}))
    return {"other": eve, "owner": ann, "organiser": desk.organiser}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(("method", "path"), ROUTES, ids=[" ".join(row) for row in ROUTES])
def test_a_route_is_for_those_whose_it_is(acting, people, method, path, role):
    browser = acting.browser()
    if role in people:
        browser.sign_in(people[role])
    elif role == "guest":
        browser.cookies["__Host-session"] = "guest:ann"
    asked = path
    for name, part in PARTS.items():
        asked = asked.replace(name, part)
    if method == "GET":
        answer = browser.get(asked)
    else:
        fields = {name: value.replace("BOT", "anns") for name, value in SENT.get(path, {}).items()}
        answer = browser.post(asked, fields)
    assert answer.status == ROUTES[method, path][ROLES.index(role)], answer.words
    if answer.status == 303 and method == "GET":
        assert answer.one("location") == f"/signin?next={asked}"
    assert answer.one("cache-control") == "no-store"


# Sessions and cookies.


def test_a_session_is_new_at_each_sign_in_and_ends_at_sign_out(acting, owner):
    browser, (_, key) = acting.browser(), owner
    browser.cookies["__Host-session"] = planted = "arena_" + "0" * 49
    browser.sign_in(key)
    first = browser.cookies["__Host-session"]
    assert first not in (planted, key)
    browser.sign_in(key)
    second = browser.cookies["__Host-session"]
    assert second != first
    other = acting.browser()
    other.cookies["__Host-session"] = first
    assert other.get("/me").status == 303, "the session before it has ended"
    assert browser.post("/signout", page="/me/keys").status == 303
    assert "__Host-session" not in browser.cookies
    other.cookies["__Host-session"] = second
    assert other.get("/me").status == 303, "it has ended, and not only its cookie"


def test_the_cookie_of_a_session_is_for_this_host_by_tls_alone(browser, owner):
    (cookie,) = [c for c in browser.sign_in(owner[1]).all("set-cookie") if "session" in c]
    parts = [part.strip().partition("=")[0] for part in cookie.lower().split(";")]
    assert parts[0] == "__host-session"
    assert {"secure", "httponly", "path", "samesite", "max-age"} <= set(parts)
    assert "domain" not in parts


@pytest.mark.parametrize(
    ("scheme", "visitor", "host", "status"),
    [
        pytest.param("https", "192.0.2.7", "arena.example", 200, id="https"),
        pytest.param("http", "this machine", "localhost:7655", 200, id="http on this machine"),
        pytest.param(
            "http", "this machine", "127.0.0.1:7655", 200, id="http on its loopback address"
        ),
        pytest.param("http", "192.0.2.7", "arena.example", 403, id="http that others can read"),
        pytest.param(
            "http", "this machine", "evil.example", 403, id="a foreign name of this machine"
        ),
    ],
)
def test_signing_in_is_by_https_or_on_this_machine(acting, scheme, visitor, host, status):
    browser = acting.browser(scheme=scheme, visitor=visitor, host=host)
    answer = browser.get("/signin")
    assert answer.status == status
    assert status == 200 or "needs an address with https" in answer.words


def test_on_this_machine_the_cookie_needs_no_tls(acting, owner):
    browser = acting.browser(scheme="http", visitor="this machine", host="localhost:7655")
    browser.sign_in(owner[1])
    assert "session" in browser.cookies
    assert browser.get("/me").status == 200


def test_owners_end_their_other_sessions(acting, owner):
    browser, lost = acting.browser(), acting.browser()
    for each in (lost, browser):
        each.sign_in(owner[1])
    page = browser.get("/me/keys")
    ids = re.findall(r'name="key_id" value="(\w+)"', page.text)
    assert len(ids) == 3
    lost_id = lost.cookies["__Host-session"].removeprefix("arena_")[:8]
    assert browser.post("/me/keys/revoke", {"key_id": lost_id}, page="/me/keys").status == 303
    assert lost.get("/me").status == 303
    assert browser.get("/me").status == 200


@pytest.mark.parametrize(
    "following",
    [
        pytest.param("https://evil.example/", id="an address"),
        pytest.param("//evil.example", id="one without a scheme"),
        pytest.param("/\\evil.example", id="a backslash, which browsers read as a slash"),
        pytest.param("/me\r\nset-cookie: a=b", id="a header"),
        pytest.param("javascript:alert(1)", id="a script"),
        pytest.param("/%2F/evil.example", id="a coded slash"),
    ],
)
def test_a_sign_in_leads_to_no_other_site(browser, owner, following):
    answer = browser.post("/signin", {"key": owner[1], "next": following})
    assert (answer.status, answer.one("location")) == (303, "/me")
    assert f'value="{following}"' not in browser.get("/signin").text


def test_a_sign_in_leads_back_to_where_it_was_asked_for(browser, owner):
    assert 'name="next" value="/me/keys"' in browser.get("/signin?next=/me/keys").text
    answer = browser.post("/signin", {"key": owner[1], "next": "/me/keys"})
    assert answer.one("location") == "/me/keys"


# Forms that others send.

FORGED = [
    ({"origin": "https://evil.example"}, "another site", "a page of another site"),
    ({"origin": "http://arena.example"}, "another site", "the site by http"),
    ({"origin": "null"}, "another site", "a sandboxed frame"),
    ({"origin": None}, "another site", "a browser that does not say whence"),
    (
        {"origin": None, "sec-fetch-site": "cross-site"},
        "another site",
        "another site, as the browser says",
    ),
    ({"origin": "null", "sec-fetch-site": "same-site"}, "another site", "a sister host"),
]


@pytest.mark.parametrize(("headers", "words", "why"), FORGED, ids=[row[-1] for row in FORGED])
def test_a_form_of_another_site_is_refused(desk, browser, owner, headers, words, why):
    browser.sign_in(owner[1])
    sent = browser.post("/me/tokens", {"bot": f"{owner[0]}s"}, headers=headers)
    assert sent.status == 403
    assert words in sent.words
    assert desk.registry.bots_of(owner[0]) == ()


def test_a_page_of_ours_needs_no_origin_if_the_browser_says_so(browser, owner):
    browser.sign_in(owner[1])
    headers = {"origin": "null", "sec-fetch-site": "same-origin"}
    assert browser.post("/me/tokens", {"bot": f"{owner[0]}s"}, headers=headers).status == 200


@pytest.mark.parametrize(
    "token", ["", "0" * 64, "of another session", "of before the sign-in", "é"]
)
def test_a_form_without_the_token_of_the_session_is_refused(desk, acting, owner, token):
    browser = acting.browser()
    if token == "of before the sign-in":
        token = browser.form_token()
    browser.sign_in(owner[1])
    if token == "of another session":
        other = acting.browser()
        other.sign_in(owner[1])
        token = other.form_token("/me")
    sent = browser.post("/me/tokens", {"bot": f"{owner[0]}s"}, token=token)
    assert sent.status == 403
    assert "of an earlier visit" in sent.words
    assert f'value="{owner[0]}s"' in sent.text, "nothing that was typed is lost"
    assert desk.registry.bots_of(owner[0]) == ()


def test_a_form_is_not_replayed_after_the_session(acting, owner):
    browser = acting.browser()
    browser.sign_in(owner[1])
    token, cookies = browser.form_token("/me"), dict(browser.cookies)
    browser.post("/signout", page="/me/keys")
    browser.cookies = cookies
    assert browser.post("/me/tokens", {"bot": "x"}, token=token).status == 401


def test_the_first_form_needs_the_cookie_that_its_page_set(acting):
    browser = acting.browser()
    token = browser.form_token()
    browser.cookies.clear()
    assert "of an earlier visit" in browser.post("/signin", {"key": "x"}, token=token).words


def test_only_the_process_of_the_pages_is_answered(browser):
    for guess in ("guess", "guéss", None):
        headers = {"x-arena-secret": guess}
        sent = browser.post("/signin", {"key": "x"}, token="", headers=headers)
        assert (sent.status, sent.body) == (404, b"")


# What is too much.


@pytest.mark.parametrize(
    ("path", "field", "other"), [("/signin", "key", "code"), ("/register", "code", "key")]
)
def test_what_is_wrong_stands_beside_its_field(browser, path, field, other):
    shown = browser.post(path, {field: "AAAA"}).text
    assert re.search(rf'id="{field}-error">.', shown)
    assert f'id="{other}-error"' not in shown
    (focused,) = re.findall(r"<input [^>]*autofocus[^>]*>", shown)
    assert f'id="{field}"' in focused


@pytest.mark.parametrize(
    ("path", "field", "other"), [("/me/submit", "bot", "remote"), ("/me/tokens", "remote", "bot")]
)
def test_a_name_that_is_taken_stands_beside_its_field_alone(
    desk, browser, owner, path, field, other
):
    theirs = f"taken-{field}"
    desk.create(desk.owner(theirs), theirs, bots_pb2.BOT_KIND_REMOTE)
    browser.sign_in(owner[1])
    files = [("zip", "bot.zip", b"PK")] if field == "bot" else []
    shown = browser.post(path, {"bot": theirs}, page="/me", files=files).text
    typed = {
        at: re.search(rf'<input id="{at}"[^>]*value="([^"]*)"', shown)[1] for at in (field, other)
    }
    assert typed == {field: theirs, other: ""}
    assert (f'id="{field}-error"' in shown, f'id="{other}-error"' in shown) == (True, False)
    assert "Not done" not in shown


def test_a_key_that_is_cut_off_is_called_so(browser, owner):
    told = browser.post("/signin", {"key": owner[1][:-1]})
    assert told.status == 401
    assert "it begins with arena_ and has 55 characters" in told.words
    assert len(owner[1]) == 55


def test_wrong_keys_wait(acting, owner):
    browser = acting.browser()
    for _ in range(WRONG_KEYS):
        told = browser.post("/signin", {"key": "arena_" + "1" * 49})
        assert told.status in (401, 403)
    assert "wait a minute" in browser.post("/signin", {"key": owner[1]}).words
    assert "wait a minute" in browser.post("/register", {"code": "AAAA-AAAA-AAAA"}).words
    other = acting.browser(visitor="192.0.2.8")
    assert other.sign_in(owner[1]), "only the address of the wrong keys waits"
    acting.now_s += 60
    assert browser.sign_in(owner[1])


def test_many_forms_wait(acting, owner):
    browser = acting.browser()
    token = browser.form_token()
    answers = {browser.post("/signout", token=token).status for _ in range(POSTS)}
    assert answers == {303}
    assert browser.post("/signout", token=token).status == 429


def test_a_form_that_is_too_long_is_refused(browser, owner):
    browser.sign_in(owner[1])
    sent = browser.post("/me/tokens", {"bot": "x" * 70_000}, page="/me")
    assert sent.status == 413
    assert "longer than 64 kB" in sent.words


# fmt: off
FORMS = [
    # fields                                  files                      why
    ({str(n): "x" for n in range(100)},       (),                        "too many fields"),
    ({str(n): "x" for n in range(100)},       [("zip", "a.zip", b"x")],  "too many parts"),
    ({"bot": "x"},                            [('zip"\r\nx\r\n', "", b"")], "a part that is none"),
]
# fmt: on


@pytest.mark.parametrize(("fields", "files", "why"), FORMS, ids=[row[-1] for row in FORMS])
def test_a_form_that_cannot_be_read_is_no_error_of_the_site(browser, fields, files, why):
    sent = browser.post("/signout", fields, files=files)
    assert (sent.status, "This form cannot be read" in sent.words) == (400, True), why


def test_a_sender_that_goes_away_is_no_error_of_the_site():
    assert guard._status(ClientDisconnect()) == 400


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        pytest.param({"bot": ""}, "Bot: should not be empty", id="no name"),
        pytest.param({"bot": "<img src=x>"}, "a name has", id="markup"),
        pytest.param({"bot": "=cmd|' /C calc'!A0"}, "a name has", id="a formula"),
        pytest.param({"bot": "house"}, "reserved", id="a name of the arena"),
    ],
)
def test_a_name_that_is_none_is_refused_and_stays_in_the_form(browser, owner, fields, words):
    browser.sign_in(owner[1])
    sent = browser.post("/me/tokens", fields, page="/me")
    assert 400 <= sent.status < 500
    assert words in sent.words
    assert "<img src=x>" not in sent.text


def test_an_archive_that_is_none_is_refused_with_all_that_is_wrong(browser, owner):
    browser.sign_in(owner[1])
    files = [("zip", "bot.zip", b"PK but no zip")]
    sent = browser.post("/me/submit", {"bot": f"{owner[0]}s"}, page="/me", files=files)
    assert sent.status == 422, sent.words
    assert "archive" in sent.words
    assert f'value="{owner[0]}s"' in sent.text


ENVIRONMENT = {"env/pyvenv.cfg": b"", "env/lib/large.py": b""}
HIDDEN = {".git/HEAD": b"", "lib/__pycache__/a.pyc": b"", "node_modules/a/b.js": b""}
FOLDERS = [
    ("a whole folder", {}, sorted(BOT)),
    ("hidden files and caches", HIDDEN, sorted(BOT)),
    ("a virtual environment", ENVIRONMENT, sorted(BOT)),
    ("what `files` does not name", {"bot.toml": b'files = ["bot.*"]\n' + BOT["bot.toml"], "notes.txt": b""}, sorted(BOT)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("more", "submitted"), [row[1:] for row in FOLDERS], ids=[row[0] for row in FOLDERS]
)
def test_a_folder_is_submitted_as_the_command_submits_it(
    desk, browser, owner, more, submitted, tmp_path
):
    browser.sign_in(owner[1])
    content = BOT | more
    files = [("folder", f"my-bot/{name}", text) for name, text in content.items()]
    sent = browser.post("/me/submit", {"bot": f"{owner[0]}s"}, page="/me", files=files)
    assert sent.status == 303, sent.words
    version = desk.registry.version(f"{owner[0]}s", 1)
    archive = Blobs(desk.folder).archive(version.sha256)
    assert [file.path for file in archive.files] == submitted
    for name, text in content.items():
        path = tmp_path / "bot" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    pack(tmp_path / "bot", tmp_path / "bot.zip")
    assert read_archive(tmp_path / "bot.zip").sha256 == version.sha256
    page = browser.get(sent.one("location"))
    left_out = len(content) - len(submitted)
    assert (f"{left_out} file" in page.words) == bool(left_out)


def test_files_that_the_manifest_names_have_to_be_in_the_folder(browser, owner):
    browser.sign_in(owner[1])
    wrong = BOT | {"bot.toml": b'files = ["dist"]\n' + BOT["bot.toml"]}
    files = [("folder", f"my-bot/{name}", text) for name, text in wrong.items()]
    sent = browser.post("/me/submit", {"bot": f"{owner[0]}s"}, page="/me", files=files)
    assert sent.status == 422
    assert "'dist' names no file of the folder; is the bot built?" in sent.words


def test_an_internal_error_shows_a_number_and_nothing_else(browser, owner, monkeypatch):
    browser.sign_in(owner[1])
    monkeypatch.setattr("arena.web.acting.guard.Ask.call", lambda *_, **__: 1 / 0)
    sent = browser.get("/me")
    assert sent.status == 500
    assert "incident" in sent.words
    assert "division" not in sent.text
