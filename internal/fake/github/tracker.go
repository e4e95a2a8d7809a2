package github

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// listIssues answers with issues and pull requests: GitHub counts both as issues.
func (s *Server) listIssues(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	since, _ := time.Parse(time.RFC3339, q.Get("since"))
	var labels []string
	if text := q.Get("labels"); text != "" {
		labels = strings.Split(text, ",")
	}
	var all []*issue
	add := func(i *issue) {
		state := cmp.Or(q.Get("state"), "open")
		switch {
		case state != "all" && i.state != state, i.state == "deleted":
		case q.Get("creator") != "" && q.Get("creator") != i.author, i.updated.Before(since):
		case slices.ContainsFunc(labels, func(l string) bool { return !hasLabel(i.labels, l) }):
		default:
			all = append(all, i)
		}
	}
	for _, p := range s.repo.pulls {
		add(&issue{number: p.number, title: p.title, body: p.body, author: p.author, state: p.state, labels: p.labels, created: p.created, updated: p.updated})
	}
	for _, i := range s.agents.issues {
		add(i)
	}
	slices.SortStableFunc(all, func(a, b *issue) int {
		less := a.created.Compare(b.created)
		if q.Get("sort") == "updated" {
			less = a.updated.Compare(b.updated)
		}
		if q.Get("direction") != "asc" {
			less = -less
		}
		return less
	})
	page(s, w, r, all, func(i *issue) any {
		v := s.showIssue(i)
		if i.number < firstIssue {
			v["pull_request"] = map[string]any{"url": "x"}
		}
		return v
	}, plainList)
}

// editIssue closes or opens an issue. The fake refuses any other edit: nobody but
// people writes titles and texts.
func (s *Server) editIssue(w http.ResponseWriter, r *http.Request, i *issue) {
	body := read[map[string]any](r)
	state, _ := body["state"].(string)
	for key := range body {
		if key != "state" && key != "state_reason" {
			fail(w, http.StatusUnprocessableEntity, "Validation Failed", "a program edits "+key)
			return
		}
	}
	if state != "open" && state != "closed" {
		fail(w, http.StatusUnprocessableEntity, "Validation Failed", "state is not included in the list")
		return
	}
	i.state, i.reason, i.updated, i.closed = state, "", s.tick(), time.Time{}
	if state == "closed" {
		i.reason, i.closed = "completed", s.now
	}
	reply(w, http.StatusOK, s.showIssue(i))
}

func (s *Server) commentIssue(w http.ResponseWriter, r *http.Request, i *issue) {
	body := read[struct{ Body string }](r)
	if len(body.Body) > 65536 || body.Body == "" {
		fail(w, http.StatusUnprocessableEntity, "Validation Failed", "body is too long (maximum is 65536 characters)")
		return
	}
	c := &comment{s.repo.next(), s.Login, body.Body, s.tick()}
	i.comments, i.updated = append(i.comments, c), s.now
	reply(w, http.StatusCreated, s.showComment(*c))
}

// labelIssue adds labels to an issue, and creates those that the repository lacks.
func (s *Server) labelIssue(w http.ResponseWriter, r *http.Request, i *issue) {
	// GitHub takes a list as well as an object with one.
	for _, l := range read[[]string](r) {
		if !hasLabel(i.labels, l) {
			i.labels, i.updated = append(i.labels, l), s.tick()
		}
	}
	reply(w, http.StatusOK, showLabels(i.labels))
}

// unlabelIssue takes the label of a path from an issue.
func (s *Server) unlabelIssue(w http.ResponseWriter, i *issue, parts []string) {
	name := ""
	if len(parts) > 2 {
		name = strings.Join(parts[2:], "/")
	}
	if unescaped, err := url.PathUnescape(name); err == nil {
		name = unescaped
	}
	if !hasLabel(i.labels, name) {
		fail(w, http.StatusNotFound, "Label does not exist")
		return
	}
	i.labels, i.updated = withoutLabel(i.labels, name), s.tick()
	reply(w, http.StatusOK, showLabels(i.labels))
}

func hasLabel(labels []string, name string) bool {
	return slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, name) })
}

func withoutLabel(labels []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return strings.EqualFold(l, name) })
}

func showLabels(labels []string) []any {
	out := []any{}
	for n, l := range labels {
		out = append(out, map[string]any{"id": n + 1, "name": l})
	}
	return out
}

// OpenIssue opens an issue of an account with labels and returns its number.
func (s *Server) OpenIssue(login, title, body string, labels ...string) (number int) {
	s.do(func() {
		number = firstIssue + len(s.agents.issues)
		s.agents.issues = append(s.agents.issues, &issue{number: number, title: title, body: body, author: login, state: "open", labels: labels, created: s.tick(), updated: s.now})
	})
	return number
}

// EditIssue changes title and text of an issue as a person does.
func (s *Server) EditIssue(number int, title, body string) {
	s.do(func() {
		i := s.agents.issues[number-firstIssue]
		i.title, i.body, i.updated = title, body, s.tick()
	})
}

// ReopenIssue opens an issue again.
func (s *Server) ReopenIssue(number int) {
	s.do(func() {
		i := s.agents.issues[number-firstIssue]
		i.state, i.reason, i.updated, i.closed = "open", "", s.tick(), time.Time{}
	})
}

// Label sets whether an issue or a pull request has a label.
func (s *Server) Label(number int, name string, has bool) {
	s.do(func() {
		labels, updated := &[]string{}, &time.Time{}
		if number >= firstIssue {
			i := s.agents.issues[number-firstIssue]
			labels, updated = &i.labels, &i.updated
		} else {
			p := s.repo.pulls[number-1]
			labels, updated = &p.labels, &p.updated
		}
		if *labels = withoutLabel(*labels, name); has {
			*labels = append(*labels, name)
		}
		*updated = s.tick()
	})
}

// IssueComment writes a comment of an account on an issue.
func (s *Server) IssueComment(number int, login, body string) {
	s.do(func() {
		i := s.agents.issues[number-firstIssue]
		i.comments, i.updated = append(i.comments, &comment{s.repo.next(), login, body, s.tick()}), s.now
	})
}

// IssueNumbered returns an issue as people see it.
func (s *Server) IssueNumbered(number int) Issue {
	all := s.Issues()
	if n := number - firstIssue; n >= 0 && n < len(all) {
		return all[n]
	}
	panic(fmt.Sprintf("there is no issue %d", number))
}
