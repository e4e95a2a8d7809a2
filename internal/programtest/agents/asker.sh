#!/bin/sh
# The builder asks before it works, unless it has its answer.
. "$(dirname "$0")/lib.sh"
case $HAT_NAME in
builder)
	if grep -q '^## Answers' "$prompt"; then
		directed
		sed -n '/^## Answers/,/^## [B-Z]/p' "$prompt" >"$notes/answer-$n"
		write
		built
		exit
	fi
	case $n in
	1) hat ask "Round up?" --option "yes" --option "no" --choice "no" ;;
	2) hat ask "Which currency?" --option "Euro" --option "Pound" ;;
	3) hat ask "What shall the title be?" ;;
	4) hat ask "Late fees?" --option "yes" --option "no" --choice "no" ;;
	5) hat ask "May old data go?" ;;
	esac ;;
*) honest ;;
esac
