#!/bin/sh
# Does its work when the test lets it, and says what it did with guidance: set
# aside in every third task, and not a word in every fourth.
. "$(dirname "$0")/lib.sh"
hold "go-$n"
if [ -e "$notes/die-$n" ] && once "died-$n"; then exit 1; fi
if [ $((n % 4)) = 0 ]; then
	heeded() { :; }
elif [ $((n % 3)) = 0 ]; then
	heeded() {
		reports=
		for id in $(sed -n '/^## How to end/,$p' "$prompt" | grep -o '"id":"g[0-9]*"' | sort -u | cut -d'"' -f4); do
			reports="$reports${reports:+,}{\"id\":\"$id\",\"set_aside\":true,\"note\":\"not in $HAT_SESSION\"}"
		done
		[ -z "$reports" ] || printf ',"guidance":[%s]' "$reports"
	}
fi
write
built
