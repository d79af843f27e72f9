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
expect 1 "signal what?" "$otto" signal
expect 1 "did you mean 'graph'?" "$otto" workflow grap loop
expect 1 "did you mean 'staged'?" "$otto" workflow show stagd
expect 1 "which one?" "$otto" workflow show
expect 1 "is no KEY=VALUE" "$otto" profile set docs high
expect 1 "did you mean 'thresholds.post-plan'?" "$otto" profile set docs threshold.post-plan=0.8
expect 1 "a rejection says why" "$otto" reject 1
expect 1 "one of --keep" "$otto" redo 1 --keep --fresh
expect 1 "did you mean 'later'?" "$otto" redo 1 --hint latr
expect 1 "a or b" "$otto" export 1 --format c
expect 1 "for the report of a task" "$otto" report --html
expect 0 "rests until the next 'otto run'" "$otto" help stop

# Workflows: no engine, no repository is needed.
export XDG_CONFIG_HOME="$folder/config"
expect 0 "lifecycle" "$otto" workflow list
expect 0 '"workflows"' "$otto" workflow list --json
expect 0 "no problem" "$otto" workflow check
expect 0 "it was under way" "$otto" workflow show loop
expect 0 "entry of workflow loop" "$otto" workflow show loop --row enter-pending
expect 1 "did you mean 'enter-pending'?" "$otto" workflow show loop --row enter-pendin
expect 0 "verify" "$otto" workflow graph lifecycle
expect 0 "<svg" "$otto" workflow graph staged --svg -
expect 1 "say with --file" "$otto" workflow new mine
expect 0 "is written" "$otto" workflow new mine --file mine.yaml
expect 0 "no problem" "$otto" workflow check mine.yaml
expect 1 "exists already" "$otto" workflow new mine --file mine.yaml
expect 0 "is written" "$otto" workflow new more --from staged --file more.yaml
expect 0 "no problem" "$otto" workflow check more.yaml
expect 0 "phases" "$otto" workflow show ./more.yaml
expect 1 "is no name" "$otto" workflow new 'a b' --file x.yaml
printf 'name: bad\nphases:\n  work: {kind: agent, prompt: work}\nroutes:\n  work: {COMPLETE: nowhere}\n' >bad.yaml
expect 3 "bad.yaml:5: " "$otto" workflow check bad.yaml
expect 1 "cannot read" "$otto" workflow check missing.yaml
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

# Workflows and types of tasks; objectives; profiles; prompts.
expect 0 "is written" "$otto" workflow new own
expect 0 "own" "$otto" workflow list
expect 1 "unknown workflow 'owl'" "$otto" add Flow --workflow owl
expect 1 "'type'" "$otto" add Typed --type 'a b'
expect 0 "#4 Goal" "$otto" add Goal --workflow staged --type docs --key goal
expect 0 "staged" "$otto" show 4
expect 0 "docs" "$otto" show 4
expect 0 "No items yet" "$otto" target 4
expect 0 "is changed" "$otto" edit 4 --workflow lifecycle
expect 0 "has no objective phase" "$otto" target 4
expect 0 "is changed" "$otto" edit 4 --workflow staged
expect 0 "R1   critical" "$otto" target 4 --add 'Export as CSV' --require 'writes a file :: opens in a sheet :: critical'
expect 0 "--confirm" "$otto" target 4
expect 0 "constraints" "$otto" target 4 --constraint 'no new dependency'
printf -- '- Import\n  - reads a file :: same rows\n' >goals.md
expect 0 "reads a file" "$otto" target 4 --from goals.md
expect 0 "Import CSV" "$otto" target 4 --item 3 --text 'Import CSV'
expect 0 "reads it all" "$otto" target 4 --requirement 2 --text 'reads it all'
expect 1 "there is no item 9" "$otto" target 4 --rm 9
expect 1 "'weight'" "$otto" target 4 --require 'x :: y :: huge'
expect 0 '"number": 2' "$otto" target 4 --rm 1 --json
expect 0 "The objective is confirmed" "$otto" target 4 --confirm
expect 1 "is no task id" "$otto" target nine
expect 0 "thresholds.post-plan" "$otto" profile show docs
expect 0 "0.8" "$otto" profile set docs thresholds.post-plan=0.8
expect 1 "thresholds.post-plan" "$otto" profile set docs thresholds.post-plan=7
expect 0 "docs" "$otto" profile list
expect 0 "thresholds" "$otto" profile reset docs
expect 0 "rules" "$otto" prompt list
expect 0 "Goal" "$otto" prompt show plan 4
expect 1 "nosuch" "$otto" prompt show nosuch 4
expect 1 "has no command 'fly'" "$otto" step 4 fly
expect 1 "#4" "$otto" step 4 exec # its row says why
expect 0 "Nothing needs you" "$otto" inbox
expect 1 "waits for no review" "$otto" approve 4
expect 0 "0 approved" "$otto" review
expect 0 "Goal" "$otto" report 4
expect 0 "<html" "$otto" report 4 --html
expect 0 "files written" "$otto" export 4 --format b --out exported
expect 0 '"status"' cat exported/.status.json
expect 0 "0 of" "$otto" export 4 --format b --out exported --force
expect 0 '"steps"' "$otto" timeline 4 --json
expect 0 "is removed" "$otto" rm 4

