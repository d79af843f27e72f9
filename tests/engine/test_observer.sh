#!/bin/sh
# Self-driving sessions (workflows `auto-a`, `auto-b`): the engine watches their files, keeps the
# limits, checks the claim and lands the work (A-84..A-99, A-122..A-135, B-116..B-124, B-175..B-179).
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/flow.sh"

# -- sessions -------------------------------------------------------------------------------------

# A session by shell script. What it may use:
#   report STEP RESULT NEXT N [CHECKPOINT]   .auto-signal, beside and renamed
#   raw TEXT                                 .auto-signal with this content
#   state STATUS [STAMP]                     the state file of its protocol
#   until_ COMMAND...                        waits for a condition, 30 s at most
#   heard N                                  true when the engine has counted N reports
session() { # script on stdin
    agent_script session <<SH
cat >"\$ROOM/prompt-\$OTTO_TURN"
echo "\$OTTO_TASK_ID \$OTTO_TURN" >>"\$ROOM/turns"
cd "\$OTTO_TASK_DIR"
now() { date -u +%Y-%m-%dT%H:%M:%S.%NZ; }
raw() { printf '%s' "\$1" >.auto-signal.tmp; mv .auto-signal.tmp .auto-signal; }
report() {
    raw "{\"step\":\"\$1\",\"result\":\"\$2\",\"next\":\"\$3\",\"checkpoint\":\"\${5:-}\",\"iteration\":\$4,\"timestamp\":\"\$(now)\"}"
}
state() {
    name=.index.json
    case \$OTTO_TASK_DIR in */.working) name=.status.json ;; esac
    printf '{"status":"%s","phase":"","updated":"%s","stage":{"current":1,"history":[]}}' \
        "\$1" "\${2:-\$(now)}" >part
    mv part \$name
}
until_() {
    n=0
    while ! "\$@" >/dev/null 2>&1; do n=\$((n + 1)); [ "\$n" -lt 600 ] || exit 9; sleep 0.05; done
}
work() { (cd "\$OTTO_TASK_DIR" && cd "\$(git rev-parse --show-toplevel)" && echo "\$1" >"\$1.txt" && git add -A && git commit -q -m "feat: \$1"); }
heard() { # by the test's own means: an agent has no access to the state
    env -u OTTO_TOKEN -u OTTO_SOCKET OTTO_STATE_DIR="\$ROOM/state" "$OTTO" why "\$OTTO_TASK_ID" | grep -q " observed .* step \$1 of"
}
finish_() { state complete; report report '(generated)' '(stop)' "\$1"; }
stopped_() { test -e .auto-stop; }
$(cat)
SH
}

# otto.yaml for the session script; more settings on stdin.
use_session() { # WORKFLOW
    { printf 'workflow: %s\nverify: ["test -f base.txt"]\n' "$1"; cat; } >"$ROOM/more"
    use_agent session <"$ROOM/more"
}

steps_used() { otto show "$1" --json | sed -n 's/^      "steps_used": \([0-9]*\),$/\1/p' | tail -n 1; }
is_observed() { otto why "$1" 2>/dev/null | grep -q "observed .* step $2 of"; } # ID STEP
observed_count() { otto events --json 2>/dev/null | grep -c '"observed"' || true; }
stop_reason() { sed -n 's/.*"reason": *"\([a-z_]*\)".*/\1/p' "$1"; }
log_has() { grep -qF -- "$1" "$OTTO_STATE_DIR/log"; }
row_is() { # ID ROW: of its last step
    row_got=$(steps_of "$1" | tail -n 1 | awk '{print $NF}')
    [ "$row_got" = "$2" ] || { otto why "$1"; fail "last row of task $1: wanted '$2', got '$row_got'"; }
}
nothing_transient_landed() {
    for commit in $(git rev-list main); do
        if git ls-tree -r --name-only "$commit" | grep -E 'auto-(signal|stop)|AiTasks|\.working'; then
            fail "files of the protocol landed in $commit"
        fi
    done
}
crash() { # PID of an engine of ours
    kill -KILL "$1"
    wait "$1" 2>/dev/null || true
}

