"""Where the process begins, also as `python -m assistant`: Ctrl-C while the commands are still loading ends without a traceback."""

from __future__ import annotations

import sys


def main(argv: list[str] | None = None) -> None:
    """Load the command line and run it; ends by SystemExit when the exit code is not 0."""
    try:
        from assistant import cli
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(130) from None
    cli.main(argv)


if __name__ == "__main__":
    main()
