#!/bin/sh
# Loops random backlogs with random agents and random faults: ./dev soak, or
# tests/faults/soak.sh BUILD_DIR [MINUTES] [--seed N]   (F24; 10 minutes when not told)
#
# Each round: a new repository, 4 to 15 tasks with random dependencies, agents that work, fail their
# checks, conflict, hang, crash or flood, and a few kills of the engine, its keepers and workers. Then
# everything must come to rest: no task lost, nothing landed twice, nothing left running.
set -u
[ $# -ge 1 ] || { echo "usage: $0 BUILD_DIR [MINUTES] [--seed N]" >&2; exit 64; }
here=$(dirname "$0")
build=$1
shift
minutes=10 seed=$(date +%s)
while [ $# -gt 0 ]; do
    case $1 in
    --seed) seed=$2; shift ;;
    *[!0-9]*) echo "unknown option '$1'" >&2; exit 64 ;;
    *) minutes=$1 ;;
    esac
    shift
done
set -- "$build/src/cli/otto"
. "$here/../engine/lib.sh"
. "$here/lib.sh"
CASE_SECONDS=300
printf 'seed %s\n' "$seed"

# What a random agent does in its turn; the numbers come from its task and attempt, not from time.
soak_agent() {
    agent_script soak <<'SH'
cat >/dev/null
mood=$((($OTTO_TASK_ID * 7919 + $SEED) % 12))
echo "$OTTO_TASK_ID $OTTO_TURN" >>"$ROOM/turns"
if [ -n "${OTTO_CHECKPOINT:-}" ] && [ -n "${OTTO_TARGET_REF:-}" ]; then
    git add -A && git commit -q -m "feat: mine" >/dev/null || true
    git merge -q "$OTTO_TARGET_REF" >/dev/null 2>&1 || true
    git checkout -q --theirs shared.txt 2>/dev/null || true
    grep -v '^[<=>]' shared.txt >t || true
    { cat t; echo "$OTTO_TASK_ID"; } | sort -un >shared.txt
    rm -f t
    git add -A && git commit -q -m "fix: both" || true
    done_
    exit 0
fi
echo "$OTTO_TASK_ID" >"file-$OTTO_TASK_ID.txt"
case $mood in
0 | 1 | 2) ;;
3) [ "$OTTO_TURN" -gt 2 ] || exit 0 ;;                                    # says nothing at first
4) [ "$OTTO_TURN" -gt 1 ] || { echo bad >"file-$OTTO_TASK_ID.txt"; } ;;   # fails its check first
5 | 6) { cat shared.txt; echo "$OTTO_TASK_ID"; } | sort -un >t && mv t shared.txt ;;
7) [ "$OTTO_TURN" -gt 1 ] || kill -KILL $$ ;;                             # dies once
8) exit 3 ;;                                                              # fails
9) setsid sleep 3171 & ;;                                                 # leaves something behind
10) head -c 300000 /dev/zero | tr '\0' x ;;
11) sleep 0.5 ;;
esac
if [ $((OTTO_TASK_ID % 2)) = 0 ]; then otto signal COMPLETE >/dev/null; else done_; fi
SH
    sed -i "s/^ROOM=/SEED=$1\nROOM=/" "$ROOM/agent-soak.sh"
    use_agent soak <<'YAML'
slots: 4
limits: {stuck_turns: 0, max_retries: 20, pause_after_failures: 0, max_turns: 8, max_output_mb: 1}
verify: ["! grep -rq bad file-*.txt"]
YAML
}

soak_round() {
    random_begin "$round_seed"
    printf '0\n' >shared.txt
    git add shared.txt
    git commit -q -m 'a shared file'
    soak_agent "$round_seed"
    random 12
    count=$((RANDOM_IS + 4))
    id=1
    while [ "$id" -le "$count" ]; do
        after=
        random 3
        if [ "$id" -gt 1 ] && [ "$RANDOM_IS" = 0 ]; then
            random $((id - 1))
            after="--after $((RANDOM_IS + 1))"
        fi
        # shellcheck disable=SC2086 # two words or none
        otto add "Task $id" $after >/dev/null
        id=$((id + 1))
    done
    random 5
    kills=$RANDOM_IS
    while [ "$kills" -gt 0 ]; do
        kills=$((kills - 1))
        start run run --quiet
        random 1500
        sleep "$(printf '%d.%03d' $((RANDOM_IS / 1000)) $((RANDOM_IS % 1000)))"
        random 8
        case $RANDOM_IS in
        0) victim=$(children_of "$PID" otto-keeper | head -n 1) ;;
        1) victim=$(children_of "$PID" 'otto do' | head -n 1) ;;
        2) otto stop --all >/dev/null 2>&1 || true; victim=$PID ;;
        3) otto pause >/dev/null 2>&1 || true; victim=$PID ;;
        *) victim=$PID ;;
        esac
        [ -z "$victim" ] || kill -KILL "$victim" 2>/dev/null || true
        kill -KILL "$PID" 2>/dev/null || true
        wait "$PID" 2>/dev/null || true
    done
    soak_verdict
}

soak_verdict() {
    set +e
    timeout 200 "$OTTO" run --quiet >"$ROOM/out" 2>"$ROOM/err" </dev/null
    code=$?
    set -e
    [ "$code" = 0 ] || [ "$code" = 3 ] || { cat "$ROOM/out" "$ROOM/err"; fail "the last run ended with $code"; }
    id=1
    while [ "$id" -le "$count" ]; do
        case $(state_of "$id") in
        done) equal 1 "$(merges_of "$id")" "merges of task $id"; exists "file-$id.txt" ;;
        failed | timeout) equal 0 "$(merges_of "$id")" "merges of task $id" ;;
        pending) otto why "$id" | grep -q 'skipped because' || { otto why "$id"; fail "task $id is pending for no reason"; } ;;
        *) otto why "$id"; fail "task $id is $(state_of "$id")" ;;
        esac
        id=$((id + 1))
    done
    equal '' "$(git status --porcelain)" 'changes in the checkout'
}

rounds=0
until_s=$(($(date +%s) + minutes * 60))
while [ "$(date +%s)" -lt "$until_s" ]; do
    round_seed=$((seed + rounds))
    if ! run_cases soak_round >"$TOP/round" 2>&1; then
        cat "$TOP/round"
        printf 'round %d failed; repeat it with: %s %s 1 --seed %d\n' "$rounds" "$0" "$build" "$round_seed"
        exit 1
    fi
    rounds=$((rounds + 1))
done
printf '%d rounds, 0 failed\n' "$rounds"