# -- the whole way ----------------------------------------------------------------------------------

a_session_of_a_goes_its_way_and_lands() { # A-84, A-96, A-99
    use_scenario 'workflow: auto-a
verify: ["test -f one.txt"]' <<'YAML'
phases:
  drive:
    - - expect: {path: AiTasks/one/.target.md, contains: Build it}
      - expect: {path: AiTasks/one/.index.json, contains: draft}
      - index_file: {status: planning, updated: "1"}
      - auto_signal: {step: plan, result: (generated), next: check, checkpoint: post-plan, iteration: 1}
      - run: 'i=0; while [ $i -lt 200 ] && ! grep -q "iteration=1 status=planning" "$ROOM_LOG"; do i=$((i+1)); sleep 0.05; done'
      - write: {path: one.txt, text: "one\n"}
      - run: git add -A
      - commit: "feat: one"
      - index_file: {status: executing, updated: "2"}
      - auto_signal: {step: exec, result: (done), next: report, checkpoint: post-exec, iteration: 2}
      - index_file: {status: complete, updated: "3"}
      - auto_signal: {step: report, result: (generated), next: (stop), iteration: 3}
YAML
    sed -i "s|\$ROOM_LOG|$OTTO_STATE_DIR/log|" "$ROOM/scenario.yaml"
    otto add 'Build it' --key one >/dev/null
    expect 0 otto run
    state_is 1 done
    status_is 1 complete
    equal 'drive:finished verify:(pass) merge:success report:(generated)' "$(step_line 1)" steps
    git show main:one.txt | grep -q one || fail 'the work did not land'
    nothing_transient_landed
    otto why 1 | grep -q 'step 1 of at most 20, now planning' || fail 'the first report was not heard'
}

a_session_of_b_goes_its_way_and_is_satisfied() { # B-116, B-117: only the state file tells
    session <<'SH'
test "$(basename "$OTTO_TASK_DIR")" = .working
state planning
until_ heard 1
state executing
until_ heard 2
work one
state satisfied
SH
    use_session auto-b </dev/null
    otto add One >/dev/null
    expect 0 otto run
    state_is 1 done
    status_is 1 satisfied
    equal 'drive:finished verify:(pass) merge:success report:(generated)' "$(step_line 1)" steps
    nothing_transient_landed
    git cat-file -e main:one.txt || fail 'the work did not land'
    otto why 1 | grep -q 'step 2 of at most 20, now executing' || fail 'steps of B were not counted'
}

a_workflow_that_extends_b_speaks_b() {
    mkdir -p .otto/workflows
    printf 'name: mine\nextends: auto-b\n' >.otto/workflows/mine.yaml
    session <<'SH'
test "$(basename "$OTTO_TASK_DIR")" = .working
work one
state satisfied
SH
    use_session mine </dev/null
    otto add One >/dev/null
    expect 0 otto run
    status_is 1 satisfied
    nothing_transient_landed
}

a_claim_is_checked_and_the_session_goes_on() {
    session <<'SH'
if [ "$OTTO_TURN" = 1 ]; then work one; finish_ 2; exit 0; fi
grep -q 'wanted.txt' "$ROOM/prompt-2"
grep -q complete .index.json && exit 8 # it was opened again
work wanted
finish_ 4
SH
    printf 'workflow: auto-a\nverify: ["test -f wanted.txt"]\n' >"$ROOM/more"
    use_agent session <"$ROOM/more"
    otto add One >/dev/null
    expect 0 otto run
    equal 'drive:finished verify:(fail) drive@verify:finished verify:(pass) merge:success report:(generated)' "$(step_line 1)" steps
}

# -- limits -----------------------------------------------------------------------------------------

