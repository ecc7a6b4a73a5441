#!/usr/bin/env bash
# What `make demo` shows: the sample library indexed, searched in several ways, and asked: by rules, and by two recordings of a model.
# The library and the day come from the Makefile.
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
# The person's own settings, conversations and runs stay as they are.
export XDG_STATE_HOME="$PWD/build" ARCHIVIST_CONFIG_DIR="$PWD/build/config" ARCHIVIST_HISTORY="$PWD/build/conversations.db"
export ARCHIVIST_MODEL=offline
show index data/library
show search "gateway timeout" --category runbooks --during "last month" -n 2 --explain
show search "retry_budget" --mode keyword -n 3
show status
show "how long may we keep a customer's data?"
show tables
show sql "SELECT service, count(*) AS endpoints, sum(queries) AS queries FROM endpoints GROUP BY service ORDER BY queries DESC"
show ask -m replay:data/recordings/endpoints.jsonl --trace "what is the average response time of our top 5 most-queried endpoints?"
show ask -m replay:data/recordings/recover.jsonl --trace \
  "find documents similar to this error: psycopg.errors.QueryCanceled: canceling statement due to statement timeout"
show ask -m replay:data/recordings/go_tutorials.jsonl --trace "find all Go tutorials about concurrency from the last month"
show ask -m offline "find all Go tutorials about concurrency from the last month"
rm -rf build/evaluation
show evaluate data/evals/assistant.jsonl -m offline -n 24 -l "$ARCHIVIST_LIBRARY" --run build/evaluation --report build/report.html
