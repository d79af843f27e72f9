. ./lib/greeting.sh
test -n "$(greeting)"
