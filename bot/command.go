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

// takes is what may follow a verb.
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

// form is one command as people learn it.
type form struct {
	verb  Verb
	takes takes
	use   string // how it is typed
	help  string // one line, for /help VERB
}

// forms is every command that can be typed with a slash.
var forms = []form{
	{VerbStatus, takesProject, "/status", "Where the run stands."},
	{VerbGuidance, takesWords, "/guidance TEXT", "Your words for the next session that may write; @builder, #12 or !sticky in front address them."},
	{VerbPause, takesNow, "/pause, /pause now", "Holds after the session in hand; now: cuts it off and runs it again on /resume."},
	{VerbResume, takesAgent, "/resume, /resume codex", "Goes on; while the run waits for an agent: tries now, or goes on with another one."},
	{VerbStop, takesNow, "/stop, /stop now", "Ends the run after the session in hand; now: at once."},
	{VerbNow, takesWords, "/now TEXT", "Stops the session in hand and runs it again with your words. Asks first."},
	{VerbQueue, takesProject, "/queue", "Guidance in use and waiting."},
	{VerbDrop, takesTarget, "/drop g9", "Takes guidance back."},
	{VerbAnswer, takesID, "/answer q7 TEXT", "Answers a question; q7 TEXT is the same."},
	{VerbApprove, takesID, "/approve q7", "Pass, or yes."},
	{VerbReject, takesID, "/reject q7 WHY", "Fail, or no."},
	{VerbTasks, takesProject, "/tasks", "All tasks."},
	{VerbTask, takesTarget, "/task 7", "One task."},
	{VerbSkip, takesTarget, "/skip 8", "Puts a task away."},
	{VerbRetry, takesTarget, "/retry 8", "Two new attempts for a blocked, skipped or done task."},
	{VerbNext, takesTarget, "/next 9", "This task next."},
	{VerbLog, takesTarget, "/log, /log 7", "Sessions of the run, or of a task."},
	{VerbDiff, takesTarget, "/diff 7, /diff r14", "What a task, or the run, changed."},
	{VerbEvidence, takesTarget, "/evidence 7", "The proof of what an attempt did; /evidence 7.1 is its first one."},
	{VerbPlan, takesPlan, "/plan, /plan 6, /plan redo 6 WORDS", "A task's plan; redo: throws it away and has it planned anew."},
	{VerbHats, takesTarget, "/hats, /hats builder, /hats routes", "The hats of a task, one of them, or which follows which."},
	{VerbRun, takesRun, "/run, /run from 5, /run review", "Starts a run, after a confirmation; also /run only 5, /run overnight."},
	{VerbRuns, takesTarget, "/runs, /runs shop, /runs r14", "The last runs, of all projects or one, or how one of them went."},
	{VerbProjects, takesProject, "/projects", "All projects."},
	{VerbCost, takesProject, "/cost", "What the run has spent, by hat."},
	{VerbDigest, takesSpan, "/digest, /digest 7d, /digest all", "The last digest, up to now; also today, 7d, or all that the caption leaves out."},
	{VerbWhoami, takesProject, "/whoami", "Who you are here, and who else is paired."},
	{VerbPeople, takesProject, "/people", "Who is paired, with their ids."},
	{VerbUnpair, takesTarget, "/unpair ID", "Takes somebody out; /people has the ids."},
	{VerbQuiet, takesTarget, "/quiet, /quiet 22:00-07:00, /quiet off", "When this chat is left in peace; default: as the host has it."},
	{VerbPair, takesTarget, "/pair CODE", "Lets you in with the code that nightporter pair shows on the host."},
	{VerbHelp, takesTarget, "/help, /help now", "This, or one command."},
	{VerbStart, takesTarget, "/start", "What a chat begins with; the same as /help."},
}

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
