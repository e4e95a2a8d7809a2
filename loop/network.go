package loop

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// What sessions may reach (docs/spec 12.1). Each planned session records its mode;
// Network lists its hosts when it starts. People are asked about other hosts in
// hostAsked.

// HostRule is a person's word about a host that the configuration does not name.
type HostRule struct {
	Host    string    `json:"host"`
	Port    int       `json:"port,omitempty"` // 0 = 443 and 80
	Allow   bool      `json:"allow,omitempty"`
	Session string    `json:"session,omitempty"` // "" = all of what holds the rule
	By      string    `json:"by,omitempty"`
	At      time.Time `json:"at"`
}

// hostRule returns the rule that a host of the configuration stands for.
func hostRule(setting string) HostRule {
	name, _, _ := strings.Cut(setting, "=")
	host, port, _ := strings.Cut(name, ":")
	h := HostRule{Host: strings.ToLower(strings.TrimSuffix(host, ".")), Allow: true}
	h.Port, _ = strconv.Atoi(port) // "" is 443 and 80; the configuration refuses what is no number
	return h
}

// name returns the rule's host as the configuration writes it.
func (h HostRule) name() string { return HostName(h.Host, h.Port) }

// covers reports whether the rule is about a host and port.
func (h HostRule) covers(host string, port int) bool {
	if below, ok := strings.CutPrefix(h.Host, "*"); ok && strings.HasSuffix(host, below) || h.Host == host {
		return h.Port == port || h.Port == 0 && (port == 443 || port == 80)
	}
	return false
}

// HostName returns a host and port as the configuration writes them: without a port,
// which means 443 and 80, for either of them.
func HostName(host string, port int) string {
	if port == 0 || port == 443 || port == 80 {
		return host
	}
	return fmt.Sprintf("%s:%d", host, port)
}

// HostKey is the key of the input about a host that a session asks for.
func HostKey(h ledger.HostRequest) string {
	return fmt.Sprintf("host:%s:%s:%d", h.Session, h.Host, h.Port)
}

// TasksForeign reports whether strangers may have written the tasks of the run's
// source. A nil Run has none.
func (r *Run) TasksForeign() bool { return r != nil && r.Settings.Source.Foreign }

// HoldsOutsideText reports whether prompts about a task hold text that strangers may
// have written, besides guidance and notebooks: the task itself, a check's log, a
// comment, or what sessions made of such text.
func (p Project) HoldsOutsideText(t TaskState) bool {
	if p.Run.TasksForeign() || p.outsideTask(t) {
		return true
	}
	of, ok := p.Find(t.Task.Parent)
	return ok && t.Task.Parent != "" && p.outsideTask(of)
}

// outsideTask reports whether prompts about a task hold outside text whatever its source
// and the task that it is a part of are.
func (p Project) outsideTask(t TaskState) bool { return t.Task.Outside || len(p.TaskTaints(t)) > 0 }

// bindsComments reports whether one of the items that a session gets is a comment.
func bindsComments(q guidance.Queue, b guidance.Binding) bool {
	return slices.ContainsFunc(slices.Concat(b.Bound, b.Shown), func(id string) bool {
		i, ok := q.Get(id)
		return ok && i.Origin != nil
	})
}

// sessionNetwork returns the mode of a planned session: the narrowest of its
// settings, and NetworkNone if outside text is the reason for it.
func (d *decision) sessionNetwork(own ledger.NetworkMode, outside ledger.OutsideText) ledger.NetworkMode {
	mode := d.run().upcoming().Network.Mode.Stricter(own)
	if outside == ledger.OutsideClosed {
		mode = ledger.NetworkNone
	}
	if mode == ledger.NetworkOpen {
		return ""
	}
	return mode
}

// agentNetwork returns the mode of a session of an agent.
func (d *decision) agentNetwork(hat ledger.Hat, agent string, outside ledger.OutsideText) ledger.NetworkMode {
	return d.sessionNetwork(hat.Network.Stricter(d.run().Settings.Network.Agents[agent].Mode), outside)
}

// commandNetwork returns the mode of a command.
func (d *decision) commandNetwork(kind ledger.Kind, outside ledger.OutsideText) ledger.NetworkMode {
	n := d.run().Settings.Network
	if kind == ledger.KindSetup {
		return d.sessionNetwork(n.Setup, outside)
	}
	return d.sessionNetwork(n.Verify, outside)
}

