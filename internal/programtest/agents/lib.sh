# What the agents of the tests share. Each sources it with the folder notes,
# the one place beside its work folder in which it may write, as $1.
# Every session leaves its prompt and its start there.

notes=$1
n=${HAT_TASK##* }
prompt=$notes/prompt-$HAT_SESSION
cat >"$prompt"
echo "$HAT_SESSION start $HAT_NAME $n" >>"$notes/log"

# once NAME: true for the first session that asks.
once() { mkdir "$notes/once-$1" 2>/dev/null; }

# hold NAME: go on when the test has made the file.
hold() {
	printf '\033[31mwaits for \033]0;%s\007%s\n' "$1" "$1"
	: >"$notes/at-$1"
	until [ -e "$notes/$1" ]; do sleep 0.02; done
}

# alone: notes if another session is at work on the same task, or in the same folder.
# The locks end with the last process of the session.
alone() {
	exec 8<. 9<>"$notes/task-$(echo "$n" | tr / -)"
	for fd in 8 9; do
		perl -e 'open my $f, "<&=", $ARGV[0] or die $!; exit !flock $f, 6' $fd || echo "$HAT_SESSION $n" >>"$notes/not-alone"
	done
}

# meet PHASE: go on when the test lets this phase go. It counts who is there.
meet() {
	: >"$notes/at-$1-$(echo "$n" | tr / -)"
	until [ -e "$notes/go-$1" ]; do sleep 0.02; done
}

# section ID FILES NEEDS: a section of a plan. NEEDS is a list in JSON.
section() {
	printf '{"id":"%s","title":"The %s","tasks":["it is there"],"files":["%s"],"steps":["write it"],"depends_on":[%s]}' "$1" "$1" "$2" "$3"
}

# directed: what the test wants of this session, by files in notes.
directed() {
	[ ! -e "$notes/hold-$HAT_NAME-$n" ] || hold "go-$HAT_NAME-$n"
	if [ -e "$notes/die-$HAT_NAME-$n" ] && once "died-$HAT_NAME-$n"; then exit 1; fi
}

# heeded: the reports on guidance that this prompt asks for.
heeded() {
	reports=
	[ ! -e "$notes/mute" ] || return 0
	for id in $(sed -n '/^## How to end/,$p' "$prompt" | grep -o '"id":"g[0-9]*"' | sort -u | cut -d'"' -f4); do
		reports="$reports${reports:+,}{\"id\":\"$id\",\"done\":true,\"note\":\"heeded $id in $HAT_SESSION\"}"
	done
	[ -z "$reports" ] || printf ',"guidance":[%s]' "$reports"
}

plan() { hat emit plan.complete --data "{\"summary\":\"plan of $n\",\"steps\":[\"write src/task$n.txt\"]$(heeded)}"; }

write() {
	mkdir -p src
	echo "task $n" >"src/task$n.txt"
	: >"$notes/wrote-$n"
}

# built: emitted again as it is where it was refused.
built() {
	data="{\"summary\":\"built $n\",\"files_modified\":[\"src/task$n.txt\"]$(heeded)}"
	hat emit build.complete --data "$data" || hat emit build.complete --data "$data"
}

fixed() { hat emit fix.complete --data "{\"summary\":\"fixed $n\",\"files_modified\":[\"src/task$n.txt\"],\"resolved\":[\"all\"]$(heeded)}"; }

# passes: an answer to each pass that the kind of a fix asks for.
passes() {
	each=
	for pass in $(sed -n '/^## Review passes/,/^Each issue/s/^- \([a-z]*\): .*/\1/p' "$prompt"); do
		each="$each${each:+,}{\"pass\":\"$pass\",\"verdict\":\"ok\",\"note\":\"read it\"}"
	done
	[ -z "$each" ] || printf ',"review":{"passes":[%s],"verdict":"ok"}' "$each"
}
fine() { hat emit review.verdict --data "{\"summary\":\"fine\",\"issues\":[]$(passes)$(heeded)}"; }

# takes: every report that a triager is asked about is work for the project.
takes() {
	each=
	for id in $(sed -n 's/^`\([^`]*\)`, open gates .*:$/\1/p' "$prompt"); do
		each="$each${each:+,}{\"id\":\"$id\",\"verdict\":\"take\"}"
	done
	hat emit triage.verdict --data "{\"reports\":[$each]}"
}

# issue: one major issue, in the task's file.
issue() {
	hat emit review.verdict --data "{\"summary\":\"not yet\",\"issues\":[{\"severity\":\"major\",\"file\":\"src/task$n.txt\",\"line\":1,\"rule\":\"$1\",\"text\":\"$2\"}]$(heeded)}"
}

# honest: what an agent does that does its work.
honest() {
	directed
	case $HAT_NAME in
	planner) plan ;;
	builder) write && built ;;
	reviewer) fine ;;
	triager) takes ;;
	fixer) echo fixed >>"src/task$n.txt" && fixed ;;
	esac
}
