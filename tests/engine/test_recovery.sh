#!/bin/sh
# Kill it anywhere: starting again is the ordinary start (F1, F15, F23).
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
crash() { # PID of an engine of ours
    kill -KILL "$1"
    wait "$1" 2>/dev/null || true
}

agents_go_on_while_the_engine_is_dead_and_are_taken_up_again() {
    counting_agent
    use_agent counts <<'YAML'
slots: 2
verify: ["test -f base.txt"]
YAML
    otto add One
    otto add Two
    start run run
    at_work 1
    at_work 2
    crash "$PID"
    agent=$(cat "$ROOM/pid-1")
    is_alive "$agent" || fail 'the agent died with its engine'
    # commands work without an engine
    expect 0 otto status
    expect 0 otto add Three
    start run run
    taken_up() { [ "$(grep -c 'turn.attached' "$OTTO_STATE_DIR/log")" -ge 2 ]; }
    wait_for 20 taken_up
    is_alive "$agent" || fail 'the agent was not left alone'
    touch "$ROOM/go"
    ended 0 "$PID"
    equal '1 1 1,2 1 1,3 1 1,' "$(sort "$ROOM/turns" | tr '\n' ',')" turns
    for id in 1 2 3; do equal 1 "$(merges_of "$id")" "merges of $id"; done
}

an_agent_that_ended_meanwhile_is_heard_afterwards() {
    counting_agent
    use_agent counts </dev/null
    otto add One
    start run run
    at_work 1
    crash "$PID"
    agent=$(cat "$ROOM/pid-1")
    touch "$ROOM/go"
    wait_for 20 is_gone "$agent"
    expect 0 otto run
    state_is 1 done
    equal 1 "$(wc -l <"$ROOM/turns")" 'turns that ran'
    equal 1 "$(otto why 1 | grep -c 'says COMPLETE')" 'claims on record'
}

signals_are_recorded_once_over_a_restart() {
    counting_agent
    use_agent counts </dev/null
    otto add One
    start run run
    at_work 1
    progress_is_stored() { otto why 1 | grep -q 'PROGRESS'; }
    wait_for 20 progress_is_stored
    crash "$PID"
    start run run
    wait_for 20 engine_is_up
    touch "$ROOM/go"
    ended 0 "$PID"
    equal 2 "$(otto why 1 | grep -c 'says PROGRESS')" 'progress on record'
}

a_crash_during_a_check_checks_again_and_leaves_no_check_behind() {
    counting_agent
    touch "$ROOM/go"
    cat >"$ROOM/check.sh" <<SH
echo x >>"$ROOM/checks"
trap '' TERM
n=0
while [ ! -e "$ROOM/checked" ]; do n=\$((n + 1)); [ "\$n" -lt 1200 ] || exit 1; sleep 0.05; done
SH
    use_agent counts <<YAML
verify: ["sh $ROOM/check.sh"]
YAML
    otto add One
    start run run
    wait_for 20 test -e "$ROOM/checks"
    crash "$PID"
    start run run
    checks_again() { [ "$(wc -l <"$ROOM/checks")" -ge 2 ]; }
    wait_for 20 checks_again
    touch "$ROOM/checked"
    ended 0 "$PID"
    state_is 1 done
    equal 1 "$(wc -l <"$ROOM/turns")" 'turns that ran'
    equal 1 "$(merges_of 1)" 'merges of 1'
}

a_crash_while_the_merged_tree_is_checked_merges_once() {
    agent_script both <<'SH'
cat >/dev/null
echo "work of $OTTO_TASK_ID" >"file-$OTTO_TASK_ID.txt"
touch "$ROOM/began-$OTTO_TASK_ID"
n=0
while [ ! -e "$ROOM/began-1" ] || [ ! -e "$ROOM/began-2" ]; do
    n=$((n + 1)); [ "$n" -lt 400 ]; sleep 0.05
done
done_
SH
    cat >"$ROOM/check.sh" <<SH
# only a merged tree holds both
[ -e file-1.txt ] && [ -e file-2.txt ] || exit 0
echo x >>"$ROOM/merged-checks"
n=0
while [ ! -e "$ROOM/checked" ]; do n=\$((n + 1)); [ "\$n" -lt 1200 ] || exit 1; sleep 0.05; done
SH
    use_agent both <<YAML
slots: 2
verify: ["sh $ROOM/check.sh"]
YAML
    otto add One
    otto add Two
    start run run
    wait_for 20 test -e "$ROOM/merged-checks"
    crash "$PID"
    start run run
    again() { [ "$(wc -l <"$ROOM/merged-checks")" -ge 2 ]; }
    wait_for 20 again
    touch "$ROOM/checked"
    ended 0 "$PID"
    for id in 1 2; do
        state_is "$id" done
        equal 1 "$(merges_of "$id")" "merges of $id"
    done
}

