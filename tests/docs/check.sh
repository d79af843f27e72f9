#!/bin/sh
# Compares the generated pages with docs/; with `write` as second word writes them instead.
set -u
gen=$1
docs=$(dirname "$0")/../../docs
bad=0
for file in states.md events.md settings.md backlog.md api.md workflows.md workflow.schema.json \
    workflow-loop.svg workflow-lifecycle.svg workflow-staged.svg workflow-auto-a.svg \
    workflow-auto-b.svg; do
    page=${file%.md}
    if [ "${2:-}" = write ]; then
        "$gen" "$page" >"$docs/$file"
    elif ! "$gen" "$page" | diff -u "$docs/$file" - >&2; then
        echo "docs/$file is not what the tables say; run: tests/docs/check.sh $gen write" >&2
        bad=1
    fi
done
exit $bad
