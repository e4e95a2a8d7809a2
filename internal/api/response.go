package api

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// versionText is the value of VersionHeader.
const versionText = "1"

// Limits of an answer, in bytes.
const (
	maxHead   = 16 << 10 // status line and headers
	maxAnswer = 32 << 20 // body: a view may contain a whole patch
)

// response is the part of an HTTP answer that this contract uses.
type response struct {
	status  int
	version string // value of VersionHeader, "" for none
	body    []byte
}

// readResponse reads an answer. A truncated answer is an ErrLater: the daemon
// died while it wrote. An answer that is not HTTP/1.1 with a Content-Length is
// an ErrAnswer.
func readResponse(r io.Reader) (response, error) {
	br := bufio.NewReader(r)
	head := maxHead
	line, err := readLine(br, &head)
	if err != nil {
		return response{}, err
	}
	var a response
	if a.status, err = parseStatus(line); err != nil {
		return response{}, err
	}
	length := int64(-1)
	for {
		if line, err = readLine(br, &head); err != nil {
			return response{}, err
		}
		if line == "" {
			break
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || name == "" || strings.ContainsAny(name, " \t") {
			return response{}, fmt.Errorf("%w: header %q", ErrAnswer, truncate(line))
		}
		value = strings.Trim(value, " \t")
		switch {
		case strings.EqualFold(name, VersionHeader):
			a.version = value
		case strings.EqualFold(name, "Transfer-Encoding"):
			return response{}, fmt.Errorf("%w: transfer encoding %q, expected a Content-Length", ErrAnswer, truncate(value))
		case strings.EqualFold(name, "Content-Length"):
			n, err := parseLength(value)
			if err != nil {
				return response{}, err
			}
			if length >= 0 && n != length {
				return response{}, fmt.Errorf("%w: two lengths, %d and %d", ErrAnswer, length, n)
			}
			length = n
		}
	}
	if length < 0 {
		return response{}, fmt.Errorf("%w: no Content-Length", ErrAnswer)
	}
	// Grow with the bytes that arrive: Content-Length alone must not allocate
	// memory.
	if a.body, err = io.ReadAll(io.LimitReader(br, length)); err != nil {
		return response{}, cutOffError(err)
	}
	if int64(len(a.body)) < length {
		return response{}, cutOffError(io.ErrUnexpectedEOF)
	}
	return a, nil
}

// readLine returns the next line without its end, and subtracts its length from
// left.
func readLine(br *bufio.Reader, left *int) (string, error) {
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		*left -= len(part)
		if *left < 0 {
			return "", fmt.Errorf("%w: its head is over %d bytes", ErrAnswer, maxHead)
		}
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return "", cutOffError(err)
		}
		break
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r")
	if strings.ContainsFunc(text, func(r rune) bool { return isControl(r) && r != '\t' }) {
		return "", fmt.Errorf("%w: control characters in its head: %q", ErrAnswer, truncate(text))
	}
	return text, nil
}

// parseStatus parses "HTTP/1.1 200 OK".
func parseStatus(line string) (int, error) {
	rest, ok := strings.CutPrefix(line, "HTTP/1.")
	if ok && len(rest) >= 5 && (rest[0] == '0' || rest[0] == '1') && rest[1] == ' ' && (len(rest) == 5 || rest[5] == ' ') {
		if n, err := strconv.ParseUint(rest[2:5], 10, 16); err == nil && n >= 200 && n <= 599 {
			return int(n), nil
		}
	}
	return 0, fmt.Errorf("%w: first line %q, expected something like \"HTTP/1.1 200 OK\"", ErrAnswer, truncate(line))
}

// parseLength parses the value of Content-Length.
func parseLength(value string) (int64, error) {
	n, err := strconv.ParseUint(value, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%w: length %q", ErrAnswer, truncate(value))
	}
	if n > maxAnswer {
		return 0, fmt.Errorf("%w: %d bytes, at most %d are read", ErrAnswer, n, maxAnswer)
	}
	return int64(n), nil
}

// cutOffError is the error for a truncated answer.
func cutOffError(err error) error { return fmt.Errorf("%w: cut off: %w", ErrLater, err) }

// truncate limits a quotation in an error to one line.
func truncate(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
