#!/bin/sh
# The parts check: functions that src/store/sqlite_parts.c replaces belong to SQLite alone. Names
# each object of ours that calls one.
set -eu
source=$1 # src/store/sqlite_parts.c
build=$2  # the folder of the built libraries
names=$(sed -n 's/^PART_MATH[A-Z_]*(\([a-z0-9]*\))$/\1/p' "$source")
[ -n "$names" ] || { echo "$source: no names found"; exit 1; }
pattern=$(printf '%s\n' "$names" | paste -sd '|')
bad=$(find "$build" -name 'lib*.a' ! -name 'libsqlite_parts.a' -exec nm -A -u {} + 2>/dev/null |
    grep -E "U ($pattern)\$" || true)
[ -z "$bad" ] && exit 0
printf '%s\n' "$bad" "these functions end the program: see $source"
exit 1