crashes_between_turns_lose_and_double_nothing() {
    agent_script steps <<'SH'
cat >/dev/null
echo "$OTTO_TURN" >>"$ROOM/turns"
echo "$OTTO_TURN" >>steps.txt
[ "$OTTO_TURN" -lt 12 ] || done_
SH
    use_agent steps <<'YAML'
limits: {stuck_turns: 0}
YAML
    otto add One
    for n in 1 2 3 4 5 6; do
        start run run
        more() { [ "$(wc -l <"$ROOM/turns" 2>/dev/null || echo 0)" -ge $((n * 2 - 1)) ] || is_gone "$PID"; }
        wait_for 20 more
        crash "$PID"
    done
    expect 0 otto run
    state_is 1 done
    # each turn ran once, and its work is there once
    equal '1 2 3 4 5 6 7 8 9 10 11 12' "$(sort -n "$ROOM/turns" | tr '\n' ' ' | sed 's/ $//')" 'turns that ran'
    equal '1 2 3 4 5 6 7 8 9 10 11 12' "$(tr '\n' ' ' <steps.txt | sed 's/ $//')" 'steps that landed'
    equal 1 "$(merges_of 1)" 'merges of 1'
}

a_stop_that_was_accepted_is_not_undone_by_a_crash() {
    agent_script stubborn <<'SH'
cat >/dev/null
trap '' TERM
echo $$ >"$ROOM/pid-1"
while :; do sleep 0.1; done
SH
    use_agent stubborn </dev/null
    sed -i 's/grace_s: 1/grace_s: 3/' otto.yaml && git commit -q -am grace
    otto add One
    start run run
    at_work 1
    expect 0 otto stop --all
    crash "$PID"
    agent=$(cat "$ROOM/pid-1")
    start serve serve
    wait_for 20 is_gone "$agent"
    wait_for 20 is_state 1 pending
    kill -TERM "$PID"
    ended 0 "$PID"
}

a_signal_by_command_waits_for_the_next_engine() {
    agent_script late <<'SH'
cat >/dev/null
echo x >x.txt
echo $$ >"$ROOM/pid-1"
n=0
while [ ! -e "$ROOM/dead" ]; do n=$((n + 1)); [ "$n" -lt 400 ]; sleep 0.05; done
touch "$ROOM/says"
otto signal COMPLETE
SH
    use_agent late </dev/null
    otto add One
    start run run
    at_work 1
    crash "$PID"
    touch "$ROOM/dead"
    wait_for 20 test -e "$ROOM/says"
    expect 0 otto run
    state_is 1 done
    equal 1 "$(task_field 1 turns)" turns
}

a_run_after_a_stop_and_a_crash_goes_on_with_what_was_stopped() {
    counting_agent
    use_agent counts <<'YAML'
slots: 2
YAML
    otto add One
    otto add Two
    start run run
    at_work 1
    at_work 2
    expect 0 otto stop --all
    crash "$PID"
    touch "$ROOM/go"
    expect 0 otto run
    state_is 1 done
    state_is 2 done
    equal 1 "$(merges_of 1)" 'merges of 1'
}

an_acknowledged_command_survives_a_crash() {
    counting_agent
    use_agent counts </dev/null
    start serve serve
    wait_for 20 engine_is_up
    expect 0 otto add One
    expect 0 otto add Two
    expect 0 otto skip 2
    crash "$PID"
    state_is 1 pending
    state_is 2 skipped
    touch "$ROOM/go"
    expect 0 otto run
    state_is 1 done
}

stale_files_of_a_dead_engine_are_no_obstacle() { # F12
    counting_agent
    touch "$ROOM/go"
    use_agent counts </dev/null
    otto add One
    expect 0 otto run
    # a socket nobody serves, a lock file with a foreign pid, a git lock of a dead process
    python=$(command -v python3 || true)
    [ -z "$python" ] || "$python" -c 'import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$OTTO_STATE_DIR/sock"
    echo 999999 >"$OTTO_STATE_DIR/lock"
    touch -d '2 hours ago' "$OTTO_STATE_DIR/hubs/p1/refs/heads/main.lock" "$OTTO_STATE_DIR/hubs/p1/packed-refs.lock"
    otto add Two
    expect 0 otto run
    state_is 2 done
}

an_interrupted_delivery_is_finished_by_the_next_run() {
    counting_agent
    touch "$ROOM/go"
    use_agent counts </dev/null
    otto add One
    # a lock of a person's own git: nothing is touched
    touch .git/index.lock
    expect 3 otto run
    missing file-1.txt
    rm .git/index.lock
    expect 0 otto run
    exists file-1.txt
    equal '' "$(git status --porcelain)" 'changes in the checkout'
}

run_cases \
    agents_go_on_while_the_engine_is_dead_and_are_taken_up_again \
    an_agent_that_ended_meanwhile_is_heard_afterwards \
    signals_are_recorded_once_over_a_restart \
    a_crash_during_a_check_checks_again_and_leaves_no_check_behind \
    a_crash_while_the_merged_tree_is_checked_merges_once \
    crashes_between_turns_lose_and_double_nothing \
    a_stop_that_was_accepted_is_not_undone_by_a_crash \
    a_signal_by_command_waits_for_the_next_engine \
    a_run_after_a_stop_and_a_crash_goes_on_with_what_was_stopped \
    an_acknowledged_command_survives_a_crash \
    stale_files_of_a_dead_engine_are_no_obstacle \
    an_interrupted_delivery_is_finished_by_the_next_run
