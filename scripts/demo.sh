#!/usr/bin/env bash
# What `make demo` shows: the sample library indexed, then searched in several ways. The library and the day come from the Makefile.
set -euo pipefail

show() {
  printf '\n$ archivist'
  for word in "$@"; do
    case $word in *[!A-Za-z0-9_./-]*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac
  done
  printf '\n'
  archivist "$@" 2>&1
}

mkdir -p "$(dirname "$ARCHIVIST_LIBRARY")"
show index data/library
show search "gateway timeout" --category runbooks --during "last month" -n 2 --explain
show search "retry_budget" --mode keyword -n 3
show search --like-text "psycopg.OperationalError: server closed the connection" -n 2
show "how long may we keep a customer's data?" -n 2
show status
