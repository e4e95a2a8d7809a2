package github

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// comment is a comment on a pull request.
type comment struct {
	id          int
	login, body string
	at          time.Time
}

// review is a review.
type review struct {
	comment
	state string
}

// lineComment is a comment on a line.
type lineComment struct {
	comment
	path  string
	line  int
	reply int // id of the first of its thread
}

// issues answers calls below /issues.
func (s *Server) issues(w http.ResponseWriter, r *http.Request, parts []string) {
	if len(parts) < 2 {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	p := s.find(w, parts[0])
	if p == nil {
		return
	}
	switch r.Method + " " + parts[1] {
	case "GET comments":
		page(s, w, r, p.comments, func(c *comment) any { return s.showComment(*c) }, plainList)
	case "POST comments":
		body := read[struct{ Body string }](r)
		if len(body.Body) > 65536 || body.Body == "" {
			fail(w, http.StatusUnprocessableEntity, "Validation Failed", "body is too long (maximum is 65536 characters)")
			return
		}
		reply(w, http.StatusCreated, s.showComment(*s.addComment(p, s.Login, body.Body)))
	case "POST labels":
		for _, l := range read[[]string](r) {
			if !slices.Contains(p.labels, l) {
				p.labels, p.updated = append(p.labels, l), s.tick()
			}
		}
		reply(w, http.StatusOK, []any{})
	default:
		fail(w, http.StatusNotFound, "Not Found")
	}
}

// addComment adds a comment.
func (s *Server) addComment(p *pull, login, body string) *comment {
	c := &comment{s.repo.next(), login, body, s.tick()}
	p.comments, p.updated = append(p.comments, c), s.now
	return c
}

// answer writes into the thread of a line.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, p *pull) {
	body := read[struct {
		Body      string
		InReplyTo int `json:"in_reply_to"`
	}](r)
	n := slices.IndexFunc(p.lines, func(c *lineComment) bool { return c.id == body.InReplyTo && c.reply == 0 })
	if n < 0 {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	to := p.lines[n]
	reply(w, http.StatusCreated, s.showLine(s.addLine(p, s.Login, body.Body, to.path, to.line, to.id)))
}

// addLine adds a comment on a line.
func (s *Server) addLine(p *pull, login, body, path string, line, to int) *lineComment {
	c := &lineComment{comment{s.repo.next(), login, body, s.tick()}, path, line, to}
	p.lines, p.updated = append(p.lines, c), s.now
	return c
}

// ask asks for a review.
func (s *Server) ask(w http.ResponseWriter, r *http.Request, p *pull) {
	body := read[struct {
		Reviewers     []string
		TeamReviewers []string `json:"team_reviewers"`
	}](r)
	for _, login := range body.Reviewers {
		switch {
		case strings.EqualFold(login, p.author):
			fail(w, http.StatusUnprocessableEntity, "Review cannot be requested from pull request author.")
			return
		case s.repo.permissions[strings.ToLower(login)] == "":
			fail(w, http.StatusUnprocessableEntity, "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the acme/shop repository.")
			return
		}
	}
	p.reviewers, p.teams, p.updated = append(p.reviewers, body.Reviewers...), append(p.teams, body.TeamReviewers...), s.tick()
	reply(w, http.StatusCreated, s.full(p))
}

func (s *Server) showComment(c comment) map[string]any {
	return map[string]any{"id": c.id, "user": s.user(c.login), "body": c.body, "created_at": stamp(c.at), "updated_at": stamp(c.at), "author_association": "MEMBER"}
}

func (s *Server) showReview(c *review) any {
	v := s.showComment(c.comment)
	v["state"], v["submitted_at"] = c.state, stamp(c.at)
	return v
}

func (s *Server) showLine(c *lineComment) any {
	v := s.showComment(c.comment)
	v["path"], v["line"] = c.path, c.line
	if c.reply != 0 {
		v["in_reply_to_id"] = c.reply
	}
	return v
}
