//go:build !linux

package main

import "golang.org/x/sys/unix"

// Requests of ioctl that get and set the attributes of a terminal.
const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)
