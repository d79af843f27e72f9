#!/bin/sh
# People at the controls, while it runs and while it does not.
. "$(dirname "$0")/lib.sh"

# An agent that works until the file go-ID (or go) appears; says its pid in pid-ID.
waiting_agent() {
    agent_script waits <<'SH'
cat >/dev/null
echo "draft $OTTO_EPOCH" >>"draft-$OTTO_TASK_ID.txt"
echo $$ >"$ROOM/pid-$OTTO_TASK_ID.new"
mv "$ROOM/pid-$OTTO_TASK_ID.new" "$ROOM/pid-$OTTO_TASK_ID"
echo "line from $OTTO_TASK_ID"
n=0
while [ ! -e "$ROOM/go" ] && [ ! -e "$ROOM/go-$OTTO_TASK_ID" ]; do
    n=$((n + 1)); [ "$n" -lt 1200 ]; sleep 0.05
done
echo "work of $OTTO_TASK_ID" >"file-$OTTO_TASK_ID.txt"
done_
SH
    use_agent waits <<'YAML'
slots: 2
verify: ["test -f base.txt"]
YAML
}
at_work() { wait_for 20 test -s "$ROOM/pid-$1"; } # ID

a_pause_lets_turns_end_and_a_resume_goes_on() {
    waiting_agent
    otto add One
    otto add Two --after 1
    start run run
    at_work 1
    expect 0 otto pause
    autopilot_is pausing || fail 'it should be pausing'
    touch "$ROOM/go"
    ended 3 "$PID"
    autopilot_is paused || fail 'it should be paused'
    missing "$ROOM/pid-2"
    expect 0 otto resume
    expect 0 otto run
    state_is 1 done
    state_is 2 done
    equal 1 "$(merges_of 1)" 'merges of 1'
}

a_pause_that_waits_no_longer_stops_the_turn_and_keeps_its_work() {
    waiting_agent
    otto add One
    start run run
    at_work 1
    expect 0 otto pause --wait 1
    ended 3 "$PID"
    state_is 1 pending
    is_gone "$(cat "$ROOM/pid-1")" || fail 'the agent still runs'
    otto diff 1 >"$ROOM/diff"
    contains "$ROOM/diff" '+draft 1'
    touch "$ROOM/go"
    expect 0 otto run
    state_is 1 done
    contains draft-1.txt 'draft 1'
    contains draft-1.txt 'draft 2'
}

a_stopped_task_rests_until_it_is_started_again() {
    waiting_agent
    otto add One
    otto add Two
    start run run
    at_work 1
    at_work 2
    expect 0 otto stop 1
    wait_for 20 is_state 1 pending
    is_gone "$(cat "$ROOM/pid-1")" || fail 'the agent still runs'
    rm "$ROOM/pid-1"
    # the autopilot that runs does not undo what a person did
    touch "$ROOM/go-2"
    wait_for 20 is_state 2 done
    ended 3 "$PID"
    missing "$ROOM/pid-1"
    otto why 1 >"$ROOM/why"
    contains "$ROOM/why" 'a person stopped'
    touch "$ROOM/go"
    expect 0 otto run
    state_is 1 done
    contains draft-1.txt 'draft 1'
}

stop_kill_ends_at_once_even_an_agent_that_does_not_listen() {
    agent_script stubborn <<'SH'
cat >/dev/null
trap '' TERM INT HUP
echo $$ >"$ROOM/pid-1"
while :; do sleep 0.1; done
SH
    use_agent stubborn </dev/null
    sed -i 's/grace_s: 1/grace_s: 600/' otto.yaml && git commit -q -am grace
    otto add One
    start run run
    at_work 1
    expect 0 otto stop 1 --kill
    wait_for 10 is_state 1 pending
    is_gone "$(cat "$ROOM/pid-1")" || fail 'the agent still runs'
    ended 3 "$PID"
}

stop_all_stops_everything_and_pauses() {
    waiting_agent
    otto add One
    otto add Two
    otto add Three
    start run run
    at_work 1
    at_work 2
    expect 0 otto stop --all
    ended 3 "$PID"
    for id in 1 2 3; do state_is "$id" pending; done
    missing "$ROOM/pid-3"
    autopilot_is paused || fail 'it should be paused'
    touch "$ROOM/go"
    expect 0 otto run
    for id in 1 2 3; do state_is "$id" done; done
}

