#!/bin/sh
# Has words of a usage limit in its output, in another way for each task.
. "$(dirname "$0")/lib.sh"
case $n in
1) # of a test, of a file and of the model
	echo work >src/limits.txt
	echo '--- FAIL: TestLimits (0.01s)'
	echo "    limits_test.go:12: want rate_limit_error, got You've hit your usage limit."
	echo '{"type":"error","error":{"type":"rate_limit_error","message":"limit"}}'
	echo 'I handled the usage limit reached error.'
	exit 1 ;;
2) # of the program itself, after each session of work
	echo "$HAT_SESSION" >src/limits.txt
	echo "You've hit your usage limit." ;;
*) honest ;;
esac
