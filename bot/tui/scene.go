package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Scene is the content of the screen for one project, and the result of the
// view "watch". Fields are added, never renamed. Texts of people, agents and
// programs in it are clean, and no longer than the widest screen can show.
type Scene struct {
	Version   string       `json:"seen"` // identifies this scene; passing it to Look waits for the next one
	Project   string       `json:"project"`
	Projects  []string     `json:"projects,omitempty"`
	Zone      string       `json:"zone,omitempty"`   // name of the zone of all times; "" = the daemon's own, Offset ahead of UTC
	Offset    int          `json:"offset,omitempty"` // in seconds
	Run       string       `json:"run,omitempty"`
	Plan      string       `json:"plan,omitempty"`
	Began     time.Time    `json:"began,omitzero"`
	Ended     time.Time    `json:"ended,omitzero"`
	Sign      string       `json:"sign"`
	Word      string       `json:"word"`           // "paused", "waits until 04:10"
	Remarks   []string     `json:"says,omitempty"` // further remarks
	Paused    bool         `json:"held,omitempty"` // paused, or pausing
	Done      int          `json:"done"`
	Total     int          `json:"total"`
	Left      int          `json:"left"`
	Blocked   int          `json:"blocked"`
	Needs     int          `json:"needs"`
	Cost      string       `json:"cost,omitempty"`
	Current   *CurrentWork `json:"hand,omitempty"`
	Tasks     []Task       `json:"tasks,omitempty"`
	Guidance  []Item       `json:"guidance,omitempty"`
	Questions []Question   `json:"questions,omitempty"`
	Events    []string     `json:"last,omitempty"` // latest events, the newest last
	Hats      []Lane       `json:"hats,omitempty"` // the run's sessions by hat
}

