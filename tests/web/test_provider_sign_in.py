"""Sign-in with a provider by the pages: the first time with an invitation or a key, and then alone."""

import re

import pytest

from arena.api.sign_in_providers import FILE
from arena.bots.tokens import Tokens
from arena.live.listen import CannotServe
from arena.web.acting.guard import WRONG_KEYS
from cardarena.v1 import owners_pb2
from tests.bots.test_submissions import open_desk
from tests.doubles.provider import provider, providers_file
from tests.live.running import running
from tests.web.forms import Acting, form_token


@pytest.fixture(scope="module")
def campus():
    with provider() as it:
        yield it


@pytest.fixture(scope="module")
def desk(tmp_path_factory, campus):
    folder = tmp_path_factory.mktemp("arena")
    (folder / FILE).write_text(providers_file(campus.address))
    with open_desk(folder) as opened:
        yield opened


@pytest.fixture
def acting(desk):
    acting = Acting(desk.address)
    yield acting
    acting.close()


def comes_back(browser, campus, subject):
    """The page after someone went to the provider, agreed, and came back."""
    (path,) = re.findall(r'href="(/signin/with/campus)"', browser.get("/signin").text)
    gone = browser.get(path)
    assert gone.status == 303
    return browser.get(campus.consent(gone.one("location"), person="rosa<b>", subject=subject))


def test_a_provider_is_enough_after_an_identity_was_linked_by_an_invitation(desk, acting, campus):
    browser = acting.browser()
    first = comes_back(browser, campus, "1")
    assert "You signed in as Campus login: rosa<b>" in first.words
    assert "rosa<b>" not in first.text
    proof = re.search(r'name="proof" value="([^"]+)"', first.text)[1]
    request = owners_pb2.InviteRequest(owner="rosa")
    code = desk.call(desk.owners.Invite, request, desk.organiser).code
    form = {"code": code, "proof": proof, "identity": "Campus login: rosa<b>"}
    token = form_token(first)
    mistyped = browser.post("/register", form | {"code": "AAAA"}, token=token)
    assert proof in mistyped.text, "nothing that was typed or proven is lost"
    assert "Welcome, rosa" in browser.post("/register", form, token=token).words
    other = acting.browser()
    back = comes_back(other, campus, "1")
    assert (back.status, back.one("location")) == (303, "/me")
    assert "sign-in at Campus login: rosa<b>" in other.get("/me/keys").words


def test_an_identity_is_linked_by_the_key_of_an_owner(desk, acting, campus):
    browser, key = acting.browser(), desk.owner("ann")
    first = comes_back(browser, campus, "2")
    proof = re.search(r'name="proof" value="([^"]+)"', first.text)[1]
    assert (
        browser.post("/signin", {"key": key, "proof": proof}, token=form_token(first)).status == 303
    )
    assert comes_back(acting.browser(), campus, "2").status == 303


def test_what_comes_back_to_another_browser_signs_nobody_in(acting, campus):
    """Or a person could be led into the account of the one who sent the address."""
    gone = acting.browser().get("/signin/with/campus")
    back = acting.browser().get(campus.consent(gone.one("location")))
    assert back.status == 403
    assert "in another browser" in back.words


def test_made_up_answers_of_a_provider_wait_as_wrong_keys_do(acting):
    browser = acting.browser(visitor="192.0.2.99")
    answers = [
        browser.get("/signin/from/campus?state=x&code=y").status for _ in range(WRONG_KEYS + 1)
    ]
    assert answers == [403] * WRONG_KEYS + [429]


def test_an_unknown_provider_is_not_found(acting):
    assert acting.browser().get("/signin/with/none").status == 404


def test_an_arena_does_not_start_with_a_file_that_cannot_be_read(tmp_path):
    (tmp_path / FILE).write_text("[campus]\nissuer = 'https://login.example'\nclient_id = 'a'\n")
    with (
        pytest.raises(
            CannotServe, match=r"(?s)sign-in\.toml is not valid:.*client_secret: is miss"
        ),
        running(tmp_path, Tokens()),
    ):
        pass
