#!/bin/sh
# Does its work and says so.
. "$(dirname "$0")/lib.sh"
honest
