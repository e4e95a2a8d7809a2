#!/bin/sh
# Calls nightporter far too often and sends what no hat would, then does its work
# and says so.
. "$(dirname "$0")/lib.sh"

# deep LEVELS: an event with so many lists in one another.
deep() { perl -e 'print "{\"summary\":\"deep\",\"files_modified\":[],\"x\":", "[" x $ARGV[0], "]" x $ARGV[0], "}"' "$1"; }
deep 9900 >"$notes/deep"
hat emit build.complete --data "@$notes/deep" >"$notes/deep-said" 2>&1
echo "exit $?" >>"$notes/deep-said"

perl -MSocket -e '
	for my $n (1 .. 1500) {
		my $body = qq({"type":"no.such.event","data":{"n":$n}});
		socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die $!;
		connect($s, sockaddr_un($ENV{HAT_SOCKET})) or die $!;
		syswrite $s, "POST /v1/emit HTTP/1.1\r\nNightporter-Api: 1\r\nHost: x\r\nNightporter-Token: $ENV{HAT_TOKEN}\r\nContent-Length: " . length($body) . "\r\n\r\n$body";
		sysread $s, my $answer, 4096;
		$seen{substr $answer, 9, 3}++;
	}
	print "$_\n" for sort keys %seen' >"$notes/statuses"
honest
