"""`arena webhooks`: the URLs to which an arena sends events of bots and competitions."""

import click

from arena.cli.arena_client import OWNERS_KEY, Server, owner_options, service_client
from arena.cli.command_group import CommandGroup
from arena.cli.options import json_option, print_json
from arena.cli.terminal.console import print_table
from arena.cli.terminal.plain import say
from arena.referee.wire.message_json import message_json
from cardarena.v1 import owners_pb2
from cardarena.v1.owners_pb2_grpc import WebhookServiceStub


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  arena webhooks new https://bots.example/hook
  arena webhooks list
  arena webhooks test 7
  arena webhooks delete 7

\b
docs/webhooks.md has the events and how a receiver checks their signature.
""",
)
def webhooks() -> None:
    """Send events of your bots, or of your competition, to a URL."""


@webhooks.command(
    epilog="""\b
Examples:
  arena webhooks new https://bots.example/hook
  arena webhooks new https://class.example/hook --competition autumn --token ORGANISERS-TOKEN
"""
)
@click.argument("url")
@click.option("--competition", default="", help="The competition, if you are an organiser.")
@json_option
@owner_options
def new(*, url: str, competition: str, as_json: bool, server: Server) -> None:
    """Send events to URL, and print the secret that signs them, once."""
    request = owners_pb2.CreateWebhookRequest(url=url, competition=competition)
    with service_client(server, WebhookServiceStub, OWNERS_KEY) as arena:
        created = arena.call(arena.stub.CreateWebhook, request)
    if as_json:
        print_json(message_json(created))
        return
    say(f"Webhook {created.webhook.id}. Its secret is shown only now:", err=True)
    click.echo(created.secret)


@webhooks.command(
    "list", epilog="\b\nExamples:\n  arena webhooks list\n  arena webhooks list --json"
)
@json_option
@owner_options
def list_webhooks(*, as_json: bool, server: Server) -> None:
    """List your webhooks, and why one is off."""
    with service_client(server, WebhookServiceStub, OWNERS_KEY) as arena:
        listed = arena.call(arena.stub.ListWebhooks, owners_pb2.ListWebhooksRequest())
    if as_json:
        print_json(message_json(listed))
        return
    if not listed.webhooks:
        say("You have no webhook there.")
        return
    rows = [
        (str(hook.id), hook.url, hook.competition or "your bots", hook.off or "on")
        for hook in listed.webhooks
    ]
    print_table(("id", "url", "of", "state"), rows, wrapped=("url", "state"))


@webhooks.command(epilog="\b\nExamples:\n  arena webhooks delete 7")
@click.argument("number", type=click.IntRange(1, 2**31 - 1))
@owner_options
def delete(*, number: int, server: Server) -> None:
    """Delete webhook NUMBER and its waiting deliveries."""
    with service_client(server, WebhookServiceStub, OWNERS_KEY) as arena:
        arena.call(arena.stub.DeleteWebhook, owners_pb2.DeleteWebhookRequest(id=number))
    say(f"Webhook {number} is deleted.", err=True)


@webhooks.command(epilog="\b\nExamples:\n  arena webhooks test 7")
@click.argument("number", type=click.IntRange(1, 2**31 - 1))
@owner_options
def test(*, number: int, server: Server) -> None:
    """Send a `test` event to webhook NUMBER, and switch it on if it was off."""
    with service_client(server, WebhookServiceStub, OWNERS_KEY) as arena:
        arena.call(arena.stub.TestWebhook, owners_pb2.TestWebhookRequest(id=number))
    say(f"A test event waits for webhook {number}.", err=True)
