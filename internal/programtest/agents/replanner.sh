#!/bin/sh
# Builders that get nowhere until their task is planned anew: pay falls into two parts,
# tax gets another way that fails, too. A verifier that finds one thing wrong with look.
. "$(dirname "$0")/lib.sh"
built() {
	mkdir -p src
	echo "$2 in $HAT_SESSION" >"src/$1.txt"
	hat emit build.complete --data "{\"summary\":\"$2 by the old rules\",\"files_modified\":[\"src/$1.txt\"]}"
}
case $n/$HAT_NAME in
pay/planner)
	hat emit plan.complete --data '{"summary":"first the rules, then the payment","sections":[
		{"id":"a","title":"The rules","tasks":["there are rules"],"files":["src/rules.txt"],"steps":["write src/rules.txt"],"depends_on":[]},
		{"id":"b","title":"The payment","tasks":["it is paid"],"files":["src/pay.txt"],"steps":["write src/pay.txt"],"depends_on":["a"]}]}' ;;
pay/a/builder) built rules good ;;
pay/b/builder) built pay good ;;
pay/builder) built pay BROKEN ;;
tax/planner) hat emit plan.complete --data '{"summary":"by the new rules","steps":["write src/tax.txt"]}' ;;
tax/builder) built tax BROKEN ;;
look/verifier)
	if once looked; then
		hat emit verification.failed --data '{"checks":[{"criterion":"It is bright","ok":false,"how":"opened it: it is dark"}]}'
	else
		hat emit verification.passed --data '{"checks":[{"criterion":"It is bright","ok":true,"how":"opened it"}]}'
	fi ;;
*/builder) built "$n" good ;;
*) honest ;;
esac
