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

// Scene is what the screen shows of one project. It is what the view "watch"
// answers with; fields are added, never renamed. Whatever was said in it by
// people, agents and programs is harmless, and no longer than the widest screen
// can use.
type Scene struct {
	Seen      string       `json:"seen"` // names this scene: with it, the next one is waited for
	Project   string       `json:"project"`
	Projects  []string     `json:"projects,omitempty"`
	Zone      string       `json:"zone,omitempty"`
	Run       string       `json:"run,omitempty"`
	Plan      string       `json:"plan,omitempty"`
	Began     time.Time    `json:"began,omitzero"`
	Ended     time.Time    `json:"ended,omitzero"`
	Sign      string       `json:"sign"`
	Word      string       `json:"word"`           // "paused", "waits until 04:10"
	Says      []string     `json:"says,omitempty"` // what else there is to know
	Held      bool         `json:"held,omitempty"` // paused, or about to be
	Done      int          `json:"done"`
	Total     int          `json:"total"`
	Left      int          `json:"left"`
	Blocked   int          `json:"blocked"`
	Needs     int          `json:"needs"`
	Cost      string       `json:"cost,omitempty"`
	Hand      *CurrentWork `json:"hand,omitempty"`
	Tasks     []Task       `json:"tasks,omitempty"`
	Guidance  []Item       `json:"guidance,omitempty"`
	Questions []Question   `json:"questions,omitempty"`
	Last      []string     `json:"last,omitempty"` // what happened, the newest last
	Hats      []Lane       `json:"hats,omitempty"` // the run's sessions by hat
}

