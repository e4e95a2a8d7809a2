package telegram

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/bot"
)

// Callback data has the form
//
//	1.q5.retry.7f3a    version, the twin with "." for " ", nonce
//	1.@2.7f3a          version, the message's button 2 from 0, nonce
//
// and at most 64 bytes. In a twin "~1" stands for ".", "~0" for "~". The nonce
// belongs to the message's key and the twin, so that the second form is not
// taken for another button after the message was edited.
const (
	dataVersion = "1"
	maxData     = 64
)

// ErrData says that callback data is not of this version of nightporter.
var ErrData = errors.New("callback data of another version")

var (
	pack   = strings.NewReplacer("~", "~0", ".", "~1", " ", ".")
	unpack = strings.NewReplacer("~0", "~", "~1", ".", ".", " ")
)

// Data is the callback data of the message's button n.
func Data(m bot.Message, n int) string {
	twin := m.Buttons[n].Twin
	sum := sha256.Sum256([]byte(m.Key + "\x00" + twin))
	nonce := hex.EncodeToString(sum[:2])
	data := dataVersion + "." + pack.Replace(twin) + "." + nonce
	if len(data) > maxData || twin == "" || strings.HasPrefix(twin, "@") {
		data = fmt.Sprintf("%s.@%d.%s", dataVersion, n, nonce)
	}
	return data
}

// Twin reads callback data: the typed twin of the pressed button, or "" and
// the button's index in its message, which has to be looked up then; Pressed
// does so. The index is -1 where the twin is known. The error is ErrData.
func Twin(data string) (twin string, index int, err error) {
	version, rest, _ := strings.Cut(data, ".")
	at := strings.LastIndexByte(rest, '.')
	if version != dataVersion || at <= 0 || at == len(rest)-1 {
		return "", -1, ErrData
	}
	rest = rest[:at]
	if n, indexed := strings.CutPrefix(rest, "@"); indexed {
		index, err := strconv.Atoi(n)
		if err != nil || index < 0 {
			return "", -1, ErrData
		}
		return "", index, nil
	}
	return unpack.Replace(rest), -1, nil
}

// Pressing reads what a press is short for: the twin that its data bears, and
// where it bears only an index, that of the message's button. m is the message
// as it was sent last. A twin in the data holds although the message shows
// other buttons by now: live messages change without being stored, and of a
// settled question somebody has to be told that it is. It reports false for
// data of another version, and for an index whose button is gone.
func Pressing(m bot.Message, data string) (twin string, ok bool) {
	twin, index, err := Twin(data)
	switch {
	case err != nil:
		return "", false
	case index < 0:
		return twin, true
	}
	b, ok := Pressed(m, data)
	return b.Twin, ok
}

// Pressed finds the button of a message that callback data belongs to, false
// where the message has no such button any more.
func Pressed(m bot.Message, data string) (bot.Button, bool) {
	for n, b := range m.Buttons {
		if Data(m, n) == data {
			return b, true
		}
	}
	return bot.Button{}, false
}
