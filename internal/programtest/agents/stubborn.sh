#!/bin/sh
# #1 says nothing and does nothing; #2 will not end when it is asked to.
. "$(dirname "$0")/lib.sh"
case $n in
1) exec sleep 98762.1 ;;
2)
	trap '' TERM INT HUP
	: >"$notes/at-2"
	while :; do sleep 98762.2; done ;;
*) honest ;;
esac
