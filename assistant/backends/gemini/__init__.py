"""Gemini by its Developer API (generateContent), as plain JSON over the transport."""

from assistant.backends.gemini.backend import BASE_URL, KEY_VARIABLES, Gemini

__all__ = ["BASE_URL", "KEY_VARIABLES", "Gemini"]
