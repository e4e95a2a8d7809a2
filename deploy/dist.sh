#!/bin/sh
# dist.sh VERSION: writes archives of this commit for this machine's architecture to
# dist/: nightporter-VERSION-linux-ARCH.tar.gz, the same as a Debian package where
# dpkg-deb is installed, and SHA256SUMS. The programs are static: they need no library
# of the machine that they run on. With the same commit, compilers and libc each file
# has the same bytes wherever it is made: names are sorted, owners are root, times are
# the commit's.
set -eu
cd "$(dirname "$0")/.."
version=${1:?usage: deploy/dist.sh VERSION}
arch=$(go env GOARCH)
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
name=nightporter-$version-linux-$arch
# What stands in a package's version has no hyphen but that of a revision, and begins
# with a digit (Debian Policy 5.6.12). ~ sorts before everything else.
debian=$(printf %s "$version" | sed 's/^v//; s/[^0-9A-Za-z.+~]/+/g; s/^[^0-9]/0~&/')

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022

# Go's own resolver and account lookup: those of glibc load libraries.
CGO_ENABLED=1 go build -trimpath -tags netgo,osusergo,sqlite_omit_load_extension \
	-ldflags "-s -w -X main.Version=$version -linkmode external -extldflags -static" -o "$work/bin/" ./cmd/nightporter
CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$work/bin/" ./cmd/hat ./cmd/nightporter-shim

packed() { # packed FOLDER NAME: FOLDER's entry NAME as a gzipped tar
	tar -C "$1" --sort=name --format=gnu --mtime="@$epoch" --owner=0 --group=0 --numeric-owner -cf - "$2" | gzip -9n
}

mkdir -p dist "$work/$name/bin" "$work/$name/deploy"
cp "$work/bin/"* "$work/$name/bin/"
cp README.md CHANGELOG.md LICENSE "$work/$name/"
cp deploy/nightporter.service deploy/nightporter.socket deploy/nightporter.rules deploy/slack-manifest.yaml "$work/$name/deploy/"
packed "$work" "$name" >"dist/$name.tar.gz"
made=$name.tar.gz

if command -v dpkg-deb >/dev/null; then
	root=$work/deb doc=$work/deb/usr/share/doc/nightporter
	mkdir -p "$root/DEBIAN" "$root/usr/bin" "$root/usr/lib/systemd/system" "$doc"
	cp "$work/bin/"* "$root/usr/bin/"
	sed 's#/usr/local/bin/#/usr/bin/#' deploy/nightporter.service >"$root/usr/lib/systemd/system/nightporter.service"
	cp deploy/nightporter.socket "$root/usr/lib/systemd/system/"
	cp README.md deploy/nightporter.rules deploy/slack-manifest.yaml "$doc/"
	cp LICENSE "$doc/copyright"
	gzip -9nc CHANGELOG.md >"$doc/changelog.gz"
	cat >"$root/DEBIAN/control" <<-EOF
		Package: nightporter
		Version: $debian
		Architecture: $(dpkg --print-architecture)
		Maintainer: The nightporter authors <nightporter@users.noreply.github.com>
		Installed-Size: $(du -sk --apparent-size "$root/usr" | awk '{n += $1} END {print n}')
		Depends: git (>= 1:2.39), passwd
		Section: devel
		Priority: optional
		Homepage: https://github.com/nightporter/nightporter
		Description: works through a task list in a git repository at night
		 A daemon that does one task after another with coding agents, each in a fresh
		 session, verifies what they did, and commits it to a branch of its own. Its
		 owner steers it from a phone, by Telegram or Slack.
	EOF
	# The service is not enabled: it needs a configuration first. A removed or purged
	# package leaves /etc/nightporter and /var/lib/nightporter: that is the ledger.
	cat >"$root/DEBIAN/postinst" <<-'EOF'
		#!/bin/sh
		set -e
		if ! getent passwd nightporter >/dev/null; then
			useradd --system --create-home --shell /usr/sbin/nologin nightporter
		fi
		install -d -m 750 -o nightporter -g nightporter /etc/nightporter
		if [ -d /run/systemd/system ]; then
			systemctl daemon-reload
			systemctl try-restart nightporter.service
		fi
	EOF
	cat >"$root/DEBIAN/prerm" <<-'EOF'
		#!/bin/sh
		set -e
		if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
			systemctl stop nightporter.socket nightporter.service
		fi
	EOF
	chmod 755 "$root/DEBIAN/postinst" "$root/DEBIAN/prerm"
	SOURCE_DATE_EPOCH=$epoch dpkg-deb --build --root-owner-group -Zgzip "$root" "dist/nightporter_${debian}_$arch.deb" >/dev/null
	made="$made nightporter_${debian}_$arch.deb"
else
	echo 'dist: no Debian package: dpkg-deb is not installed' >&2
fi

cd dist
# shellcheck disable=SC2086 # names without spaces
sha256sum $made >SHA256SUMS
ls -l $made SHA256SUMS
