package bot

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// What a platform keeps with a button and hands back when it is pressed has
// the same form everywhere (docs/spec 22):
//
//	1.q5.retry.7f3a    version, the twin with "." for " ", nonce
//	1.@2.7f3a          version, the message's button 2 from 0, nonce
//
// In a twin "~1" stands for ".", "~0" for "~". The second form is for twins
// that do not fit. The nonce belongs to the message's key and the twin, so
// that an index is not taken for another button after the message was edited.
const dataVersion = "1"

var (
	pack   = strings.NewReplacer("~", "~0", ".", "~1", " ", ".")
	unpack = strings.NewReplacer("~0", "~", "~1", ".", ".", " ")
)

// ButtonData is the data of the message's button n, of at most so many bytes;
// no platform takes less than 20.
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

// Pressed reads what a press is short for: the twin that its data bears, and
// where it bears only an index, that of the message's button. m is the message
// as it was sent last. A twin in the data holds although the message shows
// other buttons by now: live messages change without being stored, and of a
// settled question somebody has to be told that it is. It reports false for
// data of another version, and for an index whose button is gone.
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
