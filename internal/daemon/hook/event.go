package hook

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Event is the JSON of a post.
type Event struct {
	ID      string    `json:"id,omitempty"` // the same in each repetition; none in signs of life
	Event   string    `json:"event"`
	Project string    `json:"project,omitempty"`
	Run     string    `json:"run,omitempty"`
	Task    string    `json:"task,omitempty"`
	Status  string    `json:"status,omitempty"` // of the task, or the run
	Time    time.Time `json:"time"`
	Text    string    `json:"text"` // one line for people
}

// Names of events, as the setting on names them.
const (
	RunStarted    = "run.started"
	RunWaiting    = "run.waiting"
	RunEnded      = "run.ended"
	TaskDone      = "task.done"
	TaskBlocked   = "task.blocked"
	QuestionAsked = "question.asked"
	Alive         = "alive"
)

// types are the entries that can be events.
var types = []string{
	ledger.RunStarted{}.EntryType(), ledger.RunStateSet{}.EntryType(), ledger.RunEnded{}.EntryType(), ledger.TaskSet{}.EntryType(), ledger.QuestionAsked{}.EntryType(),
}

// eventOf returns the event that an entry is; ok is false for one that is none.
func eventOf(e ledger.Entry) (ev Event, ok bool) {
	ev = Event{Project: strings.TrimPrefix(e.Stream, ledger.ProjectStream("")), Run: e.Run, Task: e.Task, Time: e.Time.UTC()}
	say := func(name, status, format string, args ...any) {
		ev.Event, ev.Status, ok = name, status, true
		ev.Text = strings.TrimSuffix(strings.TrimSpace(ev.Project+" "+fmt.Sprintf(format, args...)), ":")
	}
	switch b := e.Body.(type) {
	case ledger.RunStarted:
		say(RunStarted, string(ledger.RunRunning), "%s started", e.Run)
	case ledger.RunStateSet:
		if b.State == ledger.RunWaiting {
			say(RunWaiting, string(b.State), "%s waits: %s", e.Run, orOf(b.Text, string(b.Wait)))
		}
	case ledger.RunEnded:
		say(RunEnded, string(b.Reason), "%s ended, %d of %d done: %s", e.Run, b.Done, b.Total, orOf(b.Text, string(b.Reason)))
	case ledger.TaskSet:
		switch b.To {
		case ledger.Done:
			say(TaskDone, string(b.To), "%s done: %s", ledger.ShortID(e.Task), b.Why)
		case ledger.Blocked:
			say(TaskBlocked, string(b.To), "%s blocked: %s", ledger.ShortID(e.Task), b.Why)
		}
	case ledger.QuestionAsked:
		ev.Task = strings.Join(b.Question.Tasks, ", ")
		say(QuestionAsked, "open", "%s: %s", b.Question.ID, b.Question.Text)
	}
	ev.Text = strings.TrimSpace(ev.Text)
	return ev, ok
}

func orOf(text, other string) string {
	if text != "" {
		return text
	}
	return other
}
