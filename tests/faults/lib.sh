# Shared by the fault tests: one small backlog that holds everything that can happen on the way (a
# failed check, a conflict, several turns, dependencies), and what must be true at its end, whatever
# was killed meanwhile. Needs tests/engine/lib.sh before it.

# The content that lands is the same in whatever order the agents come, and however often a turn is
# begun again.
fault_backlog() {
    printf '0\n' >shared.txt
    git add shared.txt
    git commit -q -m 'a shared file'
    use_scenario 'slots: 3
limits: {stuck_turns: 0, max_retries: 50, pause_after_failures: 0}
verify: ["test -f base.txt"]' <<'YAML'
tasks:
  plain:
    - - write: {path: plain.txt, text: "plain\n"}
      - commit: "feat: plain"
      - signal: COMPLETE
  checked:
    - - write: {path: checked.txt, text: "broken\n"}
      - signal: COMPLETE
    - - write: {path: checked.txt, text: "fixed\n"}
      - commit: "fix: checked"
      - signal: {text: COMPLETE, via: command}
  left:
    turns:
      - - run: '{ cat shared.txt; echo left; } | sort -u >t && mv t shared.txt'
        - commit: "feat: one side"
        - signal: COMPLETE
    on_conflict:
      - - run: {command: 'git merge -q "$OTTO_TARGET_REF"', may_fail: true}
        - write: {path: shared.txt, text: "0\nleft\nright\n"}
        - commit: "fix: both sides"
        - signal: COMPLETE
  right:
    turns:
      - - run: '{ cat shared.txt; echo right; } | sort -u >t && mv t shared.txt'
        - commit: "feat: one side"
        - signal: COMPLETE
    on_conflict:
      - - run: {command: 'git merge -q "$OTTO_TARGET_REF"', may_fail: true}
        - write: {path: shared.txt, text: "0\nleft\nright\n"}
        - commit: "fix: both sides"
        - signal: COMPLETE
  last:
    - - write: {path: last.txt, text: "one\n"}
    - - write: {path: last.txt, text: "one\ntwo\n"}
      - signal: "PROGRESS:50"
    - - write: {path: last.txt, text: "one\ntwo\nthree\n"}
      - signal: COMPLETE
YAML
    otto add Left --key left >/dev/null
    otto add Right --key right >/dev/null
    otto add Plain --key plain >/dev/null
    otto add Checked --key checked --after plain --check 'grep -q fixed checked.txt' >/dev/null
    otto add Last --key last --after left --after right >/dev/null
}
FAULT_TASKS='1 2 3 4 5'
FAULT_TREE='base.txt checked.txt last.txt otto.yaml plain.txt shared.txt'

# Whatever happened: done, landed once each, the right content, nothing running, nothing in doubt.
fault_verdict() {
    for verdict_id in $FAULT_TASKS; do
        state_is "$verdict_id" done
        equal 1 "$(merges_of "$verdict_id")" "merges of task $verdict_id"
    done
    equal "$FAULT_TREE" "$(git ls-tree --name-only main | tr '\n' ' ' | sed 's/ $//')" 'files that landed'
    equal 'plain' "$(git show main:plain.txt)" plain.txt
    equal 'fixed' "$(git show main:checked.txt)" checked.txt
    equal '0 left right' "$(git show main:shared.txt | tr '\n' ' ' | sed 's/ $//')" shared.txt
    equal 'one two three' "$(git show main:last.txt | tr '\n' ' ' | sed 's/ $//')" last.txt
    equal '' "$(git status --porcelain)" 'changes in the checkout'
    equal "$(tip)" "$(git rev-parse HEAD)" 'the checkout'
    equal '' "$(find .git -name '*.lock')" 'locks in the repository'
    audit
    nothing_left
}

# Runs until all is done; a person's part (resume after a pause) is a second run.
fault_finish() {
    expect 0 timeout 100 "$OTTO" run --quiet
}

# A fresh repository, state folder and backlog in the present room.
fault_begin() {
    cd "$ROOM"
    chmod -R u+rwX repo state 2>/dev/null || true
    rm -rf repo state
    new_repo "$ROOM/repo"
    cd "$ROOM/repo"
    fault_backlog
}

have_strace() {
    command -v strace >/dev/null 2>&1 || skip 'strace is not there'
    strace -o /dev/null true 2>/dev/null || skip 'strace may not trace here'
}

# Runs the engine and kills it at the N-th call of that kind. True: it was killed there; false: the
# run ended before the N-th call.
fault_kill_at() { # CALL N
    set +e
    timeout -s KILL 100 strace -o "$ROOM/trace" -e "trace=$1" -e "inject=$1:signal=KILL:when=$2" \
        "$OTTO" run --quiet >"$ROOM/out" 2>"$ROOM/err" </dev/null
    kill_code=$?
    set -e
    case $kill_code in
    0) return 1 ;;
    137) return 0 ;;
    *) cat "$ROOM/out" "$ROOM/err"; fail "killed at $1 $2: exit code $kill_code" ;;
    esac
}

fault_point() { # CALL N: one point from the backlog to the verdict; false: there is no such point
    fault_begin
    fault_kill_at "$1" "$2" || { fault_verdict; return 1; }
    fault_finish
    fault_verdict
}

# Random numbers that a seed repeats (a subshell would forget the state, so the answer is a variable).
random_begin() { # SEED
    random_state=$((($1 * 2654435761 + 12345) % 2147483648))
}
random() { # MODULUS -> RANDOM_IS, below it
    random_state=$(((random_state * 1103515245 + 12345) % 2147483648))
    RANDOM_IS=$((random_state / 65536 % $1))
}
