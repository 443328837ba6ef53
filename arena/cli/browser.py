"""The browser of the person at the terminal."""

import webbrowser

import click


def open_in_browser(address: str) -> None:
    """Open an address there, or say that there is no browser: no command fails by that."""
    try:
        opened = webbrowser.open(address)
    except webbrowser.Error:
        opened = False
    if not opened:
        click.echo(f"No browser could be opened: open {address} yourself.", err=True)
