#!/bin/sh
# From a backlog to landed commits.
. "$(dirname "$0")/lib.sh"

# An agent that writes a file of its own and says COMPLETE without committing.
plain_agent() {
    agent_script plain <<'SH'
cat >/dev/null
echo "work of $OTTO_TASK_ID" >"file-$OTTO_TASK_ID.txt"
echo "$OTTO_TASK_ID" >>"$ROOM/order"
done_
SH
}

tasks_with_dependencies_land_in_order_with_trailers_in_a_clean_checkout() {
    plain_agent
    use_agent plain <<'YAML'
slots: 3
verify: [test -f base.txt]
YAML
    otto add Third --key c --priority 0
    otto add Second --key b
    otto add First --key a
    otto edit 1 --after b
    otto edit 2 --after a
    expect 0 otto run
    equal '3 2 1' "$(tr '\n' ' ' <"$ROOM/order" | sed 's/ $//')" 'order of the agents'
    for id in 1 2 3; do
        state_is "$id" done
        equal 1 "$(merges_of "$id")" "merges of task $id"
        contains "file-$id.txt" "work of $id"
    done
    equal 'Merge task 1: Third' "$(git log -1 --format=%s main)" 'last merge'
    equal '1' "$(git log -1 --format='%(trailers:key=Otto-Run,valueonly,separator=%x2c)' main | grep -c .)" 'run trailer'
    equal '' "$(git status --porcelain)" 'changes in the checkout'
    equal main "$(git symbolic-ref --short HEAD)" 'branch of the checkout'
}

a_dirty_checkout_stays_byte_for_byte_and_gets_the_work_when_it_is_clean() {
    agent_script edit <<'SH'
cat >/dev/null
echo changed by the agent >base.txt
done_
SH
    use_agent edit <<'YAML'
verify: [test -f base.txt]
YAML
    otto add One
    printf 'half a thought' >base.txt
    printf 'new\n' >untracked.txt
    git add untracked.txt
    before=$(tip)
    cp -a . "$ROOM/before"
    expect 3 otto run
    out_has 'not yet in your checkout'
    state_is 1 done
    equal "$before" "$(tip)" 'tip of main'
    diff -r "$ROOM/before" . || fail 'the checkout was touched'
    expect 0 otto status
    # clean again: the next run brings it in, although nothing is left to do
    git reset -q
    git checkout -q base.txt
    expect 0 otto run
    contains base.txt 'changed by the agent'
    exists untracked.txt
    equal 1 "$(merges_of 1)" 'merges of task 1'
}

undelivered_work_and_later_commits_of_a_person_are_brought_together() {
    plain_agent
    use_agent plain <<'YAML'
verify: [test -f base.txt]
YAML
    otto add One
    printf 'half a thought\n' >file-1.txt
    expect 3 otto run
    contains file-1.txt 'half a thought'
    rm file-1.txt
    printf 'two\n' >>base.txt
    git commit -q -am 'by hand, meanwhile'
    by_hand=$(tip)
    expect 0 otto run
    git merge-base --is-ancestor "$by_hand" main || fail 'the commit of the person is lost'
    contains file-1.txt 'work of 1'
    contains base.txt two
    equal '' "$(git status --porcelain)" 'changes in the checkout'
}

files_that_the_agent_did_not_commit_land_too() {
    plain_agent
    use_agent plain <<'YAML'
verify: [test -f file-1.txt]
YAML
    otto add One
    expect 0 otto run
    contains file-1.txt 'work of 1'
}

commits_of_the_agent_land_as_they_are() {
    agent_script commit <<'SH'
cat >/dev/null
echo a >a.txt && git add a.txt && git commit -q -m 'feat: a #1'
echo b >b.txt && git add b.txt && git commit -q -m 'feat: b #1'
done_
SH
    use_agent commit </dev/null
    otto add One
    expect 0 otto run
    equal 'feat: b #1' "$(git log --format=%s main^2 -1)" 'second parent'
    equal 2 "$(git rev-list --count main^1..main^2)" 'commits of the agent'
}

