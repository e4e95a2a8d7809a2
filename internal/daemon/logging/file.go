package logging

import (
	"io"

	"gopkg.in/natefinch/lumberjack.v2"
)

// maxLog is the size in megabytes at which a new log file begins. The previous
// one is kept beside it, with the time in its name.
const maxLog = 20

// Open opens the log for appending and creates a missing one. Each Write appends
// a whole line.
func Open(path string) (io.WriteCloser, error) {
	l := &lumberjack.Logger{Filename: path, MaxSize: maxLog, MaxBackups: 1, LocalTime: true}
	_, err := l.Write(nil) // the first write opens the file: an unwritable folder must be an error now
	return l, err
}
