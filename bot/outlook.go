package bot

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/outlook"
)

// planNight is what follows /plan for the outlook on the night.
const planNight = "night"

// night handles /plan night.
func (d dispatch) night() Message {
	var others []history.History
	for _, name := range d.service.Projects() {
		if s, ok := d.service.State(name); ok && name != d.project {
			others = append(others, s.Project.History)
		}
	}
	return Night(d.s, loop.OutlookOf(d.s, d.r.Time, others...), d.r.Time)
}

// Night tells people what the night will probably get done.
func Night(s loop.State, o outlook.Outlook, now time.Time) Message {
	if o.Total == 0 {
		m := newMessage("plan.night", firstLine(SignLater, s.Project.Name, "has no open task", ""))
		m.Project = s.Project.Name
		m.add("Nothing is left that a night could do.")
		m.button("Tasks", "/tasks")
		return m
	}
	m := newMessage("plan.night", firstLine("", s.Project.Name, OutlookTasks(o), ""))
	m.Project = s.Project.Name
	m.add("By about " + Clock(o.By, now) + ", " + OutlookCost(o))
	if o.Unsure != "" {
		m.add(fmt.Sprintf("Least sure: %s (%d %%)", shortID(o.Unsure), int(100*o.Chance+0.5)))
	}
	switch o.Basis {
	case history.FromHouse:
		m.add("From what your other projects took.")
	case history.FromPrior:
		m.add("A rough guess: too few tasks are finished to know better.")
	}
	m.button("Tasks", "/tasks")
	return m
}

// OutlookTasks says how many tasks will probably be done: "12 tasks: 9 (7–11)".
func OutlookTasks(o outlook.Outlook) string {
	text := fmt.Sprintf("%d tasks: %d", o.Total, o.Done)
	if o.Total == 1 {
		text = strings.Replace(text, "tasks", "task", 1)
	}
	if o.Low < o.High {
		text += fmt.Sprintf(" (%d–%d)", o.Low, o.High)
	}
	return text
}

// OutlookCost says what it will probably cost: "$11–16", or "cost unknown".
func OutlookCost(o outlook.Outlook) string {
	if !o.Known() {
		return "cost unknown"
	}
	if o.USDHigh < 10 {
		low, high := Money(o.USDLow), Money(o.USDHigh)
		if low == high {
			return high
		}
		return low + "–" + strings.TrimPrefix(high, "$")
	}
	low, high := fmt.Sprintf("%.0f", o.USDLow), fmt.Sprintf("%.0f", o.USDHigh)
	if low == high {
		return "$" + high
	}
	return "$" + low + "–" + high
}
