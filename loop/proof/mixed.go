package proof

import (
	"bytes"
	"path"
	"strings"
)

// document is a mixed file that can be read.
type document interface {
	// part returns a part in a form in which equal texts mean the same, and
	// whether the file has it.
	part(name string) (string, bool)
	// lay returns the file with the named parts of another file of its format,
	// and without those that the other one lacks.
	lay(from document, parts []string) ([]byte, bool)
}

// readParts reads a file that can be mixed. It returns false for other files
// and for content that its own program would not read or could read in two
// ways.
func readParts(p string, data []byte) (document, bool) {
	if len(data) > maxText || bytes.IndexByte(data, 0) >= 0 {
		return nil, false
	}
	base := path.Base(p)
	switch {
	case base == "package.json" || base == "composer.json":
		return readJSON(data)
	case strings.HasSuffix(base, ".toml"):
		return readTOML(data)
	case base == "setup.cfg" || base == "tox.ini" || base == ".npmrc":
		return readINI(data)
	case isMakefile(p):
		return readMake(data), true
	case strings.HasSuffix(base, ".rs"):
		return readRust(data), true
	case base == "go.mod":
		return readGoMod(data), true
	}
	return nil, false
}

// empty is the content that stands for a file that is not there.
func empty(p string) []byte {
	if strings.HasSuffix(p, ".json") {
		return []byte("{}\n")
	}
	return nil
}

// Lay returns the file onto with the parts of the file from, byte for byte
// where the format allows, and all else of onto. A part that from lacks is
// removed. It returns false where that cannot be done; from as a whole is the
// safe choice then. Either file may be nil: it has no parts.
func Lay(p string, from, onto []byte, parts []string) ([]byte, bool) {
	if from == nil {
		from = empty(p)
	}
	if onto == nil {
		onto = empty(p)
	}
	a, ok := readParts(p, from)
	if !ok {
		return nil, false
	}
	b, ok := readParts(p, onto)
	if !ok {
		return nil, false
	}
	if equalParts(a, b, parts) {
		return onto, true
	}
	out, ok := b.lay(a, parts)
	if !ok {
		return nil, false
	}
	c, ok := readParts(p, out)
	if !ok || !equalParts(a, c, parts) {
		return nil, false
	}
	return out, true
}

func equalParts(a, b document, parts []string) bool {
	for _, name := range parts {
		x, in := a.part(name)
		y, also := b.part(name)
		if in != also || x != y {
			return false
		}
	}
	return true
}

func trimBOM(b []byte) []byte { return bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")) }

// endLine returns a text that ends with a newline, unless it is empty.
func endLine(s string) string {
	if s != "" && !strings.HasSuffix(s, "\n") {
		return s + "\n"
	}
	return s
}
