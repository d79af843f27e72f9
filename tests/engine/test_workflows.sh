#!/bin/sh
# Workflows, hooks and prompts of the user: files in the repository that take part in the run.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/flow.sh"

DOCS=$(dirname "$(realpath "$0")")/../../docs

flow_file() { # NAME, definition on stdin
    mkdir -p .otto/workflows
    cat >".otto/workflows/$1.yaml"
}
own_prompt() { # NAME, text on stdin
    mkdir -p .otto/prompts
    cat >".otto/prompts/$1.md"
}
hashes_of() { # ID: of the steps that an agent made, one per line
    otto timeline "$1" --json | python3 -c '
import json, sys
for s in json.load(sys.stdin)["steps"]:
    if s.get("prompt_hash"): print(s["phase"], s["prompt_hash"])'
}
why_says() { otto why "$1" 2>/dev/null | grep -q -- "$2"; } # ID TEXT
log_has() { grep -qF -- "$1" "$OTTO_STATE_DIR/log"; }

# An agent that keeps what it is told in $ROOM/told-TASK-PHASE-VISIT, and waits there when the file
# $ROOM/hold-PHASE is present. Work: one commit per turn; reviewers are content.
listening_agent() {
    agent_script listens <<'SH'
cat >"$ROOM/part-$OTTO_TASK_ID"
mv "$ROOM/part-$OTTO_TASK_ID" "$ROOM/told-$OTTO_TASK_ID-$OTTO_PHASE-${OTTO_VISIT:-1}"
n=0
while [ -e "$ROOM/hold-$OTTO_PHASE" ]; do n=$((n + 1)); [ "$n" -lt 600 ]; sleep 0.05; done
answer() { tag "RESULT:$1"; }
case $OTTO_PHASE in
plan) answer '{"summary":"one step","steps":[{"title":"write it"}]}' ;;
check | look) answer '{"scores":{"d1":0.9,"d2":0.9,"d3":0.9,"d4":0.9,"d5":0.9,"d6":0.9},"summary":"fine"}' ;;
*)
    echo "${OTTO_VISIT:-1}" >"work-$OTTO_TASK_ID.txt"
    if [ -e "$ROOM/more.sh" ]; then . "$ROOM/more.sh"; fi
    git add -A
    git commit -q -m "feat: task $OTTO_TASK_ID"
    [ "$OTTO_PHASE" != exec ] || answer '{"result":"(done)","summary":"written"}'
    done_
    ;;
esac
SH
}
use_listening() { # settings on stdin
    listening_agent
    { printf 'verify: ["test -f base.txt"]\n'; cat; } >"$ROOM/more"
    use_agent listens <"$ROOM/more"
}

# -- own workflows ------------------------------------------------------------------------------------

the_ten_lines_of_the_documentation_land_a_task() {
    sed -n '/^```yaml$/,/^```$/p' "$DOCS/workflows.md" | sed -n '/^name:/,/^```$/p' | sed '/^```$/,$d' |
        flow_file second-look
    equal 10 "$(wc -l <.otto/workflows/second-look.yaml)" lines
    expect 0 otto workflow check
    use_scenario 'workflow: second-look
verify: ["test -f good.txt"]' <<YAML
phases:
  work:
    - - write: {path: bad.txt, text: "x\n"}
      - commit: "feat: bad"
      - signal: COMPLETE
    - - write: {path: good.txt, text: "x\n"}
      - commit: "feat: good"
      - signal: COMPLETE
    - - expect: {contains: no comment}
      - write: {path: better.txt, text: "x\n"}
      - commit: "feat: better"
      - signal: COMPLETE
  look:
    - - answer: {scores: $SCORES_POOR, findings: [{severity: HIGH, text: no comment}], summary: no comment}
    - - answer: {scores: $SCORES_GOOD, summary: fine}
YAML
    otto add One >/dev/null
    expect 0 otto run
    state_is 1 done
    equal 'work:COMPLETE test:fail work:COMPLETE test:pass look:NEEDS_FIX work:COMPLETE test:pass look:ACCEPT land:landed' \
        "$(step_line 1 | sed 's/@[a-z-]*//g')" steps
    git cat-file -e main:better.txt || fail 'the work did not land'
}