// outsideText returns what becomes of the network of a session that is planned now,
// if its prompt holds outside text.
func (d *decision) outsideText(holds bool) ledger.OutsideText {
	switch {
	case !holds:
		return ""
	case d.Project.keptOpen(d.in.Time):
		return ledger.OutsideOpen
	}
	return ledger.OutsideClosed
}

// outsideCheck is outsideText for a command: what it runs may be the work of
// sessions that read outside text. An attempt keeps what its sessions had.
func (d *decision) outsideCheck(task string) ledger.OutsideText {
	r := d.run()
	if t, ok := d.task(task); ok && t.Attempt != nil {
		if t.Attempt.Outside != "" {
			return t.Attempt.Outside
		}
		return d.outsideText(d.Project.HoldsOutsideText(t))
	}
	if r.Outside != "" {
		return r.Outside
	}
	return d.outsideText(r.TasksForeign())
}

// keptOpen reports whether a person keeps the network open at a time for sessions
// that read outside text.
func (p Project) keptOpen(at time.Time) bool { return at.Before(p.OpenUntil) }

// NeedsClosed returns why a run that starts at a time needs sessions with a closed
// network, "" if it may need none. byText says that the reason is text by strangers
// alone, in spite of which a person can keep it open.
func (p Project) NeedsClosed(s ledger.Settings, at time.Time) (why string, byText bool) {
	if why = closedBy(s); why == "" && s.Source.Foreign && !p.keptOpen(at) {
		return "strangers can write the tasks of " + s.Source.String(), true
	}
	return why, false
}

// ClosesAgent reports whether sessions of an agent may have a closed network in a run
// that starts at a time.
func (p Project) ClosesAgent(s ledger.Settings, agent string, at time.Time) bool {
	mode := s.Network.Mode.Stricter(s.Network.Agents[agent].Mode)
	for name, hat := range s.Hats {
		if of := hat.Agent; hasHats(s, name) && (of == agent || of == "" && s.Agent == agent) {
			mode = mode.Stricter(hat.Network)
		}
	}
	if mode != ledger.NetworkPorts && mode.Closes() {
		return true
	}
	return !p.keptOpen(at) && (s.Source.Foreign || !p.CountTaints().None())
}

// closedBy returns the setting that asks for sessions with a closed network; "" = none
// does.
func closedBy(s ledger.Settings) string {
	n := s.Network
	for _, mode := range []ledger.NetworkMode{n.Mode, n.Setup, n.Verify} {
		if mode.Closes() {
			return fmt.Sprintf("network = %q", mode)
		}
	}
	for _, name := range sortedKeys(s.Hats) {
		if mode := s.Hats[name].Network; hasHats(s, name) && mode.Closes() {
			return fmt.Sprintf("network = %q of hat %s", mode, name)
		}
	}
	for _, name := range sortedKeys(n.Agents) {
		if mode := n.Agents[name].Mode; mode.Closes() {
			return fmt.Sprintf("network = %q of agent %s", mode, name)
		}
	}
	return ""
}

// ClosedByStrangers is what people are told once of a source: that sessions which read
// it have a closed network, and what sessions reached that nobody has named since.
func (p Project) ClosedByStrangers(s ledger.Settings) ledger.Diagnostic {
	names := `"…"`
	if seen := p.unnamedHosts(s.Network); len(seen) > 0 {
		names = `"` + strings.Join(seen, `", "`) + `"`
	}
	return ledger.Diagnostic{
		File: s.Source.Path, Text: "strangers can write its tasks: sessions that read them reach named hosts alone",
		Remedy: "To keep it open until morning: /net open. To name more: hosts = [" + names + "]",
	}
}

// unnamedHosts returns the last hosts that sessions reached and no rule names: people
// allowed them for a session or a run.
func (p Project) unnamedHosts(rules ledger.NetworkRules) []string {
	const most = 5
	named := slices.Concat(rules.Hosts, rules.ReadOnly)
	for _, name := range sortedKeys(rules.Agents) {
		named = append(named, rules.Agents[name].Hosts...)
	}
	var seen []string
	for _, h := range slices.Backward(p.HostsSeen) {
		rule := func(name string) bool {
			host, _, _ := strings.Cut(name, "=")
			host, _, _ = strings.Cut(host, ":")
			return HostRule{Host: host}.covers(h.Host, 0)
		}
		allowed := func(o HostRule) bool { o.Port = 0; return o.covers(h.Host, 0) }
		if len(seen) < most && !slices.ContainsFunc(named, rule) && !slices.ContainsFunc(p.Hosts, allowed) {
			seen = append(seen, h.Host)
		}
	}
	return seen
}

