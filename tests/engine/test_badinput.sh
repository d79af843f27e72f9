#!/bin/sh
# Bad input and broken surroundings: one clear sentence, a defined exit code (1 input, 2 system),
# nothing lost and nothing half done.
. "$(dirname "$0")/lib.sh"

# The sentence stands alone on stderr: no stack, no usage page, no second sentence.
one_sentence() { # TEXT...
    for text in "$@"; do err_has "$text"; done
    equal 1 "$(grep -vc '^otto: warning:' "$ROOM/err")" "lines on stderr ($(cat "$ROOM/err"))"
    equal '' "$(grep -v '^otto: ' "$ROOM/err" || true)" 'lines without our name'
}

good_settings() {
    agent_script plain <<'SH'
cat >/dev/null
echo "work of $OTTO_TASK_ID" >"file-$OTTO_TASK_ID.txt"
done_
SH
    use_agent plain </dev/null
}

a_folder_that_is_no_repository() {
    mkdir "$ROOM/plain"
    cd "$ROOM/plain"
    for command in 'add One' run 'init'; do
        # shellcheck disable=SC2086 # words
        expect 1 otto $command
        one_sentence "$ROOM/plain" 'not a git repository'
    done
    cd "$ROOM/repo"
}

a_bare_repository() {
    git init -q --bare "$ROOM/bare"
    expect 1 otto -C "$ROOM/bare" add One
    one_sentence bare
}

an_empty_repository() {
    git init -q -b main "$ROOM/empty"
    # tasks may be collected before the first commit
    expect 0 otto -C "$ROOM/empty" add One
    expect 1 otto -C "$ROOM/empty" run
    one_sentence "$ROOM/empty" 'no commit'
}

a_folder_that_does_not_exist() {
    expect 1 otto -C "$ROOM/nowhere" status
    one_sentence "$ROOM/nowhere"
}

a_detached_head_wants_a_target_and_works_with_one() {
    good_settings
    git checkout -q --detach
    otto add One
    expect 1 otto run
    err_has detached
    err_has target
    state_is 1 pending
    before=$(tip HEAD)
    echo 'target: main' >>otto.yaml
    git commit -q -am 'with a target'
    expect 0 otto run
    state_is 1 done
    equal 1 "$(merges_of 1 main)" 'merges on main'
    missing file-1.txt
    git merge-base --is-ancestor "$before" HEAD || fail 'HEAD was moved'
}

a_target_that_does_not_exist() {
    good_settings
    echo 'target: release' >>otto.yaml
    git commit -q -am target
    otto add One || true
    expect 1 otto run
    one_sentence release
    equal '' "$(git branch --list release)" 'a branch that nobody made'
}

settings_that_cannot_be_read() {
    [ "$(id -u)" -ne 0 ] || skip 'root reads everything'
    good_settings
    otto add One
    chmod 000 otto.yaml
    expect 2 otto run
    one_sentence otto.yaml
    chmod 644 otto.yaml
}

settings_that_are_a_folder() {
    good_settings
    rm otto.yaml
    mkdir otto.yaml
    otto add One 2>/dev/null || true
    set +e
    otto run >"$ROOM/out" 2>"$ROOM/err"
    code=$?
    set -e
    [ "$code" = 1 ] || [ "$code" = 2 ] || fail "exit code $code"
    one_sentence otto.yaml
    rmdir otto.yaml
}

broken_yaml_names_its_line() {
    good_settings
    printf 'agent: a\nslots: 3\nagents:\n  a: {command: [x\n' >otto.yaml
    expect 1 otto run
    one_sentence otto.yaml 'line '
    expect 1 otto config check
    err_has 'line '
}

an_unknown_key_names_its_line_and_the_key_that_was_meant() {
    good_settings
    printf 'agent: plain\nslotz: 3\n' >otto.yaml
    expect 1 otto config check
    cat "$ROOM/out" "$ROOM/err" >"$ROOM/said"
    contains "$ROOM/said" slotz
    contains "$ROOM/said" slots
    contains "$ROOM/said" 2
    expect 1 otto run
    one_sentence slotz slots
}

