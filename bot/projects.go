package bot

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// projectNames returns the names of the projects that a command can be about: the
// configured projects, or without a configuration those in the ledger.
func projectNames(service Service) []string {
	if host, ok := service.(DaemonService); ok {
		if names := host.Configured(); len(names) > 0 {
			return names
		}
	}
	return service.Projects()
}

// stateOf returns a project's state. A configured project that never ran has an
// empty state; any other unknown project returns false.
func stateOf(service Service, name string) (loop.State, bool) {
	s, ok := service.State(name)
	if ok {
		return s, true
	}
	host, stays := service.(DaemonService)
	if !stays || !slices.Contains(host.Configured(), name) {
		return s, false
	}
	s.Shared, s.Project.Name = host.Shared(), name
	return s, true
}

// ProjectOf returns the project of a question, guidance item or run, "" if id
// has another form or no project knows it any more. These ids are unique per
// daemon and therefore need no project (docs/spec 1).
func ProjectOf(service Service, id string) string {
	id = strings.ToLower(id)
	if !issued.MatchString(id) {
		return ""
	}
	for _, name := range service.Projects() {
		s, _ := service.State(name)
		p := s.Project
		if p.Run != nil && p.Run.ID == id {
			return name
		}
		if _, ok := p.Guidance.Get(id); ok {
			return name
		}
		if slices.ContainsFunc(p.Questions, func(q ledger.Question) bool { return q.ID == id }) ||
			slices.ContainsFunc(p.Answered, func(q loop.Answered) bool { return q.ID == id }) {
			return name
		}
	}
	return ""
}

// statusWithStart is Status with a button that starts a run, if the daemon can
// start one now.
func statusWithStart(service Service, s loop.State, now time.Time) Message {
	m := StatusNow(service, s, now)
	if why, rests := blockedOf(service, s.Project.Name); rests {
		return Blocked(s.Project.Name, why, rests, now)
	} else if why != "" {
		m.add(SignLook + " " + Foreign(why))
	}
	if r, can := service.(SourceChecker); can && s.Project.Run.Over() {
		m.trouble(r.SourceTrouble(s.Project.Name))
	}
	if _, stays := service.(DaemonService); stays && s.Project.Run.Over() {
		m.offerStart(s)
	}
	m.Project = s.Project.Name
	return m
}

// offerStart puts startButtons in front, without those that are there.
func (m *Message) offerStart(s loop.State) {
	fresh := slices.DeleteFunc(startButtons(s), func(b Button) bool {
		return slices.ContainsFunc(m.Buttons, func(o Button) bool { return o.Command == b.Command })
	})
	m.Buttons = slices.Insert(m.Buttons, 0, fresh...)
}

// trouble says why the source cannot be read, nothing for "".
func (m *Message) trouble(why string) {
	if why != "" {
		m.add(SignLook + " The plan cannot be read as it is:")
		m.quote(why)
	}
}

// LiveKey returns the key of a chat's live status message about a project; ""
// stands for all projects.
func LiveKey(project string) string { return "status/" + orElse(project, "*") }

// LiveProject returns the project of a live status message's key, false for any
// other key and for the status of all projects.
func LiveProject(key string) (project string, is bool) {
	project, is = strings.CutPrefix(key, "status/")
	return project, is && project != "*"
}

// Live renders the current text of a live status message. It returns false if
// key is not from LiveKey or its project is unknown.
func Live(service Service, key string, now time.Time) (Message, bool) {
	name, is := strings.CutPrefix(key, "status/")
	if !is {
		return Message{}, false
	}
	if name == "*" {
		return StatusAll(service, now), true
	}
	s, ok := stateOf(service, name)
	if !ok {
		return Message{}, false
	}
	return statusWithStart(service, s, now), true
}

// StatusAll describes all projects, one line each (docs/spec 23.3).
func StatusAll(service Service, now time.Time) Message {
	lines, atWork := oneEach(service, now)
	m := newMessage("status.all", projectsSummary(len(lines), atWork)+" · "+now.Format("15:04"))
	m.each(service, lines)
	return m
}

// Projects lists all projects, each with the chat that receives its news.
func Projects(service Service, r Request) Message {
	lines, atWork := oneEach(service, time.Time{})
	if p, ok := service.(Placer); ok {
		for n, name := range projectNames(service) {
			if place := p.Place(name, r); place != "" {
				lines[n] += " · " + place
			}
		}
	}
	m := newMessage("projects", projectsSummary(len(lines), atWork))
	m.each(service, lines)
	return m
}

func projectsSummary(n, atWork int) string {
	sign := SignLater
	if atWork > 0 {
		sign = SignNow
	}
	text := sign + " " + Plural(n, "project")
	switch {
	case n == 0:
		return SignLater + " No project yet"
	case atWork == 0:
		return text + ", none at work"
	}
	return text + ", " + strconv.Itoa(atWork) + " at work"
}

func (m *Message) each(service Service, lines []string) {
	for _, line := range lines {
		m.add(line)
	}
	for _, name := range projectNames(service)[:min(len(lines), 6)] {
		m.button(name, "/status "+name)
	}
	if len(lines) == 0 {
		m.add("Add one to the configuration ([[project]]), then: nightporter up")
	}
}

// oneEach returns a line for each project and the number of projects with a run
// under way. A zero now leaves out the idle times, for messages that are not
// updated.
func oneEach(service Service, now time.Time) (lines []string, atWork int) {
	for _, name := range projectNames(service) {
		s, _ := stateOf(service, name)
		r := s.Project.Run
		t := Count(s)
		line := Cut(Clean(name), 20) + " "
		switch {
		case r == nil:
			line = SignLater + " " + line + "idle, no run yet"
			if t.Total > 0 {
				line += " · " + t.String()
			}
		case r.Over():
			line = SignLater + " " + line + "idle"
			if !now.IsZero() {
				line += " since " + Clock(r.EndedAt, now)
			}
			line += " · " + t.String()
		default:
			atWork++
			line = standingSign(r) + " " + line + t.String() + " " + r.ID + " · " + orElse(Doing(s), string(r.State))
		}
		if why, rests := blockedOf(service, name); why != "" {
			if rests && !r.Over() {
				atWork--
			}
			line = SignLook + " " + Cut(Clean(name), 20) + " " + Cut(Foreign(why), quoteWidth)
		}
		if len(s.Project.Questions) > 0 {
			line += " · needs you " + questionIDs(s)
		}
		lines = append(lines, line)
	}
	return lines, atWork
}

func standingSign(r *loop.Run) string {
	switch r.State {
	case ledger.RunPaused, ledger.RunPausing:
		return SignPaused
	case ledger.RunWaiting:
		if r.Wait == ledger.WaitQuestion {
			return SignAsk
		}
		return SignLook
	case ledger.RunPlanning, ledger.RunStopping:
		return SignLater
	}
	return SignNow
}

func questionIDs(s loop.State) string {
	var ids []string
	for _, q := range s.Project.Questions {
		ids = append(ids, q.ID)
	}
	if len(ids) > 4 {
		ids = append(ids[:4], "…")
	}
	return strings.Join(ids, " ")
}
