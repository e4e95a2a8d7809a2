package bot

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// requestName returns how people call a request: "PR 48".
func requestName(number int) string { return "PR " + strconv.Itoa(number) }

// RequestLine says how a branch's request stands, in a few words: "PR 48, checks
// pass". It returns "" for a branch without a request.
func RequestLine(b request.Branch) string {
	if b.Request == nil {
		return ""
	}
	return requestName(b.Request.Number) + comma(requestState(b))
}

// requestState is RequestLine without the request's number. "" is a request that
// nobody has looked at.
func requestState(b request.Branch) string {
	switch s := b.Seen; {
	case b.Request.State != ledger.RequestOpen:
		return string(b.Request.State)
	case b.Merging != "":
		return "being merged"
	case b.Queued:
		return "in the merge queue"
	case s == nil:
		return "checks not seen yet"
	case s.Failure != "":
		return "not seen: " + Cut(Foreign(s.Text), 40)
	case s.Base == "":
		return "its base branch is gone"
	case s.Failing > 0:
		return "checks fail: " + failedChecks(s.RequestStanding)
	case s.Pending > 0:
		return fmt.Sprintf("%d of %d checks pending", s.Pending, s.Checks())
	case s.Mergeable == ledger.MergeableConflict:
		return "conflicts with " + Cut(Clean(s.Base), 20)
	case s.Mergeable == ledger.MergeableBehind:
		return "behind " + Cut(Clean(s.Base), 20)
	case s.Mergeable == ledger.MergeableBlocked:
		return "a review or a check is missing"
	case s.Draft:
		return "a draft"
	case request.IsEarly(s.RequestStanding):
		return "no checks yet"
	case s.Passed == 0:
		return "no checks"
	}
	return "checks pass"
}

// RequestResult says how a branch's request came out, for people who did not follow
// it: its sign, "" for what is neither good nor bad, and "PR 48: green, 3 of 3
// checks". The branch has a request.
func RequestResult(b request.Branch) (sign, text string) {
	sign, text = strings.TrimSpace(requestSign(b)), requestState(b)
	switch s := b.Seen; {
	case !b.IsOpen():
	case s == nil || b.Merging != "" || b.Queued:
	case sign == SignDone && s.Passed > 0:
		text = fmt.Sprintf("green, %d of %d checks", s.Passed, s.Checks())
	case s.Failure == "" && s.Base != "" && s.Failing == 1:
		text = failedChecks(s.RequestStanding) + " fails"
	case s.Failure == "" && s.Base != "" && s.Failing > 1:
		text = failedChecks(s.RequestStanding) + " fail"
	}
	return sign, requestName(b.Request.Number) + ": " + text
}

// failedChecks names failed checks: "lint, test +3". Their names are foreign.
func failedChecks(s ledger.RequestStanding) string {
	const most = 2
	var names []string
	for _, name := range s.Failed[:min(len(s.Failed), most)] {
		names = append(names, Cut(Foreign(name), 24))
	}
	text := strings.Join(names, ", ")
	if more := s.Failing - len(names); more > 0 {
		text += fmt.Sprintf(" +%d", more)
	}
	return text
}

// maxRequests limits the requests that a status lists.
const maxRequests = 3

// requests adds how the open requests stand, the newest first. The address of the
// last run's is with its branch.
func (m *Message) requests(s loop.State) {
	open := s.Project.Requests.Open()
	for n := range open[:min(len(open), maxRequests)] {
		b := open[len(open)-1-n]
		m.add(requestSign(b) + RequestLine(b))
		if b.Run != s.Project.Run.ID {
			m.add(Clean(b.Request.URL))
			m.notTaken(*b.Request)
		}
		m.add(CommentsLine(s, b.Run))
	}
	if more := len(open) - maxRequests; more > 0 {
		m.add(fmt.Sprintf("and %d more open requests", more))
	}
	for _, line := range NotKept(s) {
		m.add(line)
	}
}

// notTaken adds which labels and reviewers the forge did not take, and why.
func (m *Message) notTaken(r ledger.Request) {
	for _, text := range NotTaken(r) {
		m.add(text)
	}
}

// NotTaken returns a line for each label and reviewer of the settings that the forge
// did not take for a request, with its reason.
func NotTaken(r ledger.Request) (lines []string) {
	const most = 3
	for _, what := range r.Missed[:min(len(r.Missed), most)] {
		lines = append(lines, SignLook+" "+requestName(r.Number)+" without "+Cut(Foreign(what), quoteWidth))
	}
	if more := len(r.Missed) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more not taken", more))
	}
	return lines
}

// requestSign returns the sign in front of RequestLine, with a space; "" for what is
// neither good nor bad.
func requestSign(b request.Branch) string {
	switch s := b.Seen; {
	case b.IsMerged():
		return SignDone + " "
	case !b.IsOpen():
		return SignAway + " "
	case s == nil || b.Merging != "" || b.Queued || s.Pending > 0 && s.Failing == 0:
		return ""
	case s.Failure == "" && request.IsEarly(s.RequestStanding):
		return ""
	case s.Failing > 0:
		return SignFailed + " "
	case request.Refusal(s.RequestStanding, false) != nil || s.Failure != "":
		return SignLook + " "
	}
	return SignDone + " "
}