// Network returns what a planned session may reach: by its settings, and by what
// people allowed since.
func (s State) Network(session string) ledger.Network {
	ses, ok := s.Project.Session(session)
	if !ok || s.Project.Run == nil {
		return ledger.Network{Mode: ledger.NetworkNone} // a session of another run gets nothing
	}
	rules := s.Project.Run.Settings.Network
	n := ledger.Network{Mode: ses.Planned.Network}
	switch n.Mode {
	case "", ledger.NetworkOpen:
		return ledger.Network{}
	case ledger.NetworkPorts:
		n.Ports = rules.Ports
		return n
	}
	n.Hosts, n.ReadOnly, n.Services, n.Asks = slices.Clone(rules.Hosts), rules.ReadOnly, slices.Clone(rules.Services), true
	if ses.Planned.Kind == ledger.KindAgent {
		a := rules.Agents[ses.Planned.Agent]
		n.Hosts, n.Services = append(n.Hosts, a.Hosts...), append(n.Services, a.Services...)
	}
	for _, h := range slices.Concat(s.Project.Hosts, s.Project.Run.Hosts) {
		if h.Allow && (h.Session == "" || h.Session == session) {
			n.Hosts = append(n.Hosts, h.name())
		}
	}
	slices.Sort(n.Hosts)
	n.Hosts = slices.Compact(n.Hosts)
	return n
}

// hostAsked decides on a host that a session asks for: by what people said of it
// before, else by asking them. A session waits for an answer for a minute, so each
// way out of here but the question gives one.
func (d *decision) hostAsked(h ledger.HostRequest) {
	ses, ok := d.Project.Session(h.Session)
	r := d.run()
	if !ok || r == nil || !r.owns(ses.ID) {
		return
	}
	about := scope{task: ses.Task, session: ses.ID}
	for _, rule := range slices.Concat(d.Project.Hosts, r.Hosts) {
		if rule.covers(h.Host, h.Port) && (rule.Session == "" || rule.Session == ses.ID) {
			d.answerHost(h, rule.Allow, d.refusalText(h, "refused by a person"))
			return
		}
	}
	if slices.ContainsFunc(d.Project.Questions, func(q ledger.Question) bool {
		return q.Host != nil && q.Host.Session == ses.ID && q.Host.Host == h.Host && q.Host.Port == h.Port
	}) {
		return // it joins the question
	}
	if r.HostsAsked >= ledger.MaxHostQuestions {
		d.add(about, ledger.HostRefused{Host: h.Host, Port: h.Port, Why: ledger.RefusedUnasked})
		d.answerHost(h, false, d.refusalText(h, "not named, and this run has asked people about as many hosts as it may"))
		return
	}
	q := ledger.Question{
		ID: d.nextID("q"), Kind: ledger.AskHost, Run: r.ID, Task: ses.Task, Session: ses.ID, Hat: ses.Planned.Hat,
		Text: fmt.Sprintf("%s wants %s", ses.worker(), HostName(h.Host, h.Port)), Host: &h, Asked: d.in.Time,
	}
	if t, ok := d.task(ses.Task); ok {
		q.Title = t.Task.Title
	}
	d.add(about, ledger.QuestionAsked{Question: q})
}

// worker says who works in a session: a hat, or what a command is for.
func (s Session) worker() string {
	switch s.Planned.Kind {
	case ledger.KindAgent:
		return s.Planned.Hat
	case ledger.KindSetup:
		return "setup"
	}
	return "verification"
}

// refusalText is what a session's program reads when a host is refused.
func (d *decision) refusalText(h ledger.HostRequest, why string) string {
	return fmt.Sprintf("%s; hosts = [%q] in [[project]] names it", why, HostName(h.Host, h.Port))
}

// answerHost tells a session whether it may reach a host. why is for a refusal.
func (d *decision) answerHost(h ledger.HostRequest, allow bool, why string) {
	a := ledger.HostAnswer{Host: h.Host, Port: h.Port, Allow: allow}
	if !allow {
		a.Reason = why
	}
	d.effect(d.uniqueKey(fmt.Sprintf("host %s %s:%d", h.Session, h.Host, h.Port)), ledger.EffectAnswerHost{Session: h.Session, Answer: a})
}

