package bot

import (
	"fmt"
	"strings"
)

// Verb names a command, without its slash.
type Verb string

// Commands that are typed with a slash.
const (
	VerbStatus   Verb = "status"
	VerbGuidance Verb = "guidance"
	VerbPause    Verb = "pause"
	VerbResume   Verb = "resume"
	VerbStop     Verb = "stop"
	VerbNow      Verb = "now"
	VerbQueue    Verb = "queue"
	VerbDrop     Verb = "drop"
	VerbErase    Verb = "erase"
	VerbAnswer   Verb = "answer"
	VerbApprove  Verb = "approve"
	VerbReject   Verb = "reject"
	VerbTasks    Verb = "tasks"
	VerbTask     Verb = "task"
	VerbSkip     Verb = "skip"
	VerbRetry    Verb = "retry"
	VerbNext     Verb = "next"
	VerbAdd      Verb = "add"
	VerbBug      Verb = "bug"
	VerbIdea     Verb = "idea"
	VerbWhy      Verb = "why"
	VerbLog      Verb = "log"
	VerbDiff     Verb = "diff"
	VerbEvidence Verb = "evidence"
	VerbMerge    Verb = "merge"
	VerbPlan     Verb = "plan"
	VerbHats     Verb = "hats"
	VerbRevert   Verb = "revert"
	VerbRedo     Verb = "redo"
	VerbEach     Verb = "each"
	VerbKeep     Verb = "keep" // of tasks; "g14 keep" and "/keep g14" keep guidance
	VerbRun      Verb = "run"
	VerbRuns     Verb = "runs"
	VerbProjects Verb = "projects"
	VerbCost     Verb = "cost"
	VerbDigest   Verb = "digest"
	VerbStats    Verb = "stats"
	VerbWhoami   Verb = "whoami"
	VerbPeople   Verb = "people"
	VerbUnpair   Verb = "unpair"
	VerbQuiet    Verb = "quiet"
	VerbPair     Verb = "pair"  // "/pair K7QX-M2PD"
	VerbStart    Verb = "start" // opens a chat; with a code, as in a Telegram link, it is VerbPair
	VerbHelp     Verb = "help"

	VerbThreshold Verb = "threshold"
	VerbNet       Verb = "net"
	VerbTriage    Verb = "triage"
	VerbFix       Verb = "fix"
	VerbForecast  Verb = "forecast"
	VerbWaves     Verb = "waves"

	// Commands that are typed without a slash.
	VerbWords    Verb = "words"    // plain text, which package words reads
	VerbTakeBack Verb = "takeback" // "g14 not guidance": plain text that was no guidance
)

// takes says which arguments may follow a verb.
type takes int

const (
	takesProject takes = iota // nothing, or a project's name
	takesNow                  // as takesProject, and "now"
	takesTarget               // an id, or nothing
	takesID                   // an id, words, or both
	takesWords
	takesAgent // a project's name, an agent's, or both
	takesPlan  // a task's id, or nothing; after "redo" also words
	takesRun   // a project's name and the flags that ParseRun reads
	takesSpan  // a span, a project's name, or both
	takesStats // words of ParseStats, a project's name, or both
)

// Command is one parsed line.
type Command struct {
	Project string // as named in the line; "" = none was named
	Verb    Verb
	Now     bool   // /pause now, /stop now
	Redo    bool   // /plan redo
	Target  string // id of a task, question, guidance or run, or a verb after /help; as typed
	Words   string // as typed, with line breaks
	Line    string // the whole line, trimmed
}

// String returns the command as a person types it. Parse reads it back.
func (c Command) String() string {
	var parts []string
	switch c.Verb {
	case VerbWords:
	case VerbTakeBack:
		parts = append(parts, c.Target+" not guidance")
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

// UnknownError reports a word that is no command. Meant is the most similar
// line that Parse takes, "/stop" or "g14 keep"; "" if none is similar.
type UnknownError struct {
	Word  string // as typed
	Meant string
	Rest  string // the text after Word, which a suggestion repeats
}

// Error names the word and the suggestion.
func (e *UnknownError) Error() string {
	if e.Meant == "" {
		return fmt.Sprintf("no %s; /help lists the commands", e.Word)
	}
	return fmt.Sprintf("no %s; meant %s?", e.Word, e.Meant)
}

// UsageError reports an argument that a command does not take: Got is the
// argument, Use the way to type the command.
type UsageError struct {
	Verb Verb
	Use  string
	Got  string
}

// Error says how to type the command.
func (e *UsageError) Error() string {
	return fmt.Sprintf("/%s does not take %q: type %s", e.Verb, e.Got, e.Use)
}
