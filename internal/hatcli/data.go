package hatcli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/verb"
)

// data returns the value of --data: JSON itself, @FILE, or - for standard input,
// as verb.Object takes it.
func (h *hat) data(value, help string) (json.RawMessage, error) {
	raw, where, err := h.read(value)
	if err != nil {
		return nil, usageError{"--data: " + err.Error(), help}
	}
	data, err := verb.Object(raw, "--data: "+where)
	return data, withHelp(err, help)
}

// read returns the bytes of a value, and a name for their source.
func (h *hat) read(value string) (raw []byte, where string, err error) {
	// Enough for any event with white space; the rest is not read.
	const most = 4 * api.MaxEvent
	from := h.stdin
	switch file, isFile := strings.CutPrefix(value, "@"); {
	case value == "-" || value == "@-":
		where = "standard input"
	case isFile:
		f, err := os.Open(file)
		if err != nil {
			return nil, "", err
		}
		defer f.Close()
		from, where = f, file
	default:
		return []byte(value), "it", nil
	}
	raw, err = io.ReadAll(io.LimitReader(from, most+1))
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", where, err)
	}
	if len(raw) > most {
		return nil, "", fmt.Errorf("%s is over %d bytes: put long text into a file and name the file", where, most)
	}
	return raw, where, nil
}