the_limit_of_steps_writes_a_stop_that_is_honoured() { # A-152, A-97
    session <<'SH'
i=0
while ! stopped_; do
    i=$((i + 1))
    [ "$i" -lt 100 ] || exit 9
    state executing
    report exec "(step-$i)" exec "$i" mid-exec
    sleep 0.1
done
cp .auto-stop "$ROOM/stop"
work part
rm -f .auto-signal .auto-stop
SH
    use_session auto-a <<'YAML'
limits: {max_steps: 3}
YAML
    otto add One >/dev/null
    expect 3 otto run
    state_is 1 timeout
    row_is 1 drive-max-iterations
    equal max_iterations "$(stop_reason "$ROOM/stop")" reason
    json_is_valid "$ROOM/stop"
    contains "$ROOM/stop" '"timestamp"'
    equal 1 "$(wc -l <"$ROOM/turns")" turns
    otto diff 1 >"$ROOM/diff"
    contains "$ROOM/diff" part.txt # its work is kept
    nothing_transient_landed
}

a_session_may_finish_the_step_at_which_it_is_stopped() {
    session <<'SH'
state executing
for i in 1 2 3; do report exec "(step-$i)" exec "$i" mid-exec; sleep 0.1; done
until_ stopped_
work one
finish_ 4
SH
    use_session auto-a <<'YAML'
limits: {max_steps: 3}
YAML
    otto add One >/dev/null
    expect 0 otto run
    state_is 1 done
    equal 'drive:finished verify:(pass) merge:success report:(generated)' "$(step_line 1)" steps
}

a_session_that_ignores_its_stop_is_killed_after_the_grace_time() {
    session <<'SH'
trap '' TERM
state executing
for i in 1 2 3; do report exec "(step-$i)" exec "$i" mid-exec; sleep 0.1; done
until_ stopped_
cp .auto-stop "$ROOM/stop"
echo $$ >"$ROOM/pid"
while :; do sleep 1; done
SH
    use_session auto-a <<'YAML'
limits: {max_steps: 3}
observe: {grace_s: 1}
YAML
    otto add One >/dev/null
    expect 3 otto run
    state_is 1 timeout
    row_is 1 drive-max-iterations
    log_has 'observe.grace run=1' || fail 'the grace time did not end it'
    is_gone "$(cat "$ROOM/pid")" || fail 'the session lives'
    equal max_iterations "$(stop_reason "$ROOM/stop")" reason
}

a_session_that_says_it_is_done_and_stays_is_ended_and_lands() {
    session <<'SH'
work one
finish_ 2
sleep 600
SH
    use_session auto-a <<'YAML'
observe: {grace_s: 1}
YAML
    otto add One >/dev/null
    expect 0 otto run
    state_is 1 done
    git cat-file -e main:one.txt || fail 'the work did not land'
}

the_last_signal_of_the_table_is_an_end_without_a_state() { # A-179: one turn is enough
    session <<'SH'
work one
report plan '(generated)' check 1 post-plan
report report '(generated)' '(stop)' 2
SH
    use_session auto-a </dev/null
    otto add One >/dev/null
    expect 0 otto run
    state_is 1 done
    equal 1 "$(wc -l <"$ROOM/turns")" turns
    equal 'drive:finished verify:(pass) merge:success report:(generated)' "$(step_line 1)" steps
    contains "$ROOM/prompt-1" 'counts as finished'
}

a_session_that_says_complete_as_others_do_has_finished() {
    session <<'SH'
work one
state executing
report exec '(done)' check 1 post-exec
otto signal COMPLETE
SH
    use_session auto-a </dev/null
    otto add One >/dev/null
    expect 0 otto run
    state_is 1 done
    equal 1 "$(wc -l <"$ROOM/turns")" turns
    equal 'drive:finished verify:(pass) merge:success report:(generated)' "$(step_line 1)" steps
}

a_complete_is_not_believed_against_a_blocked_state() {
    session <<'SH'
state blocked
otto signal COMPLETE
SH
    use_session auto-a </dev/null
    otto add One >/dev/null
    expect 3 otto run
    state_is 1 blocked
}