a_wrong_type_names_key_and_value() {
    good_settings
    sed -i '/^stop:/d' otto.yaml
    printf 'slots: many\n' >>otto.yaml
    expect 1 otto run
    one_sentence slots many
    sed -i '/^slots:/d' otto.yaml
    printf 'slots: 100000\n' >>otto.yaml
    expect 1 otto run
    one_sentence slots 64
    sed -i '/^slots:/d' otto.yaml
    printf 'limits: [1, 2]\n' >>otto.yaml
    expect 1 otto run
    one_sentence limits
}

a_key_that_stands_twice() {
    good_settings
    printf 'slots: 2\nslots: 3\n' >>otto.yaml
    expect 1 otto run
    one_sentence slots twice
}

several_problems_are_all_listed_by_config_check() {
    printf 'slotz: 3\nlimits: {max_turns: none}\nagent: ghost\nagents: {a: {command: "true"}}\n' >otto.yaml
    expect 1 otto config check
    cat "$ROOM/out" "$ROOM/err" >"$ROOM/said"
    for word in slotz max_turns ghost; do contains "$ROOM/said" "$word"; done
}

an_unknown_agent() {
    good_settings
    otto add One
    expect 1 otto run --agent nobody
    one_sentence nobody plain
    otto add Two --agent nobody 2>"$ROOM/added" || true
    sed -i 's/^agent: plain/agent: ghost/' otto.yaml
    expect 1 otto run
    one_sentence ghost plain
    state_is 1 pending
}

no_agent_at_all() {
    printf 'slots: 2\n' >otto.yaml
    otto add One
    expect 1 otto run
    one_sentence agent otto.yaml
}

a_check_that_does_not_exist_fails_like_any_check_and_says_so() {
    good_settings
    printf 'verify: [no-such-checker --all]\nlimits: {max_turns: 1}\n' >>otto.yaml
    git commit -q -am check
    otto add One
    expect 3 otto run
    state_is 1 timeout
    otto show 1 --json >"$ROOM/show"
    grep -q '"output": ".*no-such-checker: ' "$ROOM/show" || fail 'the shell is not quoted'
    contains "$ROOM/show" '"exit_code": 127'
}

a_circle_of_tasks_names_its_members() {
    good_settings
    cat >"$ROOM/backlog.md" <<'MD'
---
title: A
key: a
after: [c]
---
---
title: B
key: b
after: [a]
---
---
title: C
key: c
after: [b]
---
MD
    expect 1 otto add --from "$ROOM/backlog.md"
    cat "$ROOM/err" >"$ROOM/said"
    for word in a b c; do grep -qw "$word" "$ROOM/said" || fail "the circle does not name $word"; done
    expect 0 otto list --json
    out_has '"total": 0'
    otto add One
    expect 1 otto edit 1 --after 1
    err_has '#1'
}

broken_front_matter_names_file_and_line() {
    good_settings
    printf -- '---\ntitle: Good\n---\ntext\n\n---\ntitle: [broken\n---\n' >"$ROOM/backlog.md"
    expect 1 otto add --from "$ROOM/backlog.md"
    one_sentence backlog.md
    grep -q '[678]' "$ROOM/err" || fail 'the line is not named'
    printf -- '---\ntitle: Good\nprioritee: 1\n---\ntext\n' >"$ROOM/backlog.md"
    expect 1 otto add --from "$ROOM/backlog.md"
    one_sentence backlog.md prioritee
    expect 1 otto add --from "$ROOM/no-such-file.md"
    one_sentence no-such-file.md
    printf 'just some words\n' >"$ROOM/backlog.md"
    expect 1 otto add --from "$ROOM/backlog.md"
    one_sentence backlog.md
    expect 0 otto list --json
    out_has '"total": 0'
}

