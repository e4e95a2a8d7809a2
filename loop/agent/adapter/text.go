package adapter

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// eachLine calls f with each line of r. Of a line that is longer than most
// only the beginning is kept, and cut is true. What cannot be read any more
// ends it.
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
		if line = bytes.TrimSpace(line); len(line) > 0 {
			f(line, cut)
		}
		if err != nil {
			return
		}
		line, cut = line[:0], false
	}
}

// Clean makes text valid UTF-8 of at most size bytes, from its end. NUL, which
// no terminal or chat shows, is taken out.
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