work_that_changes_nothing_is_done_without_a_merge() {
    agent_script empty <<'SH'
cat >/dev/null
done_
SH
    use_agent empty <<'YAML'
verify: ["true"]
YAML
    otto add One
    before=$(tip)
    expect 0 otto run
    state_is 1 done
    equal "$before" "$(tip)" 'tip of main'
}

a_backlog_file_brings_tasks_with_dependencies_and_checks() {
    plain_agent
    use_agent plain </dev/null
    cat >"$ROOM/backlog.md" <<'MD'
---
title: Base work
key: base
check: ["grep -q 'work of 1' file-1.txt"]
---
Make the base.

---
title: Top work
after: [base]
tags: [quick-win]
---
Build on it.
MD
    expect 0 otto add --from "$ROOM/backlog.md"
    out_has 'Base work'
    out_has 'Top work'
    expect 0 otto run
    state_is 1 done
    state_is 2 done
    equal '1 2' "$(tr '\n' ' ' <"$ROOM/order" | sed 's/ $//')" order
    otto show 1 --json >"$ROOM/show"
    contains "$ROOM/show" "grep -q 'work of 1' file-1.txt"
}

a_backlog_that_is_wrong_anywhere_adds_nothing() {
    plain_agent
    use_agent plain </dev/null
    printf '%s\n' '---' 'title: Good' '---' 'x' '' '---' 'title: Bad' 'after: [nobody]' '---' >"$ROOM/backlog.md"
    expect 1 otto add --from "$ROOM/backlog.md"
    err_has nobody
    expect 0 otto list --json
    out_has '"total": 0'
}

checks_of_a_task_run_besides_those_of_the_project() {
    plain_agent
    use_agent plain <<'YAML'
verify: ["test -f base.txt"]
limits: {max_turns: 1}
YAML
    otto add Good --check 'test -f file-1.txt'
    otto add Bad --check 'test -f nowhere.txt'
    expect 3 otto run
    state_is 1 done
    state_is 2 timeout
    otto show 2 --json >"$ROOM/show"
    contains "$ROOM/show" 'test -f base.txt'
    contains "$ROOM/show" 'test -f nowhere.txt'
    missing file-2.txt
}

a_failed_check_is_shown_to_the_agent_in_the_next_prompt() {
    agent_script fixer <<'SH'
cat >"$ROOM/prompt-$OTTO_TURN"
if [ "$OTTO_TURN" = 1 ]; then
    echo broken >result.txt
else
    grep -q 'You reported COMPLETE, but a check failed' "$ROOM/prompt-$OTTO_TURN"
    grep -q 'grep -q fixed result.txt' "$ROOM/prompt-$OTTO_TURN"
    grep -q 'the oracle says no' "$ROOM/prompt-$OTTO_TURN"
    grep -q 'exit code 7' "$ROOM/prompt-$OTTO_TURN"
    echo fixed >result.txt
fi
done_
SH
    use_agent fixer <<'YAML'
verify:
  - "test -f base.txt"
  - "grep -q fixed result.txt || { echo the oracle says no >&2; exit 7; }"
YAML
    otto add Mend --body 'Make the result fixed.'
    expect 0 otto run
    equal 2 "$(task_field 1 turns)" turns
    contains "$ROOM/prompt-1" 'Make the result fixed.'
    contains result.txt fixed
}

an_optional_check_that_fails_does_not_hold_the_work_back() {
    plain_agent
    use_agent plain <<'YAML'
verify:
  commands:
    - {name: must, command: "test -f file-1.txt"}
    - {name: may, command: "echo not today; false", required: false}
YAML
    otto add One
    expect 0 otto run
    state_is 1 done
    otto show 1 --json >"$ROOM/show"
    contains "$ROOM/show" '"name": "may"'
    contains "$ROOM/show" 'not today'
}

