"""Ask a question: `python scripts/ask.py "QUESTION"`, the same as `archivist ask "QUESTION"`."""

import sys

from assistant.cli import main

if __name__ == "__main__":
    main(["ask", *sys.argv[1:]])
