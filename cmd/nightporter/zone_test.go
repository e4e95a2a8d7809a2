package main_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/programtest"
)

// TestTimezone: a person who travels changes the time zone, and the running nightporter
// reads it. Quiet hours and the times in messages are those of the new zone at once.
func TestTimezone(t *testing.T) {
	t.Parallel()
	n := newPhone(t, "# Plan\n\n- [ ] **Task 1: A map**\n", "")
	const far = "Asia/Kathmandu" // no other zone has its minutes
	zone, err := time.LoadLocation(far)
	if err != nil {
		t.Fatal(err)
	}
	there := time.Now().In(zone)
	quiet := there.Add(-2*time.Hour).Format("15:04") + "-" + there.Add(2*time.Hour).Format("15:04")
	file := "config/nightporter/nightporter.toml"
	config, err := os.ReadFile(n.Path(file))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(config), "[telegram]", "[digest]\nquiet = \""+quiet+"\"\n\n[telegram]", 1)
	n.write(file, text)
	n.up("")
	n.pair()
	n.phone.Say(reader, reader.ID, "/quiet")
	n.shown("Quiet " + quiet)

	n.write(file, strings.Replace(text, `timezone = "UTC"`, `timezone = "`+far+`"`, 1))
	if err := n.porter.Cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if err := programtest.WaitFor("the new settings", func() (bool, error) { return strings.Contains(n.porter.Out.String(), "reloaded"), nil }); err != nil {
		t.Fatal(err)
	}
	n.phone.Say(reader, reader.ID, "/quiet")
	n.shown("Quiet now, " + quiet)
	n.phone.Say(reader, reader.ID, "/quiet until 9")
	n.shown("Quiet until ")
	before := time.Now()
	n.phone.Say(reader, reader.ID, "/run")
	m := n.shown("Start shop? 1 task", "No answer by ")
	const open = 10 * time.Minute // that the question is
	for at := before.Truncate(time.Minute); !at.After(time.Now()); at = at.Add(time.Minute) {
		if strings.Contains(m.Text, "No answer by "+at.Add(open).In(zone).Format("15:04")) {
			shownThere(t, n, zone)
			return
		}
	}
	t.Errorf("the question ends by another zone's clock:\n%s", m.Text)
}

// shownThere checks that a command of the host shows times by the zone's clock.
func shownThere(t *testing.T, n phoneFixture, zone *time.Location) {
	t.Helper()
	before := time.Now()
	out := n.Out("nightporter", "status")
	for at := before.Truncate(time.Minute); !at.After(time.Now()); at = at.Add(time.Minute) {
		if strings.Contains(out, at.In(zone).Format("15:04")) {
			return
		}
	}
	t.Errorf("nightporter status shows no time of %s:\n%s", zone, out)
}
