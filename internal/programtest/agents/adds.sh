#!/bin/sh
# The first builder adds a task, twice with the same words, and tries others that
# are refused. Its log has the answers.
. "$(dirname "$0")/lib.sh"
try() {
	hat task add "$@" >>"$notes/log-1" 2>&1
	echo "exit $?" >>"$notes/log-1"
}
if [ "$n/$HAT_NAME" = 1/builder ]; then
	try "Write the page" --scope src/ --depends-on 2 --acceptance "it reads well"
	try "Write the page" --scope src/ --depends-on 2 --acceptance "it reads well"
	try "write the PAGE!"
	try "Other" --depends-on 9
	try --data '{"tasks":[{"id":"Task 7","title":"A","depends_on":["Task 8"]},{"id":"Task 8","title":"B","depends_on":["Task 7"]}]}'
fi
honest
