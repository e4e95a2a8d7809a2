#!/bin/sh
# Leaves in its work folder what no commit should hold. Its value is put together
# so that no scan of this repository finds it.
. "$(dirname "$0")/lib.sh"
value=$(printf '%s%s' AKIA QYLPMN5HHHFPZAM2)
leak() { mkdir -p src && printf 'set -e\nexport KEY=%s\n' "$value" >"src/deploy$n.sh"; }
case $HAT_NAME/$n in
builder/1) # a project begins: ignore rules, packages, and a file that is needed from them
	printf 'node_modules/\n' >.gitignore
	sh src/install
	echo 'needs x' >src/app ;;
builder/2) # once, and named in its event; then it does as it is told
	if once leaked; then leak; fi
	write
	hat emit build.complete --data "{\"summary\":\"built 2 with $value\",\"learnings\":\"the key is $value\",\"files_modified\":[\"src/task2.txt\"]}"
	exit ;;
builder/3) # every time
	leak ;;
builder/4) # a file that runs on the machine of whoever opens the folder
	mkdir -p .vscode
	echo '{"tasks":[]}' >.vscode/tasks.json
	write ;;
esac
echo "the key is $value"
case $HAT_NAME in
builder) built ;;
*) honest ;;
esac
