package bot

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Parts of a log that the last word of /log names.
const (
	logTail = "tail" // the end of the last session's or command's output
	logFile = "file" // the whole log with the output that the ledger keeps
)

// cutLogPart cuts the word that names a part of a log off the argument of /log.
func cutLogPart(typed string) (target, part string) {
	words := strings.Fields(typed)
	if n := len(words); n > 0 {
		if last := strings.ToLower(words[n-1]); last == logTail || last == logFile {
			return strings.Join(words[:n-1], " "), last
		}
	}
	return typed, ""
}

// logPart returns the part of a log that was asked for. m is the log without output.
func (d dispatch) logPart(m Message, task string, records []ledger.Record, part string) Message {
	name := orElse(shortID(task), "run")
	switch part {
	case logTail:
		return lastOutput(d.project, name, records, d.r.Terminal, d.r.Time)
	case logFile:
		var b strings.Builder
		for _, l := range m.Lines {
			b.WriteString(l.Text + "\n")
		}
		for _, o := range outputsOf(records) {
			fmt.Fprintf(&b, "\n%s %s\n%s\n", Clock(o.at, d.r.Time), o.name, strings.Join(o.lines, "\n"))
		}
		out := newMessage("log.file", firstLine("", d.project, name+": the whole log", ""))
		if d.r.Terminal {
			for line := range strings.Lines(b.String()) {
				out.pre(strings.TrimRight(line, "\n"))
			}
			return out
		}
		out.add("Output is the end that the ledger keeps, without secrets.")
		out.Document = &Document{Name: diffName(d.project, name, "log", ".txt"), Data: []byte(b.String())}
		return out
	}
	if len(records) > 0 {
		m.button("Tail", strings.TrimSpace("/log "+idArg(task)+" "+logTail))
		m.button("File", strings.TrimSpace("/log "+idArg(task)+" "+logFile))
	}
	return m
}

// printed is the end of what a session or a command printed.
type printed struct {
	name  string // "builder", "npm test"
	at    time.Time
	lines []string
}

// outputsOf returns what the sessions and commands of some records printed, oldest
// first. Those that printed nothing are left out.
func outputsOf(records []ledger.Record) (all []printed) {
	names := map[string]string{}
	for _, r := range records {
		e, err := r.Entry()
		if err != nil {
			continue
		}
		switch b := e.Body.(type) {
		case ledger.SessionPlanned:
			names[e.Session] = b.Hat
			if b.Command != "" {
				names[e.Session] = CommandName(b.Command)
			}
		case ledger.SessionEnded:
			text := b.Exit.Words()
			if b.Kind != ledger.KindAgent && b.Kind != "" {
				text = b.Exit.Tail
			}
			var lines []string
			for _, line := range CleanLines(text) {
				if strings.TrimSpace(line) != "" {
					lines = append(lines, line)
				}
			}
			if len(lines) > 0 {
				all = append(all, printed{orElse(names[e.Session], "session"), e.Time, lines})
			}
		}
	}
	return all
}

// lastOutput shows the end of what was printed last.
func lastOutput(project, name string, records []ledger.Record, terminal bool, now time.Time) Message {
	all := outputsOf(records)
	m := newMessage("log.tail", firstLine("", project, name+": the last output", ""))
	if len(all) == 0 {
		m.add("Nothing was printed yet.")
		return m
	}
	last := all[len(all)-1]
	m.add(last.name + " · " + Clock(last.at, now))
	lines := last.lines
	if !terminal {
		lines = lines[max(0, len(lines)-maxOutput):]
	}
	for _, line := range lines {
		m.pre(line)
	}
	return m
}
