#!/bin/sh
# Accidents: the task is tried again after a back-off (10 s), from its work (D-132).
. "$(dirname "$0")/lib.sh"

# Appends one line per turn to a file outside the repository, then works until go appears.
counting_agent() {
    agent_script counts <<'SH'
cat >/dev/null
echo "$OTTO_TASK_ID $OTTO_EPOCH $OTTO_TURN" >>"$ROOM/turns"
echo "work of $OTTO_TASK_ID" >"file-$OTTO_TASK_ID.txt"
echo $$ >"$ROOM/pid-$OTTO_TASK_ID.new"
mv "$ROOM/pid-$OTTO_TASK_ID.new" "$ROOM/pid-$OTTO_TASK_ID"
tag PROGRESS:10
n=0
while [ ! -e "$ROOM/go" ]; do n=$((n + 1)); [ "$n" -lt 1200 ]; sleep 0.05; done
tag PROGRESS:90
done_
SH
}
at_work() { wait_for 20 test -s "$ROOM/pid-$1"; } # ID
keeper_of() { # PID of an agent
    sed 's/.*) [A-Za-z] \([0-9]*\) .*/\1/' "/proc/$1/stat"
}

why_says() { # ID TEXT
    otto why "$1" 2>/dev/null | grep -q -- "$2"
}

a_killed_agent_is_tried_again_and_goes_on_from_its_work() { # D-132
    use_scenario <<'YAML'
tasks:
  "*":
    - - write: {path: one.txt, text: "one\n"}
      - kill: KILL
    - - expect: {path: one.txt, contains: one}
      - write: {path: two.txt, text: "two\n"}
      - signal: COMPLETE
YAML
    otto add One
    start run run
    wait_for 20 why_says 1 'tried again'
    otto status >"$ROOM/status"
    otto why 1 >"$ROOM/why"
    contains "$ROOM/why" 'tried again'
    ended 0 "$PID"
    state_is 1 done
    exists one.txt
    exists two.txt
    equal 1 "$(merges_of 1)" 'merges of task 1'
}

a_keeper_that_is_killed_takes_its_agent_along_and_the_task_is_tried_again() {
    counting_agent
    use_agent counts </dev/null
    otto add One
    start run run
    at_work 1
    agent=$(cat "$ROOM/pid-1")
    kill -KILL "$(keeper_of "$agent")"
    wait_for 20 is_gone "$agent"
    touch "$ROOM/go"
    ended 0 "$PID" # after the back-off
    state_is 1 done
    equal 2 "$(wc -l <"$ROOM/turns")" 'turns that ran'
    otto why 1 >"$ROOM/why"
    contains "$ROOM/why" 'vanished'
    equal 1 "$(merges_of 1)" 'merges of 1'
}

engine_keeper_and_agent_die_together_as_in_a_power_cut() {
    counting_agent
    use_agent counts </dev/null
    otto add One
    start run run
    at_work 1
    agent=$(cat "$ROOM/pid-1")
    keeper=$(keeper_of "$agent")
    kill -KILL "$PID" "$keeper" "$agent"
    wait "$PID" 2>/dev/null || true
    touch "$ROOM/go"
    expect 0 otto run
    state_is 1 done
    equal 1 "$(merges_of 1)" 'merges of 1'
}

run_cases \
    a_killed_agent_is_tried_again_and_goes_on_from_its_work \
    a_keeper_that_is_killed_takes_its_agent_along_and_the_task_is_tried_again \
    engine_keeper_and_agent_die_together_as_in_a_power_cut
