#!/bin/sh
# The engine is killed at its commits, one after another, and started again: the end is always the
# same (F1, F2, F15, F20, F23). Here a spread of points for about a minute; faults.sh walks all.
. "$(dirname "$0")/../engine/lib.sh"
. "$(dirname "$0")/lib.sh"
CASE_SECONDS=280

an_undisturbed_run_ends_as_every_other() {
    fault_begin
    fault_finish
    fault_verdict
}

killed_at_its_commits_it_loses_and_doubles_nothing() {
    have_strace
    until_s=$(($(date +%s) + 50))
    walked=
    # every seventh, then those between: early, middle and late points whatever the time allows
    for offset in 1 4 6 2 5 3 7; do
        n=$offset
        while fault_point fdatasync "$n"; do
            walked="$walked $n"
            [ "$(date +%s)" -lt "$until_s" ] || break 2
            n=$((n + 7))
        done
    done
    say "note: killed at commits$walked"
}

run_cases \
    an_undisturbed_run_ends_as_every_other \
    killed_at_its_commits_it_loses_and_doubles_nothing
