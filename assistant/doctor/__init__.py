"""Checks of everything that an answer depends on; each says how it is and names the command that mends it."""

from assistant.doctor.models import STATES, Check, Scene, State
from assistant.doctor.running import Group, examine

__all__ = ["STATES", "Check", "Group", "Scene", "State", "examine"]
