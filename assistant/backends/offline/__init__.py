"""No model: rules read the question, tools search, and the answer quotes the best sentences it found, each with its citation.

Works without a network and without a key. What a new user meets first, and the baseline that models are measured against.
"""

from __future__ import annotations

from assistant.backends.offline.backend import Offline
from assistant.backends.offline.catalogue import Catalogue, catalogue_of

__all__ = ["Catalogue", "Offline", "catalogue_of"]
