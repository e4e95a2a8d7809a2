package bot

import (
	"fmt"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// BranchText names a run's branch, whose commit is tip, and what became of it on the
// remote: "nightporter/shop/r14, PR 48".
func BranchText(name, tip string, b request.Branch) string {
	text := Clean(name)
	if remote := RemoteText(tip, b); remote != "" {
		text += ", " + remote
	}
	return text
}

// RemoteText says what became of a branch, whose commit is tip, on the remote: "PR
// 48", "pushed up to 4f0c2d1ab2". It returns "" for one that was never pushed. An
// unknown tip ("") counts as pushed.
func RemoteText(tip string, b request.Branch) string {
	all := b.Pushed == tip || tip == ""
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

// NotPushed says that the branch of the project's run is not on the remote yet, or
// its request not open, and why, if that is known; "" if nothing keeps it back, or a
// run waits for it that works.
func NotPushed(s loop.State) string {
	if s.Project.Run == nil {
		return ""
	}
	b := s.Project.Requests.Branch(s.Project.Run.ID)
	kind, key, busy := b.UnderWay()
	f, fails := s.Project.FailingEffect(kind, key)
	why := ": " + Cut(Clean(f.Text), quoteWidth)
	switch {
	case !busy || !fails && !s.Project.Run.Over():
		return ""
	case !fails:
		why = "."
	}
	switch {
	case kind == (ledger.EffectPush{}).EffectKind():
		return "Not pushed yet" + why
	case b.Request != nil:
		return RequestText(*b.Request) + " is not up to date" + why
	}
	return "No PR yet" + why
}

// branch adds the lines about a run's branch: its name, the address of its request,
// and why it is not pushed.
func (m *Message) branch(s loop.State, name string) {
	b := s.Project.Requests.Branch(s.Project.Run.ID)
	m.add("Branch " + BranchText(name, s.Project.Run.Tip, b))
	if b.Request != nil {
		m.add(Clean(b.Request.URL))
	}
	if text := NotPushed(s); text != "" {
		m.add(SignLook + " " + text)
	}
}
