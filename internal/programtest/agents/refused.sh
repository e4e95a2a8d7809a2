#!/bin/sh
# Its provider refuses the pace while the test says so. #2 ends at once by
# itself, if the test says that.
. "$(dirname "$0")/lib.sh"
if [ -e "$notes/codex" ]; then
	echo 'ERROR: exceeded retry limit, last status: 429 Too Many Requests'
	exit 1
fi
if [ -e "$notes/pi" ]; then
	echo '429 Rate limit reached'
	exit 0
fi
if [ -e "$notes/unheard" ]; then
	echo 'Fehler: der Anbieter antwortet nicht'
	exit 1
fi
[ ! -e "$notes/alone-$n" ] || exit 1
honest
