"""`archivist`: a thin layer over the packages. Each command imports what it needs when it runs: --help costs what click costs."""

from assistant.cli.front import archivist, main, run

__all__ = ["archivist", "main", "run"]
