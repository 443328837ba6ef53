"""Calls the page's script in node: requests and responses are lines of JSON."""

import json
import subprocess
from pathlib import Path

from tests.browser import PAGE

DRIVER = Path(__file__).with_name("driver.js")


class Node:
    """A node process that has read the page, and answers what it is asked."""

    def __enter__(self):
        self._process = subprocess.Popen(
            ["node", DRIVER, PAGE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        return self

    def __exit__(self, *error):
        self._process.communicate()

    def call(self, operation, **arguments):
        """The response to one request; bytes travel as hex.

        Raises:
          AssertionError: if the script fails, which is not how it refuses a file.
        """
        request = {"operation": operation, "arguments": arguments}
        self._process.stdin.write(json.dumps(request, default=lambda data: data.hex()) + "\n")
        self._process.stdin.flush()
        response = json.loads(self._process.stdout.readline())
        assert "failure" not in response, response["failure"]
        return response["answer"]

    def examine(self, replay, boards=0, **evidence):
        """The report on a replay; `damaged` alone if it is not as it was written."""
        return self.call("examine", replay=replay, boards=boards, **evidence)


def failures(report):
    """The checks that failed, in sentences."""
    return [each["text"] for each in report["checks"] if each["state"] == "fail"]
