"""The page that verifies replays in a browser, read as a file and run by node.

Its policy names the hashes of its script and its style, and it has the messages of
proto/ that it reads. After a change of any, `python -m tests.browser` writes them anew.
"""

import base64
import hashlib
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "clients" / "browser" / "verify.html"

_POLICY = re.compile(r'(<meta http-equiv="Content-Security-Policy" content=")([^"]*)(">)')


def inline(tag, text):
    """What stands in the page's one element of this name, as a browser hashes it."""
    (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
    return content


def policy(text):
    """The policy that the page declares, by directive."""
    (content,) = (found[1] for found in _POLICY.findall(text))
    return {name: values for name, *values in map(str.split, content.split(";"))}


def hash_source(content):
    """What a policy has to say for an inline script or style to be allowed."""
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


_SCHEMA = re.compile(r"const MESSAGES = \{.*?\n\};\nconst ONE_OF = \{.*?\n\};", re.DOTALL)


def with_schema(text, schema):
    """The page with these messages."""
    return _SCHEMA.sub(lambda _: schema, text)


def with_hashes(text):
    """The page with the policy that its script and style need."""
    content = "; ".join(
        (
            "default-src 'none'",
            f"script-src {hash_source(inline('script', text))}",
            f"style-src {hash_source(inline('style', text))}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return _POLICY.sub(lambda found: found[1] + content + found[3], text)
