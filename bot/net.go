package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Words after /net.
const (
	netAllow  = "allow"
	netRemove = "remove"
	netOpen   = "open"
	netClose  = "close"
	netClear  = "clear"
)

// netWords are the words that change what sessions reach.
var netWords = []string{netAllow, netRemove, netOpen, netClose, netClear}

// mostOpen limits how long a person keeps the network open at a time.
const mostOpen = 12 * time.Hour

// showNet answers /net: what sessions reach, and changes of it.
func showNet(ctx context.Context, d dispatch) (Message, error) {
	word, rest := cutWord(d.c.Target)
	switch word = strings.ToLower(word); word {
	case netAllow, netRemove:
		host, port, err := ledger.ParseHost(rest)
		if err != nil {
			m := refusal("net.host", firstLine(SignFailed, d.s.Project.Name, "that is no host", ""))
			m.add(err.Error())
			m.add("Write it like /net " + word + " api.example.org:443. Nothing was changed.")
			return m, nil
		}
		if word == netRemove {
			return d.do(ctx, loop.RemoveHost{Host: host, Port: port})
		}
		return d.do(ctx, loop.AllowHost{Host: host, Port: port})
	case netOpen:
		return d.do(ctx, loop.KeepNetworkOpen{Until: morning(d.s.Shared, d.r.Time)})
	case netClose:
		return d.do(ctx, loop.KeepNetworkOpen{})
	case netClear:
		return d.do(ctx, loop.ClearTaints{})
	case "":
	default:
		m := refusal("net.usage", firstLine(SignFailed, d.s.Project.Name, "/net takes no "+Cut(Clean(word), 12), ""))
		m.add("It takes " + strings.Join([]string{netAllow + " HOST", netRemove + " HOST", netOpen, netClose, netClear}, ", ") + ", or nothing.")
		return m, nil
	}
	n, err := NetOf(ctx, d.service, d.s)
	if err != nil {
		return Message{}, err
	}
	return n.Message(d.r.Time), nil
}

// netRole returns the role that /net requires: what sessions reach is an owner's
// decision.
func netRole(c Command) ledger.Role {
	if word, _ := cutWord(c.Target); slices.Contains(netWords, strings.ToLower(word)) {
		return ledger.RoleAdmin
	}
	return ledger.RoleView
}

// morning returns until when a person keeps the network open: the time of day of the
// last digest, or mostOpen from now if that is sooner or there was none.
func morning(s loop.Shared, now time.Time) time.Time {
	until := now.Add(mostOpen)
	meant := s.Digest.Meant
	if meant.IsZero() {
		return until
	}
	meant = meant.In(now.Location())
	due := time.Date(now.Year(), now.Month(), now.Day(), meant.Hour(), meant.Minute(), 0, 0, now.Location())
	if !due.After(now) {
		due = due.AddDate(0, 0, 1)
	}
	if due.Before(until) {
		return due
	}
	return until
}

// Net is what the sessions of a project reach, and what they did. It is the output of
// `nightporter net --json`: fields are added, never renamed.
type Net struct {
	Project   string              `json:"project"`
	Rules     ledger.NetworkRules `json:"rules"`   // of the last run
	Foreign   bool                `json:"foreign"` // strangers can write its tasks
	Allowed   []NetHost           `json:"allowed"` // by people, for good
	OpenUntil time.Time           `json:"open_until,omitzero"`
	Marked    NetMarked           `json:"marked,omitzero"`
	Run       string              `json:"run,omitempty"` // that Used is about
	Used      []ledger.HostUse    `json:"used"`          // reached and refused, by host
	Unknown   int                 `json:"unknown"`       // sessions of Run with an open network, whose hosts nobody sees
}

// NetMarked counts what sessions left behind that had read text by strangers. Sessions
// that are shown it have a closed network, until a person clears the marks.
type NetMarked struct {
	Notes int      `json:"notes"`
	Tasks int      `json:"tasks"`
	From  []string `json:"from"` // ids of the tasks whose sessions left it, the first ones
}

// NetHost is a host that a person allowed.
type NetHost struct {
	Host string    `json:"host"` // as the configuration writes it
	By   string    `json:"by"`
	At   time.Time `json:"at"`
}