the_first_interrupt_pauses_and_the_second_stops() {
    waiting_agent
    sed -i 's/pause_wait_s: 1/pause_wait_s: 600/' otto.yaml && git commit -q -am patience
    otto add One
    start run run
    at_work 1
    kill -INT "$PID"
    wait_for 10 autopilot_is pausing
    is_alive "$(cat "$ROOM/pid-1")" || fail 'the first interrupt ended the turn'
    kill -INT "$PID"
    ended 130 "$PID"
    is_gone "$(cat "$ROOM/pid-1")" || fail 'the agent still runs'
    state_is 1 pending
    touch "$ROOM/go"
    expect 0 otto run
    state_is 1 done
    contains draft-1.txt 'draft 1'
}

an_interrupt_waits_for_a_turn_that_ends_in_time() {
    waiting_agent
    sed -i 's/pause_wait_s: 1/pause_wait_s: 600/' otto.yaml && git commit -q -am patience
    otto add One
    otto add Two --after 1
    start run run
    at_work 1
    kill -INT "$PID"
    wait_for 10 autopilot_is pausing
    touch "$ROOM/go"
    ended 130 "$PID"
    missing "$ROOM/pid-2"
    expect 0 otto run
    state_is 2 done
}

skip_leaves_a_task_out_and_its_dependents_say_why() {
    waiting_agent
    touch "$ROOM/go"
    otto add One
    otto add Two --after 1
    otto add Three
    expect 0 otto skip 1 --note 'not now'
    state_is 1 skipped
    expect 3 otto run
    state_is 3 done
    state_is 2 pending
    otto why 2 >"$ROOM/why"
    contains "$ROOM/why" '#1'
    expect 0 otto retry 1
    expect 0 otto run
    state_is 1 done
    state_is 2 done
}

skip_while_its_agent_runs_stops_the_agent() {
    waiting_agent
    otto add One
    start run run
    at_work 1
    expect 0 otto skip 1
    ended 0 "$PID"
    state_is 1 skipped
    is_gone "$(cat "$ROOM/pid-1")" || fail 'the agent still runs'
}

a_removed_task_can_be_brought_back_with_its_work() {
    waiting_agent
    otto add One
    start run run
    at_work 1
    expect 0 otto rm 1
    ended 0 "$PID"
    expect 0 otto list --json
    out_has '"total": 0'
    otto trash list >"$ROOM/trash"
    contains "$ROOM/trash" '#1'
    expect 0 otto trash restore 1
    state_is 1 pending
    touch "$ROOM/go"
    expect 0 otto run
    state_is 1 done
    contains draft-1.txt 'draft 1'
}

removing_a_task_that_asks_works_too() {
    agent_script ask <<'SH'
cat >/dev/null
tag 'PENDING:why?'
SH
    use_agent ask </dev/null
    otto add One
    otto add Two
    expect 3 otto run
    expect 0 otto rm 1
    state_is 1 cancelled
    expect 0 otto skip 2
    state_is 2 skipped
    otto status >"$ROOM/status"
    lacks "$ROOM/status" 'why?'
}

a_task_can_be_edited_and_a_wrong_edit_changes_nothing() {
    waiting_agent
    touch "$ROOM/go"
    otto add One --key one
    otto add Two --key two --after one
    expect 0 otto edit 1 --title 'Uno' --body 'new body' --tag critical --max-turns 7 --check 'test -f file-1.txt'
    otto show 1 --json >"$ROOM/show"
    for text in '"title": "Uno"' 'new body' critical '"max_turns": 7' 'test -f file-1.txt'; do
        contains "$ROOM/show" "$text"
    done
    expect 1 otto edit 1 --after 2
    err_has '#1'
    err_has '#2'
    expect 1 otto edit 1 --after 99
    expect 1 otto edit 77 --title x
    expect 0 otto run
    equal 'Merge task 1: Uno' "$(git log --merges --format=%s main | tail -n 1)" 'first merge'
}

rollback_reverts_what_landed_and_the_task_is_pending_again() {
    waiting_agent
    touch "$ROOM/go"
    otto add One
    otto add Two --after 1
    expect 0 otto run
    expect 1 otto rollback 1
    exists file-1.txt
    expect 0 otto rollback 1 --yes
    out_has 'builds on it'
    state_is 1 pending
    missing file-1.txt
    exists file-2.txt
    equal '' "$(git status --porcelain)" 'changes in the checkout'
    expect 0 otto run
    exists file-1.txt
    state_is 1 done
    equal 2 "$(merges_of 1)" 'merges of task 1: then and again'
}

