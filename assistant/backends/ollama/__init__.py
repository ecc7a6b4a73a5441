"""Ollama: chats as plain JSON over the transport, questions about models through the package `ollama`."""

from assistant.backends.ollama.backend import NUM_CTX, Ollama
from assistant.backends.ollama.server import ModelFacts, OllamaServer, PullProgress

__all__ = ["NUM_CTX", "ModelFacts", "Ollama", "OllamaServer", "PullProgress"]
