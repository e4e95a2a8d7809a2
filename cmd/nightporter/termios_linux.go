package main

import "golang.org/x/sys/unix"

// Requests of ioctl that get and set the attributes of a terminal.
const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)