rollback_while_an_engine_runs() {
    waiting_agent
    touch "$ROOM/go-1"
    otto add One
    otto add Two
    start run run
    wait_for 20 is_state 1 done
    at_work 2
    rm "$ROOM/go-1"
    expect 0 otto rollback 1 --yes
    wait_for 20 test ! -e file-1.txt
    touch "$ROOM/go"
    ended 0 "$PID"
    state_is 1 done
    exists file-1.txt
    exists file-2.txt
}

rollback_that_conflicts_with_later_work_is_refused_and_changes_nothing() {
    agent_script grow <<'SH'
cat >/dev/null
if [ "$OTTO_TASK_ID" = 1 ]; then echo alpha >grow.txt; else echo beta >grow.txt; fi
done_
SH
    use_agent grow </dev/null
    otto add One
    otto add Two --after 1
    expect 0 otto run
    before=$(tip)
    otto rollback 1 --yes >"$ROOM/undo" 2>&1 || true
    equal "$before" "$(tip)" 'tip of main'
    contains grow.txt beta
    state_is 1 done
    otto why 1 >"$ROOM/why"
    contains "$ROOM/why" 'could not be undone'
}

a_second_run_joins_the_engine_that_is_there() {
    waiting_agent
    otto add One
    start first run
    first=$PID
    at_work 1
    otto add Two
    start second run
    second=$PID
    at_work 2
    # one engine: both agents have the same one above their keepers
    equal 2 "$(children_of "$first" otto-keeper | wc -l)" 'keepers of the first'
    touch "$ROOM/go"
    ended 0 "$first"
    ended 0 "$second"
    state_is 1 done
    state_is 2 done
}

a_second_daemon_is_refused_and_names_the_first() {
    start serve serve
    serve=$PID
    wait_for 20 engine_is_up
    expect 2 otto serve
    err_has "$serve"
    kill -TERM "$serve"
    ended 0 "$serve"
    missing "$OTTO_STATE_DIR/sock"
}

a_run_with_a_daemon_works_and_the_daemon_stays() {
    waiting_agent
    touch "$ROOM/go"
    start serve serve
    serve=$PID
    wait_for 20 engine_is_up
    otto add One
    expect 0 otto run
    state_is 1 done
    exists file-1.txt
    is_alive "$serve" || fail 'the daemon has ended'
    kill -TERM "$serve"
    ended 0 "$serve"
}

a_daemon_that_ends_leaves_its_agents_to_the_run_that_watches() {
    waiting_agent
    start serve serve
    serve=$PID
    wait_for 20 engine_is_up
    otto add One
    start run run
    run=$PID
    at_work 1
    kill -TERM "$serve"
    ended 0 "$serve"
    # the watching run becomes the engine
    wait_for 20 engine_is_up
    is_alive "$(cat "$ROOM/pid-1")" || fail 'the agent ended with the daemon'
    touch "$ROOM/go"
    ended 0 "$run"
    state_is 1 done
    equal 1 "$(task_field 1 turns)" turns
    contains draft-1.txt 'draft 1'
    lacks draft-1.txt 'draft 2'
}

commands_work_beside_a_run_and_json_is_json() {
    waiting_agent
    otto add One
    start run run
    run=$PID
    at_work 1
    for words in 'status' 'list' 'show 1' 'why 1' 'logs 1' 'report' 'config show' 'trash list'; do
        # shellcheck disable=SC2086 # words
        expect 0 otto $words --json
        json_is_valid "$ROOM/out" || { cat "$ROOM/out"; fail "otto $words --json is not JSON"; }
        # shellcheck disable=SC2086 # words
        expect 0 otto $words
    done
    expect 0 otto status
    out_has One
    start follow logs -f 1
    follow=$PID
    follows() { grep -q 'line from 1' "$ROOM/follow.out"; }
    wait_for 20 follows
    touch "$ROOM/go"
    ended 0 "$run"
    ended 0 "$follow"
}

only_named_tasks_run_when_some_are_named() {
    waiting_agent
    touch "$ROOM/go"
    otto add One
    otto add Two
    otto add Three --after 1
    expect 0 otto run 2
    state_is 2 done
    state_is 1 pending
    expect 1 otto run 42
    err_has 42
}

a_task_added_while_it_runs_is_taken() {
    waiting_agent
    otto add One
    start run run
    at_work 1
    otto add Two
    at_work 2
    touch "$ROOM/go"
    ended 0 "$PID"
    state_is 2 done
}

a_reader_that_goes_away_does_not_stop_the_work() {
    waiting_agent
    touch "$ROOM/go"
    otto add One
    "$OTTO" run 2>"$ROOM/err" | head -n 1 >/dev/null
    wait_for 20 is_state 1 done
}

