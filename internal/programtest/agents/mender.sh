#!/bin/sh
# Mends a red baseline, and else does its work.
. "$(dirname "$0")/lib.sh"
case $HAT_TASK in
Baseline)
	: >src/mended
	built ;;
*) honest ;;
esac