// applyHost carries out a person's answer about a host.
func applyHost(d *decision, a answerGiven) {
	h := *a.q.Host
	name := HostName(h.Host, h.Port)
	about := scope{task: a.q.Task, session: h.Session}
	b := ledger.HostAllowed{Host: h.Host, Port: h.Port, By: d.by()}
	switch a.choice {
	case "no":
		d.add(about, ledger.HostRefused{Host: h.Host, Port: h.Port, Why: ledger.RefusedByPerson, By: d.by()})
		d.say("%s stays closed to %s", name, a.q.Run)
	case "always":
		d.add(about, b)
		d.say("%s is open to %s from now on", name, d.in.Project)
	case "run":
		b.Run = a.q.Run
		d.add(about, b)
		d.say("%s is open to %s", name, a.q.Run)
	default:
		b.Run, b.Session = a.q.Run, h.Session
		d.add(about, b)
		d.say("%s is open to this session", name)
	}
	d.answerHost(h, a.choice != "no", d.refusalText(h, "refused by a person"))
	if a.choice != "once" {
		d.answerAlike(h, a.choice)
	}
}

// answerAlike answers what other sessions ask about the same host: a person's word for
// the run or the project is about them, too, and a later one would contradict it.
func (d *decision) answerAlike(h ledger.HostRequest, choice string) {
	for _, q := range slices.Clone(d.Project.Questions) {
		if q.Kind == ledger.AskHost && q.Host != nil && q.Host.Session != h.Session && q.Host.Host == h.Host && q.Host.Port == h.Port {
			d.add(scope{task: q.Task}, ledger.QuestionAnswered{ID: q.ID, Choice: choice, By: d.by()})
			d.answerHost(*q.Host, choice != "no", d.refusalText(*q.Host, "refused by a person"))
		}
	}
}

// expireHost leaves a host closed: nobody answered while its session was at work.
func (d *decision) expireHost(q ledger.Question) { d.withdraw(q, "it stayed closed") }

// settleHosts ends the questions about hosts whose session has ended.
func (d *decision) settleHosts() {
	for _, q := range slices.Clone(d.Project.Questions) {
		if q.Kind != ledger.AskHost || q.Host == nil {
			continue
		}
		if _, ok := d.Project.Session(q.Host.Session); !ok {
			d.withdraw(q, "it stayed closed; its session has ended")
		}
	}
}

// allowHost opens a host to the project by a person's command, and answers sessions
// that wait for it.
func (d *decision) allowHost(b AllowHost) {
	name := HostName(b.Host, b.Port)
	if slices.ContainsFunc(d.Project.Hosts, func(h HostRule) bool { return h.Host == b.Host && h.Port == b.Port }) {
		d.answer.Code = ledger.CodeSame
		d.say("%s is open to %s already", name, d.in.Project)
		return
	}
	d.add(scope{}, ledger.HostAllowed{Host: b.Host, Port: b.Port, By: d.by()})
	rule := d.Project.Hosts[len(d.Project.Hosts)-1]
	for _, q := range slices.Clone(d.Project.Questions) {
		if q.Kind == ledger.AskHost && q.Host != nil && rule.covers(q.Host.Host, q.Host.Port) {
			d.add(scope{task: q.Task}, ledger.QuestionAnswered{ID: q.ID, Choice: "always", By: d.by()})
			d.answerHost(*q.Host, true, "")
		}
	}
	d.say("%s is open to %s from the next session on", name, d.in.Project)
}

// removeHost takes a person's word about a host back.
func (d *decision) removeHost(b RemoveHost) {
	name := HostName(b.Host, b.Port)
	if !slices.ContainsFunc(d.Project.Hosts, func(h HostRule) bool { return h.Host == b.Host && h.Port == b.Port }) {
		d.refuse(ledger.CodeNothing, "nobody allowed %s to %s; hosts of the configuration are changed there", name, d.in.Project)
		return
	}
	d.add(scope{}, ledger.HostRemoved{Host: b.Host, Port: b.Port, By: d.by()})
	d.say("%s is closed to %s from the next session on", name, d.in.Project)
}