wrong_words_on_the_command_line() {
    good_settings
    expect 1 otto runn
    err_has runn
    err_has run
    expect 1 otto run --slotz 3
    err_has slotz
    expect 1 otto run --slots
    expect 1 otto run --slots many
    err_has many
    expect 1 otto show
    expect 1 otto show x
    expect 1 otto show 99
    err_has 99
    expect 1 otto add ''
    expect 1 otto add "$(printf 'two\nlines')"
    expect 1 otto add One --after 99
    err_has 99
    expect 1 otto add One --timeout -5
    expect 1 otto list nonsense
    expect 0 otto list --json
    out_has '"total": 0'
}

a_state_folder_that_is_a_file() {
    good_settings
    echo 'precious' >"$ROOM/file"
    expect 2 env OTTO_STATE_DIR="$ROOM/file" "$OTTO" add One
    one_sentence "$ROOM/file"
    expect 2 env OTTO_STATE_DIR="$ROOM/file/below" "$OTTO" add One
    one_sentence "$ROOM/file/below"
    equal precious "$(cat "$ROOM/file")" 'the file'
}

a_state_folder_that_cannot_be_written() {
    [ "$(id -u)" -ne 0 ] || skip 'root writes everywhere'
    good_settings
    mkdir "$ROOM/readonly"
    chmod 500 "$ROOM/readonly"
    expect 2 env OTTO_STATE_DIR="$ROOM/readonly" "$OTTO" add One
    one_sentence "$ROOM/readonly"
    expect 2 env OTTO_STATE_DIR="$ROOM/readonly/below" "$OTTO" add One
    one_sentence "$ROOM/readonly"
}

a_relative_state_folder_works() {
    good_settings
    echo /here >>.git/info/exclude
    export OTTO_STATE_DIR=here
    otto add One
    expect 0 otto run
    exists file-1.txt
    otto list done >"$ROOM/list"
    contains "$ROOM/list" One
}

a_database_of_a_newer_version_is_left_alone() { # F19
    good_settings
    otto list >/dev/null
    if command -v sqlite3 >/dev/null 2>&1; then
        otto add One
        sqlite3 "$OTTO_STATE_DIR/otto.db" 'pragma user_version = 99' >/dev/null
    else
        rm -f "$OTTO_STATE_DIR"/otto.db-*
        printf '\0\0\0\143' | dd of="$OTTO_STATE_DIR/otto.db" bs=1 seek=60 conv=notrunc 2>/dev/null
    fi
    cksum <"$OTTO_STATE_DIR/otto.db" >"$ROOM/sum"
    for command in list 'add Two' run serve; do
        # shellcheck disable=SC2086 # words
        expect 2 otto $command
        one_sentence otto.db newer 99
    done
    equal "$(cat "$ROOM/sum")" "$(cksum <"$OTTO_STATE_DIR/otto.db")" 'the database'
    mv "$OTTO_STATE_DIR" "$ROOM/put-away"
}

a_file_that_is_no_database_is_left_alone() {
    good_settings
    mkdir -m 700 "$OTTO_STATE_DIR"
    head -c 100000 /dev/urandom >"$OTTO_STATE_DIR/otto.db"
    cksum <"$OTTO_STATE_DIR/otto.db" >"$ROOM/sum"
    for command in list 'add One' run; do
        # shellcheck disable=SC2086 # words
        expect 2 otto $command
        one_sentence otto.db 'not a database'
    done
    equal "$(cat "$ROOM/sum")" "$(cksum <"$OTTO_STATE_DIR/otto.db")" 'the file'
    mv "$OTTO_STATE_DIR" "$ROOM/put-away"
}

