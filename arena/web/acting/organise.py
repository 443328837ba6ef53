"""The pages of an organiser: competitions, announcements, owners, invitations and bans."""

import csv
import io
from collections.abc import Callable
from typing import Any, Final

from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response

from arena.api.invited_people import read_people, without_formulas
from arena.records.phrases import count
from arena.referee.wire.enums import enum_number, word_of
from arena.results.states import LEADS_TO, Action
from arena.validation import MAX_TOML_CHARS, text_of
from arena.web.acting.arena_calls import ArenaRefused
from arena.web.acting.entering import competition_info
from arena.web.acting.guard import Act, Ask, Who, Wrong
from arena.web.acting.plan_form import GROUPS, by_field, plan_fields, plan_text, sides
from arena.web.addresses import slug
from arena.web.rendering import utc
from cardarena.v1 import competitions_pb2, owners_pb2, standings_pb2

MOST_INVITED: Final = 200
"""The maximal number of names that are invited by one form."""
MOST_EXPORT_BYTES: Final = 64 << 20
EXAMPLES: Final = {
    "round_robin": "deal_sets = 4\n",
    "swiss": "deal_sets = 4\n\n[swiss]\nrounds = 5\n",
    "groups": "deal_sets = 4\n\n[groups]\ngroups = 2\nbest = 2\n",
    "knockout": "",
    "gauntlet": 'deal_sets = 4\n\n[gauntlet]\nchallenger = "my-bot"\n',
    "ladder": "\n[rate]\nmatches_an_hour = 60\n",
}
"""By the name of a format, the end of a plan with the keys that the format needs."""
MOST_SHOWN: Final = 12
"""The maximal number of running competitions that are listed with their progress."""
_ABOUT: Final = {
    "start": "play begins, and no bot can enter any more",
    "pause": "matches in play are finished, no new ones begin",
    "resume": "play continues where it stopped",
    "freeze": "makes official standings from the complete deal-sets; play continues",
    "finish": "ends play for good, and makes the last official standings",
    "delete": "removes the draft with its entries",
}
_ABOUT_LADDER: Final = _ABOUT | {
    "start": "play begins; bots can enter while it runs",
    "freeze": "begins the finals, which make the official standings",
    "finish": "ends the ladder for good, and begins its last finals",
}
_ABOUT_FINISHED: Final = {
    "freeze": "after a disqualification or a reinstatement: makes further official standings of the same deal-sets; the earlier ones stay"
}
_ORDER: Final = ("running", "paused", "draft")
"""The states of competitions in which an organiser acts, the most urgent first."""


async def competitions_page(ask: Ask, estimate: Any = None) -> Response:
    """Show all competitions, and the form of a new one as fields and as TOML, with its estimate if there is one."""
    listed = await ask.pages(
        ask.arena.competitions.ListCompetitions,
        competitions_pb2.ListCompetitionsRequest(),
        "competitions",
    )
    rows = [_shown(competition) for competition in reversed(listed)]
    for row in [row for row in rows if row["state"] in ("running", "paused")][:MOST_SHOWN]:
        row["progress"] = _progress(await competition_info(ask, row["name"]))
    wanted = ask.query("format")
    chosen = wanted if wanted in EXAMPLES else "round_robin"
    fields, plan = sides(ask.typed, example_plan(chosen))
    wrong: dict[str, str] = {}
    if ask.typed.get("act") == "form":  # it was no TOML
        wrong = {"plan": " ".join(ask.problems)} if ask.problems else {}
    elif "plan" not in ask.typed:
        wrong, others = by_field(ask.problems)
        ask.keep_problems(others)
    act = ask.typed.get("act", "")
    return ask.page(
        "organise.html",
        "Organise",
        sections=[(state, [row for row in rows if row["state"] == state]) for state in _ORDER],
        finished=[row for row in rows if row["state"] not in _ORDER],
        formats=[*EXAMPLES],
        chosen="" if ask.typed else chosen,  # a plan that was typed is no example
        groups=[
            (
                heading,
                rows,
                any(
                    row.key in wrong or fields.get(row.key, "") not in ("", row.usual)
                    for row in rows
                ),
            )
            for heading, rows in GROUPS.items()
        ],
        fields=fields,
        wrong=wrong,
        plan=plan,
        as_toml=act == "toml" or ("plan" in ask.typed and (act != "form" or ask.problems)),
        focused=next(iter(wrong), {"toml": "plan", "form": "name"}.get(act, "")),
        estimate=estimate,
    )


def example_plan(format_name: str) -> str:
    """Return a plan of a format of `EXAMPLES`, which its organiser changes."""
    kind = 'kind = "tournament"\nformat = "{}"' if format_name != "ladder" else 'kind = "{}"'
    head = f'name = "my-{format_name.replace("_", "-")}"\n{kind.format(format_name)}\ngame = "sixty_six"\nseats = 2\n'
    return head + EXAMPLES[format_name]


