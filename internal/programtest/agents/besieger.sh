#!/bin/sh
# Holds 300 connections to nightporter open, and opens them anew all the time, also
# while nightporter is away. Waits until the test says go, and does its work.
. "$(dirname "$0")/lib.sh"
perl -MSocket -e '
	$SIG{PIPE} = "IGNORE";
	while (1) {
		for my $n (1 .. 300) {
			socket($held[$n], AF_UNIX, SOCK_STREAM, 0) or die $!;
			connect($held[$n], sockaddr_un($ENV{HAT_SOCKET})) or next;
			syswrite $held[$n], "POST /v1/emit HTT";
		}
		open my $done, ">", $ARGV[0] or die $!;
		select undef, undef, undef, 3;
	}' "$notes/held" &
until [ -e "$notes/held" ]; do sleep 0.02; done
hold go
honest
