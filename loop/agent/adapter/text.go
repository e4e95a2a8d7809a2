package adapter

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// eachLine calls f with each line of r that is not blank, without the space at
// its end. A line longer than most bytes is truncated, and cut is true. A read error ends the loop.
func eachLine(r io.Reader, most int, f func(line []byte, cut bool)) {
	in := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	cut := false
	for {
		part, err := in.ReadSlice('\n')
		part = bytes.TrimSuffix(part, []byte("\n"))
		room := min(most-len(line), len(part))
		line = append(line, part[:room]...)
		cut = cut || room < len(part)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if line = bytes.TrimRightFunc(line, unicode.IsSpace); len(line) > 0 {
			f(line, cut)
		}
		if err != nil {
			return
		}
		line, cut = line[:0], false
	}
}

// Clean returns the last size bytes of text as valid UTF-8 without NUL, which
// neither terminals nor chats accept.
func Clean(text string, size int) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
	if over := len(text) - size; over > 0 {
		for over < len(text) && !utf8.RuneStart(text[over]) {
			over++
		}
		text = text[over:]
	}
	return text
}
