"""OpenRouter, and any server that speaks its wire (llama-server, vLLM, LM Studio), as plain JSON over the transport."""

from assistant.backends.openrouter.backend import BASE_URL, OpenRouter

__all__ = ["BASE_URL", "OpenRouter"]
