#!/bin/sh
# People: approvals, changes that are asked for, rejections, questions, objectives and refinements.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/flow.sh"

PLAN='  plan:
    - - answer: {summary: a plan, steps: [{title: write it}]}'
PASS="  check@post-plan:
    - - answer: {scores: $SCORES_GOOD, summary: clear}"
ACCEPT="  check@post-exec:
    - - answer: {scores: $SCORES_GOOD, summary: good}"
GATES="$PLAN
$PASS
$ACCEPT"

deeper() { sed 's/^/    /'; } # below the name of a task
task() { otto add "$1" --body 'Do it.' >/dev/null; }
steps_have() { # ID TEXT
    step_line "$1" >"$ROOM/steps"
    contains "$ROOM/steps" "$2"
}

# Runs the engine again and again, killed at its Nth commit, until the task is in the state.
killed_until() { # ID STATE COMMIT
    command -v strace >/dev/null || skip 'strace is not here'
    killed_left=80
    while ! is_state "$1" "$2"; do
        killed_left=$((killed_left - 1))
        [ "$killed_left" -gt 0 ] || { otto why "$1"; fail "task $1 never is $2"; }
        strace -qq -o /dev/null -e trace=fdatasync -e "inject=fdatasync:signal=SIGKILL:when=$3" \
            "$OTTO" run >"$ROOM/killed.out" 2>&1 </dev/null || true
    done
}

# -- approve, redo, reject --------------------------------------------------------------------------

a_person_approves_sends_back_and_rejects_and_the_agent_hears_why() {
    use_scenario 'workflow: lifecycle
review: {mode: per-task}' <<YAML
tasks:
  Good:
    phases:
$(echo "$GATES" | deeper)
      exec:
        - - write: {path: good.txt, text: "a\n"}
          - answer: {result: (done), summary: done}
  Keep:
    phases:
$(echo "$GATES" | deeper)
      exec:
        - - write: {path: keep.txt, text: "a\n"}
          - answer: {result: (done), summary: done}
        - - expect: {contains: "name it better"}
          - expect: {contains: style}
          - expect: {path: keep.txt, contains: a}
          - write: {path: keep.txt, text: "b\n"}
          - answer: {result: (done), summary: done}
  Fresh:
    phases:
$(echo "$GATES" | deeper)
      exec:
        - - write: {path: fresh-1.txt, text: "a\n"}
          - answer: {result: (done), summary: done}
        - - expect: {contains: "quite another way"}
          - run: "test ! -e fresh-1.txt"
          - write: {path: fresh-2.txt, text: "b\n"}
          - answer: {result: (done), summary: done}
  Turn:
    phases:
$(echo "$GATES" | deeper)
      exec:
        - - write: {path: turn-1.txt, text: "a\n"}
          - answer: {result: (mid-exec), summary: half}
        - - write: {path: turn-2.txt, text: "a\n"}
          - answer: {result: (done), summary: done}
        - - expect: {contains: "the first half was right"}
          - expect: {path: turn-1.txt, contains: a}
          - run: "test ! -e turn-2.txt"
          - write: {path: turn-3.txt, text: "a\n"}
          - answer: {result: (done), summary: done}
      check@mid-exec:
        - - answer: {scores: $SCORES_GOOD}
  Bad:
    phases:
$(echo "$GATES" | deeper)
      exec:
        - - write: {path: bad.txt, text: "a\n"}
          - answer: {result: (done), summary: done}
YAML
    for name in Good Keep Fresh Turn Bad; do task $name; done
    expect 3 otto run
    for id in 1 2 3 4 5; do state_is $id review; done
    expect 0 otto inbox
    out_has 'approvals'
    out_has 'otto approve 1'
    expect 0 otto approve 1 --note 'well done'
    expect 0 otto redo 2 --note 'name it better' --issue style
    expect 0 otto redo 3 --fresh --note 'quite another way'
    expect 1 otto redo 4 --checkpoint 99 --note x
    err_has 'no saved work of turn 99'
    expect 0 otto redo 4 --checkpoint 3 --note 'the first half was right'
    expect 1 otto reject 5
    err_has 'says why'
    expect 0 otto reject 5 --note 'nobody needs it'
    expect 3 otto run
    state_is 1 done
    for id in 2 3 4; do
        state_is $id review # who asked for changes sees them
        steps_have $id 'approve@review:redo exec@review:(done)'
        expect 0 otto approve $id
    done
    state_is 5 failed
    expect 3 otto run # the rejected one is not forgotten
    for id in 2 3 4; do state_is $id done; done
    equal b "$(git show main:keep.txt)"
    for gone in fresh-1.txt turn-2.txt bad.txt; do
        if git cat-file -e "main:$gone" 2>/dev/null; then fail "$gone landed"; fi
    done
    for there in good.txt fresh-2.txt turn-1.txt turn-3.txt; do git cat-file -e "main:$there"; done
    equal 0 "$(merges_of 5)" merges
    expect 0 otto diff 5
    out_has bad.txt
    expect 0 otto report 2
    out_has 'name it better'
}

