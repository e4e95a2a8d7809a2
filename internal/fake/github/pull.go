package github

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pull is a pull request.
type pull struct {
	number                 int
	title, body            string
	author                 string
	state                  string
	draft, merged          bool
	head, headCommit, base string
	fork                   bool
	conflict, unknown      bool
	mergeCommit            string
	created, updated       time.Time
	labels                 []string
	reviewers, teams       []string
	comments               []*comment
	reviews                []*review
	lines                  []*lineComment
}

// pulls answers calls below /pulls.
func (s *Server) pulls(w http.ResponseWriter, r *http.Request, parts []string) {
	if len(parts) == 0 {
		if r.Method == http.MethodPost {
			s.create(w, r)
		} else {
			s.list(w, r)
		}
		return
	}
	p := s.find(w, parts[0])
	if p == nil {
		return
	}
	what := ""
	if len(parts) > 1 {
		what = parts[1]
	}
	switch r.Method + " " + what {
	case "GET ":
		reply(w, http.StatusOK, s.full(p))
	case "PATCH ":
		s.edit(w, r, p)
	case "PUT merge":
		s.merge(w, r, p)
	case "GET commits":
		page(s, w, r, s.commitsOf(p), func(c commit) any {
			return map[string]any{"sha": c.hash, "author": s.user(c.login), "commit": map[string]any{"message": "change"}}
		}, plainList)
	case "GET reviews":
		page(s, w, r, p.reviews, s.showReview, plainList)
	case "GET comments":
		page(s, w, r, p.lines, s.showLine, plainList)
	case "POST comments":
		s.answer(w, r, p)
	case "POST requested_reviewers":
		s.ask(w, r, p)
	default:
		fail(w, http.StatusNotFound, "Not Found")
	}
}

func plainList(all []any) any { return all }

// find returns the pull request of a path, or answers that there is none.
func (s *Server) find(w http.ResponseWriter, text string) *pull {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(s.repo.pulls) {
		fail(w, http.StatusNotFound, "Not Found")
		return nil
	}
	return s.repo.pulls[n-1]
}

// list answers with pull requests.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	owner, _, _ := strings.Cut(s.repo.name, "/")
	var all []*pull
	for _, p := range s.repo.pulls {
		state, head, base := cmp.Or(q.Get("state"), "open"), q.Get("head"), q.Get("base")
		if (state == "all" || p.state == state) && (head == "" || head == owner+":"+p.head && !p.fork) && (base == "" || base == p.base) {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b *pull) int {
		if q.Get("sort") == "updated" {
			return cmp.Or(b.updated.Compare(a.updated), b.number-a.number)
		}
		return b.number - a.number
	})
	page(s, w, r, all, func(p *pull) any {
		v := s.full(p)
		for _, field := range []string{"merged", "mergeable", "mergeable_state", "comments", "review_comments", "commits"} {
			delete(v, field) // a list leaves them out
		}
		return v
	}, plainList)
}

// create creates a pull request.
func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	body := read[struct {
		Title, Body, Head, Base string
		Draft                   bool
	}](r)
	const failed = "Validation Failed"
	head, base := s.repo.branches[body.Head], s.repo.branches[body.Base]
	switch {
	case body.Draft && s.repo.noDrafts:
		fail(w, http.StatusUnprocessableEntity, failed, "Draft pull requests are not supported in this repository.")
	case head == nil:
		reply(w, http.StatusUnprocessableEntity, map[string]any{"message": failed, "errors": []any{map[string]any{"resource": "PullRequest", "field": "head", "code": "invalid"}}})
	case base == nil:
		reply(w, http.StatusUnprocessableEntity, map[string]any{"message": failed, "errors": []any{map[string]any{"resource": "PullRequest", "field": "base", "code": "invalid"}}})
	case s.repo.contains(base.commit, head.commit):
		fail(w, http.StatusUnprocessableEntity, failed, fmt.Sprintf("No commits between %s and %s", body.Base, body.Head))
	case slices.ContainsFunc(s.repo.pulls, func(p *pull) bool { return p.state == "open" && p.head == body.Head && p.base == body.Base }):
		fail(w, http.StatusUnprocessableEntity, failed, "A pull request already exists for acme:"+body.Head+".")
	case len(body.Body) > 65536:
		fail(w, http.StatusUnprocessableEntity, failed, "body is too long (maximum is 65536 characters)")
	default:
		at := s.tick()
		p := &pull{
			number: len(s.repo.pulls) + 1, title: body.Title, body: body.Body, author: s.Login, state: "open", draft: body.Draft,
			head: body.Head, headCommit: head.commit, base: body.Base, created: at, updated: at,
		}
		s.repo.pulls = append(s.repo.pulls, p)
		reply(w, http.StatusCreated, s.full(p))
	}
}

