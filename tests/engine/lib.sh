# Shared by the tests that drive the whole program. Source it, define cases as functions whose names
# are sentences, end with `run_cases NAME...`.
#
#   sh test_flow.sh PATH_OF_OTTO [PATTERN]     PATTERN: only cases whose name contains it
#
# Each case runs in a subshell with `set -eu`, in a fresh folder:
#   $ROOM          the folder; everything lies below it, and it is the mark by which leftovers are found
#   $ROOM/repo     a git repository with one commit (present folder)
#   $ROOM/state    OTTO_STATE_DIR
# A case must end everything it starts. Processes that still carry the folder's name at the end make
# it fail, are shown, and are ended by pid.

[ $# -ge 1 ] || { echo "usage: $0 PATH_OF_OTTO [PATTERN]" >&2; exit 64; }
OTTO=$(realpath "$1")
ONLY=${2:-}
[ -x "$OTTO" ] || { echo "'$OTTO' is not a program" >&2; exit 64; }

# Nothing of the caller's may leak in: settings of git, of otto, of the language.
KEEP=${OTTO_KEEP_ROOM:-0} # 1: the folder of the first case that fails is kept
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE XDG_STATE_HOME XDG_CONFIG_HOME
for word in $(env | sed -n 's/^\(OTTO_[A-Z_]*\)=.*/\1/p'); do unset "$word"; done
export LC_ALL=C GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0
export GIT_AUTHOR_NAME=Tester GIT_AUTHOR_EMAIL=tester@localhost
export GIT_COMMITTER_NAME=Tester GIT_COMMITTER_EMAIL=tester@localhost

TOP=$(realpath "$(mktemp -d "${TMPDIR:-/tmp}/otto-test.XXXXXX")")
export HOME="$TOP/home"
mkdir "$HOME"
ROOM=$TOP/none

# -- processes of a case ------------------------------------------------------------------------

# Pids of processes that carry the text in command line, environment or current folder, without us.
pids_with() { # TEXT
    pids_all=$(grep -lsF -- "$1" /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null |
        cut -d/ -f3 | sort -un)
    for pids_pid in $pids_all; do # grep and its like have gone by now
        [ -r "/proc/$pids_pid/stat" ] || continue
        case $(cut -d' ' -f3 "/proc/$pids_pid/stat" 2>/dev/null) in Z | X | '') continue ;; esac
        pids_is_ours "$pids_pid" || echo "$pids_pid"
    done
}

# This shell, its subshells and its parents.
pids_is_ours() { # PID
    pids_at=$$
    while [ "${pids_at:-0}" -gt 1 ]; do
        [ "$1" = "$pids_at" ] && return 0
        pids_at=$(sed 's/.*) [A-Za-z] \([0-9]*\) .*/\1/' "/proc/$pids_at/stat" 2>/dev/null)
    done
    case $(tr '\0' ' ' <"/proc/$1/cmdline" 2>/dev/null) in *"$0 "*) return 0 ;; esac
    return 1
}

