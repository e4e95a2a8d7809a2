package github

import (
	"cmp"
	"slices"
)

// do changes the server.
func (s *Server) do(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// Commit adds a commit of an account to a branch and returns it. A new branch
// begins at main. "" is an author whose address belongs to no account.
func (s *Server) Commit(branch, login string) (hash string) {
	s.do(func() { hash = s.hash(branch, len(s.repo.commits)) })
	s.Push(branch, hash, login)
	return hash
}

// Push gives a branch a commit of an account that git's own server has got. A new
// branch begins at main.
func (s *Server) Push(branch, hash, login string) {
	s.do(func() {
		var parents []string
		switch b := s.repo.branches[branch]; {
		case b == nil:
			parents = []string{s.repo.branches["main"].commit}
		case b.commit == hash:
			return
		}
		s.repo.push(branch, hash, login, s.tick(), parents...)
	})
}

// Tip returns the commit of a branch, "" = no such branch.
func (s *Server) Tip(branch string) (hash string) {
	s.do(func() {
		if b := s.repo.branches[branch]; b != nil {
			hash = b.commit
		}
	})
	return hash
}

// DeleteBranch deletes a branch.
func (s *Server) DeleteBranch(branch string) { s.do(func() { delete(s.repo.branches, branch) }) }

// Protect demands a check for a base, by its protection or by a rule. strict
// demands that the head contains the base.
func (s *Server) Protect(base, check string, rule, strict bool) {
	s.do(func() {
		b := s.repo.branches[base]
		if b.strict = strict; rule {
			b.rules = append(b.rules, check)
		} else {
			b.required = append(b.required, check)
		}
	})
}

// Permit sets the right of an account: "admin", "write", "read", "" = none.
func (s *Server) Permit(login, level string) { s.do(func() { s.repo.permissions[login] = level }) }

// Archive makes the repository read-only.
func (s *Server) Archive() { s.do(func() { s.repo.archived = true }) }

// Rename gives the repository another name. The former one redirects, all301 with
// a status that makes a GET of every call.
func (s *Server) Rename(name string, all301 bool) {
	s.do(func() { s.repo.former, s.repo.name, s.repo.all301 = append(s.repo.former, s.repo.name), name, all301 })
}

// Revoke makes the token invalid.
func (s *Server) Revoke() { s.do(func() { s.Token = "revoked" }) }

// Queue gives a base a merge queue, which answers with a status: "405" or "202".
func (s *Server) Queue(base, status string) { s.do(func() { s.repo.queue[base] = status }) }

// Settings changes settings of the repository.
func (s *Server) Settings(methods []string, deletesBranch, drafts bool) {
	s.do(func() { s.repo.methods, s.repo.deletes, s.repo.noDrafts = methods, deletesBranch, !drafts })
}

// File sets a file of the default branch.
func (s *Server) File(name, text string) { s.do(func() { s.repo.files[name] = text }) }

// Run sets a check run: status "queued", "in_progress" or "completed". A log makes
// it a job of GitHub's actions.
func (s *Server) Run(hash, name, status, conclusion, log string) {
	s.do(func() {
		all := s.repo.runs[hash]
		n := slices.IndexFunc(all, func(c *checkRun) bool { return c.name == name })
		if n < 0 {
			all, n = append(all, &checkRun{id: s.repo.next(), name: name}), len(all)
			s.repo.runs[hash] = all
		}
		c := all[n]
		c.status, c.conclusion, c.at, c.summary, c.text = status, conclusion, s.tick(), "the tests of "+name, "what "+name+" says"
		if log != "" {
			c.action, s.repo.logs[c.id] = true, log
		}
	})
}

// Status sets a commit status: "pending", "success", "failure" or "error".
func (s *Server) Status(hash, context, state string) {
	s.do(func() {
		all := slices.DeleteFunc(s.repo.statuses[hash], func(c *commitStatus) bool { return c.context == context })
		s.repo.statuses[hash] = append(all, &commitStatus{context, state, "it is " + state, s.tick()})
	})
}

// Comment writes a comment.
func (s *Server) Comment(number int, login, body string) {
	s.do(func() { s.addComment(s.repo.pulls[number-1], login, body) })
}

// Line writes a comment on a line, in a thread where to is not 0, and returns its
// id.
func (s *Server) Line(number int, login, body, path string, line, to int) (id int) {
	s.do(func() { id = s.addLine(s.repo.pulls[number-1], login, body, path, line, to).id })
	return id
}

// Review submits a review: "APPROVED", "CHANGES_REQUESTED" or "COMMENTED".
func (s *Server) Review(number int, login, state, body string) {
	s.do(func() {
		p := s.repo.pulls[number-1]
		p.reviews, p.updated = append(p.reviews, &review{comment{s.repo.next(), login, body, s.tick()}, state}), s.now
	})
}

// SetState closes or reopens a pull request.
func (s *Server) SetState(number int, state string) {
	s.do(func() {
		p := s.repo.pulls[number-1]
		p.state, p.updated = state, s.tick()
	})
}

// Mergeable says whether a merge has a conflict, and whether that is worked out.
func (s *Server) Mergeable(number int, conflict, known bool) {
	s.do(func() { p := s.repo.pulls[number-1]; p.conflict, p.unknown = conflict, !known })
}

// Shown is a pull request as people see it.
type Shown struct {
	Number                   int
	Title, Body, State, Base string
	Draft, Merged            bool
	Labels, Reviewers        []string
	Comments                 []string
}

// Pulls returns all pull requests.
func (s *Server) Pulls() (out []Shown) {
	s.do(func() {
		for _, p := range s.repo.pulls {
			v := Shown{
				Number: p.number, Title: p.title, Body: p.body, State: cmp.Or(map[bool]string{true: "merged"}[p.merged], p.state), Base: p.base, Draft: p.draft, Merged: p.merged,
				Labels: slices.Clone(p.labels), Reviewers: append(slices.Clone(p.reviewers), p.teams...),
			}
			for _, c := range p.comments {
				v.Comments = append(v.Comments, c.body)
			}
			for _, c := range p.lines {
				v.Comments = append(v.Comments, c.body)
			}
			out = append(out, v)
		}
	})
	return out
}