equal_reports_end_as_a_reasoning_loop() { # B-175
    session <<'SH'
i=0
state executing
while ! stopped_; do
    i=$((i + 1))
    [ "$i" -lt 100 ] || exit 9
    report check NEEDS_FIX exec "$i" post-exec
    sleep 0.1
done
cp .auto-stop "$ROOM/stop"
SH
    use_session auto-a <<'YAML'
limits: {max_steps: 90}
YAML
    otto add One >/dev/null
    expect 3 otto run
    state_is 1 failed
    equal reasoning_loop "$(stop_reason "$ROOM/stop")" reason
    row_is 1 drive-loop
}

a_turn_that_ends_with_work_left_is_continued_with_a_message() { # B-122
    session <<'SH'
if [ "$OTTO_TURN" = 1 ]; then state executing; report exec '(mid-exec)' check 1; exit 0; fi
work one
finish_ 2
SH
    use_session auto-a </dev/null
    otto add One >/dev/null
    expect 0 otto run
    equal 'drive:continue drive@continue:finished verify:(pass) merge:success report:(generated)' "$(step_line 1)" steps
    equal 2 "$(wc -l <"$ROOM/turns")" turns
}

standing_still_turn_after_turn_ends_at_the_limit() { # A-132, B-178
    session <<'SH'
state executing 1
SH
    use_session auto-a </dev/null
    otto add One >/dev/null
    expect 3 otto run
    state_is 1 failed
    row_is 1 drive-stall-limit
    equal 4 "$(wc -l <"$ROOM/turns")" turns # the first, and three recoveries
}

a_session_that_is_blocked_waits_for_a_person() { # A-203
    session <<'SH'
if [ "$OTTO_TURN" = 1 ] && [ ! -e "$ROOM/again" ]; then
    touch "$ROOM/again"
    state blocked
    report check BLOCKED '(stop)' 1 post-plan
    exit 0
fi
work one
finish_ 3
SH
    use_session auto-a </dev/null
    otto add One >/dev/null
    expect 3 otto run
    state_is 1 blocked
    status_is 1 blocked
    row_is 1 drive-blocked
    expect 0 otto retry 1
    expect 0 otto run
    state_is 1 done
    status_is 1 complete
}

a_question_of_a_session_reaches_a_person() {
    session <<'SH'
state executing
report exec '(mid-exec)' check "$OTTO_TURN"
if [ "$OTTO_TURN" = 1 ]; then tag PENDING:which colour; exit 0; fi
grep -q 'dark blue' "$ROOM/prompt-2"
work one
finish_ 3
SH
    use_session auto-a </dev/null
    otto add One >/dev/null
    expect 3 otto run
    otto inbox >"$ROOM/inbox"
    contains "$ROOM/inbox" 'which colour'
    expect 0 otto answer 1 'dark blue'
    expect 0 otto run
    state_is 1 done
}

a_crash_is_tried_again_then_it_failed_and_is_kept() { # A-129, A-184, B-172; 10 s of back-off
    session <<'SH'
work "try$OTTO_TURN"
state executing
report exec "(step-$OTTO_TURN)" exec "$OTTO_TURN" mid-exec
sleep 0.2
kill -SEGV $$
SH
    use_session auto-a <<'YAML'
limits: {max_retries: 1}
YAML
    otto add One >/dev/null
    expect 3 otto run
    state_is 1 failed
    equal 'drive:vanished drive@recovery:vanished' "$(step_line 1)" steps
    row_is 1 drive-vanished-spent
    equal 2 "$(wc -l <"$ROOM/turns")" turns
    otto diff 1 >"$ROOM/diff"
    contains "$ROOM/diff" try1.txt
    contains "$ROOM/diff" try2.txt
}

# -- people and restarts ----------------------------------------------------------------------------

