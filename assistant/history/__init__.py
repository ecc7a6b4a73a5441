"""Kept conversations: a file of their own, from which one can be found again, gone on with, exported and deleted.

`Keeper` keeps a conversation while it goes on; `History` is the file. What the file holds stays on this machine and is its
owner's alone; keys are masked before anything is written.
"""

from assistant.history.file import place
from assistant.history.keeping import Keeper
from assistant.history.models import FoundTurn, Kept, KeptTurn, Session
from assistant.history.store import History

__all__ = ["FoundTurn", "History", "Keeper", "Kept", "KeptTurn", "Session", "place"]
