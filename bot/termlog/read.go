package termlog

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
)

// maxLine is the longest typed line, in bytes.
const maxLine = 1 << 20

// ReadLines calls line for each non-blank line of r until r or ctx ends. It
// returns nil at the end of r, else ctx's cause or an error of r. A blocked
// Read cannot be interrupted: after ctx ends, its goroutine remains and drops
// what it reads.
func ReadLines(ctx context.Context, r io.Reader, line func(string)) error {
	lines, failed := make(chan string), make(chan error, 1)
	go func() {
		scan := bufio.NewScanner(r)
		scan.Buffer(make([]byte, 0, 4096), maxLine)
		for scan.Scan() {
			select {
			case lines <- scan.Text():
			case <-ctx.Done():
				return
			}
		}
		failed <- scan.Err()
	}()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case text := <-lines:
			if text = strings.TrimSpace(text); text != "" {
				line(text)
			}
		case err := <-failed:
			if err != nil {
				return fmt.Errorf("read commands: %w", err)
			}
			return nil
		}
	}
}
