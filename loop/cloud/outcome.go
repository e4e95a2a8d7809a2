package cloud

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/text"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Outcome is the result of a step, for people and for exit codes.
type Outcome struct {
	From, To Phase
	Reason   Reason
	Task     string // "" = none
	Issue    int
	Request  int
	URL      string // of the request
	Agent    string
	Checks   []string // that the reason is about
	Round    int      // of Of: rounds or attempts
	Of       int
	Refusal  string // of a merge, in the forge's words
}

// NeedsPerson reports whether nothing goes on before a person has acted.
func (o Outcome) NeedsPerson() bool { return o.Reason.row().person }

// Reason is the code of what a step found.
type Reason string

// Reasons.
const (
	ReasonMerged         Reason = "merged"
	ReasonNext           Reason = "next"
	ReasonAllDone        Reason = "all_done"
	ReasonStuck          Reason = "stuck"
	ReasonLost           Reason = "lost"
	ReasonDispatched     Reason = "dispatched"
	ReasonWorking        Reason = "working"
	ReasonUnassigned     Reason = "unassigned"
	ReasonOpened         Reason = "opened"
	ReasonHandedIn       Reason = "handed_in"
	ReasonNoRequest      Reason = "no_request"
	ReasonGaveUp         Reason = "gave_up"
	ReasonSilent         Reason = "silent"
	ReasonSilentRequest  Reason = "silent_request"
	ReasonIssueRefused   Reason = "issue_refused"
	ReasonRequestRefused Reason = "request_refused"
	ReasonBroken         Reason = "broken"
	ReasonConflict       Reason = "conflict"
	ReasonRed            Reason = "red"
	ReasonRounds         Reason = "rounds"
	ReasonApproval       Reason = "approval"
	ReasonPending        Reason = "pending"
	ReasonSlow           Reason = "slow"
	ReasonNoChecksYet    Reason = "no_checks_yet"
	ReasonUnproved       Reason = "unproved"
	ReasonChanges        Reason = "changes"
	ReasonYours          Reason = "yours"
	ReasonBlocked        Reason = "blocked"
	ReasonUnknown        Reason = "unknown"
	ReasonMergeRefused   Reason = "merge_refused"
	ReasonReady          Reason = "ready"
	ReasonUpdated        Reason = "updated"
	ReasonQueued         Reason = "queued"
	ReasonResumed        Reason = "resumed"
)

// reasonRow is what belongs to a reason.
type reasonRow struct {
	person bool   // nothing goes on before a person has acted
	memory bool   // it is a line of the memory, once
	text   string // of words in braces, which Text replaces
}

