package agent

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/internal/text"
)

// noHat matches what shells print for a program hat that they do not find, also
// inside of an agent's stream of JSON.
var noHat = regexp.MustCompile(`(?:\b[a-z]{0,3}sh: )?(?:line )?(?:\d+: )?\bhat: (?:command )?not found\b|\b[a-z]{0,3}sh:\d+: command not found: hat\b|\bUnknown command: hat\b`)

// missingHat returns the line in which a shell says that it did not find hat, or
// "". A session that never called hat ends without an event, and this is why.
func missingHat(output io.Reader) (string, error) {
	for r := bufio.NewReaderSize(output, 64<<10); ; {
		line, err := r.ReadString('\n')
		if strings.Contains(line, "hat") {
			if m := noHat.FindString(line); m != "" {
				return text.OneLine(m), nil
			}
		}
		if errors.Is(err, io.EOF) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
	}
}

// missingHatText tells people about that line.
func missingHatText(line string) string {
	return fmt.Sprintf("its shell did not find hat (%q)", line)
}
