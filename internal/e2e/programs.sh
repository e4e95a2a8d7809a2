#!/bin/sh
# programs.sh DIR: has the programs of package.json in DIR, from the npm registry
# that this user has configured, and git-lfs. It prints the variables by which the
# end-to-end tests find them. What is there already is left alone.
#
# No script of a package is run. Those of Claude Code, Codex and opencode would only
# link their native programs, which are taken from where they lie; the others have none.
#
# The corpus (internal/corpus) has tasks in Python, whose runner comes from
# Debian: 3 MB. They are skipped where it cannot be installed. Its tasks in Rust
# run in make soak only: cargo and its compiler are 75 MB to get and 375 MB
# installed.
#
# git-lfs comes from Debian, too, 4 MB, and is unpacked in DIR: to install it would
# change the configuration of this machine's git. Without it its test is skipped.
set -eu
from=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
to=$(cd "$1" && pwd)

if ! cmp -s "$from/package-lock.json" "$to/installed"; then
	rm -rf "$to/installed" "$to/node_modules"
	cp "$from/package.json" "$from/package-lock.json" "$to/"
	(cd "$to" && npm ci --ignore-scripts --omit=dev --no-audit --no-fund --loglevel=error) >&2
	cp "$from/package-lock.json" "$to/installed"
fi

if ! /usr/bin/python3 -m pytest --version >/dev/null 2>&1; then
	{ [ "$(id -u)" = 0 ] && { apt-get update -qq && apt-get install -qq -y --no-install-recommends python3-pytest; } >&2; } ||
		echo "programs.sh: no python3-pytest: tasks of the corpus in Python will be skipped" >&2
fi

if ! command -v git-lfs >/dev/null && ! [ -x "$to/git-lfs/usr/bin/git-lfs" ]; then
	{ mkdir -p "$to/git-lfs" && cd "$to/git-lfs" && apt-get download -qq git-lfs && dpkg -x git-lfs_*.deb . && cd "$from"; } >&2 ||
		echo "programs.sh: no git-lfs: its test will be skipped" >&2
fi

# npm takes the package of this machine and no other.
for claude in "$to"/node_modules/@anthropic-ai/claude-code-*/claude; do
	[ -x "$claude" ] && break
done
if ! [ -x "$claude" ]; then
	echo "programs.sh: npm installed no Claude Code for this machine below $to" >&2
	exit 1
fi
echo "NIGHTPORTER_CLAUDE=$claude"
for codex in "$to"/node_modules/@openai/codex-linux-*/vendor/*/bin/codex; do
	[ -x "$codex" ] && echo "NIGHTPORTER_CODEX=$codex" && break
done
# opencode's package names packages for all machines, which a lockfile needs and not
# every registry has. So the one for x86-64 is named, and elsewhere its tests are skipped.
opencode=$to/node_modules/opencode-linux-x64/bin/opencode
[ -x "$opencode" ] && echo "NIGHTPORTER_OPENCODE=$opencode"
echo "NIGHTPORTER_TELEGRAM_TEST_API=$to/node_modules/telegram-test-api"
echo "NIGHTPORTER_EMULATE=$to/node_modules/emulate"
echo "NIGHTPORTER_GIT_LFS=$to/git-lfs/usr/bin"