a_built_in_workflow_can_be_replaced_and_its_thresholds_and_limits_count() {
    flow_file lifecycle <<'YAML'
name: lifecycle
help: stricter
extends: lifecycle
thresholds: {post-plan: 0.95}
limits: {steps: 6}
YAML
    expect 0 otto workflow list
    out_has 'instead of the built-in one'
    expect 0 otto workflow check
    use_listening </dev/null
    otto add One --workflow lifecycle >/dev/null
    expect 3 otto run
    # 0.9 is below 0.95: the plan never passes, and after six steps it is not tried again
    case $(step_line 1) in
    'plan:(generated) verify@post-plan:(partial) check@post-plan:NEEDS_REVISION plan:'* | \
        'plan:(generated) verify@post-plan:(pass) check@post-plan:NEEDS_REVISION plan:'*) ;;
    *) fail "steps: $(step_line 1)" ;;
    esac
    state_is 1 timeout
    why_says 1 'is below' || fail 'the threshold is not told'
    equal 'check@post-plan NEEDS_REVISION check-revise-steps' "$(steps_of 1 | tail -n 1)" 'the last step'
    [ "$(steps_of 1 | wc -l)" -le 9 ] || fail "the limit of steps did not count: $(step_line 1)"
}

the_loop_can_be_replaced_too() {
    flow_file loop <<'YAML'
name: loop
extends: loop
limits: {turns: 2}
YAML
    use_scenario <<'YAML'
turns:
  - - say: thinking
YAML
    otto add One >/dev/null
    expect 3 otto run
    state_is 1 timeout
    equal 2 "$(otto show 1 --json | grep -c '"journal"')" turns
}

own_statuses_checkpoints_and_results_are_used() {
    flow_file mine <<'YAML'
name: mine
statuses:
  sketch: {ends: pending, rank: 1}
  inked: {ends: pending, rank: 2}
  hung: {ends: done, rank: 5}
checkpoints: {first: a first look, second: a second look}
limits: {turns: 5, retries: 1}
phases:
  draw: {kind: agent, prompt: work, status: sketch, answer: result, results: [COMPLETE, BLOCKED, PENDING, none, failed, killed, stopped, limit, timeout, output-limit, spawn-failed, cannot-start, invalid, (done), (mid-exec)]}
  prove: {kind: verify}
  hang: {kind: merge, status: inked}
routes:
  - {id: drawn, phase: draw, result: (done), next: prove, to_checkpoint: second, effects: [run-gate], why: it is drawn}
  - {id: half, phase: draw, result: (mid-exec), guard: turns-spent, next: (stop), ends: timeout, why: too long}
  - {id: more, phase: draw, result: (mid-exec), next: draw, to_checkpoint: first, effects: [count-turn, start-turn], why: half of it is there}
  - {id: spent, phase: draw, result: "*", next: (stop), ends: failed, why: it was not drawn}
  - {id: proven, phase: prove, result: pass, next: hang, effects: [enqueue-merge], why: it is proven}
  - {id: unproven, phase: prove, result: "*", next: (stop), ends: failed, why: not proven}
  - {id: hung, phase: hang, result: landed, next: (stop), to_status: hung, why: it hangs}
  - {id: fallen, phase: hang, result: "*", next: (stop), ends: blocked, why: it fell}
YAML
    expect 0 otto workflow check mine
    use_scenario 'workflow: mine
verify: ["test -f base.txt"]' <<'YAML'
phases:
  draw@first:
    - - write: {path: two.txt, text: "x\n"}
      - commit: "feat: two"
      - answer: {result: (done), summary: drawn}
  draw:
    - - write: {path: one.txt, text: "x\n"}
      - commit: "feat: one"
      - answer: {result: (mid-exec), summary: half}
YAML
    otto add One >/dev/null
    expect 0 otto run
    equal 'draw (mid-exec) more,draw@first (done) drawn,prove@second pass proven,hang landed hung,' \
        "$(steps_of 1 | tr '\n' ',')" steps
    status_is 1 hung
    state_is 1 done
    git cat-file -e main:two.txt || fail 'the work did not land'
}

