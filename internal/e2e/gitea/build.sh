#!/bin/sh
# build.sh DIR: has the Gitea server that the end-to-end tests use in DIR, built
# from the Go module proxy that this user has configured, and prints the variable
# by which they find it. It is built once for a version of it and of Go, in some
# minutes on two cores. No program for it is downloaded: there is none that the
# module proxy would vouch for.
set -eu
version=1.26.2
mkdir -p "$1"
to=$(cd "$1" && pwd)/gitea
made="$version $(go env GOVERSION)"

if [ "$(cat "$to/made" 2>/dev/null)" != "$made" ]; then
	began=$(date +%s)
	echo "build.sh: Gitea $version is not in $to; building it, which takes some minutes once" >&2
	src=$(go mod download -json "code.gitea.io/gitea@v$version" | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",*$/\1/p')
	new=$to.new.$$
	trap 'rm -rf "$new"' EXIT
	mkdir "$new"
	# SQLite is compiled in. The version is what clients ask for before they use
	# what older servers lack. The compiler is told what makes it quick, and the
	# server a little slow; the standard library is left as other builds have it.
	(cd "$src" && CGO_ENABLED=1 CGO_CFLAGS=-O1 nice go build -mod=readonly -buildvcs=false -trimpath -tags 'sqlite sqlite_unlock_notify' \
		-gcflags='all=-l -dwarf=false' -gcflags=std= -ldflags "-s -w -X main.Version=$version" -o "$new/gitea" .) >&2
	# Its static files, which a build without their tag reads from a folder.
	for part in options templates public; do
		cp -R "$src/$part" "$new/$part"
	done
	chmod -R u+w,a+rX "$new"
	echo "$made" >"$new/made"
	rm -rf "$to"
	mv "$new" "$to"
	echo "build.sh: built in $(($(date +%s) - began)) s" >&2
fi
echo "NIGHTPORTER_GITEA=$to"