async def create(ask: Ask) -> Response:
    """Estimate or create a competition from its plan, of fields, typed as TOML or of a file. The plan stays in both forms."""
    file = ask.form.get("file")
    if isinstance(file, UploadFile) and file.filename:
        ask.fill("plan", text_of(await file.read()))
    if "plan" in ask.texts:
        plan = ask.given("plan", most_chars=MAX_TOML_CHARS)["plan"]
    else:
        plan = plan_text(ask.texts)
    act = ask.texts.get("act")
    if act in ("toml", "form"):
        if act == "form":
            plan_fields(plan)  # raises if it is no TOML
        ask.keep_texts()
        return await competitions_page(ask)
    entrants = ask.texts.get("entrants", "").strip()
    if entrants and not (entrants.isascii() and entrants.isdecimal() and len(entrants) < 5):
        raise Wrong(422, "entrants: give a number of bots, or nothing")
    request = competitions_pb2.EstimateCompetitionRequest(
        config=plan, entrants=int(entrants) if entrants else None
    )
    estimate = await ask.call(ask.arena.competitions.EstimateCompetition, request)
    if act != "create":
        ask.keep_texts()
        return await competitions_page(ask, estimate)
    created = competitions_pb2.CreateCompetitionRequest(config=plan)
    await ask.call(ask.arena.competitions.CreateCompetition, created)
    return RedirectResponse(_path(estimate.name), 303)


async def competition_page(ask: Ask) -> Response:
    """Show a competition and the actions that are allowed."""
    info = await competition_info(ask, ask.part("name"))
    shown = _shown(info) | {"progress": _progress(info)}
    actions = [
        (str(action), action.capitalize()) for state, action in LEADS_TO if state == shown["state"]
    ]
    about = _ABOUT_LADDER if shown["format"] == "ladder" else _ABOUT
    if shown["state"] == "finished":
        about, actions = _ABOUT_FINISHED, [("freeze", "Official standings anew")]
    if shown["state"] == "draft":
        actions.append(("delete", "Delete the draft"))
    checks = competitions_pb2.ListSpotChecksRequest(name=info.name)
    workers = (await ask.call(ask.arena.competitions.ListSpotChecks, checks)).workers
    return ask.page(
        "organise_one.html",
        info.name,
        shown=shown,
        info=info,
        actions=actions,
        about=about,
        workers=workers,
    )


async def export(ask: Ask) -> Response:
    """Send the export that `arena competition verify` reads, of the latest official standings, if there are any."""
    name, content = ask.part("name"), bytearray()
    request = standings_pb2.ExportStandingsRequest(name=name)
    method = ask.arena.standings.ExportStandings
    async for answer in ask.arena.stream(method, request, ask.visit.session):
        content += "".join(f"{line}\n" for line in answer.json_lines).encode()
        if len(content) > MOST_EXPORT_BYTES:
            raise Wrong(413, "this is too long for the site; use `arena competition export`")
    headers = {"content-disposition": f'attachment; filename="{slug(name)}.jsonl"'}
    return Response(bytes(content), media_type="application/jsonl", headers=headers)


async def control(ask: Ask) -> Response:
    """Start, pause, resume, freeze, finish or delete a competition."""
    name, wanted = ask.part("name"), ask.texts.get("action", "")
    if wanted == "delete":
        deleted = competitions_pb2.DeleteCompetitionRequest(name=name)
        await ask.call(ask.arena.competitions.DeleteCompetition, deleted)
        return RedirectResponse("/organise", 303)
    if wanted not in list(Action):
        raise Wrong(422, f"choose one of: {', '.join(Action)}, delete")
    action = enum_number(competitions_pb2.CompetitionAction, wanted)
    request = competitions_pb2.ControlCompetitionRequest(name=name, action=action)
    await ask.call(ask.arena.competitions.ControlCompetition, request)
    return RedirectResponse(_path(name), 303)


async def judge(ask: Ask) -> Response:
    """Disqualify or reinstate a bot, with a reason."""
    name, given, calls = ask.part("name"), ask.given("bot", "reason"), ask.arena.competitions
    if ask.texts.get("act") == "reinstate":
        reinstated = competitions_pb2.ReinstateBotRequest(name=name, **given)
        await ask.call(calls.ReinstateBot, reinstated)
    else:
        disqualified = competitions_pb2.DisqualifyBotRequest(name=name, **given)
        await ask.call(calls.DisqualifyBot, disqualified)
    return RedirectResponse(_path(name), 303)


