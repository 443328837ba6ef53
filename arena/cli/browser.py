"""Opens pages in the user's browser."""

import webbrowser

import click


def open_in_browser(address: str) -> None:
    """Open an address; without a browser, print it. No command fails because there is no browser."""
    try:
        opened = webbrowser.open(address)
    except webbrowser.Error:
        opened = False
    if not opened:
        click.echo(f"No browser could be opened: open {address} yourself.", err=True)