a_check_that_takes_too_long_is_ended_with_its_whole_tree() {
    plain_agent
    use_agent plain <<'YAML'
limits: {max_turns: 1}
verify:
  default_timeout: 1
  commands: ["trap '' TERM; setsid sleep 3121 & sleep 3121"]
YAML
    otto add One
    expect 3 otto run
    state_is 1 timeout
    otto show 1 --json >"$ROOM/show"
    contains "$ROOM/show" '"timed_out": true'
    nothing_left # F11
}

checks_run_on_a_clean_checkout_of_the_commit_not_in_the_agents_folder() {
    agent_script ignored <<'SH'
cat >/dev/null
echo '*.tmp' >.gitignore
echo secret >present.tmp
done_
SH
    use_agent ignored <<'YAML'
limits: {max_turns: 1}
verify: ["test -f present.tmp"]
YAML
    otto add One
    expect 3 otto run
    state_is 1 timeout
}

without_any_check_a_warning_says_so_everywhere() {
    plain_agent
    use_agent plain </dev/null
    otto add One
    expect 0 otto run
    err_has 'no verification'
    out_has 'no verification'
    otto status >"$ROOM/status"
    contains "$ROOM/status" 'no verification'
    otto why 1 >"$ROOM/why"
    contains "$ROOM/why" VERIFICATION_EMPTY
}

conflicting_work_goes_back_to_the_agent_and_both_land() {
    agent_script both <<'SH'
cat >"$ROOM/prompt-$OTTO_TASK_ID-$OTTO_TURN"
if [ -n "${OTTO_CHECKPOINT:-}" ]; then
    git merge -q "$OTTO_TARGET_REF" >/dev/null 2>&1 || true
    printf 'one\nfrom 1\nfrom 2\n' >base.txt
    git add base.txt && git commit -q -m 'fix: both'
else
    printf 'one\nfrom %s\n' "$OTTO_TASK_ID" >base.txt
    # both begin from the same commit
    touch "$ROOM/began-$OTTO_TASK_ID"
    n=0
    while [ ! -e "$ROOM/began-1" ] || [ ! -e "$ROOM/began-2" ]; do
        n=$((n + 1)); [ "$n" -lt 200 ]; sleep 0.05
    done
fi
done_
SH
    use_agent both <<'YAML'
slots: 2
verify: ["grep -q from base.txt"]
YAML
    otto add One
    otto add Two
    expect 0 otto run
    equal 1 "$(merges_of 1)" 'merges of 1'
    equal 1 "$(merges_of 2)" 'merges of 2'
    contains base.txt 'from 1'
    contains base.txt 'from 2'
    cat "$ROOM"/prompt-*-2 >"$ROOM/conflict"
    contains "$ROOM/conflict" 'it cannot be merged'
    contains "$ROOM/conflict" base.txt
}

commits_of_a_person_on_the_target_are_taken_in() {
    agent_script slow <<'SH'
cat >/dev/null
echo agent >agent.txt
touch "$ROOM/at-work"
n=0
while [ ! -e "$ROOM/go" ]; do n=$((n + 1)); [ "$n" -lt 400 ]; sleep 0.05; done
done_
SH
    use_agent slow <<'YAML'
verify: ["test -f agent.txt"]
YAML
    otto add One
    start run run
    wait_for 20 test -e "$ROOM/at-work"
    echo person >person.txt
    git add person.txt
    git commit -q -m 'by hand'
    by_hand=$(tip)
    touch "$ROOM/go"
    ended 0 "$PID"
    git merge-base --is-ancestor "$by_hand" main || fail 'the commit of the person is lost'
    exists person.txt
    exists agent.txt
    equal '' "$(git status --porcelain)" 'changes in the checkout'
}

two_projects_share_one_state_folder_without_mixing() {
    plain_agent
    use_agent plain </dev/null
    otto add Here
    new_repo "$ROOM/other"
    cp otto.yaml "$ROOM/other/"
    git -C "$ROOM/other" add . && git -C "$ROOM/other" commit -q -m settings
    otto -C "$ROOM/other" add There
    expect 0 otto -C "$ROOM/other" run
    exists "$ROOM/other/file-2.txt"
    missing file-1.txt
    state_is 1 pending
    expect 0 otto run
    exists file-1.txt
    missing "$ROOM/other/file-1.txt"
}

