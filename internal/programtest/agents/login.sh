#!/bin/sh
# Runs its commands in a login shell (task 1), or in one without hat (any other).
. "$(dirname "$0")/lib.sh"
echo b >>src/a.txt
case $n in
1) exec bash -lc '
	git push --force origin main 2>"$TMPDIR/refusal"; [ $? = 77 ] || exit 1
	exec hat emit build.complete --data "{\"summary\": \"done\", \"files_modified\": [\"src/a.txt\"]}"' ;;
*)
	PATH=/usr/bin:/bin hat emit build.complete
	echo 'I could not report.' ;;
esac
