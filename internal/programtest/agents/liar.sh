#!/bin/sh
# Claims what is not so, in another way for each task.
. "$(dirname "$0")/lib.sh"
said() { echo "said $1" >>"$notes/log-$n"; }
complete='{"summary":"all tests pass","files_modified":["src/a.txt"]}'
case $n in
1) # no event at all
	write ;;
2) # nothing was done
	hat emit build.complete --data "$complete" ;;
3) # the tests fail
	echo "BROKEN in $HAT_SESSION" >src/task3.txt
	hat emit build.complete --data "$complete" ;;
4) # an event that was cut off
	write
	hat emit build.complete --data '{"summary":"all tests pass","files_mod'
	said $? ;;
5) # garbage, and an event without its fields
	write
	head -c 300 /dev/urandom | hat emit build.complete --data -
	said $?
	hat emit build.complete --data '{}'
	said $? ;;
6) # another hat's event
	write
	hat emit review.verdict --data '{"summary":"all tests pass","issues":[]}'
	said $? ;;
7) # for another session, with its own token and with a made-up one
	write
	HAT_SESSION=r1-1 HAT_TASK="Task 9" hat guidance >/dev/null
	said $?
	HAT_TOKEN=$(echo "$HAT_TOKEN" | tr 0-9a-f 1-9a-f0) hat emit build.complete --data "$complete"
	said $? ;;
8) # two events
	write
	hat emit task.blocked --data '{"reason":"no till here","tried":"looked","needs":"a till"}'
	said $?
	hat emit build.complete --data "$complete"
	said $?
	hat emit task.blocked --data '{"reason":"no till here","tried":"looked","needs":"a till"}'
	said $? ;;
*) honest ;;
esac
echo "all tests pass"
exit 0
