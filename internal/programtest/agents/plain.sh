#!/bin/sh
# Does its work and leaves no notes, for projects that the config does not name.
n=${HAT_TASK##* }
cat >/dev/null
mkdir -p src
echo "task $n" >"src/task$n.txt"
hat emit build.complete --data "{\"summary\":\"built $n\",\"files_modified\":[\"src/task$n.txt\"]}"
