#!/bin/sh
# Builders that are at work together. The second one ends when the first has passed its
# check, the others when the second is verified on top of it: so commits have one order,
# whoever is faster, unless the repository says that a batch gives them one. Two of them
# change the same file.
. "$(dirname "$0")/lib.sh"
alone
[ ! -e batch ] || [ -e made/it ] || exit 1
[ "$n" = T006 ] || grep -q 'Both sides' "$prompt" || meet builders
if [ ! -e batch ]; then
	case $n in
	T002) passed=T001 ;;
	T003 | T004 | T005) passed=T002 ;;
	*) passed= ;;
	esac
	until [ -z "$passed" ] || [ -e "$notes/checks-$passed" ]; do sleep 0.02; done
fi
mkdir -p in
echo "$n" >"in/$n"
case $n in
T004 | T005)
	echo "$n" >>shared
	sort -u -o shared shared
	;;
esac
hat emit build.complete --data "{\"summary\":\"did $n\",\"files_modified\":[\"in/$n\"]}"
