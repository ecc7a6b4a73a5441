"""Index folders: `.venv/bin/python scripts/index.py DIR`, the same as `archivist index DIR`."""

import sys

from assistant.cli import main

if __name__ == "__main__":
    main(["index", *sys.argv[1:]])