// NetOf returns what the sessions of a project reach.
func NetOf(ctx context.Context, service Service, s loop.State) (Net, error) {
	n := Net{Project: s.Project.Name, Allowed: []NetHost{}, Used: []ledger.HostUse{}, OpenUntil: s.Project.OpenUntil}
	for _, h := range s.Project.Hosts {
		n.Allowed = append(n.Allowed, NetHost{Host: loop.HostName(h.Host, h.Port), By: h.By, At: h.At})
	}
	if c := s.Project.CountTaints(); !c.None() {
		n.Marked = NetMarked(c)
	}
	r := s.Project.Run
	if r == nil {
		return n, nil
	}
	n.Rules, n.Foreign, n.Run = r.Settings.Network, r.TasksForeign(), r.ID
	records, err := service.RunRecords(ctx, s.Project.Name, r.ID, ledger.SessionPlanned{}.EntryType(), ledger.SessionEnded{}.EntryType())
	if err != nil {
		return n, err
	}
	reach := ReachOf(records)
	n.Used, n.Unknown = append(n.Used, reach.Hosts...), reach.Unknown
	return n, nil
}

// Reach is what sessions did with hosts. The zero value is that of no session.
type Reach struct {
	Hosts   []ledger.HostUse // in the order of their first use
	Unknown int              // sessions with an open network: nobody sees which hosts they reach

	open map[string]bool // sessions that were planned with an open network
}

// ReachOf adds up what sessions did with hosts. Other records are ignored.
func ReachOf(records []ledger.Record) Reach {
	var r Reach
	for _, rec := range records {
		switch rec.Type {
		case ledger.SessionPlanned{}.EntryType(), ledger.SessionEnded{}.EntryType():
			if e, err := rec.Entry(); err == nil {
				r.Apply(e)
			}
		}
	}
	return r
}

// Apply adds what an entry says of a session.
func (r *Reach) Apply(e ledger.Entry) {
	switch b := e.Body.(type) {
	case ledger.SessionPlanned:
		if b.Network == "" || b.Network == ledger.NetworkOpen {
			if r.open == nil {
				r.open = map[string]bool{}
			}
			r.open[e.Session] = true
		}
	case ledger.SessionEnded:
		r.Hosts = AddHosts(r.Hosts, b.Exit.Hosts)
		if r.open[e.Session] && !b.Exit.NotBegun && !b.Exit.Cached && b.Exit.Reason != ledger.ExitNotStarted {
			r.Unknown++
		}
		delete(r.open, e.Session)
	}
}

// UnknownText says of how many sessions the hosts are unknown, "" for none.
func (r Reach) UnknownText() string {
	if r.Unknown == 0 {
		return ""
	}
	return "unknown for " + Plural(r.Unknown, "session") + " with an open network"
}

// AddHosts adds what one session did with hosts to a list.
func AddHosts(all, more []ledger.HostUse) []ledger.HostUse {
	for _, u := range more {
		n := slices.IndexFunc(all, func(o ledger.HostUse) bool { return o.Host == u.Host && o.Port == u.Port })
		if n < 0 {
			all = append(all, u)
			continue
		}
		all[n].Conns, all[n].Sent, all[n].Received = all[n].Conns+u.Conns, all[n].Sent+u.Sent, all[n].Received+u.Received
		if u.Refused != "" {
			all[n].Refused = u.Refused
		}
	}
	return all
}

// HostNames returns the hosts that were reached, and those that were refused.
func HostNames(uses []ledger.HostUse) (reached, refused []string) {
	for _, u := range uses {
		list := &reached
		if u.Refused != "" {
			list = &refused
		}
		if host := Clean(u.Host); !slices.Contains(*list, host) {
			*list = append(*list, host)
		}
	}
	return reached, refused
}