# A run: one task lands, one fails its check.
settings 'echo work >work.txt; '"$otto"' signal COMPLETE' 'verify: [test -f work.txt]' 'limits: {max_turns: 2}'
expect 0 "landed" "$otto" run
expect 0 "Merge task 2" git log --oneline main
expect 0 "+work" "$otto" diff 2
expect 0 "proven" "$otto" why 2
expect 0 "0 decisions differ" "$otto" replay
expect 0 "#9 Bad" sh -c 'for i in 5 6 7 8; do "$1" add "T $i" >/dev/null; done; "$1" add Bad --check false' sh "$otto"
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
expect 0 "landed" "$otto" run 6
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

# Reviews: work waits, comes back with words, is approved in a batch, is rejected.
settings 'date +%N >reviewed.txt; '"$otto"' signal COMPLETE' 'verify: ["true"]' 'review: {mode: per-task}'
expect 0 "is skipped" "$otto" skip 2 8
expect 3 "to review #7" "$otto" run 7
expect 0 "otto approve 7" "$otto" inbox
expect 0 '"group": "approval"' "$otto" inbox --json
expect 0 "is done again" "$otto" redo 7 --note 'mind the gap' --issue tests --hint next
expect 0 "next" "$otto" show 7
expect 1 "waits for no review" "$otto" approve 7
expect 3 "to review #7" "$otto" run
expect 0 "mind the gap" sh -c 'cat "$1"/runs/*.prompt' sh "$OTTO_STATE_DIR"
expect 1 "no saved work of turn 99" "$otto" redo 7 --checkpoint 99
expect 3 "1 left" "$otto" review
expect 0 "1 approved" "$otto" review --approve-all
expect 0 "#7 T 7 landed" "$otto" run
expect 0 "#10 Unwanted" "$otto" add Unwanted
expect 3 "to review #10" "$otto" run 10
expect 0 "is rejected" "$otto" reject 10 --note 'not now'
expect 0 "Nothing needs you" "$otto" inbox

# A whole lifecycle with structured answers by the command.
cat >"$folder/agent" <<END
#!/bin/sh
prompt=\$(cat)
case "\$prompt" in
*'"scores"'*) answer='{"scores":{"d1":0.9,"d2":0.9,"d3":0.9,"d4":0.9,"d5":0.9,"d6":0.9},"summary":"good"}' ;;
*'"steps"'*) answer='{"summary":"one step","steps":[{"title":"write it","checks":[{"command":"test -f life.txt"}]}]}' ;;
*) echo x >life.txt && answer='{"result":"(done)","summary":"written"}' ;;
esac
printf '%s' "\$answer" | "$otto" signal --result -
END
chmod +x "$folder/agent"
settings "$folder/agent" 'verify: ["true"]'
expect 0 "#11 Life" "$otto" add Life --workflow lifecycle
expect 0 "Life landed" "$otto" run 11
expect 0 "check@post-exec ACCEPT" "$otto" why 11
expect 0 "check-accept" "$otto" timeline 11
expect 0 "complete" "$otto" show 11
expect 0 "0 decisions differ" "$otto" replay

# Output that cannot be written is said; a reader that has read enough is not an error.
if [ -w /dev/full ]; then
    for command in "report 11" "report 11 --html" status "list --json" "why 11" help run; do
        # shellcheck disable=SC2016 disable=SC2086
        expect 2 "could not be written" sh -c 'exec "$@" >/dev/full' sh "$otto" $command
    done
    # shellcheck disable=SC2016
    expect 0 "rc 0" sh -c 'trap "" PIPE; { "$1" help; echo "rc $?" >"$2"; } | true; cat "$2"' sh "$otto" "$folder/rc"
fi

# State folders that cannot be used.
expect 2 "otto: " "$otto" --state-dir /proc/otto status
exit $failed
