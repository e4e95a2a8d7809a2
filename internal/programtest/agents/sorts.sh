#!/bin/sh
# Does its work. What the triager does is in notes/triager.sh, as the test wrote it.
. "$(dirname "$0")/lib.sh"

if [ "$HAT_NAME" = triager ]; then
	directed
	. "$notes/triager.sh"
else
	honest
fi
