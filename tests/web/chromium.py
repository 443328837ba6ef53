"""Debian's Chromium: pages that remember what their console said and what they asked for."""

PATH = "/usr/bin/chromium"
PATIENCE_MS = 10_000


class Tab:
    """A page that remembers what its console said and what it asked for."""

    def __init__(self, browser, **how):
        self._context = browser.new_context(**how)
        self.tab = self._context.new_page()
        self.tab.set_default_timeout(PATIENCE_MS)
        self.said, self.asked = [], []
        self.tab.on("console", lambda each: self.said.append(each.text))
        self.tab.on("pageerror", lambda each: self.said.append(str(each)))
        self.tab.on("request", lambda each: self.asked.append(each.url))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._context.close()


def follow(tab, control):
    """Click what opens a page, and wait until the page is loaded: a click alone returns when its first bytes come."""
    with tab.expect_navigation():
        control.click()
