package bot

import (
	"fmt"
	"strings"
)

// Verb is what a command asks for.
type Verb string

// Commands. Their order is that of suggestions.
const (
	VerbStatus   Verb = "status"
	VerbGuidance Verb = "guidance"
	VerbPause    Verb = "pause"
	VerbResume   Verb = "resume"
	VerbStop     Verb = "stop"
	VerbNow      Verb = "now"
	VerbQueue    Verb = "queue"
	VerbDrop     Verb = "drop"
	VerbAnswer   Verb = "answer"
	VerbApprove  Verb = "approve"
	VerbReject   Verb = "reject"
	VerbTasks    Verb = "tasks"
	VerbTask     Verb = "task"
	VerbSkip     Verb = "skip"
	VerbRetry    Verb = "retry"
	VerbNext     Verb = "next"
	VerbLog      Verb = "log"
	VerbDiff     Verb = "diff"
	VerbEvidence Verb = "evidence"
	VerbPlan     Verb = "plan"
	VerbHats     Verb = "hats"
	VerbRun      Verb = "run"
	VerbRuns     Verb = "runs"
	VerbProjects Verb = "projects"
	VerbCost     Verb = "cost"
	VerbDigest   Verb = "digest"
	VerbWhoami   Verb = "whoami"
	VerbPeople   Verb = "people"
	VerbUnpair   Verb = "unpair"
	VerbQuiet    Verb = "quiet"
	VerbPair     Verb = "pair"  // "/pair K7QX-M2PD"
	VerbStart    Verb = "start" // the same, as a link of Telegram types it
	VerbHelp     Verb = "help"

	// Without a slash.
	VerbKeep  Verb = "keep"  // "g14 keep"
	VerbWords Verb = "words" // plain words: guidance where somebody speaks to us alone
)

// takes is the shape of what may follow a verb.
type takes int

const (
	takesProject takes = iota // nothing, or a project's name
	takesNow                  // the same, and "now"
	takesTarget               // an id, or nothing
	takesID                   // an id, words, or both
	takesWords
	takesAgent // a project's name, an agent's, or both
	takesPlan  // a task's id, or nothing; after "redo" words, too
	takesRun   // a project's name and what the run shall differ in
	takesSpan  // a span, a project's name, or both
)

// Command is one line as it was understood.
type Command struct {
	Project string // "" = the one that the line was sent to
	Verb    Verb
	Now     bool   // /pause now, /stop now
	Redo    bool   // /plan redo
	Target  string // id of a task, question, guidance or run, or a verb after /help; as typed
	Words   string // as typed, line breaks too
	Line    string // the whole line, trimmed
}

// String is the command as it is typed. Parse reads it back.
func (c Command) String() string {
	var parts []string
	switch c.Verb {
	case VerbWords:
	case VerbKeep:
		parts = append(parts, c.Target, string(c.Verb))
	default:
		parts = append(parts, "/"+string(c.Verb))
		if c.Redo {
			parts = append(parts, "redo")
		}
		if c.Target != "" {
			parts = append(parts, c.Target)
		}
	}
	if c.Now {
		parts = append(parts, "now")
	}
	if c.Words != "" {
		parts = append(parts, c.Words)
	}
	line := strings.Join(parts, " ")
	if c.Project != "" {
		line = c.Project + ": " + line
	}
	return line
}

// UnknownError says that a word is no command. Meant is what is nearest, with
// its slash, "" when nothing is near.
type UnknownError struct {
	Word  string // as typed
	Meant string
	Rest  string // what followed, so that it is not lost
}

// Error says which word, and what may have been meant.
func (e *UnknownError) Error() string {
	if e.Meant == "" {
		return fmt.Sprintf("no %s; /help lists the commands", e.Word)
	}
	return fmt.Sprintf("no %s; meant %s?", e.Word, e.Meant)
}

// UsageError says that a command was given what it does not take.
type UsageError struct {
	Verb Verb
	Use  string
	Got  string
}

// Error says how the command is typed.
func (e *UsageError) Error() string {
	return fmt.Sprintf("/%s does not take %q: type %s", e.Verb, e.Got, e.Use)
}