waiting_session() { # works until it is told to go on
    session <<'SH'
if [ "$OTTO_TASK_ID" != 1 ]; then work two; finish_ 1; exit 0; fi
state executing
report exec '(mid-exec)' check 1
until_ test -e "$ROOM/go" -o -e .auto-stop
if stopped_; then
    cp .auto-stop "$ROOM/stop"
    until_ test -e "$ROOM/leave"
    exit 0
fi
work one
finish_ 3
SH
}

a_persons_stop_is_told_and_outlives_the_engine() { # A-181, defects 4 and 5
    waiting_session
    use_session auto-a </dev/null
    otto add One >/dev/null
    start run run
    wait_for 20 is_observed 1 1
    expect 0 otto stop 1
    wait_for 20 test -s "$ROOM/stop"
    equal user_stop "$(stop_reason "$ROOM/stop")" reason
    crash "$PID"
    stop=$(find "$OTTO_STATE_DIR" -name .auto-stop)
    before=$(cat "$stop")
    otto add Two --tag later >/dev/null
    start run run 2 # naming another one: nobody asks for the first
    wait_for 20 log_has turn.attached
    equal "$before" "$(cat "$stop")" 'the stop after the restart'
    touch "$ROOM/leave"
    ended 0 "$PID"
    state_is 1 pending
    equal 1 "$(grep -c '^1 ' "$ROOM/turns")" turns
    # it goes on only when a person says so, and then the old stop is gone
    rm -f "$ROOM/stop"
    touch "$ROOM/go"
    expect 0 otto run
    state_is 1 done
    missing "$ROOM/stop"
}

a_stop_file_put_there_by_hand_is_a_persons_stop() {
    waiting_session
    use_session auto-a </dev/null
    otto add One >/dev/null
    touch "$ROOM/leave"
    start run run
    wait_for 20 is_observed 1 1
    folder=$(dirname "$(find "$OTTO_STATE_DIR" -name .auto-signal)")
    printf '{"reason":"user_stop","timestamp":"2026-01-01T00:00:00Z"}' >"$folder/x"
    mv "$folder/x" "$folder/.auto-stop"
    ended 3 "$PID"
    state_is 1 pending
}

reports_written_while_no_engine_lived_are_seen_and_nothing_is_counted_twice() {
    session <<'SH'
state executing
report plan '(generated)' check 1 post-plan
until_ test -e "$ROOM/dead"
report check PASS exec 2 post-plan
echo yes >"$ROOM/written"
until_ test -e "$ROOM/go"
work one
finish_ 3
SH
    use_session auto-a </dev/null
    otto add One >/dev/null
    start run run
    wait_for 20 is_observed 1 1
    crash "$PID"
    touch "$ROOM/dead"
    wait_for 20 test -s "$ROOM/written"
    start run run
    wait_for 20 is_observed 1 2
    equal 2 "$(steps_used 1)" 'steps after the restart'
    crash "$PID" # once more, with nothing new
    start run run
    again() { [ "$(grep -c turn.attached "$OTTO_STATE_DIR/log")" -ge 2 ]; }
    wait_for 20 again
    touch "$ROOM/go"
    ended 0 "$PID"
    equal 1 "$(wc -l <"$ROOM/turns")" turns
    equal 3 "$(otto why 1 | grep -c ' observed .* step')" reports
    equal 1 "$(merges_of 1)" merges
    equal 'drive:finished verify:(pass) merge:success report:(generated)' "$(step_line 1)" steps
}

# -- hostile and broken files -------------------------------------------------------------------------

