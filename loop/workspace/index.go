package workspace

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git's own
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// index is git's index of a folder, as far as it tells which files are those that
// git wrote or read last: git need not be started to compare them, nor to compare
// them again after their owner changed. An index that this cannot read, such as
// one of another version, knows nothing.
//
// The format is that of gitformat-index(5), versions 2 and 3.
type index struct {
	file    string
	data    []byte
	newHash func() hash.Hash
	at      map[string]int // offset of each file's entry
	tree    string         // that it holds; "" if it may hold anything
	written time.Time
	changed bool
}

// Offsets in an entry of an index.
const (
	entryCtime = 0
	entryMtime = 8
	entryDev   = 16
	entryIno   = 20
	entryMode  = 24
	entryUID   = 28
	entryGID   = 32
	entrySize  = 36
	entryHash  = 40
)

// readIndex reads the folder's index. It is never nil.
func (f folder) readIndex(format string) *index {
	x := &index{file: f.index(), newHash: sha1.New}
	if format == "sha256" {
		x.newHash = sha256.New
	}
	info, err := os.Lstat(x.file)
	if err != nil {
		return x
	}
	if x.data, err = os.ReadFile(x.file); err != nil {
		return x
	}
	x.written = info.ModTime()
	if !x.parse() {
		x.at, x.tree = nil, ""
	}
	return x
}

// parse finds the entries and the tree, and reports whether it understood all.
func (x *index) parse() bool {
	be, size := binary.BigEndian, x.newHash().Size()
	end := len(x.data) - size
	if end < 12 || string(x.data[:4]) != "DIRC" || be.Uint32(x.data[4:]) < 2 || be.Uint32(x.data[4:]) > 3 {
		return false
	}
	sum := x.newHash()
	sum.Write(x.data[:end])
	if !bytes.Equal(sum.Sum(nil), x.data[end:]) {
		return false
	}
	count := int(be.Uint32(x.data[8:]))
	x.at = make(map[string]int, min(count, end/64))
	pos := 12
	for range count {
		name := pos + entryHash + size + 2
		if name > end {
			return false
		}
		flags := be.Uint16(x.data[name-2:])
		if flags&0x4000 != 0 {
			name += 2
		}
		n := bytes.IndexByte(x.data[min(name, end):end], 0)
		if n < 0 {
			return false
		}
		if flags&^0x0fff == 0 { // neither of a conflict nor assumed to be unchanged
			x.at[string(x.data[name:name+n])] = pos
		}
		pos += (name + n - pos + 8) &^ 7
	}
	for pos+8 <= end {
		kind, n := x.data[pos:pos+4], int(be.Uint32(x.data[pos+4:]))
		pos += 8
		if kind[0] >= 'a' || n > end-pos { // small letters: git must understand it
			return false
		}
		if string(kind) == "TREE" {
			x.tree = rootOf(x.data[pos:pos+n], size)
		}
		pos += n
	}
	return pos == end
}

// rootOf returns the tree that the extension TREE says an index holds, or "".
func rootOf(cached []byte, size int) string {
	// The root comes first: an empty name, the numbers of its files and folders,
	// and its hash unless the number of files is negative.
	line, rest, found := bytes.Cut(cached, []byte("\n"))
	if !found || len(line) < 2 || line[0] != 0 || line[1] == '-' || len(rest) < size {
		return ""
	}
	return hex.EncodeToString(rest[:size])
}

// clean reports whether a path is the file that git wrote or read last, unchanged.
// A file that may have been changed within the same tick of the clock as the index
// was written is not, as for git.
func (x *index) clean(p string, st *unix.Stat_t) bool {
	at, known := x.at[p]
	if !known || !time.Unix(st.Mtim.Unix()).Before(x.written) {
		return false
	}
	bits := uint32(st.Mode) //nolint:unconvert // has 16 bits on some systems
	mode := bits & unix.S_IFMT
	if mode == unix.S_IFREG {
		mode |= 0o644 | bits&0o100/0o100*0o111
	}
	return x.is(at, entryMode, mode) && x.is(at, entrySize, uint32(st.Size)) && x.is(at, entryIno, uint32(st.Ino)) &&
		x.is(at, entryDev, uint32(st.Dev)) && x.is(at, entryUID, st.Uid) && x.is(at, entryGID, st.Gid) &&
		x.isTime(at+entryMtime, st.Mtim) && x.isTime(at+entryCtime, st.Ctim)
}

func (x *index) is(entry, field int, v uint32) bool {
	return binary.BigEndian.Uint32(x.data[entry+field:]) == v
}

func (x *index) isTime(at int, t unix.Timespec) bool {
	sec, nsec := t.Unix()
	return x.is(at, 0, uint32(sec)) && x.is(at, 4, uint32(nsec))
}

// setOwner records the new owner of a file that was clean before; st is its state
// after the change.
func (x *index) setOwner(p string, st *unix.Stat_t) {
	at, known := x.at[p]
	if !known {
		return
	}
	sec, nsec := st.Ctim.Unix()
	for field, v := range map[int]uint32{entryCtime: uint32(sec), entryCtime + 4: uint32(nsec), entryUID: st.Uid, entryGID: st.Gid} {
		binary.BigEndian.PutUint32(x.data[at+field:], v)
	}
	x.changed = true
}

// save writes the index if it changed. It can be made again, so it need not be
// durable.
func (x *index) save() error {
	if !x.changed {
		return nil
	}
	sum := x.newHash()
	end := len(x.data) - sum.Size()
	sum.Write(x.data[:end])
	copy(x.data[end:], sum.Sum(nil))
	tmp := x.file + ".new"
	if err := os.WriteFile(tmp, x.data, 0o600); err != nil {
		return err
	}
	x.changed = false
	return os.Rename(tmp, x.file)
}
