#!/bin/sh
# A reviewer that finds one thing to be said of most tasks, which the fixer leaves as
# it is.
. "$(dirname "$0")/lib.sh"
case $HAT_NAME in
reviewer)
	case $n in
	[2468] | 10) fine ;;
	*) if once "picked-$n"; then issue style "shorter names"; else fine; fi ;;
	esac ;;
fixer) hat emit fix.complete --data '{"summary":"left as it is","files_modified":[],"resolved":[],"no_change":"the names are those of the plan"}' ;;
*) honest ;;
esac
