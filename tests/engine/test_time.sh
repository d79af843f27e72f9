#!/bin/sh
# The time limit, by the real clock: a minute is the smallest.
. "$(dirname "$0")/lib.sh"

time_runs_out_and_the_agent_is_ended_with_its_work_kept() {
    agent_script hang <<'SH'
cat >/dev/null
trap '' TERM
echo begun >begun.txt
sleep 3122 &
wait
while :; do sleep 1; done
SH
    use_agent hang </dev/null
    otto add One --timeout 1
    expect 3 otto run
    state_is 1 timeout
    otto why 1 >"$ROOM/why"
    contains "$ROOM/why" 'time limit'
    otto diff 1 >"$ROOM/diff"
    contains "$ROOM/diff" '+begun'
}

# A self-driving session is told first (A-153), and may end its step.
time_runs_out_and_a_self_driving_session_is_told() {
    agent_script session <<'SH'
cat >/dev/null
cd "$OTTO_TASK_DIR"
while [ ! -e .auto-stop ]; do sleep 0.2; done
cp .auto-stop "$ROOM/stop"
SH
    use_agent session <<'YAML'
workflow: auto-a
YAML
    otto add One --timeout 1
    expect 3 otto run
    state_is 1 timeout
    contains "$ROOM/stop" '"timeout"'
}

run_cases time_runs_out_and_the_agent_is_ended_with_its_work_kept \
    time_runs_out_and_a_self_driving_session_is_told
