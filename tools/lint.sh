#!/bin/sh
# Formatting, rooms, both compilers with warnings as errors, clang-tidy, cppcheck.
set -u
cd "$(dirname "$0")/.."
bad=0
step() { # NAME COMMAND...
    name=$1
    shift
    if out=$("$@" 2>&1); then printf 'ok    %s\n' "$name"; else printf '%s\nFAIL  %s\n' "$out" "$name"; bad=1; fi
}
formatted() { git ls-files -z '*.c' '*.h' | xargs -0 clang-format --dry-run -Werror; }
with() { # COMPILER
    [ -f "build-$1/build.ninja" ] || CC=$1 meson setup "build-$1" >/dev/null || return 1
    ninja -C "build-$1"
}
tidy() { git ls-files 'src/*.c' | grep -v '^src/keeper/' | xargs -P 2 -n 8 clang-tidy -p build-clang --quiet --warnings-as-errors='*'; }
check() {
    cppcheck --quiet --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
        --suppress=missingIncludeSystem --std=c11 --library=tools/cppcheck.cfg -D_GNU_SOURCE -Isrc -I. src
}
step formatting formatted
step rooms tools/rooms.sh
step gcc with gcc
step clang with clang
step clang-tidy tidy
step cppcheck check
exit $bad
