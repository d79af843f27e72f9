#!/bin/sh
# How turns end, and what follows.
. "$(dirname "$0")/lib.sh"

an_agent_that_ends_with_an_error_fails_its_task_and_a_retry_goes_on_from_its_work() {
    agent_script breaks <<'SH'
cat >"$ROOM/prompt-$OTTO_ATTEMPT"
if [ "$OTTO_ATTEMPT" = 1 ]; then
    echo first >first.txt
    git add first.txt && git commit -q -m 'feat: first'
    echo loose >loose.txt
    exit 9
fi
cat first.txt loose.txt >second.txt
done_
SH
    use_agent breaks </dev/null
    otto add One
    expect 3 otto run
    state_is 1 failed
    sed -n '/Needs you/,$p' "$ROOM/out" >"$ROOM/needs"
    contains "$ROOM/needs" 'ended with an error'
    otto why 1 >"$ROOM/why"
    contains "$ROOM/why" 'exit code 9'
    otto show 1 --json >"$ROOM/show"
    workspace=$(sed -n 's/^ *"workspace": "\(.*\)",$/\1/p' "$ROOM/show")
    exists "$workspace/loose.txt"
    expect 0 otto retry 1 --note 'mind the gap'
    expect 0 otto run
    state_is 1 done
    contains second.txt first
    contains second.txt loose
    contains "$ROOM/prompt-2" 'mind the gap'
    otto status >"$ROOM/status"
    lacks "$ROOM/status" 'ended with an error'
}

a_fresh_retry_begins_from_the_target() {
    agent_script breaks <<'SH'
cat >"$ROOM/prompt-$OTTO_ATTEMPT"
if [ "$OTTO_ATTEMPT" = 1 ]; then echo first >first.txt; exit 9; fi
[ ! -e first.txt ]
echo second >second.txt
done_
SH
    use_agent breaks </dev/null
    otto add One
    expect 3 otto run
    expect 0 otto retry 1 --fresh --note 'other way round'
    expect 0 otto run
    state_is 1 done
    missing first.txt
    exists second.txt
    contains "$ROOM/prompt-2" 'other way round'
}

an_agent_that_is_killed_without_retries_left_fails() {
    use_scenario 'limits: {max_retries: 0}' <<'YAML'
tasks:
  "*":
    - - kill: SEGV
YAML
    otto add One
    expect 3 otto run
    state_is 1 failed
}

failures_in_a_row_pause_the_autopilot_and_the_next_run_goes_on() {
    agent_script breaks <<'SH'
cat >/dev/null
echo "$OTTO_TASK_ID" >>"$ROOM/ran"
exit 1
SH
    use_agent breaks <<'YAML'
slots: 1
limits: {pause_after_failures: 3}
YAML
    for n in 1 2 3 4 5; do otto add "Task $n" >/dev/null; done
    expect 3 otto run
    equal 3 "$(wc -l <"$ROOM/ran")" 'agents that ran'
    autopilot_is paused || fail 'the autopilot should be paused'
    out_has 'failed in a row'
    state_is 4 pending
    expect 3 otto run
    equal 5 "$(wc -l <"$ROOM/ran")" 'agents that ran in all'
}

dependents_of_a_failed_task_wait_and_say_for_whom() {
    agent_script breaks <<'SH'
cat >/dev/null
exit 1
SH
    use_agent breaks </dev/null
    otto add Root
    otto add Middle --after 1
    otto add Leaf --after 2
    expect 3 otto run
    state_is 1 failed
    state_is 3 pending
    otto why 3 >"$ROOM/why"
    contains "$ROOM/why" '#1'
    otto list --json >"$ROOM/list"
    contains "$ROOM/list" '"skipped_because": 1'
}

a_missing_agent_program_is_told_before_anything_runs() {
    settings <<'YAML'
agent: ghost
agents:
  ghost: {kind: command, command: [no-such-agent-program]}
YAML
    otto add One
    expect 1 otto run
    err_has no-such-agent-program
    state_is 1 pending
}

an_agent_program_that_vanishes_fails_its_task_with_the_reason() {
    agent_script brief <<'SH'
cat >/dev/null
echo "$OTTO_TASK_ID" >"x-$OTTO_TASK_ID.txt"
rm "$ROOM/agent-program"
done_
SH
    { echo '#!/bin/sh'; cat "$ROOM/agent-brief.sh"; } >"$ROOM/agent-program"
    chmod +x "$ROOM/agent-program"
    settings <<YAML
agent: brief
agents:
  brief: {kind: command, command: ["$ROOM/agent-program"]}
YAML
    otto add One
    otto add Two --after 1
    expect 3 otto run
    state_is 1 done
    state_is 2 failed
    otto why 2 >"$ROOM/why"
    contains "$ROOM/why" "cannot start the program"
}

an_agent_of_its_own_for_a_task_and_for_a_run() {
    agent_script a <<'SH'
cat >/dev/null
echo "a $OTTO_TASK_ID" >>"$ROOM/who"
tag BLOCKED:x
SH
    sed 's/"a \$/"b $/' "$ROOM/agent-a.sh" >"$ROOM/agent-b.sh"
    sed 's/"a \$/"c $/' "$ROOM/agent-a.sh" >"$ROOM/agent-c.sh"
    settings <<YAML
agent: a
slots: 1
agents:
  a: {command: [/bin/sh, "$ROOM/agent-a.sh"]}
  b: {command: [/bin/sh, "$ROOM/agent-b.sh"]}
  c: {command: [/bin/sh, "$ROOM/agent-c.sh"]}
YAML
    otto add One
    otto add Two --agent b
    expect 3 otto run --agent c
    equal 'b 2,c 1,' "$(sort "$ROOM/who" | tr '\n' ',')" 'who ran'
}

an_agent_that_does_not_read_its_prompt_works_too() {
    agent_script deaf <<'SH'
exec <&-
echo x >x.txt
done_
SH
    use_agent deaf </dev/null
    otto add One --body "$(head -c 90000 /dev/zero | tr '\0' 'y')"
    expect 0 otto run
    state_is 1 done
}

a_workspace_that_cannot_be_set_up_fails_the_task_with_the_reason() {
    agent_script plain <<'SH'
cat >/dev/null
done_
SH
    use_agent plain <<'YAML'
workspace: {setup: "echo the pump is broken; exit 3"}
limits: {max_retries: 0}
YAML
    otto add One
    expect 3 otto run
    state_is 1 failed
    otto why 1 >"$ROOM/why"
    contains "$ROOM/why" 'setup'
}

run_cases \
    an_agent_that_ends_with_an_error_fails_its_task_and_a_retry_goes_on_from_its_work \
    a_fresh_retry_begins_from_the_target \
    an_agent_that_is_killed_without_retries_left_fails \
    failures_in_a_row_pause_the_autopilot_and_the_next_run_goes_on \
    dependents_of_a_failed_task_wait_and_say_for_whom \
    a_missing_agent_program_is_told_before_anything_runs \
    an_agent_program_that_vanishes_fails_its_task_with_the_reason \
    an_agent_of_its_own_for_a_task_and_for_a_run \
    an_agent_that_does_not_read_its_prompt_works_too \
    a_workspace_that_cannot_be_set_up_fails_the_task_with_the_reason