a_worktree_workspace_and_no_workspace_work_too() {
    plain_agent
    use_agent plain <<'YAML'
workspace: {kind: worktree}
verify: ["test -f base.txt"]
YAML
    otto add One
    expect 0 otto run
    exists file-1.txt
    sed -i 's/kind: worktree/kind: none/' otto.yaml
    git commit -q -am 'no workspace'
    otto add Two
    expect 0 otto run
    state_is 2 done
    exists file-2.txt
}

what_a_workspace_held_beyond_its_commits_is_not_lost_when_it_is_put_away() { # F21
    agent_script messy <<'SH'
cat >/dev/null
echo '*.tmp' >.gitignore
git add .gitignore && git commit -q -m 'feat: ignore'
echo 'stashed words' >base.txt && git stash -q
echo 'side words' >side.txt && git checkout -q -b side && git add side.txt && git commit -q -m side && git checkout -q -
echo 'ignored words' >notes.tmp
echo landed >landed.txt
done_
SH
    use_agent messy </dev/null
    otto add One
    expect 0 otto run
    state_is 1 done
    exists landed.txt
    missing side.txt
    # each of them is in the trash or in the hub
    for words in 'stashed words' 'side words' 'ignored words'; do
        found=$(grep -rlsF -- "$words" "$OTTO_STATE_DIR/trash" "$OTTO_STATE_DIR/work" | head -n 1)
        if [ -z "$found" ]; then
            git --git-dir="$OTTO_STATE_DIR/hubs/p1" cat-file --batch-all-objects --batch-check='%(objecttype) %(objectname)' |
                sed -n 's/^blob //p' | while read -r blob; do
                git --git-dir="$OTTO_STATE_DIR/hubs/p1" cat-file blob "$blob"
            done >"$ROOM/blobs"
            grep -qaF -- "$words" "$ROOM/blobs" || fail "'$words' are lost"
        fi
    done
}

setup_and_copied_files_are_there_before_the_agent_starts() {
    echo '.env' >.gitignore
    echo 'KEY=1' >.env
    git add .gitignore && git commit -q -m ignore
    agent_script uses <<'SH'
cat >/dev/null
cp .env seen.txt
cat made-by-setup >>seen.txt
done_
SH
    use_agent uses <<'YAML'
workspace: {copy: [.env], setup: "echo setup ran > made-by-setup"}
YAML
    otto add One
    expect 0 otto run
    contains seen.txt 'KEY=1'
    contains seen.txt 'setup ran'
    equal '' "$(git ls-files .env)" 'the ignored file in the repository'
}

run_cases \
    tasks_with_dependencies_land_in_order_with_trailers_in_a_clean_checkout \
    a_dirty_checkout_stays_byte_for_byte_and_gets_the_work_when_it_is_clean \
    undelivered_work_and_later_commits_of_a_person_are_brought_together \
    files_that_the_agent_did_not_commit_land_too \
    commits_of_the_agent_land_as_they_are \
    work_that_changes_nothing_is_done_without_a_merge \
    a_backlog_file_brings_tasks_with_dependencies_and_checks \
    a_backlog_that_is_wrong_anywhere_adds_nothing \
    checks_of_a_task_run_besides_those_of_the_project \
    a_failed_check_is_shown_to_the_agent_in_the_next_prompt \
    an_optional_check_that_fails_does_not_hold_the_work_back \
    a_check_that_takes_too_long_is_ended_with_its_whole_tree \
    checks_run_on_a_clean_checkout_of_the_commit_not_in_the_agents_folder \
    without_any_check_a_warning_says_so_everywhere \
    conflicting_work_goes_back_to_the_agent_and_both_land \
    commits_of_a_person_on_the_target_are_taken_in \
    two_projects_share_one_state_folder_without_mixing \
    a_worktree_workspace_and_no_workspace_work_too \
    what_a_workspace_held_beyond_its_commits_is_not_lost_when_it_is_put_away \
    setup_and_copied_files_are_there_before_the_agent_starts
