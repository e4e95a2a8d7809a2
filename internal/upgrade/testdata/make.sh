#!/bin/bash
# make.sh PROGRAMS FOLDER [CRASH] makes the fixtures of one state of nightporter.
#
# PROGRAMS holds its nightporter and hat (go build -buildvcs=false -o PROGRAMS/
# ./cmd/nightporter ./cmd/hat), FOLDER is a new folder of testdata, named by the
# commit. CRASH is where the daemon is killed: one of internal/crash's points.
# Everything is made under /tmp/nightporter-fixture, which the ledger names.
set -eu
programs=$(realpath "$1") folder=$(realpath -m "$2") crash=${3:-before-commit:session_exited:7}
machine=/tmp/nightporter-fixture
exec 9>$machine.lock
flock 9
rm -rf $machine
mkdir -p $machine/home $machine/agents $machine/config/nightporter $machine/shop/src "$folder/demo" "$folder/killed"
chmod 755 $machine
cp -r "$programs" $machine/bin
# The agent and the configuration are those of the first fixture.
tar xzf "$(dirname "$0")/killed.tar.gz" -C $machine ./agents ./config
echo a >$machine/shop/src/a.txt
printf -- '- [ ] **Task 1: One**\n- [ ] **Task 2: Two**\n' >$machine/shop/plan.md
echo '! grep -rq BROKEN src' >$machine/shop/verify.sh

inside() {
	env -i PATH=$machine/bin:/usr/local/bin:/usr/bin:/bin HOME=$machine/home XDG_CONFIG_HOME=$machine/config XDG_STATE_HOME=$machine/state \
		GIT_CONFIG_NOSYSTEM=1 TZ=UTC LANG=C.UTF-8 "$@"
}
prints() {
	for word in status tasks verify; do
		inside nightporter $word --json $2 >"$folder/$1/$word.json"
	done
}
pack() { tar czf "$folder/$1.tar.gz" -C "$2" --owner=0 --group=0 --numeric-owner .; }

cd $machine/shop
inside git init -q --template= -b main
inside git config user.name Mira
inside git config user.email mira@example.com
inside git add -A
inside git commit -q -m First
cd $machine

# A run that ended.
inside nightporter demo --fast --state $machine/demo >demo.log </dev/null
prints demo "--state $machine/demo/state"
mkdir -p pack-demo/state/nightporter
cp -a demo/state/nightporter.db demo/state/repos pack-demo/state/nightporter/
pack demo pack-demo

# A daemon that was killed in mid-run.
inside nightporter run --check >check.log </dev/null
inside nightporter guidance 'Mind the gap'
! inside NIGHTPORTER_CRASH=$crash nightporter run >run.log </dev/null
sleep 8 # a supervisor that was left behind ends
mkdir pack-killed
cp -a agents config shop state pack-killed/
prints killed ""
state=pack-killed/state/nightporter
rm -rf $state/{bin,cache,caches,rooms,operator.key,lock,runs/r1} $state/nightporter.{sock,log} $state/sessions/*/box/{bin,wrap}
find $state -type s -delete
sed -i "s#\"$HOME#\"/home/mira#g" $state/sessions/*/spec.json
pack killed pack-killed
rm -rf $machine
