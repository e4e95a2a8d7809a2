package main_test

import (
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/internal/programtest"
)

// awaitMatch waits until the output of a process matches re, and returns the first
// group of it.
func awaitMatch(t *testing.T, p *programtest.Process, re string) string {
	t.Helper()
	form := regexp.MustCompile(re)
	var found []string
	if err := programtest.WaitFor(re, func() (bool, error) {
		found = form.FindStringSubmatch(p.Out.String())
		select {
		case <-p.Done:
			if found = form.FindStringSubmatch(p.Out.String()); found == nil {
				return false, fmt.Errorf("it has ended without %s", re)
			}
		default:
		}
		return found != nil, nil
	}); err != nil {
		t.Fatalf("%v\n%s", err, p.Out)
	}
	return found[len(found)-1]
}

// TestUpPair checks `up --pair`: one command starts the daemon and lets the first phone
// in, by a link, although the platform gives the bot's name late. Later it
// shows no code to a person who is paired, and without a chat it says so and stays.
func TestUpPair(t *testing.T) {
	t.Parallel()
	n := newPhone(t, "- [ ] **Task 1: First**\n  - Scope: `src`\n", "")
	begin := func() *programtest.Process {
		p, err := n.Machine.Start(nil, "up", "--pair")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Kill)
		return p
	}
	end := func(p *programtest.Process) {
		t.Helper()
		if err := p.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if code, err := p.Wait(); err != nil || code != 0 {
			t.Errorf("exit %d, %v\n%s", code, err, p.Out)
		}
	}
	n.phone.Fault("getMe", telegram.TooMany(1)) // the name comes late
	p := begin()
	code := awaitMatch(t, p, `Open +https://t\.me/porter_bot\?start=(\S+)\n`)
	n.phone.Say(reader, reader.ID, "/start "+code)
	n.shown("paired as admin")
	awaitMatch(t, p, `✓ \d\d:\d\d  Mira \(Telegram user 48213377\) is paired as admin`)
	end(p)

	p = begin()
	awaitMatch(t, p, `○ Mira is paired already\. Another person: nightporter pair --role steer`)
	end(p)
	if strings.Contains(p.Out.String(), "start=") {
		t.Errorf("a code nobody asked for:\n%s", p.Out)
	}

	n.write("config/nightporter/nightporter.toml", "")
	p = begin()
	awaitMatch(t, p, `! --pair: no chat is configured\. Put a token into the configuration: nightporter init`)
	end(p)
}
