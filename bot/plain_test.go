package bot_test

import (
	"testing"
)

// TestWordsThatNameTheirProject checks that plain words which name one of several projects
// are about that one, and that words which are no phrase without the name stay as they are.
func TestWordsThatNameTheirProject(t *testing.T) {
	for text, want := range map[string]string{
		"start blog":              "run.nohost blog",
		"Starte bitte shop":       "run.nohost shop",
		"wie läuft's im shop?":    "status.idle shop",
		"status of the blog":      "status.idle blog",
		"what's left in shop":     "tasks shop",
		"stop blog":               "plain.state blog",
		"how's blog doing":        "status.idle blog",
		"is shop done?":           "status.idle shop",
		"ist blog schon fertig?":  "status.idle blog",
		"shop":                    "cmd.whichproject ",
		"keep the shop header":    "cmd.whichproject ",
		"shop, stop":              "plain.state shop",
		"shop Use tabs":           "cmd.whichproject ",
		"stop using blog":         "cmd.whichproject ",
		"the shop":                "cmd.whichproject ",
		"start the cart of zoo":   "cmd.whichproject ",
		"pause the video in blog": "cmd.whichproject ",
	} {
		m := newService("shop", "blog").say(t, text)
		if got := m.Key + " " + m.Project; got != want {
			t.Errorf("%q is %s, want %s:\n%s", text, got, want, m.Text(38))
		}
	}
}

// TestWordsForWhichProject checks that plain words are still plain words once their project
// was chosen, and no command of guidance.
func TestWordsForWhichProject(t *testing.T) {
	for text, want := range map[string]string{"Use tabs": "shop: Use tabs", "stop": "shop: /stop", "/guidance Use tabs": "shop: /guidance Use tabs"} {
		m := newService("shop", "blog").say(t, text)
		if len(m.Buttons) != 2 || m.Buttons[0].Command != want {
			t.Errorf("%q: %+v", text, m.Buttons)
		}
	}
}

// TestProjectBeforeTarget checks that a project may stand before what a command is about.
func TestProjectBeforeTarget(t *testing.T) {
	for line, want := range map[string]string{
		"/task blog 1": "blog", "/retry Shop 99": "shop", "/log blog tail": "blog", "/skip 1": "", "/diff shopping.go": "",
	} {
		if m := newService("shop", "blog").say(t, line); m.Project != want {
			t.Errorf("%s is about %q, want %q:\n%s", line, m.Project, want, m.Text(38))
		}
	}
}