// FewHosts names the first hosts of a list, and says how many more there are.
func FewHosts(hosts []string) string {
	const most = 3
	shown := make([]string, 0, most)
	for _, h := range hosts[:min(most, len(hosts))] {
		shown = append(shown, CutHost(Clean(h), 34))
	}
	text := strings.Join(shown, ", ")
	if more := len(hosts) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// taskHosts says in one line what the sessions of a task did with hosts, "" for
// nothing that is known.
func taskHosts(r Reach) string {
	var said []string
	reached, refused := HostNames(r.Hosts)
	if len(reached) > 0 {
		said = append(said, "reached "+FewHosts(reached))
	}
	if len(refused) > 0 {
		said = append(said, "refused: "+FewHosts(refused))
	}
	if text := r.UnknownText(); text != "" && len(said) > 0 {
		said = append(said, text)
	}
	return upper(strings.Join(said, "; "))
}

// Message renders it for people.
func (n Net) Message(now time.Time) Message {
	m := newMessage("net", firstLine("", n.Project, "what sessions reach", ""))
	m.Project = n.Project
	if n.Run == "" {
		m.add("No run yet: the first one reads the configuration.")
	} else {
		m.add(upper(modeText(n.Rules.Mode, n.Rules.Ports)) + ".")
		for _, k := range []struct {
			what string
			mode ledger.NetworkMode
		}{{"Setup", n.Rules.Setup}, {"Checks", n.Rules.Verify}} {
			if k.mode != "" && k.mode.Stricter(n.Rules.Mode) == k.mode && k.mode != n.Rules.Mode {
				m.add(k.what + ": " + modeText(k.mode, n.Rules.Ports))
			}
		}
		if n.Foreign && !now.Before(n.OpenUntil) {
			m.add("Strangers can write its tasks, so sessions reach named hosts alone.")
		}
	}
	if now.Before(n.OpenUntil) {
		m.add("Kept open for strangers' text until " + Clock(n.OpenUntil.In(now.Location()), now) + ".")
		m.button("Close", "/net "+netClose)
	} else if n.Foreign {
		m.button("Keep open", "/net "+netOpen)
	}
	if c := loop.TaintCount(n.Marked); !c.None() {
		m.add(c.Text() + " marked: made after reading strangers' text, in " + fewTasks(c.From) + ".")
		m.add("Sessions that get them reach named hosts alone. Once you have looked: /net " + netClear)
		m.button("Clear marks", "/net "+netClear)
	}
	m.hostList("Named", n.Rules.Hosts)
	for _, agent := range sortedAgents(n.Rules.Agents) {
		m.hostList("For "+Clean(agent), n.Rules.Agents[agent].Hosts)
	}
	m.hostList("To read from", n.Rules.ReadOnly)
	m.hostList("Here", n.Rules.Services)
	for i, h := range n.Allowed {
		if i == 0 {
			m.add("Allowed by people:")
		}
		m.pre(CutHost(Clean(h.Host), 30) + "  " + Cut(Clean(h.By), 12) + ", " + h.At.In(now.Location()).Format("2 Jan"))
		if i < mostButtons {
			m.button("Remove "+CutHost(Clean(h.Host), LabelWidth-7), "/net "+netRemove+" "+h.Host)
		}
	}
	for i, u := range n.Used {
		if i == 0 {
			m.add("In " + Clean(n.Run) + ":")
		}
		m.pre(HostUseText(u))
	}
	if text := (Reach{Unknown: n.Unknown}).UnknownText(); text != "" {
		m.add("Hosts of " + Clean(n.Run) + ": " + text + ".")
	}
	return m
}

// fewTasks names the first tasks of a list, and says how many more there are.
func fewTasks(ids []string) string {
	const most = 3
	var shown []string
	for _, id := range ids[:min(most, len(ids))] {
		shown = append(shown, shortID(id))
	}
	text := strings.Join(shown, ", ")
	if more := len(ids) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// markedTask says why the network of a task is closed whose text or work comes from
// sessions that had read text by strangers; "" if it does not.
func markedTask(s loop.State, t loop.TaskState, now time.Time) string {
	taints := s.Project.TaskTaints(t)
	if of, ok := s.Project.Find(t.Task.Parent); ok && t.Task.Parent != "" {
		taints = append(taints, s.Project.TaskTaints(of)...)
	}
	if len(taints) == 0 {
		return ""
	}
	why := "its sessions read what strangers' text had led to"
	if k := taints[0]; k.Of != loop.TaintWork {
		why = "it was made after reading strangers' text, in " + fewTasks(k.From)
	}
	if now.Before(s.Project.OpenUntil) {
		return "Marked: " + why
	}
	return "Its network is closed: " + why + ". Once you have looked: /net " + netClear
}

// modeText says what a mode of the network reaches.
func modeText(mode ledger.NetworkMode, ports []int) string {
	switch mode {
	case "", ledger.NetworkOpen:
		return "everything that the machine reaches"
	case ledger.NetworkPorts:
		return "any address, at " + strings.Trim(strings.ReplaceAll(fmt.Sprint(ports), " ", ", "), "[]") + " alone"
	}
	return "named hosts alone"
}

// hostList adds a list of hosts below a word.
func (m *Message) hostList(what string, hosts []string) {
	if len(hosts) == 0 {
		return
	}
	m.add(what + ":")
	for _, h := range hosts {
		m.pre(Clean(h))
	}
}

func sortedAgents(all map[string]ledger.AgentNetwork) (names []string) {
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// HostUseText says in one line what was done with a host: "api.example.org:443
// 12 kB sent", "evil.example:443 refused".
func HostUseText(u ledger.HostUse) string {
	text := CutHost(Clean(loop.HostName(u.Host, u.Port)), 30) + "  "
	if u.Refused != "" && u.Sent+u.Received == 0 {
		return text + "refused"
	}
	text += bytesText(u.Sent) + " sent"
	if u.Refused != "" {
		text += ", then refused"
	}
	return text
}

// bytesText is a number of bytes for people: "12 kB".
func bytesText(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%d kB", n/1000)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
