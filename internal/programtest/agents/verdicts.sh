#!/bin/sh
# Reviewers and critics that are never content, and builders that claim what is
# not so, another way for each task.
. "$(dirname "$0")/lib.sh"
said() { echo "said $1" >>"$notes/log-$n"; }
# nth: how many sessions of this hat the task has had, with this one.
nth() { grep -c "start $HAT_NAME $n\$" "$notes/log"; }
# issues COUNT: as many small ones, the first of which counts.
issues() {
	awk -v n="$1" 'BEGIN {
		printf "{\"summary\":\"look\",\"issues\":["
		for (i = 1; i <= n; i++) printf "%s{\"severity\":\"%s\",\"file\":\"src/a.txt\",\"line\":%d,\"rule\":\"r%d\",\"text\":\"x\"}", (i > 1 ? "," : ""), (i > 1 ? "minor" : "major"), i, i
		print "]}"
	}' >"$TMPDIR/issues"
}
case $n/$HAT_NAME in
1/reviewer) # the same for ever
	issue rounding "totals are cut" ;;
2/reviewer) # another each time
	if [ "$(nth)" -lt 10 ]; then issue "rule-$(nth)" "again something"; else fine; fi ;;
3/builder) # all done, and nothing is
	hat emit build.complete --data '{"summary":"all done, tests: pass","files_modified":["src/task3.txt"]}' ;;
4/builder) # tests: pass
	echo "BROKEN in $HAT_SESSION" >src/task4.txt
	echo "tests: pass"
	hat emit build.complete --data '{"summary":"tests: pass","files_modified":["src/task4.txt"]}' ;;
5/critic) # no plan is good enough
	hat emit critique.verdict --data "{\"verdict\":\"REJECT\",\"sections\":[],\"objections\":[\"objection $(nth)\"]}" ;;
5/architect)
	hat emit advice.complete --data '{"summary":"smaller","advice":"one file at a time"}' ;;
6/reviewer)
	if [ "$(nth)" = 1 ]; then
		issues 10000
		hat emit review.verdict --data "@$TMPDIR/issues" 2>>"$notes/log-$n"
		said $?
		issues 3000
		hat emit review.verdict --data "@$TMPDIR/issues" 2>>"$notes/log-$n"
		said $?
	else fine; fi ;;
6/fixer)
	grep -o '"rule"' ../CONTEXT/issues.json | wc -l | tr -d ' ' >"$notes/issues-seen"
	honest ;;
7/builder)
	write
	data() { printf '%s' "$2" >"$TMPDIR/$1"; try "$1"; }
	try() {
		hat emit build.complete --data "@$TMPDIR/$1" >"$TMPDIR/answer" 2>&1
		echo "$1: $? $(head -n 1 "$TMPDIR/answer" | sed "s|$TMPDIR/||")"
	}
	{
		data missing '{"summary":"built"}'
		data null '{"summary":null,"files_modified":[]}'
		data number '{"summary":7,"files_modified":[]}'
		data string '{"summary":"built","files_modified":"src/task7.txt"}'
		data list '["built"]'
		{ printf '{"files_modified":[],"summary":"'; head -c 10485760 /dev/zero | tr '\0' x; printf '"}'; } >"$TMPDIR/large"
		try large
		data extra '{"summary":"built","files_modified":["src/task7.txt"],"mood":{"good":true}}'
	} >>"$notes/said-7" ;;
*) honest ;;
esac
