package telegram_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/telegram"
)

func message(key, twin string) bot.Message {
	return bot.Message{Key: key, Lines: []bot.Line{{Text: "? shop"}}, Buttons: []bot.Button{{Label: "A", Twin: "/help"}, {Label: "B", Twin: twin}}}
}

func TestData(t *testing.T) {
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
		m := message("ask.blocked", c.twin)
		data := telegram.Data(m, 1)
		if !strings.HasPrefix(data, c.want) || len(data) != len(c.want)+4 {
			t.Errorf("%q: data %q, want %qXXXX", c.twin, data, c.want)
		}
		if b, ok := telegram.Pressed(m, data); !ok || b.Twin != c.twin {
			t.Errorf("%q: pressed %+v, %v", c.twin, b, ok)
		}
	}
	for _, data := range []string{"", "1", "1.", "1..", "1.x", "2.q5.retry.7f3a", "0.q5.retry.7f3a", "q5.retry", "1.@x.7f3a", "1.@-1.7f3a", "1.q5.", "\x00"} {
		if twin, n, err := telegram.Twin(data); !errors.Is(err, telegram.ErrData) {
			t.Errorf("%q is read as %q, %d", data, twin, n)
		}
	}
	// After an edit, button 1 is another one: the old data must not press it.
	long := strings.Repeat("word ", 20)
	if b, ok := telegram.Pressed(message("a", "/now "+long), telegram.Data(message("a", "/guidance "+long), 1)); ok {
		t.Errorf("pressed %+v", b)
	}
}

// Every twin comes back from its data, or is looked up; the data always fits.
func TestDataComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		twin := rapid.OneOf(rapid.String(), rapid.StringMatching(`[q/][a-z0-9 .~@]{0,60}`)).Draw(t, "twin")
		m := message(rapid.String().Draw(t, "key"), twin)
		data := telegram.Data(m, 1)
		if len(data) < 1 || len(data) > 64 {
			t.Fatalf("%d bytes: %q", len(data), data)
		}
		got, n, err := telegram.Twin(data)
		if err != nil || (n == -1 && got != twin) || (n != -1 && n != 1) {
			t.Fatalf("%q → %q → %q, %d, %v", twin, data, got, n, err)
		}
		if b, ok := telegram.Pressed(m, data); !ok || b.Twin != twin {
			t.Fatalf("pressed %+v", b)
		}
	})
}

func FuzzTwin(f *testing.F) {
	f.Add("1.q5.retry.7f3a")
	f.Add("1.@3.7f3a")
	f.Fuzz(func(t *testing.T, data string) {
		twin, n, err := telegram.Twin(data)
		if err == nil && (n < -1 || (n == -1) == (twin == "")) {
			t.Errorf("%q: %q, %d", data, twin, n)
		}
	})
}