in_the_loop_work_is_sent_back_in_three_ways() {
    use_scenario 'review: {mode: batch}' <<'YAML'
tasks:
  Keep:
    - - write: {path: keep.txt, text: "a\n"}
      - signal: COMPLETE
    - - expect: {contains: "name it better"}
      - expect: {path: keep.txt, contains: a}
      - write: {path: keep.txt, text: "b\n"}
      - signal: COMPLETE
  Fresh:
    - - write: {path: fresh-1.txt, text: "a\n"}
      - signal: COMPLETE
    - - expect: {contains: "quite another way"}
      - run: "test ! -e fresh-1.txt"
      - write: {path: fresh-2.txt, text: "b\n"}
      - signal: COMPLETE
  Turn:
    - - write: {path: turn-1.txt, text: "a\n"}
      - say: more to do
    - - write: {path: turn-2.txt, text: "a\n"}
      - signal: COMPLETE
    - - expect: {contains: "the first half was right"}
      - expect: {path: turn-1.txt, contains: a}
      - run: "test ! -e turn-2.txt"
      - signal: COMPLETE
YAML
    for name in Keep Fresh Turn; do task $name; done
    expect 3 otto run
    expect 0 otto redo 1 --note 'name it better'
    expect 0 otto redo 2 --fresh --note 'quite another way'
    expect 0 otto redo 3 --checkpoint 1 --note 'the first half was right' --hint later
    expect 3 otto run
    for id in 1 2 3; do state_is $id review; done
    expect 0 otto review --approve-all
    out_has '3 approved'
    expect 0 otto run
    equal b "$(git show main:keep.txt)"
    git cat-file -e main:fresh-2.txt
    git cat-file -e main:turn-1.txt
    for gone in fresh-1.txt turn-2.txt; do
        if git cat-file -e "main:$gone" 2>/dev/null; then fail "$gone landed"; fi
    done
}

a_batch_review_works_on_those_that_waited_when_it_began() {
    use_scenario 'slots: 1
review: {mode: batch}' <<'YAML'
tasks:
  "*":
    - - run: 'echo x >"task-$OTTO_TASK_ID.txt"'
      - signal: COMPLETE
    - - expect: {contains: "two lines please"}
      - run: 'echo y >>"task-$OTTO_TASK_ID.txt"'
      - signal: COMPLETE
YAML
    for name in One Two Three; do task $name; done
    expect 3 otto run
    mkfifo "$ROOM/keys"
    otto review <"$ROOM/keys" >"$ROOM/review.out" 2>"$ROOM/review.err" &
    review=$!
    exec 3>"$ROOM/keys"
    wait_for 10 grep -q pprove "$ROOM/review.err"
    task Late
    expect 3 otto run # the folder is free while a person thinks
    state_is 4 review
    printf 'd\na\nr\ntwo lines please\nk\nn\n' >&3
    exec 3>&-
    ended 3 "$review"
    contains "$ROOM/review.out" '1 approved, 1 sent back, 0 rejected, 1 left'
    contains "$ROOM/review.out" task-1.txt
    expect 3 otto run
    state_is 1 done
    state_is 2 review
    state_is 3 review
    state_is 4 review
    expect 0 otto review --approve-all
    expect 0 otto run
    equal 2 "$(git show main:task-2.txt | wc -l | tr -d ' ')" lines
}

