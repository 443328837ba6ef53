"""What commands print of the sandbox, which depends on the machine and not on the test."""

LEVEL_LINES = ("bots are sandboxed at S1 only: ", "bots run unsandboxed: ")


def without_level(errors):
    """What a command printed as errors, without the line on the level of the sandbox."""
    return "".join(
        line for line in errors.splitlines(keepends=True) if not line.startswith(LEVEL_LINES)
    )
