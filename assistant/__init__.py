"""Archivist's assistant: questions in, cited answers out. It knows models and no SQL; the library below it knows neither."""
