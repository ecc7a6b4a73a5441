#!/usr/bin/env bash
# Create a new key and signing request for one of the edge names, keep the old pair beside it.
# Author: Ilse Brandauer, 2 October 2024
set -euo pipefail

name=""
dry_run=0
while (($#)); do
    case "$1" in
        --name) name="$2"; shift 2 ;;
        --dry-run) dry_run=1; shift ;;
        *) echo "rotate_certs: unknown option $1; use --name NAME [--dry-run]" >&2; exit 2 ;;
    esac
done
[[ "$name" =~ ^[a-z]+$ ]] || { echo "rotate_certs: --name must be one of the edge names, for example hooks" >&2; exit 2; }

store=/etc/tallyroad/tls
stamp=$(date -u +%Y%m%d)
run() { if ((dry_run)); then echo "would run: $*"; else "$@"; fi; }

run openssl ecparam -name prime256v1 -genkey -noout -out "$store/$name-$stamp.key"
run chmod 0600 "$store/$name-$stamp.key"
run openssl req -new -key "$store/$name-$stamp.key" -subj "/CN=$name.tallyroad.example" -out "$store/$name-$stamp.csr"
run openssl pkey -in "$store/$name-$stamp.key" -pubout -outform DER -out "$store/$name-$stamp.pub"
echo "fingerprint to publish:"
run openssl dgst -sha256 "$store/$name-$stamp.pub"
