#!/bin/sh
# The workflow `staged`: objectives, stages with scored gates, convergence, rollback (B-11..B-166).
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/flow.sh"

# Three stages. The first plan misses a requirement, the first work fails its gate, the second stage
# makes things worse and is rolled back, the third goes another way and meets the objective.
three_stages() {
    use_scenario 'workflow: staged
objective: {confirm: auto}
verify: ["sh check.sh"]' <<YAML
phases:
  target:
    - - answer:
          items:
            - text: Greet people
              requirements:
                - {text: greets by name, criteria: greet Ada prints Ada, weight: critical}
                - {text: greets the world without a name, criteria: greet prints world, weight: important}
            - text: Say goodbye
              requirements:
                - {text: says bye, criteria: bye prints bye, weight: optional}
          constraints: [plain shell only]
    - - answer: {stage: {name: polish, objective: rewrite everything, moves: [R2, R3], reason: a clean start}}
    - - expect: {contains: "rewrite everything"}
      - answer: {stage: {name: finish, objective: add what is missing, moves: [R2, R3], reason: small steps, differs: nothing is rewritten}}
  plan:
    - - answer: {summary: names only, steps: [{title: greet, covers: [R1]}]}
    - - expect: {contains: R2}
      - answer: {summary: all of it, steps: [{title: greet, covers: [R1, R2]}, {title: bye, covers: [R3]}]}
    - - answer: {summary: rewrite, steps: [{title: rewrite, covers: [R2, R3]}]}
    - - answer: {summary: add, steps: [{title: add, covers: [R2, R3]}]}
  check@post-plan:
    - - answer: {scores: $SCORES_GOOD, summary: fine}
  exec:
    - - write: {path: lib.sh, text: "greet() { echo \"hello \$1\"; }\n"}
      - commit: "feat: greet"
      - answer: {result: "(done)", summary: first}
    - - write: {path: lib.sh, text: "# greets\ngreet() { echo \"hello \$1\"; }\n"}
      - commit: "fix: say what it does"
      - answer: {result: "(done)", summary: mended}
    - - write: {path: lib.sh, text: "greet() { echo nobody; }\n"}
      - commit: "refactor: rewrite"
      - answer: {result: "(done)", summary: rewritten}
    - - expect: {path: lib.sh, contains: "# greets"}
      - write: {path: lib.sh, text: "# greets\ngreet() { echo \"hello \${1:-world}\"; }\nbye() { echo bye; }\n"}
      - commit: "feat: world and bye"
      - answer: {result: "(done)", summary: added}
  check@post-exec:
    - - answer: {scores: $SCORES_POOR, summary: no comment says what it does}
    - - answer: {scores: $SCORES_GOOD, coverage: [{id: R1, coverage: 1.0, reason: works}, {id: R2, coverage: 0}, {id: R3, coverage: 0}], summary: names work}
    - - answer: {scores: $SCORES_GOOD, coverage: [{id: R1, coverage: 0, reason: broken now}, {id: R2, coverage: 0.25}, {id: R3, coverage: 0}], summary: names are gone}
    - - answer: {scores: $SCORES_GOOD, coverage: [{id: R1, coverage: 1.0, reason: works}, {id: R2, coverage: 1.0, reason: works}, {id: R3, coverage: 1.0, reason: works}], summary: all there}
  highlight:
    - - answer: {worked: [small steps], experience: [{topic: shell greetings, text: keep functions small}]}
YAML
    printf 'test ! -e lib.sh || . ./lib.sh\n' >check.sh
    git add check.sh
    git commit -q -m check
    otto add Greetings --body 'Greet people, say goodbye.' >/dev/null
}

WAY='target:(refined) plan:(generated) verify@post-plan:(pass) check@post-plan:NEEDS_REVISION plan:(generated) verify@post-plan:(pass) check@post-plan:PASS exec@post-plan:(done) verify@post-exec:(pass) check@post-exec:NEEDS_FIX exec@post-exec:(done) verify@post-exec:(pass) check@post-exec:ACCEPT highlight@post-exec:(distilled) report:(generated) target:(stage-advanced) plan:(generated) verify@post-plan:(pass) check@post-plan:PASS exec@post-plan:(done) verify@post-exec:(pass) check@post-exec:ROLLBACK target:(stage-advanced) plan:(generated) verify@post-plan:(pass) check@post-plan:PASS exec@post-plan:(done) verify@post-exec:(pass) check@post-exec:ACCEPT highlight@post-exec:(distilled) report:(generated) merge:success'

three_stages_with_a_rollback_end_satisfied() {
    three_stages
    expect 0 otto run
    state_is 1 done
    status_is 1 satisfied
    equal "$WAY" "$(step_line 1)" steps
    git show main:lib.sh | grep -q world || fail 'the last stage did not land'
    if git log --format=%s main | grep -q rewrite; then fail 'the stage that was rolled back landed'; fi
    expect 0 otto target 1
    out_has 'greets by name'
    out_has rolled-back
    expect 0 otto profile show software --json
    out_has '"sample_count": 1'
}

