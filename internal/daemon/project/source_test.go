package project

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/forge/memory"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestIssuesShared checks that two sources of one project see every change, each once,
// and the right of an author that changed without a change of the list.
func TestIssuesShared(t *testing.T) {
	f := memory.New()
	f.Writer("mira", true)
	f.OpenIssue("mira", "One", "", "night")
	shared := &issues{}
	read := func(tag string) ledger.IssueList {
		t.Helper()
		list, err := tracked{f, shared}.Issues(t.Context(), ledger.IssueQuery{Label: "night", Since: time.Unix(1, 0), Tag: tag})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	first, second := read(""), read("")
	if first.Unchanged || second.Unchanged || len(second.Issues) != 1 {
		t.Fatalf("%+v, %+v: want the list for both", first, second)
	}
	if again := read(first.Tag); !again.Unchanged || again.Tag != first.Tag {
		t.Errorf("%+v; want unchanged", again)
	}
	f.OpenIssue("mira", "Two", "", "night")
	for _, tag := range []string{first.Tag, second.Tag} {
		if now := read(tag); now.Unchanged || len(now.Issues) != 2 {
			t.Errorf("%+v; want two issues", now)
		}
	}
	tag := read("").Tag
	f.Writer("mira", false)
	shared.read = time.Now().Add(-believed)
	for range 2 { // another source asks with the same tag
		if now := read(tag); now.Unchanged || now.Issues[0].Writer {
			t.Errorf("%+v; want no writer", now)
		}
	}
}

// TestIssuesLimited checks that nothing is sent while a limit lasts, whoever met it.
func TestIssuesLimited(t *testing.T) {
	f := memory.New()
	number := f.OpenIssue("porter", "One", "", "night")
	for name, call := range map[string]func(tracked) error{
		"Issues": func(r tracked) error {
			_, err := r.Issues(t.Context(), ledger.IssueQuery{Label: "night"})
			return err
		},
		"Issue":       func(r tracked) error { _, err := r.Issue(t.Context(), number); return err },
		"ChangeIssue": func(r tracked) error { return r.ChangeIssue(t.Context(), ledger.IssueChange{Number: number}) },
		"CommentIssue": func(r tracked) error {
			return r.CommentIssue(t.Context(), ledger.IssueComment{Number: number, Key: "k", Body: "b"})
		},
		"CreateIssue": func(r tracked) error { _, err := r.CreateIssue(t.Context(), ledger.IssueDraft{Title: "t"}); return err },
	} {
		shared := &issues{}
		f.Fail(memory.Fault{Method: name, Err: &ledger.ForgeError{Failure: ledger.ForgeLimited, Text: "later", RetryAt: time.Now().Add(time.Hour)}})
		if err := call(tracked{f, shared}); err == nil {
			t.Fatalf("%s did not fail", name)
		}
		limited := (*ledger.ForgeError)(nil)
		if _, err := shared.open(context.Background()); !errors.As(err, &limited) || limited.RetryAt.IsZero() {
			t.Errorf("%s: %v; want the limit", name, err)
		}
		shared.limited.RetryAt = time.Now().Add(-time.Second)
		if err := shared.pause(); err != nil {
			t.Errorf("%s: %v after its end", name, err)
		}
	}
}

// TestIssuesRedacted checks that no secret of an agent's words leaves the machine.
func TestIssuesRedacted(t *testing.T) {
	f := memory.New()
	number := f.OpenIssue("porter", "One", "", "night")
	const token = "ghp_" + "Zx8Kq2Lm9Wv4Rt7Yp1Bn6Hc3Js5Df0GaTuEo"
	r := tracked{f, &issues{}}
	if err := r.CommentIssue(t.Context(), ledger.IssueComment{Number: number, Key: "k", Body: "done with " + token}); err != nil {
		t.Fatal(err)
	}
	made, err := r.CreateIssue(t.Context(), ledger.IssueDraft{Title: "use " + token, Body: token, Labels: []string{"night"}})
	if err != nil {
		t.Fatal(err)
	}
	_, comments := f.ShownIssue(number)
	for _, text := range append(comments, made.Title, made.Body) {
		if strings.Contains(text, token) || text == "" {
			t.Errorf("%q has the token", text)
		}
	}
}
