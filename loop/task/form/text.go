package form

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/nightporter/nightporter/loop/ledger"
)

// BOM is the byte order mark that some editors write before a text.
var BOM = []byte("\ufeff")

// CheckText returns the finding about a file that is no text of at most maxBytes
// bytes, or nil. what names the format in it: "plan".
func CheckText(file, what string, data []byte, maxBytes int) *ledger.Diagnostic {
	found := func(at int, text, fix string) *ledger.Diagnostic {
		return &ledger.Diagnostic{File: file, Line: 1 + bytes.Count(data[:at], []byte("\n")), Text: text, Remedy: fix}
	}
	switch {
	case len(data) > maxBytes:
		return &ledger.Diagnostic{File: file, Text: fmt.Sprintf("is larger than %d MB: no %s is", maxBytes>>20, what), Remedy: "Check the path, or split the " + what}
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}), bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return found(0, "is UTF-16: expected UTF-8", "Save it as UTF-8")
	}
	if n := bytes.IndexByte(data, 0); n >= 0 {
		return found(n, "a NUL byte: expected text", "Remove it, or check the path")
	}
	if utf8.Valid(data) {
		return nil
	}
	at := 0
	for {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			return found(at, "is not UTF-8", "Save it as UTF-8")
		}
		at += size
	}
}

// Findings collects what is wrong with a file, and what is doubtful.
type Findings struct {
	File     string // the file's name in them
	Errors   []ledger.Diagnostic
	Warnings []ledger.Diagnostic
}

// Error adds an error in a line, which is 1-based; 0 is the whole file.
func (f *Findings) Error(line int, text, remedy string) {
	f.Errors = append(f.Errors, ledger.Diagnostic{File: f.File, Line: line, Text: text, Remedy: remedy})
}

// Warn adds a warning about a line.
func (f *Findings) Warn(line int, text, remedy string) {
	f.Warnings = append(f.Warnings, ledger.Diagnostic{File: f.File, Line: line, Text: text, Remedy: remedy})
}

// Err returns the errors in order of lines as a *ledger.InputError, or nil without
// any.
func (f *Findings) Err() error {
	if len(f.Errors) == 0 {
		return nil
	}
	slices.SortStableFunc(f.Errors, func(a, b ledger.Diagnostic) int { return a.Line - b.Line })
	return &ledger.InputError{Diagnostics: f.told(f.Errors)}
}

// Told returns the warnings that a reading is given with: at most MaxFindings, and how
// many more there are.
func (f *Findings) Told() []ledger.Diagnostic { return f.told(f.Warnings) }

func (f *Findings) told(found []ledger.Diagnostic) []ledger.Diagnostic {
	if n := len(found) - MaxFindings; n > 0 {
		return append(found[:MaxFindings:MaxFindings], ledger.Diagnostic{File: f.File, Text: fmt.Sprintf("and %d more", n)})
	}
	return found
}

// InputError returns a *ledger.InputError with one finding about a whole file.
func InputError(file, text, remedy string) *ledger.InputError {
	return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{File: filepath.Base(file), Text: text, Remedy: remedy}}}
}
