#!/bin/sh
# Uses more memory than it may (task 1), once (task 2).
. "$(dirname "$0")/lib.sh"
seen=$1/bomb
case $n in
1) ;;
*) if [ -e "$seen" ]; then honest; exit; fi ;;
esac
: >"$seen"
exec perl -e '$x = "x" x 150e6; sleep 600'
