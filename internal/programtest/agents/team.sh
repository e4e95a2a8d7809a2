#!/bin/sh
# A lead, three members and a tester that finds a fault in the section of each. Two mend
# theirs, one disputes its own, and an arbiter rules.
. "$(dirname "$0")/lib.sh"
alone
part=${n#*/}
check() { printf '{"criterion":"%s","ok":%s,"how":"tried it","section":"%s"}' "$1" "$2" "$3"; }
dark='{"issue":"The page is dark","reason":"nobody asked for it"}'
case $HAT_NAME in
lead)
	hat emit plan.complete --data "{\"summary\":\"three\",\"requirements\":[\"The answer is called greeting\"],\"acceptance\":[\"The page greets\"],\"sections\":[$(section a 'web/**'),$(section b 'api/**'),$(section c 'infra/**')]}"
	;;
builder)
	meet members
	mkdir -p web api infra
	case $part in
	a) echo 'reads greeting' >web/page ;;
	b) echo message >api/route ;;
	c) echo 'cat api/rout' >infra/start ;;
	esac
	hat emit build.complete --data "{\"summary\":\"built $part\",\"files_modified\":[]}"
	;;
tester)
	meet test
	greets=false
	[ "$(sh infra/start)" != greeting ] || greets=true
	hat emit verification.failed --data "{\"checks\":[$(check 'The page is dark' false a),$(check 'The page greets' $greets b),$(check 'It starts' $greets c)]}"
	;;
fixer)
	meet fixers
	data="\"resolved\":[],\"disputed\":[$dark],\"no_change\":\"nobody asked for it\""
	case $part in
	b.2) echo greeting >api/route && data='"resolved":["The page greets"]' ;;
	c.2) echo 'cat api/route' >infra/start && data='"resolved":["It starts"]' ;;
	esac
	hat emit fix.complete --data "{\"summary\":\"looked at $part\",\"files_modified\":[],$data}"
	;;
arbiter)
	meet arbiter
	hat emit ruling.dismissed --data '{"summary":"not asked for","rulings":[{"criterion":"The page is dark","holds":false,"reason":"not in the task"}]}'
	;;
reviewer) hat emit review.verdict --data '{"summary":"fine","issues":[]}' ;;
esac