// CurrentWork is what is in hand: a session of an agent, or nightporter's own checks.
type CurrentWork struct {
	Sign    string    `json:"sign"` // at work, or what keeps it
	Task    string    `json:"task"` // as people type it: "#7"
	Title   string    `json:"title,omitempty"`
	Doing   string    `json:"doing"` // builder, verify, commit
	Agent   string    `json:"agent,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Attempt int       `json:"attempt,omitempty"`
	Event   time.Time `json:"event,omitzero"` // when something happened last
	Stall   string    `json:"stall,omitempty"`
	Session string    `json:"session,omitempty"`
	Output  []string  `json:"output,omitempty"` // what its agent did or printed last, the newest last
}

// Task is one task of the list.
type Task struct {
	ID    string `json:"id"`  // "#7"
	Arg   string `json:"arg"` // as a command takes it: "7"
	Sign  string `json:"sign"`
	Title string `json:"title,omitempty"`
	Word  string `json:"word"` // done, ready, "needs #8"
	Done  bool   `json:"done,omitempty"`
}

// Item is one piece of guidance.
type Item struct {
	Sign  string `json:"sign"`
	ID    string `json:"id"`
	Text  string `json:"text"`
	Where string `json:"where"`
}

// Question is one that waits for a person.
type Question struct {
	ID      string   `json:"id"`
	Lines   []string `json:"lines"` // the first one alone will do
	Choices []Choice `json:"choices"`
}

// Choice is an answer, chosen by its letter: the first one is a.
type Choice struct {
	Label string `json:"label"`
	Line  string `json:"line"`            // what is sent
	Words bool   `json:"words,omitempty"` // it is nothing without words behind it
}

// Of makes the scene of a state. now, whose location is the person's, is only
// for clock times that say the day; what goes on with the time is the screen's.
func Of(s loop.State, now time.Time) Scene {
	r, t := s.Project.Run, bot.Count(s)
	c := Scene{
		Project: s.Project.Name, Plan: bot.Plan(r),
		Done: t.Done, Total: t.Total, Left: t.Left, Blocked: t.Blocked, Needs: t.Needs,
	}
	if r != nil {
		c.Run, c.Began, c.Ended, c.Cost = r.ID, r.Started, r.EndedAt, bot.CostSoFar(s)
		if c.Began.IsZero() {
			c.Began = r.Planned
		}
		c.Held = r.State == ledger.RunPausing || r.State == ledger.RunPaused
	}
	c.standing(s, now)
	c.hand(s)
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

// standing says how the run stands, and what else there is to know of that.
func (c *Scene) standing(s loop.State, now time.Time) {
	r := s.Project.Run
	doing := bot.Doing(s)
	if doing == "" {
		doing = "this step"
	}
	set := func(sign, word string) { c.Sign, c.Word = sign, word }
	say := func(text string) {
		if text = bot.Cut(bot.Clean(text), 2*longest); text != "" {
			c.Says = append(c.Says, text)
		}
	}
	switch {
	case r.Over():
		set(bot.SignLater, "idle")
		switch {
		case r == nil:
			say("No run yet.")
		case r.Ended != nil:
			say(r.ID + " ended " + bot.Clock(r.EndedAt, now) + ": " + string(r.Ended.Reason))
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
		set(waits(s, r, now))
		if say(r.Text); r.Text == "" && r.Wait != ledger.WaitQuestion {
			say(bot.HoldText(s))
		}
	default:
		set(bot.SignNow, "at work")
	}
	if r.Source != "" {
		say(bot.SignLook + " " + bot.Plan(r) + " cannot be read as it is: " + r.Source)
	}
	if len(r.Advisory) > 0 {
		say(bot.SignLook + " fails without our changes, only shown: " + strings.Join(r.Advisory, ", "))
	}
	if trouble := bot.HatsTrouble(r.HatsBad); trouble != "" {
		say(bot.SignLook + " hats " + trouble)
	}
}

func waits(s loop.State, r *loop.Run, now time.Time) (sign, word string) {
	switch {
	case r.Wait == ledger.WaitQuestion:
		var ids []string
		for _, q := range s.Project.Questions {
			ids = append(ids, q.ID)
		}
		return bot.SignAsk, strings.TrimSpace("waits for an answer " + strings.Join(ids, " "))
	case r.Wait == ledger.WaitDisk:
		return bot.SignLook, "waits: the disk is full"
	case r.Wait == ledger.WaitAgent:
		return bot.SignLook, "stands still"
	case r.Until.IsZero():
		return bot.SignLook, "waits"
	}
	return bot.SignLook, "waits until " + bot.Clock(r.Until, now)
}

// hand fills in what is in hand.
func (c *Scene) hand(s loop.State) {
	doing := bot.Doing(s)
	if doing == "" {
		return
	}
	id, rest, _ := strings.Cut(doing, " ")
	h := &CurrentWork{Sign: bot.SignNow, Task: id, Doing: rest, Event: s.Project.Run.LastEvent}
	for _, t := range s.Project.Tasks.All() {
		if t.Status == ledger.Active && t.Attempt != nil {
			h.Title, h.Attempt = bot.Cut(bot.Clean(t.Task.Title), longest), t.Attempt.N
			break
		}
	}
	if len(s.Project.Sessions) == 0 {
		h.Sign = c.Sign
	}
	for _, x := range s.Project.Sessions {
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
	c.Hand = h
}

// MaxOutput is how many lines of an agent's output a screen has use for.
const MaxOutput = 8

// Shows takes in what the session in hand showed of itself: lines of its
// output, which are foreign, and when it gave its last sign of life.
func (h *CurrentWork) Shows(lines []string, at time.Time) {
	for _, line := range lines {
		if line = bot.Cut(strings.TrimSpace(bot.CleanPre(line)), longest); line != "" {
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
		Title: bot.Cut(bot.Clean(t.Task.Title), longest), Word: strings.ReplaceAll(string(t.Status), "_", " "), Done: t.Status == ledger.Done,
	}
	switch t.Status {
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

// longest is how many columns of a text are of use to a screen.
const longest = 200

// maxItems is how much guidance that is over is still shown.
const maxItems = 3

// guidance lists what is in use and what waits, then what became of the last
// that is neither.
func (c *Scene) guidance(s loop.State) {
	var open, over []Item
	items := s.Project.Guidance.Items
	for n := len(items) - 1; n >= 0; n-- {
		i := items[n]
		item := Item{ID: i.ID, Text: bot.Cut(bot.Clean(i.Text), longest)}
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

// quoted precedes what people, agents and programs said.
const quoted = "┃ "

// questionOf is a question as a chat would be asked it.
func questionOf(m bot.Message, q ledger.Question) Question {
	out := Question{ID: q.ID}
	for n, l := range m.Lines {
		text := l.Text
		if l.Kind == bot.Quote {
			text = quoted + text
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

// Lines are the lines of a log that were set as such.
func Lines(m bot.Message) []string {
	var out []string
	for _, l := range m.Lines {
		if l.Kind == bot.Pre {
			out = append(out, l.Text)
		}
	}
	return out
}
