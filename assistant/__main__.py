"""Where the process begins, also as `python -m assistant`: Ctrl-C while the commands are still loading ends without a traceback."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main(argv: list[str] | None = None) -> None:
    """Load the command line and run it; ends by SystemExit when the exit code is not 0."""
    _open_what_was_closed()
    try:
        from assistant import cli
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(130) from None
    cli.main(argv)


def _open_what_was_closed() -> None:
    """Streams that whoever started us has closed: nothing to read, nobody to tell. A closed output each command refuses itself."""
    nothing = Path(os.devnull)
    if sys.stdin is None:
        sys.stdin = nothing.open(encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = nothing.open("w", encoding="utf-8")


if __name__ == "__main__":
    main()