// CurrentWork is the work in progress: an agent's session, or one of
// nightporter's own steps.
type CurrentWork struct {
	Sign    string    `json:"sign"` // state of the work
	Task    string    `json:"task"` // in the form that people type: "#7"
	Title   string    `json:"title,omitempty"`
	Doing   string    `json:"doing"` // the hat or the step: builder, verify, commit
	Agent   string    `json:"agent,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Attempt int       `json:"attempt,omitempty"`
	Event   time.Time `json:"event,omitzero"` // time of the latest event
	Stall   string    `json:"stall,omitempty"`
	Session string    `json:"session,omitempty"`
	Beside  []string  `json:"beside,omitempty"` // what else is at work: "#8 builder"
	Output  []string  `json:"output,omitempty"` // the agent's latest output or actions, the newest last
}

// Task is one task of the list.
type Task struct {
	ID    string `json:"id"`  // "#7"
	Arg   string `json:"arg"` // as an argument of commands: "7"
	Sign  string `json:"sign"`
	Title string `json:"title,omitempty"`
	Word  string `json:"word"` // status: done, ready, "needs #8"
	Done  bool   `json:"done,omitempty"`
}

// Item is one piece of guidance.
type Item struct {
	Sign  string `json:"sign"`
	ID    string `json:"id"`
	Text  string `json:"text"`
	Where string `json:"where"`
}

// Question is a question that waits for a person.
type Question struct {
	ID      string   `json:"id"`
	Lines   []string `json:"lines"` // the first one suffices where there is little room
	Choices []Choice `json:"choices"`
}

// Choice is an option of a question. Its letter is its position: the first one
// is a.
type Choice struct {
	Label string `json:"label"`
	Line  string `json:"line"`            // the line that selects it
	Words bool   `json:"words,omitempty"` // the line needs words behind it
}

// SceneOf returns the scene of a state. now has the person's time zone. It is
// used only for texts with clock times; the screen itself computes times that
// change.
func SceneOf(s loop.State, now time.Time) Scene {
	r, t := s.Project.Run, bot.Count(s)
	c := Scene{
		Project: s.Project.Name, Plan: bot.Plan(r),
		Done: t.Done, Total: t.Total, Left: t.Left, Blocked: t.Blocked, Needs: t.Needs,
	}
	if r != nil {
		c.Run, c.Began, c.Ended, c.Cost = r.ID, r.Started, r.EndedAt, bot.CostOfBudget(s)
		if c.Began.IsZero() {
			c.Began = r.Planned
		}
		c.Paused = r.State == ledger.RunPausing || r.State == ledger.RunPaused
	}
	c.setStatus(s, now)
	c.setCurrentWork(s)
	for _, ts := range s.Project.Tasks.All() {
		if ts.Status != ledger.Withdrawn {
			c.Tasks = append(c.Tasks, taskOf(s, *ts))
		}
	}
	c.guidance(s)
	for _, q := range s.Project.Questions {
		c.Questions = append(c.Questions, questionOf(bot.Ask(s, q, now), q))
	}
	return c
}

// setStatus sets the state of the run, and remarks about it.
func (c *Scene) setStatus(s loop.State, now time.Time) {
	r := s.Project.Run
	doing := bot.Doing(s)
	if doing == "" {
		doing = "this step"
	}
	set := func(sign, word string) { c.Sign, c.Word = sign, word }
	say := func(text string) {
		if text = bot.Cut(bot.Clean(text), 2*maxText); text != "" {
			c.Remarks = append(c.Remarks, text)
		}
	}
	switch {
	case r.Over():
		set(bot.SignLater, "idle")
		switch {
		case r == nil:
			say("No run yet.")
		case r.Ended != nil:
			why := string(r.Ended.Reason)
			if r.Ended.Reason == ledger.ReasonPreflight && r.Ended.Text != "" {
				why += ": " + r.Ended.Text
			}
			say(r.ID + " ended " + bot.Clock(r.EndedAt, now) + ": " + why)
		}
		return
	case r.State == ledger.RunPlanning:
		set(bot.SignLater, "looks before it starts")
	case r.State == ledger.RunPausing:
		set(bot.SignPaused, "pauses after "+doing)
	case r.State == ledger.RunPaused:
		set(bot.SignPaused, "paused")
	case r.State == ledger.RunStopping || r.Finishing != nil:
		set(bot.SignLater, "ends after "+doing)
	case r.State == ledger.RunWaiting:
		set(waitStatus(s, r, now))
		if say(r.Text); r.Text == "" && r.Wait != ledger.WaitQuestion {
			say(bot.HoldText(s))
		}
	default:
		set(bot.SignNow, "at work")
	}
	if r.Source != "" {
		say(bot.SignLook + " " + bot.Plan(r) + " cannot be read as it is: " + r.Source)
	}
	if len(r.Exempt) > 0 {
		say(bot.SignLook + " fails without our changes, only shown: " + bot.ExemptText(r.Exempt))
	}
	if tip, red := s.Project.RedTip(); red {
		say(bot.SignFailed + " not repaired: " + tip.String())
	}
	if trouble := bot.HatsTrouble(r.HatsBad); trouble != "" {
		say(bot.SignLook + " hats " + trouble)
	}
}

func waitStatus(s loop.State, r *loop.Run, now time.Time) (sign, word string) {
	switch {
	case r.Wait == ledger.WaitQuestion:
		var ids []string
		for _, q := range s.Project.Questions {
			ids = append(ids, q.ID)
		}
		return bot.SignAsk, strings.TrimSpace("waits for an answer " + strings.Join(ids, " "))
	case r.Wait == ledger.WaitDisk:
		return bot.SignLook, "waits: the disk is full"
	case r.Wait == ledger.WaitMachine:
		return bot.SignLook, "waits: " + bot.MachineWait(s)
	case r.Wait == ledger.WaitAgent:
		return bot.SignLook, "stands still"
	case r.Until.IsZero():
		return bot.SignLook, "waits"
	}
	return bot.SignLook, "waits until " + bot.Clock(r.Until, now)
}

// setCurrentWork sets the work in progress.
func (c *Scene) setCurrentWork(s loop.State) {
	doing := bot.Doing(s)
	if doing == "" {
		return
	}
	lanes := bot.Lanes(s)
	if len(lanes) > 0 {
		doing = lanes[0]
	}
	id, rest, _ := strings.Cut(doing, " ")
	h := &CurrentWork{Sign: bot.SignNow, Task: id, Doing: rest, Event: s.Project.Run.LastEvent}
	if len(lanes) > 1 {
		h.Beside = lanes[1:]
	}
	for _, t := range s.Project.Tasks.All() {
		if t.Status == ledger.Active && t.Attempt != nil {
			h.Title, h.Attempt = bot.Cut(bot.Clean(t.Task.Title), maxText), t.Attempt.N
			break
		}
	}
	if len(s.Project.Sessions) == 0 {
		h.Sign = c.Sign
	}
	for _, x := range s.Project.Sessions {
		if len(lanes) > 1 && bot.Cut(bot.Clean(ledger.ShortID(x.Task)), 14) != id {
			continue
		}
		if h.Since.IsZero() || x.Planned.Kind == ledger.KindAgent {
			h.Since, h.Session = x.At, x.ID
		}
		if x.Planned.Kind == ledger.KindAgent {
			h.Agent = bot.Cut(bot.Clean(strings.TrimSpace(x.Planned.Agent+" "+x.Planned.Model)), 40)
			if d := x.Planned.Stall.D(); d > 0 {
				h.Stall = elapsed(d)
			}
			break
		}
	}
	c.Current = h
}

// MaxOutput is the number of lines of an agent's output that a screen can show.
const MaxOutput = 8

// SetOutput sets the active session's latest output lines, which are foreign
// text, and the time of its latest sign of life.
func (h *CurrentWork) SetOutput(lines []string, at time.Time) {
	for _, line := range lines {
		if line = bot.Cut(strings.TrimSpace(bot.CleanPre(line)), maxText); line != "" {
			h.Output = append(h.Output, line)
		}
	}
	h.Output = h.Output[max(len(h.Output)-MaxOutput, 0):]
	if at.After(h.Event) {
		h.Event = at
	}
}

func taskOf(s loop.State, t loop.TaskState) Task {
	id := bot.Cut(bot.Clean(ledger.ShortID(t.Task.ID)), 14)
	out := Task{
		ID: id, Arg: strings.TrimPrefix(bot.Clean(ledger.ShortID(t.Task.ID)), "#"), Sign: bot.StatusSign(t.Status),
		Title: bot.Cut(bot.Clean(t.Task.Title), maxText), Word: strings.ReplaceAll(string(t.Status), "_", " "), Done: t.Status == ledger.Done,
	}
	switch t.Status {
	case ledger.Done:
		if proof := bot.ProofText(s, t); proof != "" {
			out.Word += " · " + proof
		}
	case ledger.Active:
		out.Word = "at work"
	case ledger.Waiting:
		out.Word = "asks"
	case ledger.Pending:
		out.Word = "not ready"
		for _, id := range t.Task.DependsOn {
			if d, ok := s.Project.Find(id); ok && d.Status != ledger.Done && d.Status != ledger.Skipped {
				out.Word = "needs " + bot.Cut(bot.Clean(ledger.ShortID(d.Task.ID)), 14)
				break
			}
		}
	}
	if t.Question != "" {
		out.Word += " (" + bot.Clean(t.Question) + ")"
	}
	return out
}

// maxText is the length to which texts are cut, in columns.
const maxText = 200

// maxItems limits the finished guidance that is still shown.
const maxItems = 3

// guidance lists the guidance in use and waiting, then the latest finished
// items.
func (c *Scene) guidance(s loop.State) {
	var open, over []Item
	items := s.Project.Guidance.Items
	for n := len(items) - 1; n >= 0; n-- {
		i := items[n]
		item := Item{ID: i.ID, Text: bot.Cut(bot.Clean(i.Text), maxText) + bot.OriginOf(i)}
		switch {
		case i.State == guidance.Dropped:
			continue
		case i.Sticky && !i.Over():
			item.Sign, item.Where = bot.SignLater, "sticky"
		case i.State == guidance.Queued:
			item.Sign, item.Where = bot.SignLater, "queued"
			if i.Task != "" {
				item.Where += ", for " + bot.Cut(bot.Clean(ledger.ShortID(i.Task)), 14)
			}
			if i.Hat != "" {
				item.Where += ", for " + bot.Cut(bot.Clean(i.Hat), 16)
			}
		case i.State == guidance.Injected:
			item.Sign, item.Where = bot.SignNow, "in use"
			if x, ok := s.Project.Session(i.Session); ok {
				item.Where = fmt.Sprintf("in use, %s %s", bot.Cut(bot.Clean(ledger.ShortID(x.Task)), 14), bot.Cut(bot.Clean(x.Planned.Hat), 16))
			}
		default:
			item.Sign, item.Where = overSign(i), i.State.Word()
			if len(over) < maxItems {
				over = append(over, item)
			}
			continue
		}
		open = append(open, item)
	}
	c.Guidance = slices.Concat(open, over)
}

func overSign(i guidance.Item) string {
	switch {
	case i.Judged != nil && !i.Judged.Followed:
		return bot.SignFailed
	case i.State == guidance.Addressed:
		return bot.SignDone
	case i.State == guidance.NotReported:
		return bot.SignLook
	}
	return bot.SignAway
}

// quotePrefix is the prefix of lines that people, agents and programs wrote.
const quotePrefix = "┃ "

// questionOf converts a chat message with a question.
func questionOf(m bot.Message, q ledger.Question) Question {
	out := Question{ID: q.ID}
	for n, l := range m.Lines {
		text := l.Text
		if l.Kind == bot.Quote {
			text = quotePrefix + text
		}
		if n == 0 || text != m.Lines[0].Text {
			out.Lines = append(out.Lines, text)
		}
	}
	for _, b := range m.Buttons {
		c := Choice{Label: b.Label, Line: b.Command}
		if c.Words = b.Placeholder != ""; c.Words { // "q5 guide WORDS"
			c.Label, c.Line = strings.TrimSuffix(b.Label, "…"), b.Prefix()
		}
		out.Choices = append(out.Choices, c)
	}
	return out
}

// Lines returns the preformatted lines of a message, such as a log.
func Lines(m bot.Message) []string {
	var out []string
	for _, l := range m.Lines {
		if l.Kind == bot.Pre {
			out = append(out, l.Text)
		}
	}
	return out
}