a_resume_without_an_engine_starts_nothing_that_was_not_asked_for() {
    agent_script quick <<'SH'
cat >/dev/null
echo "$OTTO_TASK_ID" >"done-$OTTO_TASK_ID.txt"
done_
SH
    use_agent quick </dev/null
    otto add One >/dev/null
    otto add Two >/dev/null
    expect 0 otto pause
    expect 0 otto resume
    expect 0 otto run 1
    state_is 1 done
    state_is 2 pending
}

a_stop_does_not_wait_for_a_running_check() {
    agent_script quick <<'SH'
cat >/dev/null
echo "$OTTO_TASK_ID" >"done-$OTTO_TASK_ID.txt"
done_
SH
    use_agent quick <<'YAML'
verify: ["echo $$ >'"$ROOM"'/check.pid; exec sleep 100"]
YAML
    sed -i "s#'\"\$ROOM\"'#$ROOM#" otto.yaml
    git commit -qam settings
    otto add One >/dev/null
    start run run
    wait_for 20 test -s "$ROOM/check.pid"
    check=$(cat "$ROOM/check.pid")
    otto stop 1 >/dev/null
    wait_for 20 is_gone "$check"
    ended 3 "$PID"
    state_is 1 pending
    rm "$ROOM/check.pid"
    start run run
    wait_for 20 test -s "$ROOM/check.pid"
    check=$(cat "$ROOM/check.pid")
    kill -INT "$PID"
    sleep 0.2
    kill -INT "$PID"
    wait_for 20 is_gone "$check"
    ended 130 "$PID"
    state_is 1 pending
}

what_says_how_otto_works_is_not_changed_without_a_person() {
    agent_script sly <<'SH'
cat >/dev/null
mkdir -p .otto/workflows
echo 'name: loop' >.otto/workflows/loop.yaml
done_
SH
    use_agent sly </dev/null
    otto add One >/dev/null
    expect 3 otto run
    state_is 1 review
    expect 0 otto why 1
    out_has '.otto/workflows/loop.yaml'
    expect 0 otto reject 1 --note 'not that'
    state_is 1 failed
}

an_agent_cannot_speak_for_a_person() {
    agent_script bold <<'SH'
cat >/dev/null
"$OTTO_PROGRAM" skip 2 >"$ROOM/said" 2>&1 || echo "rc $?" >>"$ROOM/said"
done_
SH
    sed -i "s#^ROOM=.*#&; OTTO_PROGRAM=$OTTO#" "$ROOM/agent-bold.sh"
    use_agent bold </dev/null
    otto add One >/dev/null
    otto add Two --tag later >/dev/null
    expect 0 otto run 1
    contains "$ROOM/said" 'for people'
    state_is 2 pending
}

run_cases \
    a_stop_does_not_wait_for_a_running_check \
    what_says_how_otto_works_is_not_changed_without_a_person \
    an_agent_cannot_speak_for_a_person \
    a_resume_without_an_engine_starts_nothing_that_was_not_asked_for \
    a_pause_lets_turns_end_and_a_resume_goes_on \
    a_pause_that_waits_no_longer_stops_the_turn_and_keeps_its_work \
    a_stopped_task_rests_until_it_is_started_again \
    stop_kill_ends_at_once_even_an_agent_that_does_not_listen \
    stop_all_stops_everything_and_pauses \
    the_first_interrupt_pauses_and_the_second_stops \
    an_interrupt_waits_for_a_turn_that_ends_in_time \
    skip_leaves_a_task_out_and_its_dependents_say_why \
    skip_while_its_agent_runs_stops_the_agent \
    a_removed_task_can_be_brought_back_with_its_work \
    removing_a_task_that_asks_works_too \
    a_task_can_be_edited_and_a_wrong_edit_changes_nothing \
    rollback_reverts_what_landed_and_the_task_is_pending_again \
    rollback_while_an_engine_runs \
    rollback_that_conflicts_with_later_work_is_refused_and_changes_nothing \
    a_second_run_joins_the_engine_that_is_there \
    a_second_daemon_is_refused_and_names_the_first \
    a_run_with_a_daemon_works_and_the_daemon_stays \
    a_daemon_that_ends_leaves_its_agents_to_the_run_that_watches \
    commands_work_beside_a_run_and_json_is_json \
    only_named_tasks_run_when_some_are_named \
    a_task_added_while_it_runs_is_taken \
    a_reader_that_goes_away_does_not_stop_the_work
