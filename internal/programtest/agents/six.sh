#!/bin/sh
# The night of the six tasks: #2 has an issue that the fixer settles, #3 breaks
# the verification until the test allows it to work, the rest goes well.
. "$(dirname "$0")/lib.sh"
case $n/$HAT_NAME in
2/reviewer)
	if grep -q fixed src/task2.txt; then fine; else issue rounding "totals are cut, not rounded"; fi ;;
3/builder)
	write
	[ -e "$notes/mended" ] || echo "BROKEN in $HAT_SESSION" >>src/task3.txt
	echo "all tests pass"
	built ;;
*) honest ;;
esac