each_rule_of_the_signal_is_kept_and_the_loop_goes_on() { # A-87 to A-93
    session <<'SH'
state executing
bad() { # FIELD CONTENT
    raw "$2"
    until_ grep -qF "observe.bad task=1 run=1 file=\".auto-signal\" why=\"$1" "$ROOM/state/log"
    echo "$1" >>"$ROOM/bad"
}
T='"timestamp":"2026-01-01T00:00:00Z"'
bad 'step:' "{\"step\":\"dance\",\"result\":\"PASS\",\"next\":\"exec\",$T}"
bad 'result:' "{\"step\":\"check\",\"result\":\"GREAT\",\"next\":\"exec\",$T}"
bad 'next:' "{\"step\":\"check\",\"result\":\"PASS\",\"next\":\"rm -rf\",$T}"
bad 'checkpoint:' "{\"step\":\"check\",\"result\":\"PASS\",\"next\":\"exec\",\"checkpoint\":\"step-0\",$T}"
bad 'iteration:' "{\"step\":\"check\",\"result\":\"PASS\",\"next\":\"exec\",\"iteration\":-1,$T}"
bad 'compaction_count:' "{\"step\":\"check\",\"result\":\"PASS\",\"next\":\"exec\",\"compaction_count\":-2,$T}"
bad 'timestamp:' '{"step":"check","result":"PASS","next":"exec","timestamp":"yesterday"}'
bad 'not valid JSON' '{"step":"check",'
bad 'file:' '[1,2]'
raw "$(head -c 300000 /dev/zero | tr '\0' x)"
until_ grep -q 'observe.unread' "$ROOM/state/log"
work one
finish_ 2
SH
    use_session auto-a </dev/null
    otto add One >/dev/null
    expect 0 otto run
    equal 9 "$(wc -l <"$ROOM/bad")" 'signals that were refused'
    equal 1 "$(otto why 1 | grep -c ' observed .* step')" 'reports that counted'
    equal 1 "$(wc -l <"$ROOM/turns")" turns
    state_is 1 done
}

numbered_and_later_words_are_accepted() { # A-88 and A-90 with what came later, B-165, B-166
    session <<'SH'
state executing
i=0
good() { # STEP RESULT NEXT CHECKPOINT
    i=$((i + 1))
    report "$1" "$2" "$3" "$i" "$4"
    until_ heard "$i"
}
good research '(collected)' plan post-research
good verify '(partial)' check full
good annotate '(processed)' plan quick
good exec '(step-12)' check step-12
good target '(stage-advanced)' plan post-o1
good highlight '(distilled)' report pre-merge
good check ROLLBACK '(rollback)' regression
i=8
raw "{\"step\":\"check\",\"result\":\"ACCEPT\",\"next\":\"report\",\"iteration\":8,\"timestamp\":\"$(now)\",\"phase\":\"check\",\"phase_progress\":0.5,\"stage\":{\"current\":1,\"total\":2},\"check_score\":{\"overall\":0.8,\"d1\":1},\"delegation_failures\":[\"check@iter4\"],\"more\":1}"
until_ heard 8
work one
finish_ 9
SH
    use_session auto-a </dev/null
    otto add One >/dev/null
    expect 0 otto run
    if log_has observe.bad; then grep observe.bad "$OTTO_STATE_DIR/log"; fail 'a good word was refused'; fi
    equal 9 "$(otto why 1 | grep -c ' observed .* step')" reports
}

half_a_file_is_waited_for_and_a_folder_may_go_and_come() {
    session <<'SH'
state executing
report plan '(generated)' check 1 post-plan
until_ heard 1
printf '{"step":"check","result":"PA' >.auto-signal # not renamed: half of it is seen
until_ grep -q 'observe.bad' "$ROOM/state/log"
printf 'SS","next":"exec","iteration":2,"timestamp":"%s"}' "$(now)" >>.auto-signal
until_ heard 2
printf '{"status":"exec' >.index.json
until_ grep -q 'file=".index.json"' "$ROOM/state/log"
cd ..
rm -rf "$OTTO_TASK_DIR"
sleep 0.3
mkdir -p "$OTTO_TASK_DIR"
cd "$OTTO_TASK_DIR"
state executing
report exec '(mid-exec)' check 3
until_ heard 3
work one
finish_ 4
SH
    use_session auto-a <<'YAML'
observe: {poll_ms: 300}
YAML
    otto add One >/dev/null
    expect 0 otto run
    equal 4 "$(otto why 1 | grep -c ' observed .* step')" reports
    equal 'drive:finished verify:(pass) merge:success report:(generated)' "$(step_line 1)" steps
}

