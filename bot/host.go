package bot

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// hostWanted returns the host that a question is about, as the configuration writes
// it.
func hostWanted(q ledger.Question) string {
	if q.Host == nil {
		return "a host"
	}
	return Clean(loop.HostName(q.Host.Host, q.Host.Port))
}

// CutHost shortens a host at its front: who owns it stands at its end.
func CutHost(host string, width int) string {
	runes := []rune(host)
	if Width(host) <= width || width < 2 {
		return host
	}
	for n := range runes {
		if rest := "…" + string(runes[n+1:]); Width(rest) <= width {
			return rest
		}
	}
	return host
}

// hostHead says who wants which host, within a width.
func hostHead(q ledger.Question, width int) string {
	who := hostWho(q) + " wants "
	return who + CutHost(hostWanted(q), width-Width(who))
}

// hostWho says who wants a host: a hat, or what a command is for.
func hostWho(q ledger.Question) string {
	who, _, _ := strings.Cut(q.Text, " wants ")
	if q.Hat != "" {
		who = q.Hat
	}
	return Cut(orElse(Foreign(who), "a session"), 14)
}

// hostFirst begins the message of a question about a host: "? builder wants
// cdn.example.org · shop #7". Where that is too long, the name comes first: the line
// below it has the rest.
func hostFirst(s loop.State, q ledger.Question, width int) string {
	host := hostWanted(q)
	head := SignOf(q) + " " + hostWho(q) + " wants "
	if first := head + host + " · " + hostFor(s, q); Width(first) <= width {
		return first
	}
	return head + CutHost(host, width-Width(head))
}

// hostFor names the project and task that a host is wanted for.
func hostFor(s loop.State, q ledger.Question) string {
	return strings.TrimSpace(Cut(Clean(s.Project.Name), 12) + " " + shortID(q.Task))
}

// askHost adds what a question about a host says: who asks, and the whole name where
// the first line has no room for it.
func (m *Message) askHost(s loop.State, q ledger.Question, now time.Time) {
	line := hostFor(s, q)
	if title := Cut(Foreign(q.Title), 34); title != "" {
		line += " " + title
	}
	if q.Host != nil && q.Host.Program != "" {
		line += " · by " + Cut(Foreign(q.Host.Program), 16)
	}
	m.add(strings.TrimPrefix(line+" · "+Clock(q.Asked, now), " · "))
	if host := hostWanted(q); !strings.Contains(m.First(), host) {
		m.pre(host)
	}
	m.add("The configuration does not name it. What the session knows can be sent there.")
	for _, v := range q.Verbs() {
		if means := Meaning(q, v); means != "" {
			m.add(v + ": " + means)
		}
	}
}

// pastHost adds the subject of a settled question about a host.
func (m *Message) pastHost(s loop.State, q ledger.Question) {
	m.add(strings.TrimSpace(shortID(q.Task) + " " + Cut(Foreign(q.Title), 34)))
	m.pre(hostWanted(q))
}

// Leaked announces that a session sent a value which is planted to be found.
func Leaked(s loop.State, task string, of loop.Session, b ledger.SessionEnded, now time.Time) Message {
	who := orElse(Cut(Foreign(of.Planned.Hat), 10), "a check")
	m := newMessage("session.leak", firstLine(SignFailed, s.Project.Name, strings.TrimSpace(shortID(task)+" "+who)+" leaked", " · "+now.Format("15:04")))
	m.Project, m.About = s.Project.Name, task
	m.add("The session was ended at once:")
	m.quote(strings.TrimPrefix(b.Text, "ended: "))
	m.add("Look at what it read: text by strangers may have told it to.")
	if task == "" {
		m.add("Its result counts as failed.")
		m.button("Stop", "/stop now")
		return m
	}
	m.add("The attempt failed.")
	m.button("Stop", "/stop now")
	m.button("Log", "/log "+idArg(task))
	return m
}

// HostAllowedText says who may reach a host from now on: "registry.example.org:443 is
// open to r14 (Mira)".
func HostAllowedText(b ledger.HostAllowed) string {
	to := "from now on"
	switch {
	case b.Session != "":
		to = "to this session"
	case b.Run != "":
		to = "to " + Clean(b.Run)
	}
	return Clean(loop.HostName(b.Host, b.Port)) + " is open " + to + " (" + Cut(Foreign(b.By), 20) + ")"
}

// HostRefusedText says that a host stays closed, and why.
func HostRefusedText(b ledger.HostRefused) string {
	text := Clean(loop.HostName(b.Host, b.Port)) + " stays closed"
	if b.Why == ledger.RefusedByPerson {
		return text + " (" + Cut(Foreign(b.By), 20) + ")"
	}
	return text + ": not named, and not asked about any more"
}

// HostRemovedText says that a host is closed again.
func HostRemovedText(b ledger.HostRemoved) string {
	return Clean(loop.HostName(b.Host, b.Port)) + " is closed from the next session on (" + Cut(Foreign(b.By), 20) + ")"
}

// ClearedText says that a person took the marks off what sessions left behind that had
// read what strangers wrote.
func ClearedText(b ledger.TaintsCleared) string {
	return "marks of strangers' text are cleared (" + Cut(Foreign(b.By), 20) + ")"
}

// KeptOpenText says until when the network is open for sessions that read what
// strangers wrote.
func KeptOpenText(b ledger.NetworkKeptOpen, now time.Time) string {
	by := " (" + Cut(Foreign(b.By), 20) + ")"
	if b.Until.IsZero() {
		return "sessions that read strangers' text have a closed network again" + by
	}
	return "sessions that read strangers' text have an open network until " + Clock(b.Until, now) + by
}

// wantedBy says who wanted the hosts that stay closed.
func wantedBy(b ledger.HostsMissed) string {
	if b.Agent != "" {
		return Clean(b.Agent) + " wanted, when it was tried:"
	}
	return "Setup and the checks at the start wanted:"
}

// HostsMissed announces what setup and the verification of the start commit lacked in
// a closed network.
func HostsMissed(s loop.State, b ledger.HostsMissed) Message {
	what := Plural(len(b.Hosts), "closed host")
	if len(b.Hosts) == 0 {
		what = "no local service"
	}
	m := newMessage("run.hosts", firstLine(SignLook, s.Project.Name, runID(s)+": "+what, ""))
	m.Project = s.Project.Name
	for n, h := range b.Hosts {
		if n == 0 {
			m.add(wantedBy(b))
		}
		if n == maxDiagnostics {
			m.add(fmt.Sprintf("and %d more", len(b.Hosts)-n))
			break
		}
		m.pre(fmt.Sprintf("%d  %s", n+1, Clean(h)))
		m.button(fmt.Sprintf("Allow %d", n+1), "/net "+netAllow+" "+h)
	}
	if len(b.Hosts) > 0 {
		m.add("They stay closed to its sessions. To open one: /net allow HOST.")
	}
	if len(b.Services) > 0 {
		m.add("The checks found nothing here:")
		m.pre(ServicesSetting(b.Services))
		m.add("For services of this machine, that line belongs into the project's settings.")
	}
	return m
}

// ServicesSetting is the line of the configuration that names services.
func ServicesSetting(services []string) string {
	quoted := make([]string, 0, len(services))
	for _, s := range services {
		quoted = append(quoted, strconv.Quote(Clean(s)))
	}
	return "services = [" + strings.Join(quoted, ", ") + "]"
}
