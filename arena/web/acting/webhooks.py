"""The page of webhooks: the URLs to which events of an owner's bots, or of a competition, are sent."""

from starlette.responses import RedirectResponse, Response

from arena.web.acting.guard import Act, Ask, Who
from cardarena.v1 import competitions_pb2, owners_pb2

_PAGE = "/me/webhooks"
_FINISHED = competitions_pb2.COMPETITION_STATE_FINISHED


async def webhooks_page(ask: Ask) -> Response:
    """Show the webhooks of an owner or organiser, and the form of a new one."""
    request = owners_pb2.ListWebhooksRequest()
    listed = await ask.call(ask.arena.webhooks.ListWebhooks, request)
    competitions = []
    if ask.organises:
        wanted = competitions_pb2.ListCompetitionsRequest()
        method = ask.arena.competitions.ListCompetitions
        infos = await ask.pages(method, wanted, "competitions")
        competitions = [info.name for info in reversed(infos) if info.state != _FINISHED]
    return ask.page(
        "webhooks.html", "Webhooks", webhooks=listed.webhooks, competitions=competitions
    )


async def create(ask: Ask) -> Response:
    """Add a webhook; its secret is shown once."""
    request = owners_pb2.CreateWebhookRequest(
        **ask.given("url"), competition=ask.texts.get("competition", "")
    )
    created = await ask.call(ask.arena.webhooks.CreateWebhook, request)
    return ask.page(
        "secret.html",
        f"Webhook {created.webhook.id}",
        secret=created.secret,
        what="This secret signs what is sent, so that the receiver knows that the arena sent it. It is shown only now.",
        following=_PAGE,
    )


async def delete(ask: Ask) -> Response:
    """Delete a webhook and its waiting deliveries."""
    request = owners_pb2.DeleteWebhookRequest(id=ask.number("id"))
    await ask.call(ask.arena.webhooks.DeleteWebhook, request)
    return RedirectResponse(_PAGE, 303)


async def test(ask: Ask) -> Response:
    """Send a test event, and switch a webhook on that was off."""
    request = owners_pb2.TestWebhookRequest(id=ask.number("id"))
    await ask.call(ask.arena.webhooks.TestWebhook, request)
    return RedirectResponse(_PAGE, 303)


ACTS = (
    Act("GET", _PAGE, Who.MEMBER, webhooks_page),
    Act("POST", _PAGE, Who.MEMBER, create, webhooks_page),
    Act("POST", f"{_PAGE}/{{id:number}}/delete", Who.MEMBER, delete, webhooks_page),
    Act("POST", f"{_PAGE}/{{id:number}}/test", Who.MEMBER, test, webhooks_page),
)
