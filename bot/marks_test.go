package bot_test

import (
	"testing"

	"github.com/nightporter/nightporter/bot"
)

// TestWithoutMarks checks what is left of Markdown's code in a chat.
func TestWithoutMarks(t *testing.T) {
	for in, want := range map[string]string{
		"no marks":                         "no marks",
		"rename `order.go` to `cart.go`?":  "rename order.go to cart.go?",
		"see:\n```go\nif x {\n```\nor not": "see:\nif x {\nor not",
		"a lone ` stays":                   "a lone ` stays",
		"``code``":                         "code",
		"'`'":                              "'`'",
		"x\n```\ny\n```U\nz":               "x\ny\nU\nz",
		"a\n~~~~~~~~\nb":                   "a\n~~~~~~~~\nb",
		"`a` \x1b]0;b\nc\a d":              "a \x1b]0;b\nc\a d", // a sequence ends with its line
	} {
		if got := bot.WithoutMarks(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
