package slack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/bot"
)

// The value of a button has the form of Telegram's callback data (PHONE 2):
//
//	1.q5.retry.7f3a    version, the twin with "." for " ", nonce
//	1.@2.7f3a          version, the message's button 2 from 0, nonce
//
// In a twin "~1" stands for ".", "~0" for "~". There is room for two thousand
// characters here, so the second form is for twins that hold somebody's long
// words. The nonce belongs to the message's key and the twin.
const (
	dataVersion = "1"
	maxData     = 1900 // bytes
)

var (
	pack   = strings.NewReplacer("~", "~0", ".", "~1", " ", ".")
	unpack = strings.NewReplacer("~0", "~", "~1", ".", ".", " ")
)

// Data is the value of the message's button n.
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

// Pressing reads what a press is short for: the twin that the button's value
// bears, and where it bears only an index, that of the message's button. m is
// the message as it was sent last. It reports false for a value of another
// version, and for an index whose button is gone.
func Pressing(m bot.Message, data string) (twin string, ok bool) {
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
	if err != nil || n < 0 || n >= len(m.Buttons) || Data(m, n) != data {
		return "", false
	}
	return m.Buttons[n].Twin, true
}

// stopsSession reports whether a twin cuts a session off: its button is red,
// and no other one is.
func stopsSession(twin string) bool {
	c, err := bot.Parse(twin)
	return err == nil && (c.Now || c.Verb == bot.VerbAnswer && strings.EqualFold(c.Words, "rerun"))
}