# Children of a process whose command line holds the text.
children_of() { # PID TEXT
    for child_stat in /proc/[0-9]*/stat; do
        child_line=$(cat "$child_stat" 2>/dev/null) || continue
        case ${child_line##*) } in [A-Z]" $1 "*) ;; *) continue ;; esac
        child=${child_stat#/proc/}
        child=${child%/stat}
        case $(tr '\0' ' ' <"/proc/$child/cmdline" 2>/dev/null) in *"$2"*) echo "$child" ;; esac
    done
}

end_all() { # TEXT: ends by pid what carries the text
    for end_round in 1 2 3 4 5; do
        end_list=$(pids_with "$1")
        [ -n "$end_list" ] || return 0
        # shellcheck disable=SC2086 # a list of pids
        kill -KILL $end_list 2>/dev/null
        sleep 0.1
    done
}

finish() {
    trap - EXIT INT TERM HUP
    end_all "$TOP"
    chmod -R u+rwX "$TOP" 2>/dev/null
    rm -rf "$TOP"
}
trap 'finish' EXIT
trap 'finish; exit 130' INT TERM HUP

# -- asserts --------------------------------------------------------------------------------------

say() { printf '%s\n' "$*"; }
fail() { say "FAILED: $*"; exit 1; }
skip() { say "skipped: $*"; exit 77; }

equal() { # WANTED GOT WHAT
    [ "$1" = "$2" ] || fail "${3:-value}: wanted '$1', got '$2'"
}
contains() { # FILE TEXT
    grep -qF -- "$2" "$1" || { say "--- $1"; cat "$1"; fail "'$2' is not in '$1'"; }
}
lacks() { # FILE TEXT
    if grep -qF -- "$2" "$1"; then say "--- $1"; cat "$1"; fail "'$2' is in '$1'"; fi
}
exists() { [ -e "$1" ] || fail "'$1' is missing"; }
missing() { [ ! -e "$1" ] || fail "'$1' is there"; }

# Runs a command, demands its exit code; its output is in $ROOM/out and $ROOM/err.
expect() { # CODE COMMAND...
    expect_code=$1
    shift
    set +e
    "$@" >"$ROOM/out" 2>"$ROOM/err" </dev/null
    expect_got=$?
    set -e
    [ "$expect_got" = "$expect_code" ] && return 0
    say "--- stdout of: $*"; tail -n 60 "$ROOM/out"
    say "--- stderr"; tail -n 60 "$ROOM/err"
    fail "exit code of '$*': wanted $expect_code, got $expect_got"
}
out_has() { contains "$ROOM/out" "$1"; }
err_has() { contains "$ROOM/err" "$1"; }

# Waits for a condition; never for time alone.
wait_for() { # SECONDS COMMAND...
    wait_left=$(($1 * 20))
    shift
    while ! "$@" >/dev/null 2>&1; do
        wait_left=$((wait_left - 1))
        [ "$wait_left" -gt 0 ] || fail "waited in vain for: $*"
        sleep 0.05
    done
}
is_gone() { [ ! -d "/proc/$1" ] || [ "$(cut -d' ' -f3 "/proc/$1/stat" 2>/dev/null)" = Z ]; }
is_alive() { ! is_gone "$1"; }

# -- otto ---------------------------------------------------------------------------------------

otto() { "$OTTO" "$@"; }

# Starts otto in the background; $PID is its pid, output in $ROOM/NAME.out and NAME.err. It runs in
# its own session (a terminal's Ctrl-C of the tester does not reach it) and takes SIGINT, which a
# shell hides from background processes.
start() { # NAME ARGUMENTS...
    start_name=$1
    shift
    env --default-signal=INT,QUIT "$OTTO" "$@" >"$ROOM/$start_name.out" 2>"$ROOM/$start_name.err" </dev/null &
    PID=$!
}
ended() { # CODE PID: waits for a process of ours and demands its exit code
    ended_code=0
    wait "$2" || ended_code=$?
    [ "$ended_code" = "$1" ] || {
        tail -n 40 "$ROOM"/*.out "$ROOM"/*.err
        fail "exit code of process $2: wanted $1, got $ended_code"
    }
}
engine_is_up() { [ -S "$OTTO_STATE_DIR/sock" ] && otto status >/dev/null 2>&1; }

# A top-level text or number of `otto show ID --json`.
task_field() { # ID FIELD
    otto show "$1" --json | sed -n "s/^  \"$2\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" | head -n 1
}
state_of() { task_field "$1" state; }
run_state_of() { task_field "$1" run_state; }
is_state() { [ "$(state_of "$1")" = "$2" ]; }
is_run_state() { [ "$(run_state_of "$1")" = "$2" ]; }
state_is() { # ID STATE
    state_got=$(state_of "$1")
    [ "$state_got" = "$2" ] || { otto why "$1"; fail "state of task $1: wanted '$2', got '$state_got'"; }
}
autopilot_is() { # WORD
    otto status --json | grep -q "\"autopilot\": \"$1\""
}

# Valid JSON? By the best reader at hand; otto's own is the last choice.
json_is_valid() { # FILE
    if command -v jq >/dev/null 2>&1; then jq -e . "$1" >/dev/null
    elif command -v python3 >/dev/null 2>&1; then python3 -m json.tool "$1" >/dev/null
    else otto decide signal <"$1" 2>&1 | grep -vq 'not JSON'; fi
}

# -- the repository -------------------------------------------------------------------------------

new_repo() { # FOLDER
    git init -q -b main "$1"
    git -C "$1" config core.hooksPath /dev/null
    printf 'one\n' >"$1/base.txt"
    git -C "$1" add base.txt
    git -C "$1" commit -q -m base
}

# Writes otto.yaml from stdin and commits it; agents are added by `agent`.
settings() {
    cat >otto.yaml
    git add otto.yaml
    git commit -q -m settings
}

# The one agent of most tests: a shell script from stdin, run with `set -eu`, prompt on its stdin.
# Functions it may use: `tag TEXT` signals by tag, `done_` says COMPLETE.
agent_script() { # NAME, script on stdin
    {
        cat <<'HEAD'
set -eu
tag() { printf '<%s>%s</%s>\n' "$OTTO_SIGNAL_TAG" "$*" "$OTTO_SIGNAL_TAG"; }
done_() { tag COMPLETE; }
HEAD
        printf 'ROOM=%s\n' "$ROOM"
        cat
    } >"$ROOM/agent-$1.sh"
}

# otto.yaml with the agent script NAME as the only agent; more settings on stdin.
use_agent() { # NAME
    {
        printf 'agent: %s\nagents:\n  %s: {kind: command, command: [/bin/sh, "%s/agent-%s.sh"]}\n' \
            "$1" "$1" "$ROOM" "$1"
        printf 'stop: {grace_s: 1, pause_wait_s: 1}\n'
        cat
    } | settings
}

# otto.yaml with the scripted agent playing the scenario on stdin; $1: more settings.
use_scenario() { # [SETTINGS]
    cat >"$ROOM/scenario.yaml"
    {
        printf 'agent: play\nagents:\n  play: {kind: script, scenario: "%s/scenario.yaml"}\n' "$ROOM"
        printf 'stop: {grace_s: 1, pause_wait_s: 1}\n%s\n' "${1:-}"
    } | settings
}

# Merge commits of a task on a branch, by their trailer.
merges_of() { # ID [BRANCH]
    git log --merges --format='%(trailers:key=Otto-Task,valueonly)' "${2:-main}" | grep -cx "$1" || true
}
tip() { git rev-parse "${1:-main}"; }

# -- what must hold after every case (F20, T15) ----------------------------------------------------

# An independent look: what is done is in the target, hubs are sound, decisions can be replayed.
audit() {
    [ -e "$OTTO_STATE_DIR/otto.db" ] || return 0
    otto replay >"$ROOM/replay.out" 2>&1 || { cat "$ROOM/replay.out"; fail "a replay decides otherwise"; }
    contains "$ROOM/replay.out" ' 0 decisions differ'
    for audit_hub in "$OTTO_STATE_DIR"/hubs/*; do
        [ -d "$audit_hub" ] || continue
        git --git-dir="$audit_hub" fsck --no-dangling --no-progress >"$ROOM/fsck.out" 2>&1 ||
            { cat "$ROOM/fsck.out"; fail "the hub is damaged"; }
        [ -z "$(find "$audit_hub" -name '*.lock')" ] || fail "a git lock was left in the hub"
    done
    for audit_task in $(otto list done --json | sed -n 's/^      "id": \([0-9]*\),$/\1/p'); do
        audit_landed "$audit_task"
    done
}

audit_landed() { # ID
    audit_hub=$(task_field "$1" hub)
    audit_target=$(otto status --json | sed -n 's/^    "target": "\(.*\)",$/\1/p')
    otto show "$1" --json | sed -n 's/^      "landed": "\([0-9a-f]*\)",$/\1/p' | while read -r audit_commit; do
        # a task that was rolled back and done again has landed more than once; each must be there
        git --git-dir="$audit_hub" merge-base --is-ancestor "$audit_commit" "refs/heads/$audit_target" ||
            fail "task $1 is done, but $audit_commit is not in $audit_target"
    done
}

nothing_left() {
    # a keeper says its last line after the engine has heard the end
    left_tries=40
    while left=$(pids_with "$ROOM") && [ -n "$left" ]; do
        left_tries=$((left_tries - 1))
        if [ "$left_tries" -le 0 ]; then
            for left_pid in $left; do
                say "left running: $left_pid $(tr '\0' ' ' <"/proc/$left_pid/cmdline" | cut -c1-200)"
            done
            fail "processes are left running"
        fi
        sleep 0.1
    done
}

show_state() {
    say "--- tasks"; timeout 10 "$OTTO" list 2>&1 | tail -n 20
    say "--- log of the engine"; tail -n 20 "$OTTO_STATE_DIR/log" 2>/dev/null
}

one_case() { # NAME
    set -eu
    export OTTO_STATE_DIR="$ROOM/state"
    new_repo "$ROOM/repo"
    cd "$ROOM/repo"
    "$1"
    audit
    nothing_left
}

# A case that hangs is ended with all it started, so that what it knows is shown.
watch() { # PID
    trap 'kill "$watch_sleep" 2>/dev/null; exit 0' TERM
    sleep "${CASE_SECONDS:-100}" &
    watch_sleep=$!
    wait "$watch_sleep"
    printf 'FAILED: no end after %s s\n' "${CASE_SECONDS:-100}" >>"$TOP/log"
    kill "$1" 2>/dev/null
    end_all "$ROOM"
}

run_cases() { # NAME...
    failed=0 passed=0 skipped=0
    for name in "$@"; do
        case $name in *"$ONLY"*) ;; *) continue ;; esac
        ROOM=$TOP/$((failed + passed + skipped + 1))
        mkdir "$ROOM"
        began=$(date +%s%N)
        (one_case "$name") >"$TOP/log" 2>&1 </dev/null &
        case_pid=$!
        watch "$case_pid" &
        watch_pid=$!
        wait "$case_pid"
        code=$?
        kill "$watch_pid" 2>/dev/null
        wait "$watch_pid" 2>/dev/null
        took=$((($(date +%s%N) - began) / 1000000))
        case $code in
        0)
            passed=$((passed + 1))
            printf 'ok    %6d ms  %s\n' "$took" "$name"
            sed -n 's/^note: /      | /p' "$TOP/log"
            ;;
        77) skipped=$((skipped + 1)); printf 'skip              %s: %s\n' "$name" "$(sed -n 's/^skipped: //p' "$TOP/log")" ;;
        *)
            failed=$((failed + 1))
            (export OTTO_STATE_DIR="$ROOM/state"; cd "$ROOM/repo" && show_state) >>"$TOP/log" 2>&1
            sed 's/^/      | /' "$TOP/log"
            printf 'FAIL  %6d ms  %s\n' "$took" "$name"
            ;;
        esac
        end_all "$ROOM"
        if [ "$failed" -gt 0 ] && [ "$KEEP" = 1 ]; then
            trap - EXIT
            printf 'kept: %s\n' "$ROOM"
            exit 1
        fi
        chmod -R u+rwX "$ROOM" 2>/dev/null
        rm -rf "$ROOM"
    done
    printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    [ "$failed" -eq 0 ]
}