# -- questions --------------------------------------------------------------------------------------

a_question_from_each_phase_is_answered_and_the_answer_reaches_who_asked() {
    use_scenario 'workflow: lifecycle' <<YAML
phases:
  plan:
    - - signal: "PENDING:Which colour?"
    - - expect: {contains: "Which colour?"}
      - expect: {contains: "blue, please"}
      - answer: {summary: a plan, steps: [{title: write it}]}
$PASS
  exec:
    - - write: {path: a.txt, text: "a\n"}
      - signal: "PENDING:How many?"
    - - expect: {contains: "seven of them"}
      - expect: {path: a.txt, contains: a}
      - answer: {result: (done), summary: done}
  check@post-exec:
    - - signal: "PENDING:Is the licence fine?"
    - - expect: {contains: "the licence is fine"}
      - answer: {scores: $SCORES_GOOD}
YAML
    task Ask
    expect 3 otto run
    expect 0 otto inbox
    out_has 'Which colour?'
    out_has 'otto answer 1'
    expect 0 otto answer 1 'blue, please'
    expect 3 otto run
    expect 0 otto inbox
    out_has 'How many?'
    lacks "$ROOM/out" 'Which colour?'
    expect 0 otto answer 1 'seven of them'
    expect 3 otto run
    expect 0 otto inbox
    out_has 'Is the licence fine?'
    expect 0 otto answer 1 'the licence is fine'
    expect 0 otto run
    state_is 1 done
    steps_have 1 'check@post-exec:PENDING ask@post-exec:answered check@post-exec:ACCEPT merge:success'
    expect 0 otto inbox
    out_has 'Nothing needs you.'
}

what_cannot_be_said_now_is_refused_with_a_reason() {
    use_scenario 'workflow: lifecycle' <<YAML
tasks:
  Asks:
    - - signal: "PENDING:Which colour?"
  Waits:
    phases:
$(echo "$GATES" | deeper)
      exec:
        - - write: {path: a.txt, text: "a\n"}
          - answer: {result: (done), summary: done}
YAML
    task Asks
    otto add Waits --tag look --body x >/dev/null
    task Idle
    printf 'review: {labels: {look: per-task}}\n' >>otto.yaml
    expect 1 otto approve 3
    err_has '#3 waits for no review (it is pending)'
    expect 1 otto answer 3 yes
    err_has '#3'
    expect 3 otto run 1 2
    expect 1 otto approve 1
    err_has '#1 waits for no review'
    expect 1 otto redo 1 --note x
    expect 1 otto approve 99
    err_has 'no task #99'
    expect 1 otto redo 2 --keep --fresh
    err_has 'one of --keep, --fresh and --checkpoint'
    expect 1 otto redo 2 --hint soon
    err_has 'normal, next or later'
    state_is 2 review
    expect 1 otto answer 2 'looks fine'
    err_has '#2 waits for a review: approve, redo or reject it'
    state_is 2 review
    expect 0 otto approve 2
    expect 1 otto approve 2
    err_has 'waits for no review'
    expect 0 otto rm 1 3
}

# -- objectives -------------------------------------------------------------------------------------

OBJECTIVE='{items: [{text: Greet people, requirements: [{text: by name, criteria: prints Ada, weight: critical}, {text: the world, criteria: prints world, weight: optional}]}], constraints: [plain shell]}'
STAGED="  plan:
    - - answer: {summary: all, steps: [{title: greet, covers: [R1, R2, R3]}]}
$PASS
  exec:
    - - run: 'echo x >>staged-\$OTTO_TASK_ID.txt'
      - answer: {result: (done), summary: done}
  highlight:
    - - answer: {worked: [it]}"
MET="  check@post-exec:
    - - answer: {scores: $SCORES_GOOD, coverage: [{id: R1, coverage: 1}, {id: R2, coverage: 1}, {id: R3, coverage: 1}]}"

