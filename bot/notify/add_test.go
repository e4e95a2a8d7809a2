package notify_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestRefusedAdditionIsTold holds that somebody learns of tasks that a source does not
// take: in the message of their /add, and where no chat has one, in a message of its
// own. A terminal or a session may have left by then.
func TestRefusedAdditionIsTold(t *testing.T) {
	for name, chat := range map[string]bool{"by a chat": true, "by a terminal": false} {
		t.Run(name, func(t *testing.T) {
			p := newFixture(t)
			p.Start(p.Settings(), p.Base("r1"), scenario.Task(1, "Sum the basket"))
			a := p.Do(loop.Input{Key: "add", Actor: "console", Body: loop.AddTasks{Tasks: []ledger.Task{{Title: "Say it in French"}}}})
			if !a.OK {
				t.Fatal(a.Text)
			}
			if chat {
				body, _ := json.Marshal(bot.AddAnswer("shop", loop.AddTasks{}, a))
				p.deliver([]ledger.Outgoing{{Chat: ana, Key: a.ID, Class: ledger.ClassReply, Silent: true, Body: body}})
			}
			p.Do(loop.Input{Key: "written", Body: loop.TasksWritten{ID: a.ID, Err: "permission denied"}})
			told := map[string]string{}
			for who, c := range p.chats {
				for _, s := range c.shown {
					if s.key == a.ID {
						told[who] = s.m.Key
					}
				}
			}
			if told[ana] != "add.failed" {
				t.Errorf("Ana is shown %q, want the refusal", told[ana])
			}
			if _, also := told[mira]; also == chat {
				t.Errorf("Mira is told: %v, want %v", also, !chat)
			}
		})
	}
}

// TestOwedReport: a report of a site that the inbox did not take is not offered to be
// added a second time, because nightporter does that itself.
func TestOwedReport(t *testing.T) {
	for name, report := range map[string]ledger.Task{
		"of a site":   {ID: "B7", Title: "The total is empty", Body: "The total is empty", Report: &ledger.Report{Untitled: true}},
		"of a person": {Title: "The total is empty", Body: "The total is empty", Report: &ledger.Report{Untitled: true}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newFixture(t)
			p.Start(p.Settings(), p.Base("r1"), scenario.Task(1, "Sum the basket"))
			inbox := ledger.SourceRef{Kind: ledger.SourceBugs, Path: "bugs.json", Foreign: true}
			a := p.Do(loop.Input{Key: "add", Actor: "site", Body: loop.AddTasks{Tasks: []ledger.Task{report}, Source: inbox}})
			if !a.OK {
				t.Fatal(a.Text)
			}
			p.Do(loop.Input{Key: "written", Body: loop.TasksWritten{ID: a.ID, Err: "bugs.json:3: no object"}})
			owed := report.ID != ""
			for _, s := range p.chats[mira].shown {
				if s.key != a.ID {
					continue
				}
				kept := slices.ContainsFunc(s.m.Lines, func(l bot.Line) bool { return strings.Contains(l.Text, "Kept") })
				if kept != owed || len(s.m.Buttons) > 0 == owed {
					t.Errorf("Mira is shown %+v", s.m)
				}
				return
			}
			t.Error("Mira is told nothing")
		})
	}
}

// TestSpokenBug: a recording below /bug completes it. A run on another source leaves the
// report to the inbox.
func TestSpokenBug(t *testing.T) {
	p := newFixture(t)
	p.AtWork(p.Settings())
	inbox := ledger.SourceRef{Kind: ledger.SourceBugs, Path: "bugs.json", Foreign: true}
	p.Do(loop.Input{Key: "heard", Body: loop.Transcribed{
		Of:   ledger.EffectTranscribe{ID: "v1", Actor: mira, Name: "Mira", Spoken: ledger.Spoken{Command: ledger.SpokenBug, Words: "high:", Repo: "/srv/shop", Source: inbox}},
		Text: "The total is empty",
	}})
	all := p.State.Project.Additions
	if len(all) != 1 || all[0].Source != inbox || all[0].By != "Mira" {
		t.Fatalf("added: %+v", all)
	}
	if report := all[0].Tasks[0]; report.Body != "The total is empty" || report.Report == nil || report.Report.Severity != "high" || report.Report.Created.IsZero() {
		t.Errorf("the report is %+v", report)
	}
}
