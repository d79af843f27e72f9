#!/bin/sh
# Compares the generated pages with docs/; with `write` as second word writes them instead.
set -u
gen=$1
docs=$(dirname "$0")/../../docs
bad=0
for page in states events settings backlog api; do
    if [ "${2:-}" = write ]; then
        "$gen" "$page" >"$docs/$page.md"
    elif ! "$gen" "$page" | diff -u "$docs/$page.md" - >&2; then
        echo "docs/$page.md is not what the tables say; run: tests/docs/check.sh $gen write" >&2
        bad=1
    fi
done
exit $bad
