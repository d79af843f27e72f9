#!/bin/sh
# The command line from outside: bad input, exit codes, a run from start to end, an engine beside it.
# usage: doors.sh OTTO KEEPER
set -u
otto=$(realpath "$1")
OTTO_KEEPER=$(realpath "$2")
export OTTO_KEEPER
folder=$(mktemp -d "${TMPDIR:-/tmp}/otto-doors-XXXXXX")
server=
trap '[ -n "$server" ] && kill "$server" 2>/dev/null; rm -rf "$folder"' EXIT
export OTTO_STATE_DIR="$folder/state" NO_COLOR=1 LC_ALL=C
export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@x
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
unset OTTO_SOCKET OTTO_TOKEN
failed=0

# expect CODE TEXT COMMAND...: exit code and a piece of what it prints.
expect() {
    code=$1 text=$2
    shift 2
    "$@" >"$folder/out" 2>&1 </dev/null
    got=$?
    if [ "$got" != "$code" ]; then
        echo "FAIL: $* ended with $got, not $code:"
        cat "$folder/out"
        failed=1
    elif ! grep -qF -- "$text" "$folder/out"; then
        echo "FAIL: $* does not say '$text':"
        cat "$folder/out"
        failed=1
    fi
}

settings() { # settings COMMAND [LINE...]: otto.yaml with an agent that runs shell text
    printf 'target: main\nagent: a\nagents:\n  a: {kind: command, command: "%s"}\n' "$1" >otto.yaml
    shift
    for line in "$@"; do printf '%s\n' "$line" >>otto.yaml; done
}

cd "$folder" || exit 1

# Words and flags.
expect 1 "did you mean 'status'?" "$otto" staus
expect 1 "did you mean '--json'?" "$otto" status --jsno
expect 1 "did you mean 'failed'?" "$otto" list faild
expect 1 "otto help" "$otto" frobnicate
expect 1 "is no task id" "$otto" show twelve
expect 1 "something is missing" "$otto" show
expect 1 "a word too many" "$otto" status now
expect 1 "whole number from 1 to 64" "$otto" run --slots 0
expect 1 "cannot work in" "$otto" -C "$folder/nowhere" status
expect 1 "are not set" "$otto" signal COMPLETE
expect 1 "usage: otto" "$otto"
expect 0 "usage: otto" "$otto" help
expect 0 "usage: otto run" "$otto" run --help
expect 0 "otto 0." "$otto" --version

# Repositories that cannot be worked with.
mkdir none && cd none || exit 1
for command in init status run "add x"; do
    # shellcheck disable=SC2086
    expect 1 "is not a git repository" "$otto" $command
done
cd ..
git init -q --bare bare.git
expect 1 "bare" "$otto" -C bare.git init
git init -q -b main repo && cd repo || exit 1
settings cat
expect 0 "#1 Early" "$otto" add Early
expect 1 "branch" "$otto" run # no commit yet
echo one >file && git add file && git commit -qm one

# Settings.
rm otto.yaml
expect 1 "no agent configured" "$otto" run
expect 0 "no verification configured" "$otto" init
expect 1 "--force" "$otto" init
printf 'slotz: 3\n' >otto.yaml
expect 1 "otto.yaml:1: slotz: unknown key, did you mean 'slots'?" "$otto" run
expect 1 "slotz" "$otto" config check
printf 'target: [\n' >otto.yaml
expect 1 "line 2" "$otto" run
printf 'agent: nobody\n' >otto.yaml
expect 1 "nobody" "$otto" run
printf 'agent: a\nagents:\n  a: {kind: command, command: [no-such-program]}\n' >otto.yaml
expect 1 "no-such-program" "$otto" run
settings cat 'target: main' && expect 1 "target" "$otto" run # given twice
settings cat && sed -i s/main/nope/ otto.yaml
expect 1 "'nope'" "$otto" run
settings cat

