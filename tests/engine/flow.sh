# Shared by the tests of workflows with plans: answers of the scripted agent, and the timeline.

SCORES_GOOD='{d1: 0.9, d2: 0.9, d3: 0.85, d4: 0.8, d5: 0.9, d6: 0.85}'
SCORES_POOR='{d1: 0.5, d2: 0.7, d3: 0.5, d4: 0.6, d5: 0.5, d6: 0.6}'

# The steps of a task as "phase@checkpoint result row", one per line.
steps_of() { # ID
    otto timeline "$1" --json | python3 -c '
import json, sys
for s in json.load(sys.stdin)["steps"]:
    at = "@" + s["checkpoint"] if s.get("checkpoint") else ""
    print(s["phase"] + at, s["result"], s["row"])'
}
step_line() { # ID: phases and results on one line
    steps_of "$1" | awk '{printf "%s%s:%s", (NR > 1 ? " " : ""), $1, $2} END {print ""}'
}
status_of() { task_field "$1" status; }
status_is() { # ID STATUS
    status_got=$(status_of "$1")
    [ "$status_got" = "$2" ] || { otto why "$1"; fail "status of task $1: wanted '$2', got '$status_got'"; }
}
is_status() { [ "$(status_of "$1")" = "$2" ]; }
has_steps() { [ "$(steps_of "$1" | wc -l)" -ge "$2" ]; } # ID COUNT

# Runs the engine again and again, killed at its Nth commit each time, until the task is done.
run_killed_at() { # ID COMMIT
    command -v strace >/dev/null || skip 'strace is not here'
    killed=0
    while ! is_state "$1" done; do
        [ "$killed" -lt 120 ] || { otto why "$1"; fail 'no end'; }
        set +e
        strace -qq -o /dev/null -e trace=fdatasync -e "inject=fdatasync:signal=SIGKILL:when=$2" \
            "$OTTO" run >"$ROOM/killed.out" 2>&1 </dev/null
        code=$?
        set -e
        [ "$code" = 0 ] || killed=$((killed + 1))
    done
    say "note: killed $killed times"
}