// keepNetworkOpen keeps the network of sessions that read outside text as the
// settings say, until a time; a zero time closes it again.
func (d *decision) keepNetworkOpen(b KeepNetworkOpen) {
	switch {
	case b.Until.IsZero() && !d.Project.keptOpen(d.in.Time):
		d.answer.Code = ledger.CodeSame
		d.say("nothing keeps it open")
		return
	case !b.Until.IsZero() && !b.Until.After(d.in.Time):
		d.refuse(ledger.CodeLate, "that is over already")
		return
	}
	d.add(scope{}, ledger.NetworkKeptOpen{Until: b.Until, By: d.by()})
	if b.Until.IsZero() {
		d.say("closed again, from the next session on")
		return
	}
	d.say("open until %s", b.Until.In(d.in.Time.Location()).Format("15:04"))
}

// closedNetwork returns why a session of a mode cannot be planned on this machine,
// and what to do; empty = it can.
func (d *decision) closedNetwork(mode ledger.NetworkMode, outside ledger.OutsideText) (why, needs string) {
	lacks := d.run().Base.NoClosed
	if !mode.Closes() || lacks == "" {
		return "", ""
	}
	why = "its sessions need a closed network, which this machine does not have: " + lacks
	if outside == ledger.OutsideClosed {
		needs = "/net open keeps it open until morning"
		if !d.Project.CountTaints().None() {
			needs += "; /net clear, once you have looked at what sessions made of such text"
		}
		return why + "; they read text by strangers", needs + "; then /retry"
	}
	return why, `a machine that shuts sessions in fully (nightporter doctor), or another value of network`
}

// applyNetwork folds what people said of hosts, and what sessions reached.
func (p Project) applyNetwork(e ledger.Entry) Project {
	switch b := e.Body.(type) {
	case ledger.HostAllowed:
		if b.Session == "" && b.Run == "" {
			p.Hosts = append(slices.Clip(p.Hosts), HostRule{Host: b.Host, Port: b.Port, Allow: true, By: b.By, At: e.Time})
		}
	case ledger.HostRemoved:
		p.Hosts = slices.DeleteFunc(slices.Clone(p.Hosts), func(h HostRule) bool { return h.Host == b.Host && h.Port == b.Port })
	case ledger.NetworkKeptOpen:
		p.OpenUntil = b.Until
	case ledger.SessionEnded:
		for _, u := range b.Exit.Hosts {
			seen := func(h SeenHost) bool { return h.Host == u.Host }
			if u.Refused == "" && !slices.ContainsFunc(p.HostsSeen, seen) {
				p.HostsSeen = append(slices.Clip(p.HostsSeen), SeenHost{Host: u.Host, At: e.Time})
			}
		}
		p.HostsSeen = p.HostsSeen[max(0, len(p.HostsSeen)-keptHosts):]
	}
	return p
}

// SeenHost is a host that sessions of a project reached, and when it was first seen.
type SeenHost struct {
	Host string    `json:"host"`
	At   time.Time `json:"at"`
}

// keptHosts limits the hosts that the state remembers as reached.
const keptHosts = 500

// applyNetwork folds what people said of hosts for this run.
func (r *Run) applyNetwork(e ledger.Entry) {
	switch b := e.Body.(type) {
	case ledger.HostAllowed:
		if b.Run == r.ID {
			r.Hosts = append(slices.Clip(r.Hosts), HostRule{Host: b.Host, Port: b.Port, Allow: true, Session: b.Session, By: b.By, At: e.Time})
		}
	case ledger.HostRefused:
		if b.Why == ledger.RefusedUnasked {
			r.wantHost(HostRule{Host: b.Host, Port: b.Port, At: e.Time})
		}
		if b.Why == ledger.RefusedByPerson {
			r.Hosts = append(slices.Clip(r.Hosts), HostRule{Host: b.Host, Port: b.Port, By: b.By, At: e.Time})
		}
	case ledger.QuestionAsked:
		if b.Question.Kind == ledger.AskHost && b.Question.Run == r.ID {
			r.HostsAsked++
			if h := b.Question.Host; h != nil {
				r.wantHost(HostRule{Host: h.Host, Port: h.Port, At: e.Time})
			}
		}
	case ledger.SessionPlanned:
		if b.Kind == ledger.KindAgent && b.Outside != "" && r.Outside != ledger.OutsideClosed {
			r.Outside = b.Outside
		}
	}
}

// wantHost remembers a host that was asked for before the run began.
func (r *Run) wantHost(h HostRule) {
	known := func(o HostRule) bool { return o.Host == h.Host && o.Port == h.Port }
	if r.State == ledger.RunPlanning && len(r.HostsWanted) < keptHosts && !slices.ContainsFunc(r.HostsWanted, known) {
		r.HostsWanted = append(slices.Clip(r.HostsWanted), h)
	}
}
