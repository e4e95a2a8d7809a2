#!/bin/sh
# sandbox_runtime.sh DIR: has @anthropic-ai/sandbox-runtime in DIR, from the npm registry
# that this user has configured, and what it needs from Debian. It prints the variable by
# which the tests that compare with it find it. No script of a package is run.
set -eu
version=0.0.78
mkdir -p "$1/sandbox-runtime"
to=$(cd "$1/sandbox-runtime" && pwd)

if [ "$(cat "$to/installed" 2>/dev/null)" != "$version" ]; then
	(cd "$to" && npm install --no-save --ignore-scripts --omit=dev --no-audit --no-fund --loglevel=error "@anthropic-ai/sandbox-runtime@$version") >&2
	echo "$version" >"$to/installed"
fi
for program in bwrap socat rg; do
	command -v "$program" >/dev/null && continue
	{ [ "$(id -u)" = 0 ] && { apt-get update -qq && apt-get install -qq -y --no-install-recommends bubblewrap socat ripgrep; } >&2; } ||
		echo "sandbox_runtime.sh: no $program: the comparison will be skipped" >&2
	break
done
echo "NIGHTPORTER_SANDBOX_RUNTIME=$to/node_modules/@anthropic-ai/sandbox-runtime"