links_that_a_session_plants_are_not_followed() {
    echo precious >"$ROOM/precious"
    session <<'SH'
state executing
ln -s "$ROOM/precious" .auto-stop
ln -s "$ROOM/precious" .auto-stop.tmp
for i in 1 2 3; do report exec "(step-$i)" exec "$i" mid-exec; sleep 0.1; done
until_ test ! -L .auto-stop
cp .auto-stop "$ROOM/stop"
SH
    use_session auto-a <<'YAML'
limits: {max_steps: 3}
YAML
    otto add One >/dev/null
    expect 3 otto run
    equal precious "$(cat "$ROOM/precious")" 'the file outside'
    equal max_iterations "$(stop_reason "$ROOM/stop")" reason
    state_is 1 timeout
}

a_task_folder_that_is_a_link_outside_is_not_written() {
    mkdir "$ROOM/outside"
    session <<'SH'
state executing
report exec '(mid-exec)' check 1
until_ heard 1
top=$(git rev-parse --show-toplevel)
cd "$top"
rm -rf "$OTTO_TASK_DIR"
ln -s "$ROOM/outside" "$OTTO_TASK_DIR"
touch "$ROOM/linked"
sleep 600
SH
    use_session auto-a <<'YAML'
observe: {grace_s: 1}
YAML
    otto add One >/dev/null
    start run run
    wait_for 20 test -e "$ROOM/linked"
    expect 0 otto stop 1
    ended 3 "$PID"
    equal '' "$(ls -A "$ROOM/outside")" 'the folder outside'
    state_is 1 pending
}

what_is_added_by_force_does_not_land() { # A-99: the signal and the stop are gone before it is saved
    session <<'SH'
state executing
report exec '(mid-exec)' check 1
until_ heard 1
cd "$(git rev-parse --show-toplevel)"
echo one >one.txt
git add -A -f
git commit -q -m 'feat: one'
cd "$OTTO_TASK_DIR"
finish_ 2
git add -f .
git commit -q -m more
SH
    use_session auto-a </dev/null
    otto add One >/dev/null
    expect 0 otto run
    if git ls-tree -r --name-only main | grep -E 'auto-(signal|stop)'; then fail 'a signal landed'; fi
    git cat-file -e main:one.txt || fail 'the work did not land'
}

run_cases a_session_of_a_goes_its_way_and_lands \
    a_session_of_b_goes_its_way_and_is_satisfied \
    a_workflow_that_extends_b_speaks_b \
    a_claim_is_checked_and_the_session_goes_on \
    the_limit_of_steps_writes_a_stop_that_is_honoured \
    a_session_may_finish_the_step_at_which_it_is_stopped \
    a_session_that_ignores_its_stop_is_killed_after_the_grace_time \
    a_session_that_says_it_is_done_and_stays_is_ended_and_lands \
    the_last_signal_of_the_table_is_an_end_without_a_state \
    a_session_that_says_complete_as_others_do_has_finished \
    a_complete_is_not_believed_against_a_blocked_state \
    equal_reports_end_as_a_reasoning_loop \
    a_turn_that_ends_with_work_left_is_continued_with_a_message \
    standing_still_turn_after_turn_ends_at_the_limit \
    a_session_that_is_blocked_waits_for_a_person \
    a_question_of_a_session_reaches_a_person \
    a_crash_is_tried_again_then_it_failed_and_is_kept \
    a_persons_stop_is_told_and_outlives_the_engine \
    a_stop_file_put_there_by_hand_is_a_persons_stop \
    reports_written_while_no_engine_lived_are_seen_and_nothing_is_counted_twice \
    each_rule_of_the_signal_is_kept_and_the_loop_goes_on \
    numbered_and_later_words_are_accepted \
    half_a_file_is_waited_for_and_a_folder_may_go_and_come \
    links_that_a_session_plants_are_not_followed \
    a_task_folder_that_is_a_link_outside_is_not_written \
    what_is_added_by_force_does_not_land