// edit changes a pull request.
func (s *Server) edit(w http.ResponseWriter, r *http.Request, p *pull) {
	body := read[struct{ Title, Body, Base, State *string }](r)
	for to, from := range map[*string]*string{&p.title: body.Title, &p.body: body.Body, &p.base: body.Base, &p.state: body.State} {
		if from != nil {
			*to = *from
		}
	}
	p.updated = s.tick()
	reply(w, http.StatusOK, s.full(p))
}

// full returns a pull request.
func (s *Server) full(p *pull) map[string]any {
	repo, head := map[string]any{"full_name": s.repo.name}, map[string]any{"full_name": s.repo.name}
	if p.fork {
		head["full_name"] = "stranger/shop"
	}
	labels, reviewers, teams := []any{}, []any{}, []any{}
	for _, l := range p.labels {
		labels = append(labels, map[string]any{"name": l})
	}
	for _, l := range p.reviewers {
		reviewers = append(reviewers, s.user(l))
	}
	for _, t := range p.teams {
		teams = append(teams, map[string]any{"slug": t})
	}
	var mergedAt any
	if p.merged {
		mergedAt = stamp(p.updated)
	}
	return map[string]any{
		"number": p.number, "node_id": fmt.Sprint("PR_", p.number), "html_url": fmt.Sprintf("%s%s/pull/%d", s.URL, s.repo.name, p.number),
		"title": p.title, "body": p.body, "user": s.user(p.author), "state": p.state, "draft": p.draft, "merged": p.merged, "merged_at": mergedAt,
		"mergeable_state": s.mergeableState(p), "merge_commit_sha": p.mergeCommit, "created_at": stamp(p.created), "updated_at": stamp(p.updated),
		"head": map[string]any{"ref": p.head, "sha": p.headCommit, "repo": head}, "base": map[string]any{"ref": p.base, "sha": p.headCommit, "repo": repo},
		"labels": labels, "requested_reviewers": reviewers, "requested_teams": teams,
		"comments": len(p.comments), "review_comments": len(p.lines), "commits": len(s.commitsOf(p)),
	}
}

// commitsOf returns the commits of a pull request.
func (s *Server) commitsOf(p *pull) []commit {
	if b := s.repo.branches[p.base]; b != nil {
		return s.repo.between(b.commit, p.headCommit)
	}
	return []commit{s.repo.commits[p.headCommit]}
}

// mergeableState returns what GitHub would say of a merge.
func (s *Server) mergeableState(p *pull) string {
	b := s.repo.branches[p.base]
	switch {
	case p.state != "open" || p.unknown || b == nil:
		return "unknown"
	case p.conflict:
		return "dirty"
	case p.draft:
		return "draft"
	case !s.green(p, append(slices.Clone(b.required), b.rules...)):
		return "blocked"
	case !s.repo.contains(p.headCommit, b.commit) && b.strict:
		return "behind"
	case !s.green(p, nil):
		return "unstable"
	}
	return "clean"
}

// merge merges a pull request.
func (s *Server) merge(w http.ResponseWriter, r *http.Request, p *pull) {
	body := read[struct {
		SHA         string `json:"sha"`
		MergeMethod string `json:"merge_method"`
	}](r)
	state := s.mergeableState(p)
	switch {
	case p.merged || p.state != "open" || state == "dirty" || state == "draft":
		fail(w, http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	case s.repo.queue[p.base] == "405":
		fail(w, http.StatusMethodNotAllowed, "Repository rule violations found\n\nChanges must be made through the merge queue")
	case s.repo.queue[p.base] == "202":
		reply(w, http.StatusAccepted, map[string]any{"message": "Pull Request is queued"})
	case body.SHA != "" && body.SHA != p.headCommit:
		fail(w, http.StatusConflict, "Head branch was modified. Review and try the merge again.")
	case !slices.Contains(s.repo.methods, body.MergeMethod):
		fail(w, http.StatusMethodNotAllowed, map[string]string{"merge": "Merge commits", "squash": "Squash merges", "rebase": "Rebase merges"}[body.MergeMethod]+" are not allowed on this repository.")
	case state == "blocked" || state == "behind":
		fail(w, http.StatusMethodNotAllowed, `Required status check "test" is expected.`)
	default:
		p.mergeCommit = s.hash("merge", p.number)
		s.repo.push(p.base, p.mergeCommit, s.Login, s.tick(), p.headCommit)
		p.state, p.merged, p.updated = "closed", true, s.now
		if s.repo.deletes {
			delete(s.repo.branches, p.head)
		}
		reply(w, http.StatusOK, map[string]any{"sha": p.mergeCommit, "merged": true, "message": "Pull Request successfully merged"})
	}
}
