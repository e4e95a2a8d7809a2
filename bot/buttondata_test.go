package bot_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/bot"
)

func pressable(key, twin string) bot.Message {
	return bot.Message{Key: key, Lines: []bot.Line{{Text: "? shop"}}, Buttons: []bot.Button{{Label: "A", Command: "/help"}, {Label: "B", Command: twin}}}
}

func TestButtonData(t *testing.T) {
	const most = 64
	for _, c := range []struct{ twin, want string }{
		{"q5 retry", "1.q5.retry."},
		{"/stop", "1./stop."},
		{"q5 guide WORDS", "1.q5.guide.WORDS."},
		{"/evidence 7.1", "1./evidence.7~11."},
		{"blog: /guidance ~tidy", "1.blog:./guidance.~0tidy."},
		{"/guidance " + strings.Repeat("long ", 30), "1.@1."},
		{"@1 x", "1.@1."},
		{"", "1.@1."},
	} {
		m := pressable("ask.blocked", c.twin)
		data := bot.ButtonData(m, 1, most)
		if !strings.HasPrefix(data, c.want) || len(data) != len(c.want)+4 {
			t.Errorf("%q: data %q, want %qXXXX", c.twin, data, c.want)
		}
		if twin, ok := bot.Pressed(m, data); !ok || twin != c.twin {
			t.Errorf("%q: pressed %q, %v", c.twin, twin, ok)
		}
	}
	for _, data := range []string{"", "1", "1.", "1..", "1.x", "2.q5.retry.7f3a", "0.q5.retry.7f3a", "q5.retry", "1.@x.7f3a", "1.@-1.7f3a", "1.@0.7f3a", "1.q5.", "\x00"} {
		if twin, ok := bot.Pressed(bot.Message{}, data); ok {
			t.Errorf("%q is read as %q", data, twin)
		}
	}
	// After an edit of the message, button 1 is another one: the old data must
	// not press it.
	long := strings.Repeat("word ", 20)
	if twin, ok := bot.Pressed(pressable("a", "/now "+long), bot.ButtonData(pressable("a", "/guidance "+long), 1, most)); ok {
		t.Errorf("pressed %q", twin)
	}
}

// TestButtonDataComesBack checks that every command is recovered from its
// button data, and that the data always fits the limit.
func TestButtonDataComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		twin := rapid.OneOf(rapid.String(), rapid.StringMatching(`[q/][a-z0-9 .~@]{0,60}`), rapid.Just(strings.Repeat("x", 3000))).Draw(t, "twin")
		most := rapid.SampledFrom([]int{20, 64, 1900}).Draw(t, "most")
		m := pressable(rapid.String().Draw(t, "key"), twin)
		data := bot.ButtonData(m, 1, most)
		if len(data) < 1 || len(data) > most {
			t.Fatalf("%d bytes: %q", len(data), data)
		}
		if got, ok := bot.Pressed(m, data); !ok || got != twin {
			t.Fatalf("%q came back as %q, %v", twin, got, ok)
		}
	})
}

func FuzzPressed(f *testing.F) {
	f.Add("1.q5.retry.7f3a")
	f.Add("1.@3.7f3a")
	f.Fuzz(func(t *testing.T, data string) {
		if twin, ok := bot.Pressed(bot.Message{}, data); ok == (twin == "") {
			t.Errorf("%q: %q, %v", data, twin, ok)
		}
	})
}