// ownRequest returns the open request of the last run.
func ownRequest(s loop.State) (request.Branch, bool) {
	if s.Project.Run == nil {
		return request.Branch{}, false
	}
	b := s.Project.FirstBranch()
	return b, b.IsOpen()
}

// mergeRequestStep says what comes next after a run whose verified and proved tip
// has a request.
func mergeRequestStep(b request.Branch) string {
	first := "Look at " + requestName(b.Request.Number) + " first: "
	switch s := b.Seen; {
	case !b.IsOpen() || b.Merging != "" || b.Queued:
		return "Nothing runs."
	case b.Red != "":
		return first + redAlone(b) + "."
	case s == nil || s.Failure == "" && (s.Failing == 0 && s.Pending > 0 || request.IsEarly(s.RequestStanding)):
		return "Merge once its checks pass; nothing runs."
	case s.Failure != "" || request.Refusal(s.RequestStanding, false) != nil:
		return first + requestState(b) + "."
	case s.HeadCommit != b.Pushed:
		return first + theirCommits + "."
	}
	return mergeNow
}

// redAlone says what failed on the commit of a request that passes only with those above.
func redAlone(b request.Branch) string {
	return "without those above it " + Cut(Foreign(b.Red), 40) + " fails"
}

// theirCommits says that a request's head is none of nightporter's.
const theirCommits = "it has commits that nightporter did not push"

// mergeNow is what is said of a tip that is verified, proved and green on its forge.
const mergeNow = "Merge when you like; nothing runs."

// mergeButton adds a button that merges the last run's request, if there is one to
// offer.
func (m *Message) mergeButton(s loop.State) {
	if b, ok := MergeButton(s); ok {
		m.addButton(b)
	}
}

// MergeButton returns the button that merges the last run's request. ok is false
// while the run works, where there is no request, and where something that is known
// speaks against the merge.
func MergeButton(s loop.State) (button Button, ok bool) {
	b, open := ownRequest(s)
	if !open || s.Project.Run.Ended == nil || !s.Project.Run.Over() {
		return Button{}, false
	}
	if step := MergeStep(s, *s.Project.Run.Ended); step == mergeNow || b.Seen == nil && b.Red == "" && step == mergeRequestStep(b) {
		return Button{Label: "Merge", Command: "/merge " + strconv.Itoa(b.Request.Number)}, true
	}
	return Button{}, false
}

// RequestNews reports how a run's request stands now. before is the state before that
// was seen.
func RequestNews(before, s loop.State, run string) Message {
	b := s.Project.Requests.Branch(run)
	sign := strings.TrimSpace(requestSign(b))
	line := RequestLine(b)
	if IsGreenAgain(before, s, run) {
		line = requestName(b.Request.Number) + " is green again"
	}
	m := newMessage("request", firstLine(orElse(sign, SignLater), s.Project.Name, line, ""))
	m.Project = s.Project.Name
	m.add("Branch " + Foreign(b.Name))
	m.add(stackNews(s, b))
	if IsGreenAgain(before, s, run) {
		m.add(fullSentence(greenAgain(before, run)))
	}
	if b.Seen != nil && b.IsOpen() && b.Seen.Strangers > 0 {
		m.add(strangersNews(s, b))
	}
	if b.Seen != nil && b.IsOpen() && b.Seen.HeadCommit != b.Pushed && b.Seen.HeadCommit != "" {
		m.add(fullSentence(theirCommits))
	}
	if b.Seen != nil && b.Seen.Failure != "" {
		m.cause(Clean(b.Seen.Text), Clean(b.Seen.Remedy))
	}
	if !b.IsOpen() {
		m.add("It is not looked at any more.")
		return m
	}
	if s.Project.FirstBranch().Run == run {
		m.mergeButton(s)
	}
	if len(m.Buttons) > 0 && b.Seen != nil {
		m.add(mergeNow)
	} else {
		m.add("Looked at until it is merged or closed.")
	}
	diff := run
	if b.Of != "" {
		diff = strings.TrimPrefix(shortID(b.Task), "#")
	}
	m.button("Diff", "/diff "+diff)
	return m
}

// stackNews says what stands on a request of a stack and what that stands on; "" where
// it is alone.
func stackNews(s loop.State, b request.Branch) string {
	var above []string
	for _, o := range s.Project.Requests.Above(b) {
		above = append(above, requestName(o.Request.Number))
	}
	on, stands := s.Project.Requests.Carrier(b)
	switch {
	case b.Request.State == ledger.RequestClosed && len(above) > 0:
		return SignLook + " " + strings.Join(above, ", ") + " stands on it and has its commits. Open it again, give " + above[0] + " another base on the forge, or close both."
	case b.IsOpen() && stands && on.IsOpen():
		return "Stands on " + requestName(on.Request.Number) + "; merge that first."
	case b.Request.State == ledger.RequestMerged && len(above) > 0:
		return "Next: " + above[0] + ", which gets its base."
	}
	return ""
}

