#!/bin/sh
# What people are told: counts, suggested commands, reasons, the phases of events, and by which keys
# they answer.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/flow.sh"

PLAN='  plan:
    - - answer: {summary: a plan, steps: [{title: write it}]}'
PASS="  check@post-plan:
    - - answer: {scores: $SCORES_GOOD, summary: clear}"
EXEC='  exec:
    - - write: {path: a.txt, text: "a\n"}
      - answer: {result: (done), summary: done}'
ACCEPT="  check@post-exec:
    - - answer: {scores: $SCORES_GOOD, summary: good}"

task() { otto add "$1" --body 'Do it.' >/dev/null; }
count_of() { # WORD: of the counts
    otto status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["counts"][sys.argv[1]])' "$1"
}

a_rejected_task_shows_the_reason_of_the_person() {
    use_scenario 'review: {mode: per-task}' <<'YAML'
tasks:
  "*":
    - - write: {path: a.txt, text: "a\n"}
      - signal: COMPLETE
YAML
    task One
    expect 3 otto run
    equal 1 "$(count_of review)" reviews
    equal 0 "$(count_of asking)" 'questions: a review is none'
    expect 0 otto status
    lacks "$ROOM/out" '1 asking'
    expect 0 otto report
    out_has '1 to review, 0 asking'
    expect 0 otto reject 1 --note 'nobody needs it'
    state_is 1 failed
    for command in 'show 1' 'why 1' report 'report 1' list; do
        # shellcheck disable=SC2086
        expect 0 otto $command
        out_has 'rejected by a person: nobody needs it'
        lacks "$ROOM/out" 'ended with an error'
    done
    expect 3 otto run
    out_has 'rejected by a person: nobody needs it'
}

a_suggested_command_is_one_that_is_taken() {
    use_scenario 'workflow: lifecycle
limits: {max_turns: 3}' <<YAML
tasks:
  Poor:
    phases:
      plan:
        - - answer: {summary: a plan, steps: [{title: write it}]}
      check@post-plan:
        - - answer: {scores: $SCORES_POOR, summary: unclear}
  Stuck:
    phases:
      plan:
        - - answer: {summary: a plan, steps: [{title: write it}]}
      check@post-plan:
        - - answer: {scores: $SCORES_GOOD, verdict: BLOCKED, findings: [{severity: HIGH, text: the key is missing}]}
  Weak:
    phases:
      plan:
        - - answer: {summary: a plan, steps: [{title: write it}]}
      check@post-plan:
        - - answer: {scores: $SCORES_GOOD, summary: clear}
      exec:
        - - run: 'date +%N >weak.txt'
          - answer: {result: (done), summary: done}
      check@post-exec:
        - - answer: {scores: $SCORES_POOR, summary: weak}
YAML
    for name in Poor Stuck Weak; do task $name; done
    expect 3 otto run
    out_has 'the key is missing' # a verdict alone says nothing
    state_is 2 blocked
    state_is 3 timeout
    for id in 1 2 3; do
        otto inbox >"$ROOM/inbox"
        suggested=$(sed -n "s/^ *\(otto answer $id\).*/\1/p" "$ROOM/inbox")
        case $(state_of "$id") in
        blocked) equal "otto answer $id" "$suggested" ;;
        *) equal '' "$suggested" ; contains "$ROOM/inbox" "otto retry $id" ;;
        esac
    done
}

a_stopped_task_is_told_by_status() {
    agent_script slow <<'AGENT'
touch "$ROOM/begun"
sleep 60
AGENT
    use_agent slow </dev/null
    task Slow
    start run run
    wait_for 20 test -e "$ROOM/begun"
    expect 0 otto stop 1 --kill
    wait "$PID" || true
    expect 0 otto status
    out_has '1 stopped'
    out_has "#1 Slow: stopped, 'otto run' goes on"
    otto rm 1 >/dev/null
    expect 0 otto status
    lacks "$ROOM/out" stopped
    expect 1 otto skip 1
    err_has 'was removed'
}

what_has_landed_cannot_be_given_up() {
    use_scenario 'workflow: lifecycle' <<YAML
phases:
$PLAN
$PASS
$EXEC
$ACCEPT
YAML
    task One
    otto run --json >/dev/null
    state_is 1 done
    expect 1 otto step 1 cancel
    err_has 'landed'
    state_is 1 done
    expect 0 otto status
    out_has '1/1 done'
}

a_pause_is_forgotten_when_work_goes_on() {
    agent_script bad <<'AGENT'
exit 1
AGENT
    use_agent bad <<'YAML'
limits: {pause_after_failures: 1, max_retries: 0}
YAML
    task One
    expect 3 otto run
    expect 0 otto inbox
    out_has 'failed in a row'
    expect 0 otto resume
    expect 0 otto inbox
    lacks "$ROOM/out" 'failed in a row'
}

