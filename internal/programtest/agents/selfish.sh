#!/bin/sh
# The first builder gives itself other rules, wherever hats are read from; what
# it can write to outside of its work folder it says in its log.
. "$(dirname "$0")/lib.sh"
out=$(dirname "$notes")
if [ "$n/$HAT_NAME" = 1/builder ]; then
	mkdir -p .nightporter/hats .nightporter/patterns
	for file in .nightporter/hats/builder.toml .nightporter/hats/reviewer.toml "$out/repo/.nightporter/hats/builder.toml" "$out/config/nightporter/hats/builder.toml" "$out/config/nightporter/nightporter.toml"; do
		(sed 's/HOUSE RULES/NO RULES/' "$out/repo/.nightporter/hats/builder.toml" >"$file") 2>/dev/null && echo "wrote ${file#"$out/"}" >>"$notes/log-1"
	done
	printf 'name = "single"\nstart = "builder"\n[[route]]\nfrom = "builder"\non = "build.complete"\nto = "converged"\n' >.nightporter/patterns/plan-build-review.toml
fi
honest