objectives_are_confirmed_once_for_all_stages() {
    use_scenario 'workflow: staged' <<YAML
phases:
  target:
    - - answer: $OBJECTIVE
    - - expect: {contains: "say goodbye as well"}
      - answer: {items: [{text: Greet people, requirements: [{text: by name, criteria: prints Ada, weight: critical}]}, {text: Goodbye, requirements: [{text: says bye, criteria: prints bye, weight: important}]}]}
    - - answer: {stage: {name: rest, objective: the rest, moves: [R2], reason: open}}
$STAGED
  check@post-exec:
    - - answer: {scores: $SCORES_GOOD, coverage: [{id: R1, coverage: 1}, {id: R2, coverage: 0}]}
    - - answer: {scores: $SCORES_GOOD, coverage: [{id: R1, coverage: 1}, {id: R2, coverage: 1}]}
YAML
    task Greet
    expect 3 otto run
    state_is 1 review
    expect 0 otto inbox
    out_has 'Greet people'
    out_has '2'
    equal 'target:(refined)' "$(step_line 1)" 'nothing is built before'
    expect 0 otto review --approve-all # work is reviewed there, objectives are not
    state_is 1 review
    expect 0 otto redo 1 --note 'say goodbye as well'
    expect 3 otto run
    state_is 1 review
    expect 0 otto inbox
    out_has Goodbye
    expect 0 otto approve 1
    expect 0 otto run
    status_is 1 satisfied
    equal 2 "$(steps_of 1 | grep -c '^confirm')" 'the confirmations (one sent back)'
    expect 0 otto target 1
    out_has 'says bye'
    lacks "$ROOM/out" 'the world'
}

a_confirmation_may_be_given_before_and_while_it_is_asked_for() {
    use_scenario 'workflow: staged' <<YAML
phases:
  target:
    - - answer: $OBJECTIVE
$STAGED
$MET
YAML
    task Before
    task During
    task Never
    expect 0 otto target 1 --confirm
    expect 3 otto run
    status_is 1 satisfied
    state_is 2 review
    expect 0 otto target 2 --confirm
    expect 0 otto reject 3 --note 'not this'
    expect 3 otto run
    status_is 2 satisfied
    state_is 3 blocked
    equal 0 "$(merges_of 3)" merges
    expect 0 otto rm 3
}

# -- refinements ------------------------------------------------------------------------------------

a_refinement_while_it_runs_is_planned_before_anything_lands() {
    use_scenario 'workflow: lifecycle' <<YAML
tasks:
  Refined:
    phases:
      plan:
        - - answer: {summary: a plan, steps: [{title: write it}]}
        - - expect: {contains: "also accept semicolons"}
          - answer: {summary: a plan, steps: [{title: more}]}
$(printf '%s\n%s\n' "$PASS" "$ACCEPT" | deeper)
      exec:
        - - run: 'touch $ROOM/at-1; while ! test -e $ROOM/go; do sleep 0.05; done; echo x >a.txt'
          - answer: {result: (done), summary: done}
        - - run: 'echo x >b.txt'
          - answer: {result: (done), summary: done}
  Early:
    phases:
      plan:
        - - run: 'touch $ROOM/at-3; while ! test -e $ROOM/go; do sleep 0.05; done'
          - answer: {summary: it was not heard, steps: [{title: write it}]}
        - - expect: {contains: "said while it was planned"}
          - answer: {summary: a plan, steps: [{title: more}]}
$(printf '%s\n%s\n' "$PASS" "$ACCEPT" | deeper)
      exec:
        - - run: 'echo x >>early.txt'
          - answer: {result: (done), summary: done}
  Withdrawn:
    phases:
$(echo "$GATES" | deeper)
      exec:
        - - run: 'touch $ROOM/at-2; while ! test -e $ROOM/go; do sleep 0.05; done; echo x >c.txt'
          - answer: {result: (done), summary: done}
YAML
    task Refined
    task Withdrawn
    task Early
    start run run
    wait_for 10 test -e "$ROOM/at-1" -a -e "$ROOM/at-2" -a -e "$ROOM/at-3"
    expect 0 otto target 3 --refine 'said while it was planned'
    expect 0 otto target 1 --refine 'also accept semicolons'
    expect 0 otto target 2 --refine 'a bad idea'
    expect 0 otto target 2
    out_has 'a bad idea'
    number=$(otto target 2 --json | sed -n '/"refinements"/,$s/.*"id": \([0-9]*\).*/\1/p' | head -n 1)
    expect 0 otto target 2 --withdraw "${number:-1}"
    touch "$ROOM/go"
    ended 0 "$PID"
    steps_have 1 'check@post-exec:ACCEPT plan:(generated) verify@post-plan:(partial) check@post-plan:PASS exec:(done) verify@post-exec:(partial) check@post-exec:ACCEPT merge:success'
    equal 1 "$(merges_of 1)" merges
    git cat-file -e main:b.txt
    equal 1 "$(steps_of 2 | grep -c '^plan')" plans
    state_is 3 done
    equal 2 "$(steps_of 3 | grep -c '^plan')" 'plans of what came too late for the first'
    expect 1 otto target 2 --withdraw "${number:-1}"
}

