"""Questions over tables, read by rules: which tables and columns are meant, what is asked of them, and the calls that answer it.

A question becomes a Reading (`reading`), a Reading becomes calls of query_table and run_sql (`steps`), their results become words
(`answering`). A question that is none over tables has no Reading, and is put to the documents.
"""

from __future__ import annotations
