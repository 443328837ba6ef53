"""The webhook service: owners and organisers say where events are sent.

A webhook of another owner is treated as one that does not exist.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from arena.api.admission.access import holder_of
from arena.api.store_refusals import as_refusals, on_thread
from arena.bots.tokens import Tokens
from arena.contests.webhook_post import BadWebhook, WebhookPost, new_secret
from arena.live.limits import Context
from arena.store import Scope, Store
from arena.store.webhooks import Webhook
from cardarena.v1 import owners_pb2 as messages
from cardarena.v1 import owners_pb2_grpc

_MOST_NUMBER: Final = 2**31 - 1
"""The largest number that PostgreSQL can compare with its integers."""


class WebhookCalls(owners_pb2_grpc.WebhookServiceServicer):
    """Serves `cardarena.v1.WebhookService`."""

    def __init__(
        self, store: Store, tokens: Tokens, post: WebhookPost, now: Callable[[], datetime]
    ) -> None:
        """Serve the webhooks of a store; `post` checks addresses."""
        self._store, self._tokens, self._post, self._now = store, tokens, post, now

    async def CreateWebhook(
        self, request: messages.CreateWebhookRequest, context: Context
    ) -> messages.CreateWebhookResponse:
        holder, secret = holder_of(context, self._tokens), new_secret()
        organises = holder.scope is Scope.ORGANISER
        with as_refusals():
            self._post.checked(request.url)
            if bool(request.competition) != organises:
                raise BadWebhook(
                    "an organiser names a competition"
                    if organises
                    else "only an organiser names a competition; yours gets events of your bots"
                )

        def create() -> Webhook:
            if request.competition:
                self._store.competitions().get(request.competition)
            return self._store.webhooks().add(
                holder.owner, request.competition, request.url, secret, now=self._now()
            )

        webhook = _info(await on_thread(create))
        return messages.CreateWebhookResponse(webhook=webhook, secret=secret)

    async def ListWebhooks(
        self, request: messages.ListWebhooksRequest, context: Context
    ) -> messages.ListWebhooksResponse:
        listed = await on_thread(self._store.webhooks().of_owner, self._owner(context))
        return messages.ListWebhooksResponse(webhooks=map(_info, listed))

    async def DeleteWebhook(
        self, request: messages.DeleteWebhookRequest, context: Context
    ) -> messages.DeleteWebhookResponse:
        number = min(request.id, _MOST_NUMBER)
        await on_thread(self._store.webhooks().remove, self._owner(context), number)
        return messages.DeleteWebhookResponse()

    async def TestWebhook(
        self, request: messages.TestWebhookRequest, context: Context
    ) -> messages.TestWebhookResponse:
        number, now = min(request.id, _MOST_NUMBER), self._now()
        test = self._store.webhooks().test
        webhook = await on_thread(test, self._owner(context), number, now=now)
        return messages.TestWebhookResponse(webhook=_info(webhook))

    def _owner(self, context: Context) -> str:
        return holder_of(context, self._tokens).owner


def _info(webhook: Webhook) -> messages.WebhookInfo:
    return messages.WebhookInfo(
        id=webhook.id,
        url=webhook.url,
        competition=webhook.competition,
        failures=webhook.failures,
        off=webhook.off,
    )