// reasons is the table of reasons.
var reasons = map[Reason]reasonRow{
	ReasonMerged:         {memory: true, text: "request {request} is merged; {task} is done"},
	ReasonNext:           {text: "{task} is finished; the next task comes with the next call"},
	ReasonAllDone:        {text: "every task is done"},
	ReasonStuck:          {person: true, text: "no task can run: those left are set aside, blocked, or wait for such. To try one again, set its task_statuses to \"pending\""},
	ReasonLost:           {memory: true, text: "the state names no issue or request for {task}; it goes back a step"},
	ReasonDispatched:     {memory: true, text: "{task} given to {agent}{issue}"},
	ReasonWorking:        {text: "{agent} works on {task}{issue}"},
	ReasonUnassigned:     {person: true, text: "{task}{issue} is not assigned to {agent}. Assign it, or close the issue"},
	ReasonOpened:         {memory: true, text: "{agent} works on request {request} for {task}"},
	ReasonHandedIn:       {memory: true, text: "{agent} handed in request {request} for {task}"},
	ReasonNoRequest:      {memory: true, text: "{agent} ended {task}{issue} without a request, attempt {round}"},
	ReasonGaveUp:         {person: true, memory: true, text: "{task} is set aside: {agent} ended every attempt without a request"},
	ReasonSilent:         {person: true, memory: true, text: "{task} is set aside: no answer from {agent}{issue}"},
	ReasonSilentRequest:  {person: true, memory: true, text: "{agent} does not come to an end with request {request} for {task}"},
	ReasonIssueRefused:   {person: true, memory: true, text: "{task} is set aside: its issue was closed as not planned{issue}"},
	ReasonRequestRefused: {person: true, memory: true, text: "{task} is set aside: request {request} was closed without a merge"},
	ReasonBroken:         {memory: true, text: "{agent} failed at request {request} for {task}; sent back, round {round}"},
	ReasonConflict:       {memory: true, text: "request {request} for {task} conflicts with its base; sent back, round {round}"},
	ReasonRed:            {memory: true, text: "request {request} for {task} has red checks ({checks}); sent back, round {round}"},
	ReasonRounds:         {person: true, memory: true, text: "request {request} for {task} is not green after every round. Push to it, or close it"},
	ReasonApproval:       {person: true, memory: true, text: "request {request} for {task} has workflows that need your approval ({checks})"},
	ReasonPending:        {text: "request {request} for {task} waits for checks ({checks})"},
	ReasonSlow:           {person: true, memory: true, text: "request {request} for {task} has checks that do not end ({checks})"},
	ReasonNoChecksYet:    {text: "request {request} for {task} has no checks yet"},
	ReasonUnproved:       {person: true, memory: true, text: "request {request} for {task} has no checks, so nothing proves it. Merge it, or close it"},
	ReasonChanges:        {person: true, memory: true, text: "request {request} for {task} has a review that requests changes"},
	ReasonYours:          {person: true, memory: true, text: "request {request} for {task} is green and yours to merge: allow_merge is off"},
	ReasonBlocked:        {person: true, memory: true, text: "request {request} for {task} is green; the repository requires a review or another check"},
	ReasonUnknown:        {text: "request {request} for {task} is green; the forge does not say yet whether it can be merged"},
	ReasonMergeRefused:   {person: true, memory: true, text: "request {request} for {task} is green, but the forge does not merge it{refusal}"},
	ReasonReady:          {memory: true, text: "request {request} for {task} is no draft any more"},
	ReasonUpdated:        {memory: true, text: "the base was merged into request {request} for {task}"},
	ReasonQueued:         {text: "request {request} for {task} is in the merge queue"},
	ReasonResumed:        {memory: true, text: "request {request} for {task} changed; it is judged again"},
}

// Reasons returns all reasons, in alphabetical order.
func Reasons() []Reason { return slices.Sorted(maps.Keys(reasons)) }

func (r Reason) row() reasonRow { return reasons[r] }

// maxNames is how many checks a text names.
const maxNames = 3

// Text returns the outcome in one sentence.
func (o Outcome) Text() string {
	issue := ""
	if o.Issue != 0 {
		issue = fmt.Sprintf(" (issue #%d)", o.Issue)
	}
	task := "the task"
	if o.Task != "" {
		task = text.First(text.OneLine(ledger.ShortID(o.Task)), 60)
	}
	var names []string
	for i, name := range o.Checks {
		if i == maxNames {
			names = append(names, fmt.Sprintf("and %d more", len(o.Checks)-maxNames))
			break
		}
		names = append(names, text.First(text.OneLine(name), 40))
	}
	refusal := ""
	if o.Refusal != "" {
		refusal = ": " + text.First(text.OneLine(o.Refusal), 200)
	}
	return strings.NewReplacer(
		"{task}", task, "{issue}", issue, "{request}", fmt.Sprintf("#%d", o.Request), "{agent}", o.Agent, "{refusal}", refusal,
		"{checks}", strings.Join(names, ", "), "{round}", fmt.Sprintf("%d of %d", o.Round, o.Of),
	).Replace(o.Reason.row().text)
}

// String returns the outcome in one line, with the phases.
func (o Outcome) String() string {
	phases := string(o.From)
	if o.From != o.To {
		phases += " → " + string(o.To)
	}
	line := phases + ": " + o.Text()
	if o.NeedsPerson() && o.URL != "" && o.Request != 0 {
		line += "\n" + o.URL
	}
	return line
}