what_is_done_is_taken_up_again_by_a_refinement_and_lands_again() {
    use_scenario '' <<YAML
tasks:
  Life:
    phases:
      plan:
        - - answer: {summary: a plan, steps: [{title: write it}]}
        - - expect: {contains: "I also need b"}
          - answer: {summary: a plan, steps: [{title: more}]}
$(printf '%s\n%s\n' "$PASS" "$ACCEPT" | deeper)
      exec:
        - - run: 'echo x >a.txt'
          - answer: {result: (done), summary: done}
        - - expect: {path: a.txt, contains: x}
          - run: 'echo x >b.txt'
          - answer: {result: (done), summary: done}
  Stages:
    phases:
      target:
        - - answer: $OBJECTIVE
        - - expect: {contains: "I also need c"}
          - answer:
              items: [{text: Greet people, requirements: [{text: by name, criteria: prints Ada, weight: critical}, {text: the world, criteria: prints world, weight: optional}, {text: c, criteria: c is there, weight: critical}]}]
              stage: {name: more, objective: add c, moves: [R3], reason: it was asked for}
$(printf '%s\n' "$STAGED" | deeper)
      check@post-exec:
        - - answer: {scores: $SCORES_GOOD, coverage: [{id: R1, coverage: 1}, {id: R2, coverage: 1}]}
        - - answer: {scores: $SCORES_GOOD, coverage: [{id: R1, coverage: 1}, {id: R2, coverage: 1}, {id: R3, coverage: 1}]}
YAML
    otto add Life --workflow lifecycle --body x >/dev/null
    otto add Stages --workflow staged --body x >/dev/null
    expect 0 otto target 2 --confirm
    expect 0 otto run
    status_is 1 complete
    status_is 2 satisfied
    expect 0 otto target 1 --refine 'I also need b'
    expect 0 otto target 2 --refine 'I also need c'
    state_is 1 pending
    state_is 2 pending
    expect 0 otto run
    status_is 1 complete
    status_is 2 satisfied
    equal 2 "$(merges_of 1)" 'merges of the lifecycle'
    equal 2 "$(merges_of 2)" 'merges of the stages'
    git cat-file -e main:b.txt
    expect 0 otto target 2
    out_has 'c is there'
}

a_refinement_that_comes_to_nothing_is_told() {
    use_scenario 'workflow: staged
objective: {confirm: auto}' <<YAML
phases:
  target:
    - - answer: $OBJECTIVE
$STAGED
  check@post-exec:
    - - answer: {scores: $SCORES_GOOD, coverage: [{id: R1, coverage: 1}, {id: R2, coverage: 1}]}
YAML
    task Stages
    expect 0 otto run
    status_is 1 satisfied
    expect 0 otto target 1 --refine 'I also need c'
    expect 0 otto run
    out_has 'what was asked for changed nothing'
    expect 0 otto why 1
    out_has 'changed nothing in the objective'
    out_has 'I also need c'
    otto timeline 1 --json >"$ROOM/steps"
    contains "$ROOM/steps" 'what was asked for changed nothing'
}