the_engine_can_be_killed_after_each_step() {
    three_stages
    run_killed_at 1 4
    status_is 1 satisfied
    equal "$WAY" "$(step_line 1)" steps
}

what_a_person_calls_enough_lands_as_it_is() {
    use_scenario 'workflow: staged
objective: {confirm: auto}
verify: ["true"]' <<YAML
phases:
  target:
    - - answer: {items: [{text: Greet, requirements: [{text: greets, criteria: prints hello, weight: 3}, {text: sings, criteria: sings, weight: 3}]}]}
    - - answer: {exhausted: true}
  plan:
    - - answer: {summary: all, steps: [{title: greet, covers: [R1, R2]}]}
  check:
    - - answer: {scores: $SCORES_GOOD, summary: fine}
    - - answer: {scores: $SCORES_GOOD, summary: half of it, coverage: [{id: R1, coverage: 1, reason: seen}, {id: R2, coverage: 0}]}
  exec:
    - - write: {path: hello.txt, text: "hello\n"}
      - commit: "feat: hello"
      - answer: {result: "(done)", summary: hello}
  highlight:
    - - answer: {worked: [nothing special]}
YAML
    otto add Greet >/dev/null
    expect 3 otto run
    state_is 1 blocked
    status_is 1 evolving
    expect 0 otto target 1 --satisfy
    expect 0 otto run
    status_is 1 satisfied
    equal 1 "$(merges_of 1)" merges
    equal hello "$(git show main:hello.txt)" 'what landed'
}

a_refinement_instead_of_a_yes_is_worked_in_and_asked_about_again() { # B-11, B-104
    agent_script asks <<'SH'
cat >"$ROOM/told-$OTTO_VISIT"
more=
grep -q 'in German too' "$ROOM/told-$OTTO_VISIT" &&
    more=',{"text":"Greet in German","requirements":[{"text":"says hallo","criteria":"hallo","weight":2}]}'
tag "RESULT:{\"items\":[{\"text\":\"Greet people\",\"requirements\":[{\"text\":\"says hello\",\"criteria\":\"hello\",\"weight\":3}]}$more]}"
SH
    printf 'workflow: staged\nverify: ["true"]\n' | use_agent asks
    otto add Greetings --body 'Greet people.' >/dev/null
    expect 3 otto run
    state_is 1 review
    expect 0 otto target 1 --refine 'in German too'
    expect 3 otto run
    state_is 1 review
    contains "$ROOM/told-2" 'in German too'
    otto inbox >"$ROOM/inbox"
    contains "$ROOM/inbox" 'Greet in German'
    equal 1 "$(grep -c 'Greet people' "$ROOM/inbox")" 'questions that are open'
    equal 'target:(refined) confirm@confirm:redo target@confirm:(refined)' "$(step_line 1)" steps
    otto target 1 --all >"$ROOM/target"
    contains "$ROOM/target" 'applied  in German too'
}

# A reviewer that is content with everything and never sees the rest done.
stages_that_move_nothing_end_after_a_few() {
    use_scenario 'workflow: staged
objective: {confirm: auto}' <<YAML
phases:
  target:
    - - answer: {}
    - - expect: {contains: "'items' and 'stage' are missing"}
      - answer: {items: [{text: Greet, requirements: [{text: greets, criteria: prints hello, weight: 2}, {text: sings, criteria: sings, weight: 2}]}]}
    - - answer: {stage: {name: on, objective: go on, moves: [R2], reason: open}}
  plan:
    - - answer: {summary: all, steps: [{title: greet, covers: [R1, R2]}]}
  check@post-plan:
    - - answer: {scores: $SCORES_GOOD}
  exec:
    - - run: 'echo x >>hello.txt'
      - commit: "feat: hello"
      - answer: {result: "(done)", summary: hello}
  check@post-exec:
    - - answer: {scores: $SCORES_GOOD, coverage: [{id: R1, coverage: 1, reason: seen}, {id: R2, coverage: 0.75}]}
  highlight:
    - - answer: {worked: [nothing special]}
YAML
    otto add Greet >/dev/null
    expect 3 otto run
    state_is 1 blocked
    status_is 1 evolving
    steps_of 1 >"$ROOM/steps"
    equal 3 "$(grep -c 'check@post-exec ACCEPT' "$ROOM/steps")" 'stages that passed' # one moved, two did not
    contains "$ROOM/steps" 'check@post-exec STALLED check-stalled'
    expect 0 otto inbox
    out_has 'moved no requirement'
    expect 0 otto retry 1 # as many again
    expect 3 otto run
    equal 5 "$(steps_of 1 | grep -c 'check@post-exec ACCEPT')" 'stages that passed'
    expect 0 otto target 1 --satisfy
    expect 0 otto run
    status_is 1 satisfied
    equal 1 "$(merges_of 1)" merges
}

run_cases three_stages_with_a_rollback_end_satisfied the_engine_can_be_killed_after_each_step \
    what_a_person_calls_enough_lands_as_it_is stages_that_move_nothing_end_after_a_few \
    a_refinement_instead_of_a_yes_is_worked_in_and_asked_about_again
