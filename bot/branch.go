package bot

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// BranchText names a run's branch, whose commit is tip, and what became of it on the
// remote: "nightporter/shop/r14, PR 48".
func BranchText(name, tip string, b request.Branch) string {
	text := Foreign(name)
	if remote := RemoteText(tip, b); remote != "" {
		text += ", " + remote
	}
	return text
}

// RemoteText says what became of a branch, whose commit is tip, on the remote: "PR
// 48", "pushed up to 4f0c2d1ab2". It returns "" for one that was never pushed. An
// unknown tip ("") counts as pushed.
func RemoteText(tip string, b request.Branch) string {
	all := b.Pushed == tip || tip == "" || b.Lift != nil // which has its own commit
	switch {
	case b.Pushed == "":
		return ""
	case b.Request != nil && (all || !b.IsOpen()):
		return RequestText(*b.Request)
	case b.Request != nil:
		return RequestText(*b.Request) + " up to " + shortCommit(b.Pushed)
	case all:
		return "pushed"
	}
	return "pushed up to " + shortCommit(b.Pushed)
}

// RequestText names a request: "PR 48", "PR 48 merged".
func RequestText(r ledger.Request) string {
	text := fmt.Sprintf("PR %d", r.Number)
	if r.State != ledger.RequestOpen && r.State != "" {
		text += " " + Clean(string(r.State))
	}
	return text
}

// StackText says how many requests the run's tasks have, and which one to merge first;
// "" for a run with one request or none.
func StackText(s loop.State) string {
	if s.Project.Run == nil {
		return ""
	}
	all := s.Project.PublishedBranches()
	if len(all) > 0 && all[0].Lift != nil || len(all) == 0 && len(s.Project.Unpushed()) > 0 {
		return apartText(s, all)
	}
	asked := 0
	for _, b := range all {
		if b.Request != nil {
			asked++
		}
	}
	switch first := s.Project.FirstBranch(); {
	case len(all) == 0:
		return ""
	case asked == 0:
		return Plural(len(all), "task") + " pushed, each as a branch on the one before"
	case first.IsOpen():
		return fmt.Sprintf("%s, one a task, each on the one before; first %s", Plural(asked, "request"), requestName(first.Request.Number))
	default:
		return Plural(asked, "request") + ", one a task; none is open"
	}
}

// apartText is StackText for reports whose branches stand apart.
func apartText(s loop.State, all []request.Branch) string {
	asked, open, pushed, stand, with, left := 0, 0, 0, 0, 0, 0
	for _, l := range s.Project.Unpushed() {
		if !l.Out { // one that is being taken back says so itself
			left++
		}
	}
	for _, b := range all {
		if b.Pushed == "" {
			continue
		}
		pushed++
		if b.Request != nil {
			asked++
		}
		if b.IsOpen() {
			open++
		}
		on, carried := s.Project.Requests.Carrier(b)
		if b.Request == nil && b.On != "" || b.IsOpen() && carried && on.IsOpen() {
			stand++
		}
		if len(b.With) > 0 {
			with++
		}
	}
	var parts []string
	switch {
	case asked > 0 && open == 0:
		parts, stand, with = append(parts, Plural(asked, "request")+", one a report", "none is open"), 0, 0
	case asked > 0 && stand == 0:
		parts = append(parts, Plural(asked, "request")+", one a report, to merge in any order")
	case asked > 0:
		parts = append(parts, Plural(asked, "request")+", one a report")
	case pushed > 0:
		parts = append(parts, Plural(pushed, "report")+" pushed, a branch each")
	}
	if stand == 1 {
		parts = append(parts, "1 stands on another")
	} else if stand > 1 {
		parts = append(parts, fmt.Sprintf("%d stand on others", stand))
	}
	if with > 0 {
		parts = append(parts, fmt.Sprintf("%d with changes of others", with))
	}
	if left > 0 && s.Project.Run.Over() {
		parts = append(parts, Plural(left, "report")+" not pushed")
	}
	return strings.Join(parts, "; ")
}

// NotPushed says that the branch of the project's run is not on the remote yet, or
// its request not open, and why, if that is known; "" if nothing keeps it back, or a
// run waits for it that works.
func NotPushed(s loop.State) string {
	if s.Project.Run == nil {
		return ""
	}
	b, busy := s.Project.BusyBranch()
	kind, key, _ := b.UnderWay()
	f, fails := s.Project.FailingEffect(kind, key)
	why := ": " + Cut(Clean(f.Text), quoteWidth)
	switch {
	case !busy || !fails && !s.Project.Run.Over():
		return ""
	case !fails:
		why = "."
	}
	switch {
	case kind == (ledger.EffectLift{}).EffectKind(), kind == (ledger.EffectPush{}).EffectKind():
		return "Not pushed yet" + why
	case b.Request != nil:
		return RequestText(*b.Request) + " is not up to date" + why
	}
	return "No PR yet" + why
}

// branch adds the lines about a run's branch: its name, the address of its request
// with what the forge did not take of it, and why it is not pushed.
func (m *Message) branch(s loop.State, name string) {
	b := s.Project.FirstBranch()
	m.add("Branch " + BranchText(name, s.Project.Run.Tip, b))
	if text := StackText(s); text != "" {
		m.add(text)
	}
	if b.Request != nil {
		m.add(Clean(b.Request.URL))
		m.notTaken(*b.Request)
	}
	if text := NotPushed(s); text != "" {
		m.add(SignLook + " " + text)
	}
}
