package statelock

// x/sys lacks these constants; the values are those of Darwin's <sys/fcntl.h>.
const (
	setlk = 90 // F_OFD_SETLK
	getlk = 92 // F_OFD_GETLK
)
