"""`archivist` on a terminal: questions in a row, with commands, sources that open, and conversations that last."""
