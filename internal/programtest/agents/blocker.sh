#!/bin/sh
# Cannot do the tasks whose title says so.
. "$(dirname "$0")/lib.sh"
if grep -q '^Task [0-9]*: Impossible' "$prompt"; then
	hat emit task.blocked --data '{"reason":"no credentials for the bank","tried":"looked for them","needs":"an account"}'
else
	honest
fi
