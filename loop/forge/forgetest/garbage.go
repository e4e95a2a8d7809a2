package forgetest

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Garbage checks that answers without their parts are errors that pass, not a view
// of nothing and not the end of the process. open returns the adapter of a
// repository of the server at an address.
func Garbage(t *testing.T, open func(api string) (forge.Forge, error)) {
	const pull = `{"number":1,"id":1,"state":"open","labels":[null],"requested_reviewers":[null],"head":{"sha":"a","ref":"h"},"base":{"ref":"main"}}`
	bodies := []string{"", "null", "{}", "[]", "[null]", "[{}]", "<html>", `{"number":1}`, pull, "[" + pull + "]", "[null," + pull + "]"}
	for _, mine := range bodies {
		for _, rest := range bodies {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/user") {
					fmt.Fprint(w, `{"login":"porter"}`)
				} else if strings.HasSuffix(r.URL.Path, "/pulls/1") {
					fmt.Fprint(w, mine)
				} else {
					fmt.Fprint(w, rest)
				}
			}))
			f, err := open(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			_, infoErr := f.Info(t.Context())
			_, requestErr := f.Request(t.Context(), ledger.RequestDraft{Head: "h", Base: "main", Title: "t", Body: "b", Labels: []string{"l"}, Reviewers: []string{"r"}})
			v, lookErr := f.Look(t.Context(), 1, "")
			_, replyErr := f.Reply(t.Context(), ledger.RequestReply{Number: 1, Key: "k", ReplyTo: "line:1", Body: "b"})
			_, mergeErr := f.Merge(t.Context(), ledger.MergeAsked{Number: 1, HeadCommit: "a", Method: ledger.MergeCommit, DeleteBranch: true})
			var changedErr error
			if watcher, ok := f.(forge.Watcher); ok {
				_, changedErr = watcher.Changed(t.Context(), map[int]string{1: v.Tag, 2: ""})
			}
			failed := map[string]error{}
			if tracker, ok := f.(forge.Tracker); ok {
				_, failed["issues"] = tracker.Issues(t.Context(), ledger.IssueQuery{Label: "l", Since: time.Unix(1, 0)})
				_, failed["issue"] = tracker.Issue(t.Context(), 1)
				failed["issue changed"] = tracker.ChangeIssue(t.Context(), ledger.IssueChange{Number: 1, Add: []string{"l"}, Remove: []string{"m"}, State: ledger.IssueClosed})
				failed["issue commented"] = tracker.CommentIssue(t.Context(), ledger.IssueComment{Number: 1, Key: "k", Body: "b"})
				_, failed["issue created"] = tracker.CreateIssue(t.Context(), ledger.IssueDraft{Title: "t", Body: "b", Labels: []string{"l"}})
			}
			maps.Copy(failed, map[string]error{"info": infoErr, "request": requestErr, "look": lookErr, "reply": replyErr, "merge": mergeErr, "changed": changedErr})
			for name, err := range failed {
				var e *ledger.ForgeError
				if err != nil && (!errors.As(err, &e) || e.Text == "") {
					t.Errorf("%s with %q and %q: %v", name, mine, rest, err)
				}
			}
			if lookErr == nil && (v.Request.Number != 1 || v.Request.HeadCommit != "a") {
				t.Errorf("with %q and %q: %+v", mine, rest, v.Request)
			}
			s.Close()
		}
	}
}
