#!/bin/sh
# Plays the session of a task of the corpus: play.sh DEEDS NOTES, in its work
# folder, with the prompt on standard input. Task.Deeds says what lies in DEEDS.
deeds=$1 notes=$2
cat >"$notes/prompt-$HAT_SESSION"
echo "$HAT_NAME" >>"$notes/log"
n=$(grep -cx "$HAT_NAME" "$notes/log")
while [ "$n" -gt 1 ] && ! [ -d "$deeds/$HAT_NAME$n" ]; do n=$((n - 1)); done
me=$deeds/$HAT_NAME$n

# Git names the files for the event. It may be broken by what is done here.
changed() {
	git ls-files --modified --deleted --others --exclude-standard 2>/dev/null | sort -u | head -n 20 |
		awk '{ gsub(/["\\]/, "_"); printf "%s\"%s\"", (NR > 1 ? "," : ""), $0 }'
}

[ ! -d "$me/tree" ] || cp -R "$me/tree/." .
[ ! -e "$me/do.sh" ] || sh -e "$me/do.sh"
fields=$(cat "$deeds/fields.json")
case $HAT_NAME in
planner) type=plan.complete data='{"summary":"in one step","steps":["do what the task says"]}' ;;
reviewer) type=review.verdict data='{"summary":"no issues","issues":[]}' ;;
builder) type=build.complete data="{\"summary\":\"done, all tests pass\",\"files_modified\":[$(changed)]$fields}" ;;
fixer) type=fix.complete data="{\"summary\":\"fixed, all tests pass\",\"files_modified\":[$(changed)],\"resolved\":[\"all\"]$fields}" ;;
esac
[ ! -e "$me/event.json" ] || data=$(cat "$me/event.json")
hat emit "$type" --data "$data"
[ ! -e "$me/after.sh" ] || sh "$me/after.sh"
