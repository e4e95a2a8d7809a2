#!/bin/sh
# test.sh runs every test in tests/. A test is one line: check NAME WANT GOT

cd "$(dirname "$0")" || exit 1
ran=0
failed=0

check() {
	ran=$((ran + 1))
	if [ "$2" != "$3" ]; then
		failed=$((failed + 1))
		echo "--- FAIL: $1: want $2, got $3"
	fi
}

for file in tests/*.sh; do
	. "./$file"
done

[ "$failed" -eq 0 ] || exit 1
echo "ok $ran tests"
