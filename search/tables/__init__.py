"""Tables: numbers come from SQL. Tabular files as typed SQLite tables, a catalogue of them, and queries in a sandbox."""

from search.tables.models import Column, ColumnType, ResultSet, Table, TableDraft, Value

__all__ = ["Column", "ColumnType", "ResultSet", "Table", "TableDraft", "Value"]