# Tasks: all or none.
expect 0 "#2 Keyed" "$otto" add Keyed --key k
expect 1 "'k'" "$otto" add Again --key k
expect 1 "is no task" "$otto" add Late --after nothing
expect 1 "did you mean 'done'?" "$otto" add Late --after 2:don
printf -- '---\ntitle: X\nkey: x\nafter: [y]\n---\n\n---\ntitle: Y\nkey: y\nafter: [x]\n---\n' >cycle.md
expect 1 "wait for each other" "$otto" add --from cycle.md
printf -- '---\ntitle: X\nkye: x\n---\n' >typo.md
expect 1 "typo.md:3: kye: unknown key, did you mean 'key'?" "$otto" add --from typo.md
expect 1 "cannot read" "$otto" add --from missing.md
expect 0 "2 of 3 tasks" sh -c '"$1" add Third && "$1" list --limit 2' sh "$otto"
expect 1 "there is no task #99" "$otto" show 99
expect 0 "is removed" "$otto" rm 1 3
expect 0 "#1 Early" "$otto" trash list
expect 0 "is back" "$otto" trash restore 1
expect 0 "#1 is removed" "$otto" rm 1
EDITOR='sed -i s/Keyed/Edited/' expect 0 "is changed" "$otto" edit 2
expect 0 "Edited" "$otto" show 2

# A run: one task lands, one fails its check.
settings 'echo work >work.txt; '"$otto"' signal COMPLETE' 'verify: [test -f work.txt]' 'limits: {max_turns: 2}'
expect 0 "landed" "$otto" run
expect 0 "Merge task 2" git log --oneline main
expect 0 "+work" "$otto" diff 2
expect 0 "proven" "$otto" why 2
expect 0 "0 decisions differ" "$otto" replay
expect 0 "#9 Bad" sh -c 'for i in 4 5 6 7 8; do "$1" add "T $i" >/dev/null; done; "$1" add Bad --check false' sh "$otto"
expect 3 "timed out #9 Bad" "$otto" run 9
expect 0 "| #9 | Bad | timeout |" "$otto" report
expect 0 "is skipped" "$otto" skip 9
expect 1 "nothing was undone" "$otto" rollback 2
expect 0 "rolled back" "$otto" rollback 2 --yes
expect 0 "Roll back" git log --oneline main

# An engine beside the commands; a second one is refused; the end is clean.
"$otto" serve >"$folder/serve" 2>&1 &
server=$!
until grep -q listens "$folder/serve" || ! kill -0 "$server" 2>/dev/null; do :; done
expect 2 "another engine" "$otto" serve
expect 0 '"online": true' "$otto" status --json
expect 0 "landed" "$otto" run 4
expect 0 "ok    engine" "$otto" doctor
kill -TERM "$server"
wait "$server" || { echo "FAIL: serve ended with $?"; failed=1; }
server=
expect 0 "no engine runs" "$otto" status

# The engine is killed while a run follows it: the run takes its place, the agent is not disturbed.
settings 'until [ -f '"$folder"'/go ]; do sleep 0.05; done; echo more >more.txt; '"$otto"' signal COMPLETE' 'verify: ["true"]'
"$otto" serve >"$folder/serve" 2>&1 &
server=$!
until grep -q listens "$folder/serve" || ! kill -0 "$server" 2>/dev/null; do :; done
"$otto" run 5 >"$folder/run" 2>&1 &
run=$!
until "$otto" list active | grep -q working || ! kill -0 "$run" 2>/dev/null; do :; done
kill -KILL "$server"
server=
touch "$folder/go"
wait "$run" || { echo "FAIL: the run ended with $?:"; cat "$folder/run"; failed=1; }
expect 0 "landed" cat "$folder/run"
expect 0 "turn 1" "$otto" show 5

# State folders that cannot be used.
expect 2 "otto: " "$otto" --state-dir /proc/otto status
exit $failed
