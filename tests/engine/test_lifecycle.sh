#!/bin/sh
# The workflow `lifecycle`: plan, verify, check, exec, verify, check, merge, report (A-13..A-83).
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/flow.sh"

# A whole life: the first plan is sent back, the first work fails its checks, then all is well.
whole_life() {
    use_scenario 'workflow: lifecycle
verify: ["sh check.sh"]' <<YAML
phases:
  plan:
    - - say: A first idea.
      - answer: {result: "(generated)", summary: too thin, steps: [{title: do it}]}
    - - expect: {contains: "the plan names no checks"}
      - answer:
          summary: write the greeting and its test
          steps:
            - {title: greeting, detail: a function, files: ["lib.sh", "check.sh"], checks: [{name: greets, command: "test -f lib.sh && . ./lib.sh && greet | grep -q hello"}]}
          criteria: [greets]
  check@post-plan:
    - - answer: {scores: $SCORES_POOR, findings: [{severity: HIGH, text: the plan names no checks}], summary: the plan names no checks}
    - - answer: {scores: $SCORES_GOOD, summary: clear}
  exec:
    - - write: {path: lib.sh, text: "greet() { echo bye; }\n"}
      - write: {path: check.sh, text: ". ./lib.sh\ngreet | grep -q hello\n"}
      - commit: "feat: greet"
      - answer: {result: "(done)", summary: written}
    - - expect: {contains: "says bye"}
      - write: {path: lib.sh, text: "greet() { echo hello; }\n"}
      - commit: "fix: greet"
      - answer: {result: "(done)", summary: fixed, decisions: [hello it is]}
  check@post-exec:
    - - answer: {scores: $SCORES_POOR, findings: [{severity: HIGH, file: lib.sh, line: 1, text: it says bye}], summary: it says bye}
    - - answer: {scores: $SCORES_GOOD, summary: good}
YAML
    printf 'true\n' >check.sh
    git add check.sh
    git commit -q -m check
    otto add Greeting --body 'Say hello.' >/dev/null
}

a_task_goes_from_plan_to_report_with_both_gates_used() {
    whole_life
    expect 0 otto run
    state_is 1 done
    status_is 1 complete
    equal 'plan:(generated) verify@post-plan:(pass) check@post-plan:NEEDS_REVISION plan:(generated) verify@post-plan:(pass) check@post-plan:PASS exec:(done) verify@post-exec:(fail) check@post-exec:NEEDS_FIX exec@post-exec:(done) verify@post-exec:(pass) check@post-exec:ACCEPT merge:success report:(generated)' \
        "$(step_line 1)" steps
    equal 1 "$(merges_of 1)" merges
    git show main:lib.sh | grep -q hello || fail 'the fix did not land'
    expect 0 otto report 1
    out_has NEEDS_FIX
    out_has 'it says bye'
    expect 0 otto why 1
    out_has check-fix
}

# Killed in each phase, the engine goes on where it was, and no step is made twice.
the_engine_can_be_killed_in_each_phase() {
    whole_life
    wanted='plan:(generated) verify@post-plan:(pass) check@post-plan:NEEDS_REVISION plan:(generated) verify@post-plan:(pass) check@post-plan:PASS exec:(done) verify@post-exec:(fail) check@post-exec:NEEDS_FIX exec@post-exec:(done) verify@post-exec:(pass) check@post-exec:ACCEPT merge:success report:(generated)'
    run_killed_at 1 4
    state_is 1 done
    equal "$wanted" "$(step_line 1)" steps
    equal 1 "$(merges_of 1)" merges
}

run_cases a_task_goes_from_plan_to_report_with_both_gates_used \
    the_engine_can_be_killed_in_each_phase