a_reviewer_judges_by_what_was_planned() {
    use_scenario 'workflow: lifecycle' <<YAML
phases:
  plan:
    - - answer: {summary: a plan, steps: [{title: write it}]}
$PASS
  exec:
    - - run: 'touch $ROOM/at; while ! test -e $ROOM/go; do sleep 0.05; done; echo x >>a.txt'
      - answer: {result: (done), summary: done}
  check@post-exec:
    - - answer: {scores: $SCORES_GOOD}
    - - expect: {contains: semicolons}
      - answer: {scores: $SCORES_GOOD}
YAML
    task One
    start run run
    wait_for 10 test -e "$ROOM/at"
    expect 0 otto target 1 --refine 'also accept semicolons'
    expect 0 otto prompt show check 1 --checkpoint post-exec
    lacks "$ROOM/out" semicolons
    expect 0 otto prompt show plan 1
    out_has semicolons
    touch "$ROOM/go"
    ended 0 "$PID"
    steps_have 1 'check@post-exec:ACCEPT plan:(generated) verify@post-plan:(partial) check@post-plan:PASS exec:(done) verify@post-exec:(partial) check@post-exec:ACCEPT'
}

# -- nothing is lost --------------------------------------------------------------------------------

what_people_said_survives_a_kill_of_the_engine_anywhere() {
    use_scenario 'workflow: staged
review: {mode: per-task}' <<YAML
phases:
  target:
    - - answer: $OBJECTIVE
    - - expect: {contains: "two lines"}
      - answer: {stage: {name: more, objective: two lines, moves: [R1], reason: a person asked for it}}
  plan:
    - - signal: "PENDING:Which colour?"
    - - expect: {contains: blue}
      - answer: {summary: all, steps: [{title: greet, covers: [R1, R2]}]}
    - - answer: {summary: all, steps: [{title: greet, covers: [R1, R2]}]}
$PASS
  exec:
    - - run: 'echo x >>a.txt'
      - answer: {result: (done), summary: done}
    - - expect: {path: a.txt, contains: x}
      - run: 'echo x >>a.txt'
      - answer: {result: (done), summary: done}
  highlight:
    - - answer: {worked: [it]}
$MET
YAML
    task Greet
    killed_until 1 review 4
    expect 0 otto approve 1
    asked() { otto inbox | grep -q 'Which colour'; }
    for _ in $(seq 80); do
        asked && break
        strace -qq -o /dev/null -e trace=fdatasync -e inject=fdatasync:signal=SIGKILL:when=4 \
            "$OTTO" run >/dev/null 2>&1 </dev/null || true
    done
    asked || { otto inbox; otto why 1; fail 'no question'; }
    expect 0 otto answer 1 blue
    killed_until 1 review 4
    expect 0 otto redo 1 --note 'two lines'
    killed_until 1 review 4
    expect 0 otto approve 1
    run_killed_at 1 4
    status_is 1 satisfied
    equal 2 "$(git show main:a.txt | wc -l | tr -d ' ')" lines
    equal 1 "$(merges_of 1)" merges
}

run_cases a_person_approves_sends_back_and_rejects_and_the_agent_hears_why \
    in_the_loop_work_is_sent_back_in_three_ways \
    a_batch_review_works_on_those_that_waited_when_it_began \
    a_question_from_each_phase_is_answered_and_the_answer_reaches_who_asked \
    what_cannot_be_said_now_is_refused_with_a_reason \
    objectives_are_confirmed_once_for_all_stages \
    a_confirmation_may_be_given_before_and_while_it_is_asked_for \
    a_refinement_while_it_runs_is_planned_before_anything_lands \
    what_is_done_is_taken_up_again_by_a_refinement_and_lands_again \
    a_refinement_that_comes_to_nothing_is_told a_reviewer_judges_by_what_was_planned \
    what_people_said_survives_a_kill_of_the_engine_anywhere
