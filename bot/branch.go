package bot

import (
	"fmt"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// BranchText names a run's branch and what became of it on the remote:
// "nightporter/shop/r14, PR 48".
func BranchText(name string, b request.Branch) string {
	text := Clean(name)
	switch {
	case b.Request != nil:
		text += ", " + RequestText(*b.Request)
	case b.Pushed != "":
		text += ", pushed"
	}
	return text
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
	all := s.Project.Requests.Stack(s.Project.Run.ID)
	asked := 0
	for _, b := range all {
		if b.Request != nil {
			asked++
		}
	}
	switch first := s.Project.Requests.First(s.Project.Run.ID); {
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

// NotPushed says why the branch of the project's run is not on the remote yet, or
// its request not open; "" if nothing keeps it back.
func NotPushed(s loop.State) string {
	if s.Project.Run == nil {
		return ""
	}
	b, busy := s.Project.Requests.Busy(s.Project.Run.ID)
	kind, key, _ := b.UnderWay()
	f, fails := s.Project.FailingEffect(kind, key)
	switch {
	case !busy || !fails:
		return ""
	case kind == (ledger.EffectPush{}).EffectKind():
		return "Not pushed yet: " + Cut(Clean(f.Text), quoteWidth)
	case b.Request != nil:
		return RequestText(*b.Request) + " is not up to date: " + Cut(Clean(f.Text), quoteWidth)
	}
	return "No PR yet: " + Cut(Clean(f.Text), quoteWidth)
}

// branch adds the lines about a run's branch: its name, the address of its request
// with what the forge did not take of it, and why it is not pushed.
func (m *Message) branch(s loop.State, name string) {
	b := s.Project.Requests.First(s.Project.Run.ID)
	m.add("Branch " + BranchText(name, b))
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
