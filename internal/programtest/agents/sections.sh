#!/bin/sh
# A task in six sections, five of which are built together. One builder dies once. The
# whole fails its check, a builder of the whole mends that, a reviewer finds a fault, and
# a fixer mends that.
. "$(dirname "$0")/lib.sh"
alone
part=${n#*/}
case $HAT_NAME in
planner)
	hat emit plan.complete --data "{\"summary\":\"six\",\"sections\":[$(section a api/a),$(section b api/b),$(section c api/c),$(section d api/d),$(section e api/e '"a"'),$(section f api/f)]}"
	;;
builder)
	mkdir -p api
	case $part in
	1) echo mended >api/whole ;;
	e) [ -e api/a ] && echo e >api/e ;;
	*)
		meet builders
		if [ "$part" = d ] && once died; then exit 1; fi
		echo "$part" >"api/$part"
		;;
	esac
	hat emit build.complete --data "{\"summary\":\"built $part\",\"files_modified\":[]}"
	;;
reviewer)
	meet review
	issues='{"severity":"major","file":"api/c","line":1,"rule":"full","text":"it has to answer in full"}'
	! grep -q full api/c || issues=
	hat emit review.verdict --data "{\"summary\":\"read it\",\"issues\":[$issues]}"
	;;
fixer)
	meet fix
	echo 'in full' >>api/c
	hat emit fix.complete --data '{"summary":"c answers in full","files_modified":["api/c"],"resolved":["full"]}'
	;;
esac