a_run_keeps_its_version_while_its_workflow_is_edited() {
    flow_file mine <<'YAML'
name: mine
phases:
  work: {kind: agent, prompt: work}
  test: {kind: verify}
  land: {kind: merge}
YAML
    use_listening <<'YAML'
workflow: mine
YAML
    otto add One >/dev/null
    touch "$ROOM/hold-work"
    start run run
    wait_for 20 test -e "$ROOM/told-1-work-1"
    flow_file mine <<'YAML'
name: mine
phases:
  labour: {kind: agent, prompt: work}
  test: {kind: verify}
  look: {kind: gate, prompt: check, answer: review}
  land: {kind: merge}
YAML
    otto add Two >/dev/null
    rm "$ROOM/hold-work"
    ended 0 "$PID"
    equal 'work:COMPLETE test:pass land:landed' "$(step_line 1)" 'steps of the first'
    # and after a restart, with a third task
    otto add Three >/dev/null
    expect 0 otto run
    equal 'labour:COMPLETE test:pass look:ACCEPT land:landed' "$(step_line 3 | sed 's/@[a-z-]*//g')" 'steps of the third'
    otto show 1 --json >"$ROOM/show"
    contains "$ROOM/show" '"flow": "mine"'
    # audit: the replay decides the same for both versions
}

an_engine_that_is_killed_goes_on_with_the_version_that_the_run_began_with() {
    flow_file mine <<'YAML'
name: mine
phases:
  work: {kind: agent, prompt: work}
  test: {kind: verify}
  land: {kind: merge}
YAML
    use_listening <<'YAML'
workflow: mine
YAML
    otto add One >/dev/null
    touch "$ROOM/hold-work"
    start run run
    wait_for 20 test -e "$ROOM/told-1-work-1"
    kill -KILL "$PID"
    wait "$PID" 2>/dev/null || true
    flow_file mine <<'YAML'
name: mine
phases:
  look: {kind: gate, prompt: check, answer: review}
  work: {kind: agent, prompt: work}
  land: {kind: merge}
YAML
    rm "$ROOM/hold-work"
    expect 0 otto run
    equal 'work:COMPLETE test:pass land:landed' "$(step_line 1)" steps
}

a_workflow_that_is_gone_is_told_and_others_go_on() {
    flow_file mine <<'YAML'
name: mine
phases:
  work: {kind: agent, prompt: work}
  land: {kind: merge}
YAML
    use_listening </dev/null
    expect 1 otto add Zero --workflow nope
    err_has "unknown workflow 'nope'"
    err_has mine
    otto add One --workflow mine >/dev/null
    otto add Two >/dev/null
    rm .otto/workflows/mine.yaml
    otto run >"$ROOM/run" 2>&1 || true
    state_is 2 done
    # the version that the task was added with is known still, so it is worked on
    state_is 1 done
    equal 'work:COMPLETE land:landed' "$(step_line 1)" steps
    expect 1 otto add Three --workflow mine
    err_has "unknown workflow 'mine'"
    expect 1 otto run --workflow mine
    err_has "unknown workflow 'mine'"
    expect 1 otto run --workflow 'a b'
}

a_project_whose_own_workflow_is_broken_does_not_start() {
    flow_file mine <<'YAML'
name: mine
phases:
  work: {kind: agent, prompt: work}
  test: {kind: verify}
  land: {kind: merge}
routes:
  test: {fail: wrok}
YAML
    use_listening <<'YAML'
workflow: mine
YAML
    expect 3 otto workflow check
    err_has '.otto/workflows/mine.yaml:7: routes.test.fail'
    err_has "did you mean 'work'"
    expect 1 otto run
    err_has "unknown workflow 'mine'"
    err_has 'otto workflow check'
}

