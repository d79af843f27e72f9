#!/bin/sh
# Nothing survives its task, whatever the agent does (F11, T15). The library looks for leftovers
# after every case; here the turns must also end in time.
. "$(dirname "$0")/lib.sh"

# Each turn must be over long before this; the strays would go on for an hour.
in_time() { # SECONDS, for `expect CODE otto run` of a case
    began=$(date +%s)
    "$@"
    took=$(($(date +%s) - began))
    [ "$took" -le 15 ] || fail "it took $took s"
}

a_background_child_that_holds_stdout_open_does_not_delay_the_end() {
    agent_script stray <<'SH'
cat >/dev/null
sleep 3131 &
echo x >x.txt
done_
SH
    use_agent stray </dev/null
    otto add One
    in_time expect 0 otto run
    nothing_left
}

a_double_fork_and_a_daemon_in_its_own_session_are_ended() {
    agent_script stray <<'SH'
cat >/dev/null
( ( sleep 3132 & ) & )
setsid sh -c 'sleep 3132' </dev/null >/dev/null 2>&1 &
setsid sh -c 'trap "" TERM HUP INT; sleep 3132; sleep 3132' &
nohup sh -c 'setsid sleep 3132 &' >/dev/null 2>&1
echo x >x.txt
done_
SH
    use_agent stray </dev/null
    otto add One
    in_time expect 0 otto run
    nothing_left
}

a_stray_without_any_mark_is_ended_too() {
    agent_script stray <<'SH'
cat >/dev/null
setsid env -i PATH="$PATH" sh -c 'echo $$ >"$1.new"; mv "$1.new" "$1"; exec sleep 3137' sh "$ROOM/stray" >/dev/null 2>&1 &
n=0
while [ ! -s "$ROOM/stray" ]; do n=$((n + 1)); [ "$n" -lt 200 ]; sleep 0.05; done
echo x >x.txt
done_
SH
    use_agent stray </dev/null
    otto add One
    in_time expect 0 otto run
    wait_for 5 is_gone "$(cat "$ROOM/stray")"
}

strays_of_the_scripted_agent_are_ended_too() {
    use_scenario <<'YAML'
tasks:
  "*":
    - - fork: {how: child, seconds: 3133}
      - fork: {how: setsid, seconds: 3133, ignore_term: true}
      - fork: {how: daemon, seconds: 3133, ignore_term: true}
      - write: {path: x.txt, text: "x\n"}
      - signal: COMPLETE
YAML
    otto add One
    in_time expect 0 otto run
}

an_agent_that_ignores_every_polite_signal_is_killed_after_the_grace() {
    agent_script stubborn <<'SH'
cat >/dev/null
trap '' TERM HUP INT QUIT
echo begun >begun.txt
touch "$ROOM/at-work"
while :; do sleep 0.1; done
SH
    use_agent stubborn </dev/null
    otto add One
    start run run
    wait_for 20 test -e "$ROOM/at-work"
    began=$(date +%s)
    expect 0 otto stop 1
    ended 3 "$PID"
    [ $(($(date +%s) - began)) -le 12 ] || fail 'it took longer than the grace time'
    state_is 1 pending
    # its work was saved
    otto diff 1 >"$ROOM/diff"
    contains "$ROOM/diff" '+begun'
}

an_agent_that_forks_without_end_is_brought_down() { # F7, small
    agent_script bomb <<'SH'
cat >/dev/null
n=0
while [ "$n" -lt 150 ]; do sleep 3134 & n=$((n + 1)); done
echo x >x.txt
done_
SH
    use_agent bomb </dev/null
    otto add One
    in_time expect 0 otto run
    nothing_left
}

a_decoy_with_the_same_name_survives() { # T15
    cat >"$ROOM/decoy.sh" <<'SH'
exec sleep 3135
SH
    (cd / && exec env -i PATH="$PATH" sh "$ROOM/decoy.sh") &
    decoy=$!
    agent_script stray <<'SH'
cat >/dev/null
setsid sleep 3135 &
echo x >x.txt
done_
SH
    use_agent stray </dev/null
    otto add One
    in_time expect 0 otto run
    is_alive "$decoy" || fail 'a foreign process was ended'
    kill "$decoy"
    wait "$decoy" || true
}

checks_leave_nothing_behind() {
    agent_script plain <<'SH'
cat >/dev/null
echo x >x.txt
done_
SH
    use_agent plain <<'YAML'
verify: ["setsid sleep 3136 & sleep 3136 & true"]
YAML
    otto add One
    in_time expect 0 otto run
    nothing_left
}

agents_see_no_descriptors_or_secrets_of_the_engine() { # T11
    agent_script look <<'SH'
cat >/dev/null
ls -l /proc/self/fd >"$ROOM/fds"
env >"$ROOM/env"
echo x >x.txt
done_
SH
    use_agent look </dev/null
    otto add One
    expect 0 otto run
    lacks "$ROOM/fds" otto.db
    lacks "$ROOM/fds" "$OTTO_STATE_DIR/lock"
    lacks "$ROOM/env" OTTO_STATE_DIR
    contains "$ROOM/env" OTTO_TASK_ID=1
}

run_cases \
    a_background_child_that_holds_stdout_open_does_not_delay_the_end \
    a_double_fork_and_a_daemon_in_its_own_session_are_ended \
    a_stray_without_any_mark_is_ended_too \
    strays_of_the_scripted_agent_are_ended_too \
    an_agent_that_ignores_every_polite_signal_is_killed_after_the_grace \
    an_agent_that_forks_without_end_is_brought_down \
    a_decoy_with_the_same_name_survives \
    checks_leave_nothing_behind \
    agents_see_no_descriptors_or_secrets_of_the_engine
