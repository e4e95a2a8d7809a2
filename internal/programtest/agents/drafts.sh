#!/bin/sh
# Does its work. What the drafter does is in notes/drafter.sh, as the test wrote it.
. "$(dirname "$0")/lib.sh"

# draft TASK…: emit a plan. A task is TITLE, or TITLE>ID,ID with what it needs; its id
# is a, b, c and so on.
draft() {
	tasks= ids="a b c d e f g h"
	for t; do
		id=${ids%% *} ids=${ids#* }
		needs=
		case $t in *">"*) needs=$(printf '"%s"' "${t#*>}" | sed 's/,/","/g') ;; esac
		tasks="$tasks${tasks:+,}{\"id\":\"$id\",\"title\":\"${t%%>*}\",\"body\":\"Somebody wants it.\",\"scope\":[\"src/\"],\"acceptance\":[\"sh ./verify.sh passes\"],\"depends_on\":[$needs]}"
	done
	hat emit draft.complete --data "{\"summary\":\"The map can be zoomed with one finger.\",\"tasks\":[$tasks]}"
}

if [ "$HAT_NAME" = drafter ]; then
	directed
	. "$notes/drafter.sh"
else
	honest
fi
