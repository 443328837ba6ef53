"""The owner service: invitations, registration and bans."""

from bisect import bisect_right
from datetime import datetime, timedelta
from typing import Final

from arena.api.admission.access import holder_of
from arena.api.pages import first_page, numbered_page, page_size
from arena.api.store_refusals import on_thread
from arena.bots.intake import SubmissionIntake
from arena.bots.tokens import Tokens
from arena.errors.refused import Refused
from arena.live.limits import Context
from arena.store import Owner
from arena.store.moments import unix_ms
from arena.store.names import NAME, NAME_RULE
from arena.store.registry import INVITED_FOR
from cardarena.v1 import owners_pb2, owners_pb2_grpc

MAX_REASON_CHARS: Final = 200
LONGEST_S: Final = 365 * 86_400.0


class OwnerCalls(owners_pb2_grpc.OwnerServiceServicer):
    """Serves `cardarena.v1.OwnerService`."""

    def __init__(self, intake: SubmissionIntake, tokens: Tokens) -> None:
        self._intake = intake
        self._tokens = tokens

    async def Register(
        self, request: owners_pb2.RegisterRequest, context: Context
    ) -> owners_pb2.RegisterResponse:
        owner, token = await on_thread(self._intake.register, request.code[:64])
        return owners_pb2.RegisterResponse(owner=owner, token=token)

    async def Invite(
        self, request: owners_pb2.InviteRequest, context: Context
    ) -> owners_pb2.InviteResponse:
        if not NAME.fullmatch(request.owner):
            raise Refused("BAD_NAME", NAME_RULE)
        invited_by = holder_of(context, self._tokens).owner
        lifetime_s = min(request.lifetime_s or INVITED_FOR.total_seconds(), LONGEST_S)
        lifetime = timedelta(seconds=lifetime_s)
        code = await on_thread(self._intake.invite, request.owner, invited_by, lifetime)
        return owners_pb2.InviteResponse(code=code)

    async def Ban(self, request: owners_pb2.BanRequest, context: Context) -> owners_pb2.BanResponse:
        reason = request.reason.strip()
        if not 0 < len(reason) <= MAX_REASON_CHARS or not reason.isprintable():
            raise Refused("NO_REASON", f"1 to {MAX_REASON_CHARS} characters in one line")
        who, registry = holder_of(context, self._tokens).owner, self._intake.registry

        def ban() -> Owner:
            registry.ban(request.owner, reason=reason, who=who, now=self._intake.now)
            return registry.owner(request.owner)

        return owners_pb2.BanResponse(owner=_info(await on_thread(ban)))

    async def ListInvitations(
        self, request: owners_pb2.ListInvitationsRequest, context: Context
    ) -> owners_pb2.ListInvitationsResponse:
        invitations = await on_thread(self._intake.registry.invitations)
        page, token = numbered_page(invitations, request.page_size, request.page_token)
        return owners_pb2.ListInvitationsResponse(
            invitations=[
                owners_pb2.InvitationInfo(
                    owner=invitation.invited,
                    invited_by=invitation.invited_by,
                    created_unix_ms=unix_ms(datetime.fromisoformat(invitation.created)),
                    expires_unix_ms=unix_ms(datetime.fromisoformat(invitation.expires)),
                )
                for invitation in page
            ],
            next_page_token=token,
        )

    async def ListOwners(
        self, request: owners_pb2.ListOwnersRequest, context: Context
    ) -> owners_pb2.ListOwnersResponse:
        size = page_size(request.page_size)

        def after_token() -> list[Owner]:
            owners = self._intake.registry.owners()
            begin = bisect_right(owners, request.page_token, key=lambda owner: owner.name)
            return list(owners[begin : begin + size + 1])

        page, token = first_page(await on_thread(after_token), size, lambda owner: owner.name)
        return owners_pb2.ListOwnersResponse(owners=map(_info, page), next_page_token=token)


def _info(owner: Owner) -> owners_pb2.OwnerInfo:
    return owners_pb2.OwnerInfo(
        owner=owner.name, invited_by=owner.invited_by, banned=owner.banned or ""
    )
