#!/bin/sh
# Long fault tests: ./dev faults, or tests/faults/faults.sh BUILD_DIR [--all] [--seed N] [--rounds N]
#
#   without --all   every commit point of the engine, and random kills
#   --all           also every write of the engine, and a full disk at each write
#
# Random parts print their seed; --seed N repeats them.
set -u
[ $# -ge 1 ] || { echo "usage: $0 BUILD_DIR [--all] [--seed N] [--rounds N]" >&2; exit 64; }
here=$(dirname "$0")
build=$1
shift
all=0 seed=$(date +%s) rounds=40
while [ $# -gt 0 ]; do
    case $1 in
    --all) all=1 ;;
    --seed) seed=$2; shift ;;
    --rounds) rounds=$2; shift ;;
    *) echo "unknown option '$1'" >&2; exit 64 ;;
    esac
    shift
done
set -- "$build/src/cli/otto"
. "$here/../engine/lib.sh"
. "$here/lib.sh"
CASE_SECONDS=100000
printf 'seed %s\n' "$seed"

walk() { # CALL: every point of one kind of call, until a run ends undisturbed
    walk_n=1
    while fault_point "$1" "$walk_n"; do walk_n=$((walk_n + 1)); done
    say "note: $((walk_n - 1)) points of $1"
}

killed_at_every_commit() { have_strace; walk fdatasync; }
killed_at_every_write() { have_strace; walk pwrite64; }

# The N-th and the next few writes find no space; the engine keeps what it decided and goes on.
a_full_disk_at_every_write() {
    have_strace
    n=1
    while :; do
        fault_begin
        set +e
        timeout -s KILL 100 strace -o "$ROOM/trace" -e trace=pwrite64 \
            -e "inject=pwrite64:error=ENOSPC:when=$n..$((n + 2))" \
            "$OTTO" run --quiet >"$ROOM/out" 2>"$ROOM/err" </dev/null
        code=$?
        set -e
        # 2: it could not even begin, and said so
        [ "$code" = 0 ] || [ "$code" = 2 ] || { cat "$ROOM/out" "$ROOM/err"; fail "full disk at write $n: exit code $code"; }
        hits=$(grep -c INJECTED "$ROOM/trace" || true)
        fault_finish
        fault_verdict
        [ "$hits" -gt 0 ] || break
        n=$((n + 1))
    done
    say "note: $((n - 1)) points"
}

# Random moments: the engine, a keeper or a worker dies.

random_kill() { # ENGINE_PID WHAT
    case $2 in
    engine) kill -KILL "$1" 2>/dev/null ;;
    keeper) random_kill_child "$1" otto-keeper ;;
    worker) random_kill_child "$1" 'otto do' ;;
    esac
}
random_kill_child() { # ENGINE_PID PATTERN: one child of our own engine
    victim=$(children_of "$1" "$2" | head -n 1)
    [ -z "$victim" ] || kill -KILL "$victim" 2>/dev/null
}

random_round() { # SEED
    random_begin "$1"
    fault_begin
    random 6
    kills=$((RANDOM_IS + 1))
    while [ "$kills" -gt 0 ]; do
        kills=$((kills - 1))
        start run run --quiet
        # up to 0.8 s: the run takes about one second
        random 800
        sleep "0.$(printf '%03d' "$RANDOM_IS")"
        random 10
        case $RANDOM_IS in
        0) random_kill "$PID" keeper || true ;;
        1 | 2) random_kill "$PID" worker || true ;;
        esac
        random_kill "$PID" engine || true
        wait "$PID" 2>/dev/null || true
    done
    fault_finish
    fault_verdict
}

killed_at_random_moments() {
    round=0
    while [ "$round" -lt "$rounds" ]; do
        (random_round $((seed + round))) || fail "round with seed $((seed + round))"
        round=$((round + 1))
    done
    cd "$ROOM/repo"
    say "note: $rounds rounds from seed $seed"
}

if [ "$all" = 1 ]; then
    run_cases killed_at_random_moments killed_at_every_commit killed_at_every_write a_full_disk_at_every_write
else
    run_cases killed_at_random_moments killed_at_every_commit
fi
