"""`archivist evaluate` from a checkout: the sample library's cases, a BEIR folder, or any file of cases.

.venv/bin/python scripts/evaluate.py -m offline         # data/evals/assistant.jsonl over data/library
.venv/bin/python scripts/evaluate.py --beir DIR --json  # {"set", "modes": {"keyword": {"ndcg@10", ...}, ...}}
.venv/bin/python scripts/evaluate.py --beir DIR --min hybrid:ndcg@10=.71
"""

from __future__ import annotations

import sys
from pathlib import Path

from assistant import cli

DOCUMENTS = Path(__file__).resolve().parent.parent / "data" / "library"


def main(arguments: list[str]) -> None:
    """Run the command; a library that is named without documents is made of the sample's, where no other set is measured."""
    names = {argument.partition("=")[0] for argument in arguments}
    if names & {"--library", "-l"} and not names & {"--documents", "--beir", "--bfcl", "--nl2sql"}:
        arguments = [*arguments, "--documents", str(DOCUMENTS)]
    cli.main(["evaluate", *arguments])


if __name__ == "__main__":
    main(sys.argv[1:])
