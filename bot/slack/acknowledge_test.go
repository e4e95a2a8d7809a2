package slack_test

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A duplicate has the same key, and an input is delivered again until it is
// committed.
func TestDuplicatesAreOneInput(t *testing.T) {
	w := newFixture(t)
	w.runConnected()
	w.receiver.Reject(3)
	w.far.Say(mira, channel, "@porter pause") // as a message and as a mention
	w.far.Redeliver()
	w.far.Say(mira, channel, "@porter resume")
	w.waitInputs(2)
	if got := w.receiver.Texts(); !slices.Equal(got, []string{"pause", "resume"}) {
		t.Errorf("%q", got)
	}
	w.waitFor("settled", func() bool { return w.bot.State().Connected })
	if !strings.Contains(w.Logged(), "could not be committed") {
		t.Error("that it could not be committed is not said")
	}
}

// An event is not acknowledged before it is committed.
func TestAcknowledgedAfterCommit(t *testing.T) {
	w := newFixture(t)
	w.runConnected()
	hold := make(chan struct{})
	w.receiver.Hold(hold)
	said := w.far.Event(map[string]any{"type": "message", "channel": w.far.Direct(mira), "user": mira, "ts": "1795291761.573547", "text": "status"})
	env := w.far.Slash(mira, channel, "pause")
	w.waitFor("both at work", func() bool { return w.receiver.Held() == 2 })
	for _, id := range []string{said, env} {
		if _, acked := w.far.Acked(id); acked {
			t.Error("acknowledged before it was committed")
		}
	}
	// A command that takes long is acknowledged as pending.
	w.waitFor("acknowledged in time", func() bool { _, ok := w.far.Acked(env); return ok })
	if payload, _ := w.far.Acked(env); !strings.Contains(payload, "ephemeral") || !strings.Contains(payload, "nothing is done before") {
		t.Errorf("acknowledged with %q", payload)
	}
	if _, acked := w.far.Acked(said); acked {
		t.Error("an event is acknowledged although nothing is committed")
	}
	close(hold)
	w.waitInputs(2)
}

// A command that cannot be committed is not acknowledged, so that Slack reports
// the failure, and has no effect later.
func TestCommandNotCommitted(t *testing.T) {
	w := newFixture(t)
	w.runConnected()
	w.receiver.Reject(1)
	env := w.far.Slash(mira, channel, "stop")
	w.far.Slash(mira, channel, "status")
	w.waitFor("the second", func() bool { return len(w.receiver.Inputs()) == 1 })
	if _, acked := w.far.Acked(env); acked || w.receiver.Texts()[0] != "/status" {
		t.Errorf("acknowledged %v, done %q", acked, w.receiver.Texts())
	}
}

// A command that waited too long has no effect: Slack has reported its failure,
// and the person may have typed it again.
func TestCommandTooLate(t *testing.T) {
	w := newFixture(t)
	w.runConnected()
	hold := make(chan struct{})
	w.receiver.Hold(hold)
	first := w.far.Slash(mira, channel, "diff 7")
	second, heard := w.far.Slash(mira, channel, "stop"), time.Now()
	w.waitFor("the first to be acknowledged in time", func() bool { _, ok := w.far.Acked(first); return ok })
	w.waitFor("the second to be older than that, too", func() bool { return time.Since(heard) > 3500*time.Millisecond })
	close(hold)
	w.waitFor("the second to be left out", func() bool { return strings.Contains(w.Logged(), "came too late") })
	w.far.Slash(mira, channel, "status")
	w.waitFor("the third", func() bool { return len(w.receiver.Inputs()) == 2 })
	if _, acked := w.far.Acked(second); acked || !slices.Equal(w.receiver.Texts(), []string{"/diff 7", "/status"}) {
		t.Errorf("acknowledged %v, done %q", acked, w.receiver.Texts())
	}
}
