"""The owner service: invitations, registering, bans."""

import asyncio
from bisect import bisect_right
from typing import Final

from arena.server.gate.access import holder_of
from arena.server.gate.calls import Context
from arena.server.gate.tokens import Tokens
from arena.server.refusals import invalid
from arena.server.services.pages import page_size
from arena.server.services.store_refusals import told
from arena.server.submissions.desk import Desk
from arena.store import Owner
from arena.store.keys import NAME, NAME_RULE
from cardarena.v1 import owners_pb2, owners_pb2_grpc

MAX_REASON_CHARS: Final = 200


class Owners(owners_pb2_grpc.OwnerServiceServicer):
    """Serves `cardarena.v1.OwnerService`."""

    def __init__(self, desk: Desk, tokens: Tokens) -> None:
        """`tokens` tell who makes a call."""
        self._desk = desk
        self._tokens = tokens

    async def Register(
        self, request: owners_pb2.RegisterRequest, context: Context
    ) -> owners_pb2.RegisterResponse:
        with told():
            owner, token = await asyncio.to_thread(self._desk.register, request.code[:64])
        return owners_pb2.RegisterResponse(owner=owner, token=token)

    async def Invite(
        self, request: owners_pb2.InviteRequest, context: Context
    ) -> owners_pb2.InviteResponse:
        if not NAME.fullmatch(request.owner):
            raise invalid("BAD_NAME", NAME_RULE)
        with told():
            code = await asyncio.to_thread(self._desk.invite, request.owner, self._who(context))
        return owners_pb2.InviteResponse(code=code)

    async def Ban(self, request: owners_pb2.BanRequest, context: Context) -> owners_pb2.BanResponse:
        reason = request.reason.strip()
        if not 0 < len(reason) <= MAX_REASON_CHARS or not reason.isprintable():
            text = f"a ban has a reason of 1 to {MAX_REASON_CHARS} characters in one line"
            raise invalid("NO_REASON", text)
        with told():
            banned = await asyncio.to_thread(self._ban, request.owner, reason, self._who(context))
        return owners_pb2.BanResponse(owner=_info(banned))

    async def ListOwners(
        self, request: owners_pb2.ListOwnersRequest, context: Context
    ) -> owners_pb2.ListOwnersResponse:
        size = page_size(request.page_size)
        with told():
            found = await asyncio.to_thread(self._page, request.page_token, size + 1)
        return owners_pb2.ListOwnersResponse(
            owners=map(_info, found[:size]),
            next_page_token=found[size - 1].name if len(found) > size else "",
        )

    def _page(self, after: str, most: int) -> list[Owner]:
        """The owners behind that name, on another thread."""
        owners = self._desk.registry.owners()
        begin = bisect_right(owners, after, key=lambda owner: owner.name)
        return list(owners[begin : begin + most])

    def _ban(self, owner: str, reason: str, who: str) -> Owner:
        self._desk.registry.ban(owner, reason=reason, who=who, now=self._desk.now)
        return self._desk.registry.owner(owner)

    def _who(self, context: Context) -> str:
        return holder_of(context.invocation_metadata() or (), self._tokens).owner


def _info(owner: Owner) -> owners_pb2.OwnerInfo:
    return owners_pb2.OwnerInfo(
        owner=owner.name, invited_by=owner.invited_by, banned=owner.banned or ""
    )
