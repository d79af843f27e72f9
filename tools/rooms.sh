#!/bin/sh
# The room check: a room includes only rooms that its row allows. Names the offending line.
set -eu
cd "${1:-$(dirname "$0")/..}"

# room : rooms it may include
rooms='
base:base
core:base core
store:base core store
record:base core store record
proc:base proc keeper
keeper:keeper
git:base proc git
agent:base core agent
gate:base core proc gate
merge:base core git gate merge
engine:base core store record proc git agent gate merge engine keeper
http:base core proc http engine
cli:base core proc agent http engine cli
'
# Doors know the engine by these headers alone; the keeper's wire format is shared by one header.
doors='engine/engine.h engine/api.h engine/replay.h engine/work.h engine/workflows.h'
bad=0
say() { printf '%s\n' "$1"; bad=$((bad + 1)); }

for room in src/*/; do
    room=$(basename "$room")
    allowed=$(printf '%s' "$rooms" | sed -n "s/^$room://p")
    [ -n "$allowed" ] || { say "src/$room: not a room of the house"; continue; }
    grep -n '^#include "' src/"$room"/*.c src/"$room"/*.h 2>/dev/null | while IFS=: read -r file line text; do
        path=$(printf '%s' "$text" | sed 's/^#include "\(.*\)".*/\1/')
        other=${path%%/*}
        case " $allowed " in *" $other "*) ;; *) echo "$file:$line: room '$room' may not include '$path'" ;; esac
        case $path in */*) ;; *) echo "$file:$line: write the path from the source root: '$path'" ;; esac
        if [ "$other" = engine ] && [ "$room" != engine ]; then
            case " $doors " in *" $path "*) ;; *) echo "$file:$line: doors include only $doors" ;; esac
        fi
        if [ "$other" = keeper ] && [ "$room" != keeper ] && [ "$path" != keeper/wire.h ]; then
            echo "$file:$line: only keeper/wire.h is shared"
        fi
    done
done >"${TMPDIR:-/tmp}/rooms.$$"

# core/ is pure: no clock, files, environment, randomness.
grep -nE '\b(clock_wall_ms|clock_mono|time|gettimeofday|clock_gettime|getenv|open|fopen|read|write|rand|random|getrandom)\(' src/core/*.c |
    grep -vE '^\S+\s*(/?\*|//)|json_read|yaml_read|_read\(|_write\(|_open\(' >>"${TMPDIR:-/tmp}/rooms.$$" || true

if [ -s "${TMPDIR:-/tmp}/rooms.$$" ]; then
    cat "${TMPDIR:-/tmp}/rooms.$$"
    rm -f "${TMPDIR:-/tmp}/rooms.$$"
    exit 1
fi
rm -f "${TMPDIR:-/tmp}/rooms.$$"
[ "$bad" -eq 0 ]
