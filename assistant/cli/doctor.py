"""`archivist doctor`: what is well, what is not, and the commands that mend it."""

from __future__ import annotations

from typing import Any

import click

from assistant import options
from assistant.cli.manual import Page


@click.command(cls=Page)
@options.library_option
@click.option("--embedder", metavar="NAME_OR_FOLDER", help="The embedding model to look at; else the one of the settings.")
@click.option("--base-url", metavar="URL", help="An OpenAI-compatible server to ask, too; else the one of the settings.")
@click.option("--online", is_flag=True, help="Ask clouds that a key is there for, and servers on other machines.")
@options.json_option
@click.option("-q", "--quiet", is_flag=True, help="Only what is not well; nothing when all is.")
def doctor(**given: Any) -> int:
    """Check everything that an answer depends on, and name the command that mends what is not well.

    Looked at are Python and SQLite, the library (integrity, keyword index, embeddings, age, folders, files that changed), the
    embedding model, the models and servers, the keys (where they come from, never what they are), the rights of private files,
    the terminal and the disk. Only this machine is asked unless --online is given; nothing is changed or loaded.

    Exit code: 1 when a check has failed, else 0, with warnings, too.

    \b
        archivist doctor
        archivist doctor -q
        archivist doctor --online --json
    """
    from assistant import doctor_command

    return doctor_command.run(**given)
