# SPDX-License-Identifier: GPL-2.0-or-later
"""What a command of the project ends with when it cannot go on."""

import sys
from collections.abc import Callable

OK, FAILED, WRONG_USE, CANCELLED = 0, 1, 2, 130


class FailureError(Exception):
    """A reason in one sentence with the next step, and the exit code."""

    def __init__(self, reason: str, code: int = FAILED) -> None:
        """Keep the reason and the code."""
        super().__init__(reason)
        self.code = code


def say(text: str, end: str = "\n") -> None:
    """Show progress on standard error."""
    print(text, end=end, file=sys.stderr, flush=True)


def run(command: Callable[[], int], *, answers: bool = False) -> int:
    """Run a command's main function and turn what it raises into its exit code.

    With `answers` the reason is the last line of standard output, else it goes to standard error.
    """
    try:
        return command()
    except FailureError as error:
        print(error, file=sys.stdout if answers else sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print("Cancelled.", file=sys.stdout if answers else sys.stderr)
        return CANCELLED
