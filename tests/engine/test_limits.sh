#!/bin/sh
# Nothing runs away: turns, time, output.
. "$(dirname "$0")/lib.sh"

turns_run_out_and_the_work_is_kept() {
    agent_script never <<'SH'
cat >/dev/null
echo "turn $OTTO_TURN" >>notes.txt
SH
    use_agent never <<'YAML'
limits: {max_turns: 3, stuck_turns: 0}
YAML
    otto add One
    before=$(tip)
    expect 3 otto run
    state_is 1 timeout
    equal 3 "$(task_field 1 turns)" turns
    equal "$before" "$(tip)" 'tip of main'
    sed -n '/Needs you/,$p' "$ROOM/out" >"$ROOM/needs"
    contains "$ROOM/needs" 'ran out of turns'
    # kept: the last snapshot is in the hub and goes on with a retry
    otto diff 1 >"$ROOM/diff"
    contains "$ROOM/diff" '+turn 3'
    otto retry 1
    otto edit 1 --max-turns 1
    expect 3 otto run
    otto diff 1 >"$ROOM/diff"
    contains "$ROOM/diff" '+turn 3'
    otto show 1 --json >"$ROOM/show"
    equal 2 "$(task_field 1 attempts)" attempts
}

a_task_has_turns_of_its_own() {
    agent_script never <<'SH'
cat >/dev/null
SH
    use_agent never <<'YAML'
limits: {max_turns: 9}
YAML
    otto add One --max-turns 2
    expect 3 otto run
    equal 2 "$(task_field 1 turns)" turns
}

a_flood_on_one_line_ends_the_turn_and_the_engine_stays_small() { # F9
    use_scenario 'limits: {max_output_mb: 4, max_retries: 0}
slots: 2' <<'YAML'
tasks:
  flood:
    - - spew: {bytes: 104857600, line: false}
      - signal: COMPLETE
  calm:
    - - sleep: 0.2
      - write: {path: calm.txt, text: "calm\n"}
      - signal: COMPLETE
YAML
    otto add Flood --key flood
    otto add Calm --key calm
    start run run
    peak=0
    while is_alive "$PID"; do
        now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$PID/status" 2>/dev/null)
        [ -z "$now" ] || peak=$now
        sleep 0.02
    done
    ended 3 "$PID"
    state_is 1 failed
    state_is 2 done
    otto why 1 >"$ROOM/why"
    contains "$ROOM/why" 'output'
    size=$(du -sk "$OTTO_STATE_DIR/runs" | cut -f1)
    [ "$size" -lt 8192 ] || fail "the journals take $size KB"
    grep -q __asan_init "$OTTO" || [ "$peak" -lt 65536 ] || fail "the engine grew to $peak KB"
    [ "$peak" -gt 0 ] || fail 'the engine was not measured'
}

a_flood_in_lines_and_on_the_error_stream_counts_too() {
    agent_script flood <<'SH'
cat >/dev/null
yes 'many words, again and again' | head -c 30000000 >&2
done_
SH
    use_agent flood <<'YAML'
limits: {max_output_mb: 2, max_retries: 0}
YAML
    otto add One
    expect 3 otto run
    state_is 1 failed
}

turns_without_a_commit_are_noticed() {
    agent_script idle <<'SH'
cat >/dev/null
SH
    use_agent idle <<'YAML'
limits: {max_turns: 4, stuck_turns: 2}
YAML
    otto add One
    expect 3 otto run
    otto why 1 >"$ROOM/why"
    contains "$ROOM/why" '2 turns without a commit'
}

a_stuck_task_pauses_the_autopilot_when_asked_to() {
    agent_script idle <<'SH'
cat >/dev/null
SH
    use_agent idle <<'YAML'
limits: {max_turns: 9, stuck_turns: 2}
pause_on_stuck: true
YAML
    otto add One
    expect 3 otto run
    autopilot_is paused || fail 'the autopilot should be paused'
    equal 2 "$(task_field 1 turns)" turns
}

slots_are_a_limit_too() {
    agent_script count <<'SH'
cat >/dev/null
touch "$ROOM/at-work-$OTTO_TASK_ID"
ls "$ROOM" | grep -c at-work >>"$ROOM/seen"
sleep 0.2
rm "$ROOM/at-work-$OTTO_TASK_ID"
echo "$OTTO_TASK_ID" >"x-$OTTO_TASK_ID.txt"
done_
SH
    use_agent count <<'YAML'
slots: 2
YAML
    for n in 1 2 3 4 5 6; do otto add "Task $n" >/dev/null; done
    expect 0 otto run
    equal 2 "$(sort -n "$ROOM/seen" | tail -n 1)" 'most agents at once'
}

run_cases \
    turns_run_out_and_the_work_is_kept \
    a_task_has_turns_of_its_own \
    a_flood_on_one_line_ends_the_turn_and_the_engine_stays_small \
    a_flood_in_lines_and_on_the_error_stream_counts_too \
    turns_without_a_commit_are_noticed \
    a_stuck_task_pauses_the_autopilot_when_asked_to \
    slots_are_a_limit_too