// Merged reports what became of a confirmed merge.
func Merged(s loop.State, e ledger.MergeEnded) Message {
	name := requestName(e.Request.Number)
	base := Cut(Clean(e.Request.Base), 20)
	var m Message
	switch {
	case e.Failure != "":
		m = newMessage("merge.refused", firstLine(SignFailed, s.Project.Name, name+" not merged", ""))
		m.add(fullSentence(Foreign(e.Text)))
		m.add(fullSentence(Foreign(e.Remedy)))
		m.add("Nothing was merged. /merge " + strconv.Itoa(e.Request.Number) + " asks again.")
	case e.Request.State == ledger.RequestOpen:
		m = newMessage("merge.queued", firstLine(SignLater, s.Project.Name, name+" is in the merge queue", ""))
		m.add("The forge merges it by itself, and you are told.")
	default:
		m = newMessage("merge.done", firstLine(SignDone, s.Project.Name, name+" merged into "+base, ""))
		if c := e.Request.MergeCommit; c != "" {
			m.add("As " + shortCommit(c) + comma(mergeMethod(e.Method)))
		}
		m.add("It is not looked at any more.")
	}
	m.Project = s.Project.Name
	return m
}

// fullSentence returns a text that begins with a capital letter and ends with a full
// stop.
func fullSentence(text string) string {
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// shortCommit returns the first characters of a commit.
func shortCommit(hash string) string {
	hash = Clean(hash)
	return hash[:min(len(hash), 10)]
}

// mergeMethod returns a method for people.
func mergeMethod(m ledger.MergeMethod) string {
	switch m {
	case ledger.MergeSquash:
		return "squashed"
	case ledger.MergeRebase:
		return "rebased"
	case ledger.MergeCommit:
		return "a merge commit"
	}
	return ""
}

// mergeRequest answers /merge: it opens the question that confirms a merge. Without a
// request it shows how to merge by hand, and changes nothing.
func mergeRequest(ctx context.Context, d dispatch) (Message, error) {
	number, ok := requestNumber(d.c.Target)
	if !ok {
		m := refusal("cmd.usage", SignAsk+" /merge: which request?")
		m.add("Type for example /merge 48, or /merge alone.")
		return m, nil
	}
	if _, ok := d.s.Project.Requests.Numbered(number); !ok {
		if b, ok := branchToMerge(d.s); ok && number == 0 && d.s.Project.FirstBranch().Request == nil {
			return mergeByHand(d.s, b), nil
		}
	}
	return d.doAsking(ctx, ledger.AskMerge, loop.MergeRequest{Number: number})
}

// requestNumber reads the number of a request as typed: "48", "PR 48", "#48". 0 stands for
// none, which is valid.
func requestNumber(typed string) (number int, ok bool) {
	typed = strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(typed)), "pr"), "#")
	if typed = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(typed), "#")); typed == "" {
		return 0, true
	}
	n, err := strconv.Atoi(typed)
	return n, err == nil && n > 0
}

// branchToMerge returns the branch of the last run that has commits.
func branchToMerge(s loop.State) (string, bool) {
	r := s.Project.Run
	if r == nil || r.Commits == 0 || r.Base.Branch == "" {
		return "", false
	}
	return r.Base.Branch, true
}

// mergeByHand shows how a person merges a branch that has no request.
func mergeByHand(s loop.State, branch string) Message {
	m := newMessage("merge.hand", firstLine("", s.Project.Name, s.Project.Run.ID+" has no request", ""))
	m.Project = s.Project.Name
	m.add("Type on the host, in the repository:")
	if on := s.Project.Run.Base.HeadName; on != "" && on != "detached" {
		m.pre("git switch " + shellWord(on))
	}
	m.pre("git merge --no-ff " + shellWord(branch))
	if e := s.Project.Run.Ended; e != nil {
		if step := MergeStep(s, *e); step != mergeNow {
			m.add(step)
		}
	}
	m.add("Nothing was changed.")
	return m
}

// shellWord returns a name as one word of a shell's command line.
func shellWord(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-") == "" && !strings.HasPrefix(s, "-") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// confirmMerge adds what a person confirms with a merge.
func (m *Message) confirmMerge(s loop.State, q ledger.Question, _ time.Time) {
	if q.Merge == nil {
		return
	}
	b, ok := s.Project.Requests.Numbered(q.Merge.Number)
	if !ok {
		return
	}
	m.add(fullSentence(requestState(b)))
	line := "Head " + shortCommit(q.Merge.HeadCommit)
	if q.Merge.HeadCommit != b.Pushed {
		line += ": " + theirCommits
	}
	m.add(line)
	if b.Red != "" {
		m.add(fullSentence(redAlone(b)))
	}
	m.add("Looked at once more before it is merged.")
}

// mergeHead is the headline of a question about a merge.
func mergeHead(s loop.State, q ledger.Question) string {
	if q.Merge == nil {
		return "Merge?"
	}
	text := "Merge " + requestName(q.Merge.Number)
	if b, ok := s.Project.Requests.Numbered(q.Merge.Number); ok && b.Request.Base != "" {
		text += " into " + Cut(Clean(b.Request.Base), 12)
	}
	return text + "?"
}
