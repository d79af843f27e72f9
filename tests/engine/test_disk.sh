#!/bin/sh
# A full disk loses nothing that was acknowledged (F5). Needs a small file system of its own: made
# inside a user and mount namespace, so nothing outside is touched.
. "$(dirname "$0")/lib.sh"

small_disk() { # SIZE SCRIPT: runs the script with $ROOM/small as a file system of that size
    cat >"$ROOM/inside.sh" <<SH
set -eu
mkdir "\$ROOM/small"
mount -t tmpfs -o size=$1 none "\$ROOM/small"
export OTTO_STATE_DIR="\$ROOM/small/state"
. "\$ROOM/script.sh"
SH
    cat >"$ROOM/script.sh"
    export ROOM OTTO
    unshare -rm true 2>/dev/null || skip 'no user namespaces here'
    unshare -rm sh -c 'mkdir "$ROOM/try" && mount -t tmpfs none "$ROOM/try"' 2>/dev/null ||
        skip 'a file system cannot be mounted here'
    unshare -rm sh "$ROOM/inside.sh" >"$ROOM/inside" 2>&1 || { cat "$ROOM/inside"; fail 'inside the small disk'; }
}

plain_agent() {
    agent_script plain <<'SH'
cat >/dev/null
echo "work of $OTTO_TASK_ID" >"file-$OTTO_TASK_ID.txt"
done_
SH
    use_agent plain </dev/null
}

what_was_acknowledged_is_there_after_the_disk_was_full() {
    plain_agent
    small_disk 3m <<'SH'
n=0
head -c 60000 /dev/zero | tr '\0' x >"$ROOM/body"
while "$OTTO" add "Task $n" --body-file "$ROOM/body" >"$ROOM/out" 2>"$ROOM/err"; do
    n=$((n + 1))
    [ "$n" -lt 500 ]
done
code=0
"$OTTO" add more --body-file "$ROOM/body" >"$ROOM/out" 2>"$ROOM/err" || code=$?
cat "$ROOM/err"
[ "$code" = 2 ]
grep -q 'disk is full' "$ROOM/err"
[ "$n" -gt 3 ]
# reading still works, and everything that was promised is there
"$OTTO" list --json >"$ROOM/out" 2>"$ROOM/err"
grep -q "\"total\": $n\$" "$ROOM/out"
"$OTTO" replay >"$ROOM/out"
grep -q ' 0 decisions differ' "$ROOM/out"
SH
}

low_disk_holds_new_agents_back_and_goes_on_by_itself() { # D-152
    plain_agent
    small_disk 530m <<'SH'
"$OTTO" add One
head -c 40000000 /dev/zero >"$ROOM/small/fill"
"$OTTO" run >"$ROOM/run.out" 2>"$ROOM/run.err" &
pid=$!
tries=0
until "$OTTO" why 1 2>/dev/null | grep -q 'disk is too full'; do
    tries=$((tries + 1)); [ "$tries" -lt 200 ]; sleep 0.05
done
[ -z "$(ls "$OTTO_STATE_DIR/runs")" ] # nothing was started
rm "$ROOM/small/fill"
wait "$pid"
"$OTTO" list done | grep -q One
SH
}

run_cases \
    what_was_acknowledged_is_there_after_the_disk_was_full \
    low_disk_holds_new_agents_back_and_goes_on_by_itself
