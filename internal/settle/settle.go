// Package settle reads files that other programs write in place: a plan or a
// notebook that a person has open in an editor. Such programs take no lock, and
// between truncating the file and writing it they leave it empty, or with half
// of its text.
//
// A file is settled, and Read returns it, when no program has it open for
// writing and nobody has written it for Time. Where the system cannot tell who
// has a file open, the time alone decides, and an empty file has to rest for
// EmptyTime.
//
// The invariant, which the tests hold: a text that a program is about to write
// into an open file is waited for, for OpenTime at most, however long the
// program was held up.
package settle

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/nightporter/nightporter/internal/sleep"
)

const (
	// Time is how long a file must be unchanged before it counts as complete.
	Time = 50 * time.Millisecond
	// EmptyTime is Time of an empty file. On a busy host an editor leaves the
	// file empty for longer than Time, and taken for complete it has lost
	// everything.
	EmptyTime = time.Second
	// OpenTime limits the wait for a program that has the file open for writing,
	// or that leaves it empty again and again: some keep a file open all day.
	OpenTime = 5 * time.Second
)

// Tries are counted, and time is not measured: a process that was held up
// itself has not looked any more often.
const (
	maxTries     = 20 // of a file that is written without end
	maxTriesOpen = int(OpenTime / Time)
)

// Stamp identifies one state of one file without its content.
type Stamp struct {
	dev, ino uint64
	size     int64
	mod      time.Time
}

// StampOf returns the stamp of a file's state.
func StampOf(info fs.FileInfo) Stamp {
	s := Stamp{size: info.Size(), mod: info.ModTime()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.dev, s.ino = uint64(st.Dev), st.Ino //nolint:unconvert // not an uint64 on every system
	}
	return s
}

// Opener opens the file to read. The file is opened again for every try, since
// editors replace it.
type Opener func() (*os.File, error)

// Read returns the first limit bytes of a settled file. A file whose stamp is
// own was written by the caller and needs no rest. Read returns a file as it is
// if it never settles, or at once if its time lies in the future.
func Read(ctx context.Context, open Opener, limit int64, own func(Stamp) bool) ([]byte, fs.FileInfo, error) {
	for try := 0; ; try++ {
		now := time.Now() // before the read: its result may be old by the time it is judged
		data, info, writing, err := Peek(open, limit)
		if err != nil {
			return nil, nil, err
		}
		rest, tries := Time, maxTries
		if len(data) == 0 {
			rest = EmptyTime
		}
		if len(data) == 0 || writing {
			tries = maxTriesOpen
		}
		age := now.Sub(info.ModTime())
		if settled := !writing && (own(StampOf(info)) || age >= rest || age < -Time); settled || try >= tries {
			return data, info, nil
		}
		if err := sleep.For(ctx, Time); err != nil {
			return nil, nil, err
		}
	}
}

// Peek returns the first limit bytes of a regular file, all of one state,
// without waiting for it to settle. It reports whether a program had the file
// open for writing before it was read, false where the system cannot tell.
func Peek(open Opener, limit int64) (data []byte, info fs.FileInfo, writing bool, err error) {
	file, err := open()
	if err != nil {
		return nil, nil, false, err
	}
	defer file.Close()
	for {
		writing := openForWriting(file)
		before, err := file.Stat()
		if err != nil {
			return nil, nil, false, err
		}
		if !before.Mode().IsRegular() {
			return nil, nil, false, fmt.Errorf("%s is no regular file", file.Name())
		}
		data, err := io.ReadAll(io.NewSectionReader(file, 0, limit))
		if err != nil {
			return nil, nil, false, err
		}
		after, err := file.Stat()
		if err != nil {
			return nil, nil, false, err
		}
		if StampOf(before) == StampOf(after) {
			return data, after, writing, nil
		}
	}
}