a_damaged_database_is_told_and_not_made_worse() { # F12
    good_settings
    for n in 1 2 3 4 5 6 7 8; do otto add "Task $n" >/dev/null; done
    # a page in the middle
    rm -f "$OTTO_STATE_DIR/otto.db-shm"
    command -v sqlite3 >/dev/null 2>&1 || skip 'sqlite3 is needed to empty the log first'
    sqlite3 "$OTTO_STATE_DIR/otto.db" 'pragma wal_checkpoint(truncate)' >/dev/null
    size=$(wc -c <"$OTTO_STATE_DIR/otto.db")
    head -c $((size - 8192)) /dev/urandom | dd of="$OTTO_STATE_DIR/otto.db" bs=4096 seek=2 conv=notrunc 2>/dev/null
    set +e
    timeout 20 "$OTTO" run >"$ROOM/out" 2>"$ROOM/err"
    code=$?
    set -e
    equal 2 "$code" 'exit code'
    one_sentence otto.db
    mv "$OTTO_STATE_DIR" "$ROOM/put-away"
}

a_repository_that_goes_away_is_told() {
    good_settings
    otto add One
    mv "$ROOM/repo" "$ROOM/moved"
    mkdir "$ROOM/repo"
    cd "$ROOM/repo"
    set +e
    timeout 30 "$OTTO" run >"$ROOM/out" 2>"$ROOM/err"
    code=$?
    set -e
    [ "$code" = 1 ] || [ "$code" = 2 ] || fail "exit code $code: $(cat "$ROOM/out" "$ROOM/err")"
    one_sentence "$ROOM/repo"
    cd "$ROOM"
    rmdir repo
    mv moved repo
    cd repo
    expect 0 otto run
    state_is 1 done
}

history_that_was_rewritten_is_told_and_nothing_is_lost() {
    good_settings
    otto add One
    expect 0 otto run
    landed=$(tip)
    git reset -q --hard HEAD~1
    otto add Two
    set +e
    otto run >"$ROOM/out" 2>"$ROOM/err"
    code=$?
    set -e
    [ "$code" != 0 ] || fail 'a rewritten branch went unnoticed'
    git --git-dir="$OTTO_STATE_DIR/hubs/p1" cat-file -e "$landed" || fail 'the landed commit is gone'
    # going back to it is enough
    git reset -q --hard "$landed"
    expect 0 otto run
    state_is 2 done
}

hostile_names_are_only_text() { # T9
    good_settings
    otto add --body '../../etc/passwd' -- '--force; rm -rf / $(touch pwned) `touch pwned`'
    otto add 'a/../../b' --key 'weird_key'
    expect 0 otto run
    missing pwned
    state_is 1 done
    state_is 2 done
    equal 2 "$(git log --merges --oneline main | wc -l)" merges
}

run_cases \
    a_folder_that_is_no_repository \
    a_bare_repository \
    an_empty_repository \
    a_folder_that_does_not_exist \
    a_detached_head_wants_a_target_and_works_with_one \
    a_target_that_does_not_exist \
    settings_that_cannot_be_read \
    settings_that_are_a_folder \
    broken_yaml_names_its_line \
    an_unknown_key_names_its_line_and_the_key_that_was_meant \
    a_wrong_type_names_key_and_value \
    a_key_that_stands_twice \
    several_problems_are_all_listed_by_config_check \
    an_unknown_agent \
    no_agent_at_all \
    a_check_that_does_not_exist_fails_like_any_check_and_says_so \
    a_circle_of_tasks_names_its_members \
    broken_front_matter_names_file_and_line \
    wrong_words_on_the_command_line \
    a_state_folder_that_is_a_file \
    a_state_folder_that_cannot_be_written \
    a_relative_state_folder_works \
    a_database_of_a_newer_version_is_left_alone \
    a_file_that_is_no_database_is_left_alone \
    a_damaged_database_is_told_and_not_made_worse \
    a_repository_that_goes_away_is_told \
    history_that_was_rewritten_is_told_and_nothing_is_lost \
    hostile_names_are_only_text