a_blocked_task_stays_in_the_inbox_until_it_goes_on() {
    use_scenario 'workflow: staged' <<'YAML'
phases:
  target:
    - - signal: "BLOCKED:there is no database"
YAML
    otto add Base --body 'Do it.' >/dev/null
    expect 3 otto run
    state_is 1 blocked
    expect 0 otto target 1 --add 'Greet people' --confirm
    state_is 1 blocked
    expect 0 otto inbox
    out_has 'there is no database'
}

a_guard_is_named_where_an_approval_is_asked_for() {
    use_scenario 'workflow: lifecycle
protect: [locked.txt]' <<YAML
phases:
$PLAN
$PASS
  exec:
    - - write: {path: locked.txt, text: "a\n"}
      - answer: {result: (done), summary: done}
$ACCEPT
YAML
    task One
    expect 3 otto run
    grep -q 'a guard fired: .*locked.txt' "$ROOM/out" || { cat "$ROOM/out"; fail 'no guard is named'; }
    lacks "$ROOM/out" 'asks:'
    expect 0 otto status
    grep -q 'a guard fired: .*locked.txt' "$ROOM/out" || { cat "$ROOM/out"; fail 'no guard is named'; }
}

events_tell_the_phase_in_which_they_happened() {
    use_scenario 'workflow: lifecycle' <<YAML
phases:
$PLAN
$PASS
$EXEC
$ACCEPT
YAML
    task One
    expect 0 otto run
    grep -o 'works on [a-z-]*\|answers: [(A-Za-z)]*' "$ROOM/out" >"$ROOM/events"
    cat >"$ROOM/wanted" <<'END'
works on plan
answers: (generated)
works on check
answers: PASS
works on exec
answers: (done)
works on check
answers: ACCEPT
END
    cmp -s "$ROOM/wanted" "$ROOM/events" || { cat "$ROOM/events"; fail 'other events, or another order'; }
}

waiting_for_a_person_is_not_time_that_a_step_took() {
    use_scenario 'workflow: lifecycle
review: {mode: per-task}' <<YAML
phases:
$PLAN
$PASS
$EXEC
$ACCEPT
YAML
    task One
    began=$(date +%s%3N)
    expect 3 otto run
    state_is 1 review
    sleep 2 # a person thinks; however long all else takes, this is no part of it
    expect 0 otto approve 1
    sleep 2
    expect 0 otto run
    span=$(($(date +%s%3N) - began))
    otto timeline 1 --json >"$ROOM/timeline"
    took=$(python3 -c 'import json, sys
print(sum(step["took_ms"] for step in json.load(open(sys.argv[1]))["steps"]))' "$ROOM/timeline")
    [ $((took + 4000)) -le "$span" ] || fail "steps took $took ms of $span ms, 4 s of which were waiting"
}

a_review_in_a_terminal_takes_keys_without_enter() {
    use_scenario 'review: {mode: per-task}' <<'YAML'
tasks:
  "*":
    - - run: 'echo x >"task-$OTTO_TASK_ID.txt"'
      - signal: COMPLETE
YAML
    for name in One Two Three; do task $name; done
    expect 3 otto run
    cat >"$ROOM/keys.py" <<'END'
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "review"])
seen = b""
def until(text):
    global seen
    end = time.time() + 20
    while text not in seen:
        if time.time() > end or not select.select([fd], [], [], 1)[0] and time.time() > end:
            sys.exit("waited in vain for %r in %r" % (text, seen))
        if select.select([fd], [], [], 0.2)[0]:
            try:
                seen += os.read(fd, 65536)
            except OSError:
                break
    seen = seen[seen.find(text) + len(text):]
until(b"uit? ")
os.write(fd, b"d") # the diff, then the same question
until(b"uit? ")
os.write(fd, b"z") # no key of ours
until(b"uit? ")
os.write(fd, b"A")
until(b"is approved")
until(b"uit? ")
os.write(fd, b"x")
until(b"Why? ")
os.write(fd, b"not that\n")
until(b"is rejected")
until(b"uit? ")
os.write(fd, b"\x03") # Ctrl-C ends it
until(b"1 approved, 0 sent back, 1 rejected, 1 left")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 3)
END
    TERM=xterm python3 "$ROOM/keys.py" "$OTTO" || fail 'the keys did other things'
    equal 1 "$(count_of failed)" rejected
    equal 1 "$(count_of review)" left
}

run_cases a_rejected_task_shows_the_reason_of_the_person a_suggested_command_is_one_that_is_taken \
    a_stopped_task_is_told_by_status what_has_landed_cannot_be_given_up \
    a_pause_is_forgotten_when_work_goes_on a_blocked_task_stays_in_the_inbox_until_it_goes_on \
    a_guard_is_named_where_an_approval_is_asked_for events_tell_the_phase_in_which_they_happened \
    waiting_for_a_person_is_not_time_that_a_step_took a_review_in_a_terminal_takes_keys_without_enter
