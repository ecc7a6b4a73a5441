"""Send a carrier's corrected events through the importer again, at a bounded rate.

Author: Priya Raman, 3 August 2026. Procedure: runbooks/2026-07-02-carrier-feed-replay.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path


class MissingIdentityError(ValueError):
    """An event without carrier_event_id would be taken for a new one, and shops would be notified again."""


def read_events(path: Path) -> Iterator[dict[str, str]]:
    """Yield the events of a file of JSON lines; raise MissingIdentityError for the first one without an identity."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            event = json.loads(line)
            if not event.get("carrier_event_id"):
                raise MissingIdentityError(f"{path}:{number}: no carrier_event_id; ask the carrier for a complete file")
            yield event


def replay(events: Iterator[dict[str, str]], rate: float, dry_run: bool) -> int:
    """Write events to standard output for the importer, `rate` a second; return how many there were."""
    count = 0
    pause = 1 / rate
    for event in events:
        count += 1
        if not dry_run:
            sys.stdout.write(json.dumps(event) + "\n")
            sys.stdout.flush()
            time.sleep(pause)
    return count


def main() -> int:
    """Replay the file that the command line names; exit 0 when all of it was sent."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--carrier", required=True, choices=["swiftpost", "kurierwerk", "tozai", "lanna"])
    parser.add_argument("--file", required=True, type=Path)
    parser.add_argument("--rate", type=float, default=40.0, help="events per second")
    parser.add_argument("--dry-run", action="store_true")
    arguments = parser.parse_args()
    count = replay(read_events(arguments.file), arguments.rate, arguments.dry_run)
    sys.stderr.write(f"{arguments.carrier}: {count} events\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