async def announce(ask: Ask) -> Response:
    """Announce a text on the pages of a competition."""
    name, text = ask.part("name"), ask.texts.get("text", "").strip()
    request = competitions_pb2.AnnounceRequest(name=name, text=text)
    await ask.call(ask.arena.competitions.Announce, request)
    return RedirectResponse(_path(name), 303)


async def drop_worker(ask: Ask) -> Response:
    """Drop the deal-sets that a worker played: they do not count any more."""
    name = ask.part("name")
    request = competitions_pb2.DropWorkerRequest(name=name, **ask.given("worker", "reason"))
    await ask.call(ask.arena.competitions.DropWorker, request)
    return RedirectResponse(_path(name), 303)


async def owners_page(ask: Ask) -> Response:
    """Show owners and open invitations, with the forms of both."""
    calls = ask.arena.owners
    owners = await ask.pages(calls.ListOwners, owners_pb2.ListOwnersRequest(), "owners")
    invitations = await ask.pages(
        calls.ListInvitations, owners_pb2.ListInvitationsRequest(), "invitations"
    )
    rows = [(invitation.owner, utc(invitation.expires_unix_ms)) for invitation in invitations]
    return ask.page("owners.html", "Owners and invitations", owners=owners, invitations=rows)


async def invite(ask: Ask) -> Response:
    """Invite each name of a file or list; return the codes as a file, which is their only copy."""
    file = ask.form.get("file")
    if isinstance(file, UploadFile) and file.filename:
        listed = read_people(text_of(await file.read()))
    else:
        names = map(str.strip, ask.texts.get("names", "").splitlines())
        listed = read_people("\n".join(dict.fromkeys(names)))
    if len(listed.people) > MOST_INVITED:
        raise Wrong(
            422, f"these are {len(listed.people)} names; invite at most {MOST_INVITED} at once"
        )
    first, *others = listed.heading or ["name"]
    rows = [(first, "code", "problem", *others)]
    for number, (name, *cells) in listed.people:
        code, problem = "", ""
        try:
            request = owners_pb2.InviteRequest(owner=name)
            code = (await ask.call(ask.arena.owners.Invite, request)).code
        except ArenaRefused as refused:
            problem = f"line {number}: {refused}"
        rows.append((name, code, problem, *cells))
    headers = {"content-disposition": 'attachment; filename="codes.csv"'}
    written = io.StringIO()
    csv.writer(written).writerows(map(without_formulas, rows))
    return Response(written.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)


async def ban(ask: Ask) -> Response:
    """Ban an owner, with a reason that the owner can read."""
    request = owners_pb2.BanRequest(**ask.given("owner", "reason"))
    await ask.call(ask.arena.owners.Ban, request)
    return RedirectResponse("/organise/owners", 303)


def _progress(info: competitions_pb2.CompetitionInfo) -> str:
    """Return the number of complete deal-sets; a ladder has no total."""
    complete = sum(game.complete for game in info.games)
    drawn = complete + sum(game.in_play + game.waiting for game in info.games)
    if info.format == competitions_pb2.COMPETITION_FORMAT_LADDER or not drawn:
        return f"{count(complete, 'deal-set')} complete"
    return f"{complete:,} of {count(drawn, 'deal-set')} complete"


def _path(name: str) -> str:
    return f"/organise/competitions/{slug(name)}"


def _shown(competition: competitions_pb2.CompetitionInfo) -> dict[str, Any]:
    return {
        "name": competition.name,
        "path": _path(competition.name),
        "public": f"competitions/{slug(competition.name)}",
        "state": word_of(competition, "state"),
        "format": word_of(competition, "format").replace("_", " "),
        "created": utc(competition.created_unix_ms),
        "opens": utc(competition.opens_unix_ms) if competition.opens_unix_ms else "",
        "entered": competition.entered,
        "waits": competition.waits,
        "progress": "",
    }


_ONE: Final = "/organise/competitions/{name}"


def _form(path: str, handle: Callable[[Ask], Any]) -> Act:
    return Act("POST", f"{_ONE}/{path}", Who.ORGANISER, handle, competition_page)


ACTS = (
    Act("GET", "/organise", Who.ORGANISER, competitions_page),
    Act("POST", "/organise", Who.ORGANISER, create, competitions_page, 5 * MAX_TOML_CHARS),
    Act("GET", "/organise/owners", Who.ORGANISER, owners_page),
    Act("POST", "/organise/owners", Who.ORGANISER, invite, owners_page),
    Act("POST", "/organise/owners/ban", Who.ORGANISER, ban, owners_page),
    Act("GET", _ONE, Who.ORGANISER, competition_page),
    Act("GET", f"{_ONE}/export", Who.ORGANISER, export),
    _form("control", control),
    _form("bots", judge),
    _form("announcement", announce),
    _form("workers", drop_worker),
)
