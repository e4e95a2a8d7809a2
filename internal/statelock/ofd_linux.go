package statelock

import "golang.org/x/sys/unix"

const (
	setlk = unix.F_OFD_SETLK
	getlk = unix.F_OFD_GETLK
)
