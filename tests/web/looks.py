"""How pages are looked at: the schemes and widths, and what axe finds on a page."""

from axe_playwright_python.base import AXE_SCRIPT

LOOKS = (("light", 1280), ("dark", 360))
BARRIERS = """() => axe.run(document, { resultTypes: ["violations"] })
  .then((found) => found.violations.map((each) => [each.id, each.nodes.map((node) => node.html)]))"""
"""All rules of axe; what passes is not told of."""


def barriers(tab):
    """What axe finds on a page: rules, each with what breaks it."""
    if not tab.evaluate("() => 'axe' in window"):
        tab.evaluate(AXE_SCRIPT)
    return tab.evaluate(BARRIERS)