each_mistake_of_a_file_is_named_with_its_place() {
    bad() { # TEXT: what is said; the rest of the file on stdin
        { printf 'name: mine\nphases:\n  work: {kind: agent, prompt: work}\n  test: {kind: verify}\n  land: {kind: merge}\n'; cat; } |
            flow_file mine
        expect 3 otto workflow check
        err_has '.otto/workflows/mine.yaml'
        err_has "$1"
    }
    bad 'the circle test -> test has no limit' <<'YAML'
routes:
  - {id: back, phase: test, result: fail, next: test, why: again}
YAML
    bad "mine.yaml:6: phases.spare" <<'YAML'
  spare: {kind: dance}
YAML
    bad "did you mean 'prompt'" <<'YAML'
  spare: {kind: agent, promt: work}
YAML
    bad 'mine.yaml:8: routes[1]' <<'YAML'
routes:
  - {id: a, phase: test, result: fail, next: work, why: again}
  - {id: b, phase: tset, result: fail, next: work, why: again}
YAML
    bad "mine.yaml:6: hooks.dancing: unknown status 'dancing'" <<'YAML'
hooks: {dancing: "true"}
YAML
    bad 'mine.yaml:6: thresholds' <<'YAML'
thresholds: {post-exec: 7}
YAML
    bad "mine.yaml:6: phase 'spare': there is no prompt 'nosuch'" <<'YAML'
  spare: {kind: agent, prompt: nosuch}
YAML
    bad "the limit 'bogus' limits nothing" <<'YAML'
limits: {bogus: 7}
YAML
    bad 'mine.yaml:7:' <<'YAML'
routes: [
YAML
    # two files of one folder must not bear the same name
    printf 'name: mine\nphases:\n  work: {kind: agent, prompt: work}\n  land: {kind: merge}\n' | flow_file mine
    cp .otto/workflows/mine.yaml .otto/workflows/other.yaml
    expect 3 otto workflow check
    err_has "workflow 'mine' stands in"
    rm .otto/workflows/other.yaml
    expect 0 otto workflow check
}

every_form_of_the_command_works_or_says_why_not() {
    expect 0 otto workflow list
    for name in loop lifecycle staged auto-a auto-b; do
        out_has "$name"
        expect 0 otto workflow show "$name"
        expect 0 otto workflow graph "$name"
        expect 0 otto workflow graph "$name" --svg "$ROOM/$name.svg"
        contains "$ROOM/$name.svg" '</svg>'
        expect 0 otto workflow show "$name" --json
        cp "$ROOM/out" "$ROOM/$name.json"
        json_is_valid "$ROOM/$name.json"
        expect 0 otto workflow new "my-$name" --from "$name"
        expect 0 otto workflow list
    done
    expect 0 otto workflow list --json
    json_is_valid "$ROOM/out"
    expect 0 otto workflow show loop --row work-complete
    expect 1 otto workflow show loop --row work-complet
    err_has "did you mean 'work-complete'"
    expect 0 otto workflow new mine
    expect 1 otto workflow new mine
    err_has 'exists already'
    expect 0 otto workflow new mine --force
    expect 0 otto workflow new mine --file "$ROOM/deep/er/mine.yaml"
    expect 0 otto workflow check "$ROOM/deep/er/mine.yaml"
    expect 0 otto workflow graph mine --svg -
    out_has '</svg>'
    expect 0 otto workflow check
    expect 1 otto workflow new 'a b'
    expect 1 otto workflow new ../evil
    missing .otto/evil.yaml
    expect 1 otto workflow new x --from nope
    expect 1 otto workflow show
    expect 1 otto workflow show nope
    expect 1 otto workflow show loop extra
    expect 1 otto workflow check nope
    expect 1 otto workflow check "$ROOM/no-such.yaml"
    expect 1 otto workflow dance
    expect 1 otto workflow list --dance
    expect 2 otto workflow graph loop --svg "$ROOM/no/such/folder/x.svg"
    # what show prints as JSON is a definition itself
    sed 's/"name": "lifecycle"/"name": "again"/' "$ROOM/lifecycle.json" >.otto/workflows/again.yaml
    expect 0 otto workflow check again
}

hooks_run_with_the_facts_and_never_disturb() { # A-230
    flow_file mine <<YAML
name: mine
extends: lifecycle
hooks:
  executing: 'printf "%s|%s|%s\n" "\$MODULE" "\$STATUS" "\$TITLE" >>"$ROOM/hooks"'
  review: 'echo begun >"$ROOM/slow"; sleep 3456; echo ended >>"$ROOM/slow"'
YAML
    use_listening <<YAML
workflow: mine
hooks:
  timeout_s: 1
  on_status:
    complete: 'printf "%s|%s|%s|%s\n" "\$MODULE" "\$STATUS" "\$TITLE" "\${OTTO_TOKEN:-no}" >>"$ROOM/hooks"; exit 3'
    executing: 'echo "own \$STATUS" >>"$ROOM/hooks"'
YAML
    otto add "A \$(touch $ROOM/pwned) \"title\"" >/dev/null
    expect 0 otto run
    state_is 1 done
    wait_for 10 grep -q complete "$ROOM/hooks"
    contains "$ROOM/hooks" "task-1|executing|A \$(touch $ROOM/pwned) \"title\""
    contains "$ROOM/hooks" "task-1|complete|A \$(touch $ROOM/pwned) \"title\"|no"
    contains "$ROOM/hooks" 'own executing'
    missing "$ROOM/pwned"
    equal begun "$(cat "$ROOM/slow")" 'the hook that was ended'
    wait_for 10 why_says 1 "hook for 'complete' ended with exit code 3"
    why_says 1 "hook for 'review' took too long" || fail 'the slow hook is not told'
    expect 0 otto config check
    printf '    nosuch: "true"\n' >>otto.yaml
    expect 1 otto config check
    grep -q "no workflow has a status 'nosuch'" "$ROOM/out" "$ROOM/err" || fail 'the status is not told'
}

# -- prompts --------------------------------------------------------------------------------------------

untag() { sed 's/otto-[A-Za-z0-9]*/TAG/g' "$1"; }

what_is_shown_is_what_is_sent() {
    use_listening <<'YAML'
workflow: lifecycle
YAML
    otto add One --body 'Write a file. {{tag}} stays as it is.' >/dev/null
    expect 0 otto prompt show plan 1
    cp "$ROOM/out" "$ROOM/shown-plan"
    touch "$ROOM/hold-plan" "$ROOM/hold-exec" "$ROOM/hold-check"
    start run run
    for phase in plan check exec check; do
        visit=1
        [ "$phase" != check ] || [ ! -e "$ROOM/told-1-check-1" ] || visit=2
        wait_for 20 test -e "$ROOM/told-1-$phase-$visit"
        expect 0 otto prompt show "$phase" 1
        cmp "$ROOM/out" "$ROOM/told-1-$phase-$visit" ||
            { diff "$ROOM/out" "$ROOM/told-1-$phase-$visit" | head -n 20; fail "$phase $visit: shown and sent differ"; }
        rm "$ROOM/hold-$phase"
        [ "$phase" != exec ] || touch "$ROOM/hold-check"
    done
    ended 0 "$PID"
    untag "$ROOM/shown-plan" >"$ROOM/a"
    untag "$ROOM/told-1-plan-1" >"$ROOM/b"
    cmp "$ROOM/a" "$ROOM/b" || { diff "$ROOM/a" "$ROOM/b" | head -n 20; fail 'before the run another prompt was shown'; }
    expect 1 otto prompt show nope 1
    err_has 'no phase'
    expect 1 otto prompt show merge 1
    err_has 'asks no agent'
    expect 1 otto prompt show plan 9
    expect 1 otto prompt show plan
    expect 1 otto prompt dance
    expect 1 otto prompt show check 1 --checkpoint nowhere
    expect 0 otto prompt show check 1 --checkpoint post-plan
    expect 0 otto prompt list
    out_has exec-fix
    out_has auto-b
}

what_the_loop_is_told_is_shown_too() {
    use_listening </dev/null
    otto add One --body 'Write a file.' >/dev/null
    expect 0 otto prompt show work 1
    cp "$ROOM/out" "$ROOM/before"
    touch "$ROOM/hold-work"
    start run run
    told() { ls "$ROOM"/told-1-work-* >/dev/null 2>&1; }
    wait_for 20 told
    expect 0 otto prompt show work 1
    cmp "$ROOM/out" "$ROOM"/told-1-work-* || fail 'shown and sent differ'
    rm "$ROOM/hold-work"
    ended 0 "$PID"
    untag "$ROOM/before" >"$ROOM/a"
    cat "$ROOM"/told-1-work-* >"$ROOM/c"
    untag "$ROOM/c" >"$ROOM/b"
    cmp "$ROOM/a" "$ROOM/b" || fail 'before the run another prompt was shown'
}

own_prompts_are_used_and_their_hash_is_stored() {
    use_listening <<'YAML'
workflow: lifecycle
YAML
    otto add One >/dev/null
    expect 0 otto run
    own_prompt exec <<'MD'
Our own words for {{title}}.

{{include result}}
MD
    otto add Two >/dev/null
    expect 0 otto run
    contains "$ROOM/told-2-exec-1" 'Our own words for Two.'
    lacks "$ROOM/told-1-exec-1" 'Our own words'
    exec_one=$(hashes_of 1 | sed -n 's/^exec //p')
    exec_two=$(hashes_of 2 | sed -n 's/^exec //p')
    [ -n "$exec_one" ] && [ -n "$exec_two" ] || fail 'no hash is stored'
    [ "$exec_one" != "$exec_two" ] || fail 'another prompt has the same hash'
    equal "$(hashes_of 1 | sed -n 's/^plan //p')" "$(hashes_of 2 | sed -n 's/^plan //p')" 'hash of the plan prompt'
    # a part that is included is replaced as well, and changes the hash of what includes it
    own_prompt rules <<'MD'
House rules: be brief.
MD
    rm .otto/prompts/exec.md
    otto add Three >/dev/null
    expect 0 otto run
    contains "$ROOM/told-3-exec-1" 'House rules: be brief.'
    [ "$(hashes_of 3 | sed -n 's/^exec //p')" != "$exec_one" ] || fail 'an include is not in the hash'
    expect 0 otto prompt list
    out_has 'yours, from .otto/prompts'
}

a_blank_that_is_unknown_stops_only_its_task() {
    use_listening </dev/null
    own_prompt exec <<'MD'
First line.
Do {{titel}} now.
MD
    otto add One --workflow lifecycle >/dev/null
    otto add Two >/dev/null
    expect 3 otto run
    state_is 2 done
    state_is 1 failed
    otto why 1 >"$ROOM/why"
    contains "$ROOM/why" '.otto/prompts/exec.md'
    contains "$ROOM/why" titel
    otto inbox >"$ROOM/inbox"
    contains "$ROOM/inbox" 'the prompt cannot be made'
    contains "$ROOM/inbox" '.otto/prompts/exec.md'
    contains "$ROOM/inbox" titel
    contains "$ROOM/why" title
    expect 1 otto prompt show exec 1
    err_has '.otto/prompts/exec.md'
    err_has titel
    rm .otto/prompts/exec.md
    expect 0 otto retry 1
    expect 0 otto run
    state_is 1 done
}

a_prompt_that_leads_out_of_the_repository_is_refused() {
    use_listening </dev/null
    printf 'the secret of somebody else\n' >"$ROOM/secret"
    mkdir -p .otto/prompts
    ln -s "$ROOM/secret" .otto/prompts/exec.md
    otto add One --workflow lifecycle >/dev/null
    expect 3 otto run
    state_is 1 failed
    why_says 1 'out of the repository' || fail 'it is not told'
    expect 1 otto prompt show exec 1
    err_has 'out of the repository'
    lacks "$ROOM/out" 'the secret of'
}

a_huge_text_and_a_huge_change_are_cut_and_the_run_goes_on() {
    use_listening <<'YAML'
workflow: lifecycle
YAML
    head -c 160000 /dev/zero | tr '\0' b | fold -w 99 >"$ROOM/body"
    cat >"$ROOM/more.sh" <<'SH'
head -c 3000000 /dev/zero | tr '\0' d | fold -w 79 >huge.txt
SH
    otto add One --body-file "$ROOM/body" >/dev/null
    expect 0 otto run
    state_is 1 done
    for file in plan-1 check-1 exec-1 check-2; do
        [ "$(wc -c <"$ROOM/told-1-$file")" -le 204800 ] || fail "$file is too long: $(wc -c <"$ROOM/told-1-$file")"
        equal "$(tr -dc b <"$ROOM/body" | wc -c)" "$(grep -x 'b*' "$ROOM/told-1-$file" | tr -dc b | wc -c)" "the task's text in $file"
    done
    grep -q ddddddd "$ROOM/told-1-check-2" || fail 'nothing of the change is shown'
    grep -qi 'left out' "$ROOM/told-1-check-2" || fail 'the cut is not told'
    contains "$ROOM/told-1-check-2" 'green, exit code 0' # the change goes first, alone
    # a text that alone is longer than a prompt is sent whole
    { cat "$ROOM/body"; head -n 900 "$ROOM/body"; } >"$ROOM/body3"
    otto add Two --body-file "$ROOM/body3" >"$ROOM/add" 2>&1 || { cat "$ROOM/add"; fail 'it was not added'; }
    expect 0 otto run
    state_is 2 done
    lacks "$ROOM/told-2-check-2" ddddddddd
}

an_answer_may_be_left_in_its_file_outside_the_checkout() {
    echo precious >"$ROOM/precious"
    agent_script leaves <<'SH'
cat >"$ROOM/told-$OTTO_TASK_ID-$OTTO_PHASE"
case $OTTO_ANSWER in "$PWD"/*) exit 9 ;; esac
[ "$OTTO_TASK_ID" = 1 ] || { ln -s "$ROOM/precious" "$OTTO_ANSWER"; exit 0; }
case $OTTO_PHASE in
plan) echo '{"summary":"one step","steps":[{"title":"write it"}]}' >"$OTTO_ANSWER" ;;
check) echo '{"scores":{"d1":0.9,"d2":0.9,"d3":0.9,"d4":0.9,"d5":0.9,"d6":0.9},"summary":"fine"}' >"$OTTO_ANSWER" ;;
exec)
    echo one >one.txt
    git add -A
    git commit -q -m 'feat: one'
    echo '{"result":"(done)","summary":"written"}' >"$OTTO_ANSWER"
    ;;
esac
SH
    printf 'workflow: lifecycle\nverify: ["test -f base.txt"]\n' | use_agent leaves
    otto add One >/dev/null
    expect 0 otto run
    state_is 1 done
    equal 'base.txt one.txt' "$(git ls-tree --name-only main | grep txt | paste -sd ' ')" 'what landed'
    contains "$ROOM/told-1-plan" OTTO_ANSWER
    otto add Two >/dev/null # a link is not followed, and that is said
    expect 3 otto run
    otto why 2 | grep -q 'not a regular file\|link' || { otto why 2; fail 'the link is not told'; }
    equal precious "$(cat "$ROOM/precious")" 'the file that the link leads to'
}

who_begins_anew_is_not_shown_the_old_plan() {
    echo '[ "$OTTO_VISIT" != 1 ] || { tag BLOCKED:not like this; exit 0; }' >"$ROOM/more.sh"
    use_listening <<'YAML'
workflow: lifecycle
YAML
    otto add One >/dev/null
    expect 3 otto run
    expect 0 otto retry 1 --fresh
    expect 0 otto run
    state_is 1 done
    lacks "$ROOM/told-1-plan-2" 'write it'
}

what_one_task_found_out_is_told_to_the_next() {
    use_listening <<'YAML'
workflow: lifecycle
YAML
    cat >"$ROOM/more.sh" <<'SH'
[ "$OTTO_TASK_ID" != 1 ] || { tag 'DISCOVERY_GLOBAL:the cache must be warm'; tag 'DISCOVERY_LOCAL:only here'; }
SH
    otto add One >/dev/null
    expect 0 otto run
    otto add Two >/dev/null
    expect 0 otto run
    contains "$ROOM/told-2-exec-1" 'the cache must be warm'
    lacks "$ROOM/told-1-exec-1" 'the cache must be warm'
}

run_cases the_ten_lines_of_the_documentation_land_a_task \
    a_built_in_workflow_can_be_replaced_and_its_thresholds_and_limits_count \
    the_loop_can_be_replaced_too \
    own_statuses_checkpoints_and_results_are_used \
    a_run_keeps_its_version_while_its_workflow_is_edited \
    an_engine_that_is_killed_goes_on_with_the_version_that_the_run_began_with \
    a_workflow_that_is_gone_is_told_and_others_go_on \
    a_project_whose_own_workflow_is_broken_does_not_start \
    each_mistake_of_a_file_is_named_with_its_place \
    every_form_of_the_command_works_or_says_why_not \
    hooks_run_with_the_facts_and_never_disturb \
    what_is_shown_is_what_is_sent \
    what_the_loop_is_told_is_shown_too \
    own_prompts_are_used_and_their_hash_is_stored \
    a_blank_that_is_unknown_stops_only_its_task \
    a_prompt_that_leads_out_of_the_repository_is_refused \
    a_huge_text_and_a_huge_change_are_cut_and_the_run_goes_on \
    an_answer_may_be_left_in_its_file_outside_the_checkout \
    who_begins_anew_is_not_shown_the_old_plan \
    what_one_task_found_out_is_told_to_the_next
