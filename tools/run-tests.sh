#!/bin/sh
# Runs every test program once with the normal build and once under ASan + UBSan, then the checks of
# the tree itself; ends with one line `N passed, N failed`.
set -u
build=$1
shift
passed=0
failed=0

suite() { # FOLDER LABEL [NAMES]
    folder=$1
    label=$2
    shift 2
    log=$(mktemp)
    meson test -C "$folder" --no-rebuild --print-errorlogs "$@" >"$log" 2>&1
    status=$?
    ok=$(sed -n 's/^Ok: *//p' "$log" | tail -n 1)
    bad=0
    for word in Fail 'Unexpected Pass' Timeout; do
        n=$(sed -n "s/^$word: *//p" "$log" | tail -n 1)
        bad=$((bad + ${n:-0}))
    done
    [ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    if [ "$bad" -gt 0 ]; then cat "$log"; else grep -E '^ *[0-9]+/[0-9]+ ' "$log"; fi
    rm -f "$log"
    printf '%s: %s programs passed, %s failed\n' "$label" "${ok:-0}" "$bad"
    passed=$((passed + ${ok:-0}))
    failed=$((failed + bad))
}

suite "$build" normal "$@"
if [ "${OTTO_SANITIZE:-1}" = 1 ]; then
    safe=build-asan
    [ -f "$safe/build.ninja" ] || meson setup "$safe" -Db_sanitize=address,undefined -Dbuildtype=debugoptimized >/dev/null
    if ninja -C "$safe" >"$safe/log" 2>&1; then
        suite "$safe" sanitized --no-suite slow "$@"
    else
        tail -n 40 "$safe/log"
        failed=$((failed + 1))
    fi
fi
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
