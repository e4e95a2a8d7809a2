#!/bin/sh
# Wants its task done without having done it, in another way for each task.
. "$(dirname "$0")/lib.sh"
case $n/$HAT_NAME in
1/builder) # nothing is to be done, it says
	hat emit build.complete --data '{"summary":"done before","files_modified":[],"no_change":"it is there already"}' ;;
2/builder) # deletes its work folder after its event
	write && built
	rm -rf ./* ./.[!.]* ;;
3/builder) # leaves a merge half done
	printf 'one\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> side\n' >src/task3.txt
	built ;;
4/planner) # plans nothing
	hat emit plan.complete --data '{"summary":"nothing to plan","steps":[]}' 2>"$notes/refused-plan"
	plan ;;
6/builder) # works once, and rests on somebody else's commit
	if once worked; then
		directed
		write
	fi
	built ;;
*) honest ;;
esac
