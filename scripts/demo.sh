#!/usr/bin/env bash
# What `make demo` shows: the sample library indexed, then searched in several ways. The library and the day come from the Makefile.
set -euo pipefail

show() {
  printf '\n$ archivist'
  printf ' %q' "$@" | sed "s/\\\\ / /g"
  printf '\n'
  archivist "$@" 2>&1
}

mkdir -p "$(dirname "$ARCHIVIST_LIBRARY")"
show index data/library
show search "gateway timeout" --category runbooks -n 3 --explain
show search "goroutines that never end" --during "last month" -n 3
show search --like-text "psycopg.OperationalError: server closed the connection unexpectedly" -n 3
show "how long may a customer's data be kept?" -n 3
show search "タイムアウト" -n 2
show status
