"""Dates: what day a document is of and how that is known, and what days a person means by a phrase.

In: file names, properties and texts of documents; phrases such as "last month". Out: ISO days and ranges of them. Days are
local; today is ARCHIVIST_TODAY when that is set. English, with the plain German forms beside it.
"""

from search.dates.days import parse_day, today
from search.dates.document import document_date, local_day
from search.dates.phrases import bounds, resolve

__all__ = ["bounds", "document_date", "local_day", "parse_day", "resolve", "today"]
