package bot

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// A platform keeps data with a button and returns it with a press. The data has
// the same form on every platform (docs/spec 22):
//
//	1.q5.retry.7f3a    version, the twin with "." for " ", nonce
//	1.@2.7f3a          version, index of the button (from 0), nonce
//
// In a twin "~1" stands for "." and "~0" for "~". The second form serves twins
// that are too long. The nonce is a hash of the message's key and the twin: after
// an edit of the message, an index cannot stand for another button.
const dataVersion = "1"

var (
	pack   = strings.NewReplacer("~", "~0", ".", "~1", " ", ".")
	unpack = strings.NewReplacer("~0", "~", "~1", ".", ".", " ")
)

// ButtonData returns the data of the message's button n, counted from 0, in at
// most most bytes. most must be at least 20; every platform takes as much. The
// index replaces a twin that is too long, empty, or begins with "@".
func ButtonData(m Message, n, most int) string {
	twin, nonce := m.Buttons[n].Command, buttonNonce(m, n)
	data := dataVersion + "." + pack.Replace(twin) + "." + nonce
	if len(data) > most || twin == "" || strings.HasPrefix(twin, "@") {
		data = fmt.Sprintf("%s.@%d.%s", dataVersion, n, nonce)
	}
	return data
}

func buttonNonce(m Message, n int) string {
	sum := sha256.Sum256([]byte(m.Key + "\x00" + m.Buttons[n].Command))
	return hex.EncodeToString(sum[:2])
}

// Pressed returns the command that a press stands for: the twin in data or, if
// data holds an index, the twin of that button of m. m is the message as it was
// last sent. A twin in data counts even if m no longer shows its button: live
// messages change without being stored, and a press on a settled question needs
// the reply that it is settled. ok is false for data of another version or form,
// and for an index whose button has gone.
func Pressed(m Message, data string) (twin string, ok bool) {
	version, rest, _ := strings.Cut(data, ".")
	at := strings.LastIndexByte(rest, '.')
	if version != dataVersion || at <= 0 || at == len(rest)-1 {
		return "", false
	}
	index, indexed := strings.CutPrefix(rest[:at], "@")
	if !indexed {
		return unpack.Replace(rest[:at]), true
	}
	n, err := strconv.Atoi(index)
	if err != nil || n < 0 || n >= len(m.Buttons) || buttonNonce(m, n) != rest[at+1:] {
		return "", false
	}
	return m.Buttons[n].Command, true
}
