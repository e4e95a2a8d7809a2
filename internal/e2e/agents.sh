#!/bin/sh
# agents.sh DIR: has the agents of agents/package.json in DIR, from the npm registry
# that this user has configured: about 700 MB. It prints the variables by which the
# end-to-end tests find them. What is there already is left alone.
#
# There is no lockfile: npm can neither write nor read one where optional packages for
# other machines are missing. No script of a package is run: the programs need none. Qwen Code needs a newer Node.js
# than Debian has, which comes from npm, too.
set -eu
from=$(cd "$(dirname "$0")" && pwd)/agents
mkdir -p "$1"
to=$(cd "$1" && pwd)

if ! cmp -s "$from/package.json" "$to/installed"; then
	rm -rf "$to/installed" "$to/node_modules"
	cp "$from/package.json" "$to/"
	(cd "$to" && npm install --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error) >&2
	cp "$from/package.json" "$to/installed"
fi

# npm takes the Node.js of this machine and no other.
for node in "$to"/node_modules/node-linux-*/bin/node; do
	[ -x "$node" ] && break
done
printf '#!/bin/sh\nexec %s %s "$@"\n' "$node" "$to/node_modules/@qwen-code/qwen-code/cli.js" >"$to/node_modules/qwen"
chmod +x "$to/node_modules/qwen"

echo "NIGHTPORTER_GEMINI=$to/node_modules/.bin/gemini"
echo "NIGHTPORTER_QWEN=$to/node_modules/qwen"
echo "NIGHTPORTER_COPILOT=$to/node_modules/.bin/copilot"
echo "NIGHTPORTER_PI=$to/node_modules/.bin/pi"
