package github

import (
	"encoding/base64"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// repository is the state of the repository.
type repository struct {
	name        string // "owner/name"
	former      []string
	all301      bool // 301 for calls that write as well
	archived    bool
	deletes     bool
	methods     []string          // that are permitted
	permissions map[string]string // by login
	files       map[string]string
	branches    map[string]*branch
	commits     map[string]commit
	queue       map[string]string // bases with a merge queue: "405" or "202"
	noDrafts    bool
	pulls       []*pull
	runs        map[string][]*checkRun // by commit
	statuses    map[string][]*commitStatus
	logs        map[int]string // of jobs
	id          int
}

// branch is a branch.
type branch struct {
	commit   string
	required []string // checks, by its protection
	rules    []string // checks, by a rule of the repository
	strict   bool     // the head has to contain the base
}

// commit is a commit with all that it contains.
type commit struct {
	hash, login string
	time        time.Time
	parents     []string
}

func newRepository() repository {
	return repository{
		name: "acme/shop", methods: []string{"merge", "squash", "rebase"}, permissions: map[string]string{}, files: map[string]string{},
		branches: map[string]*branch{}, commits: map[string]commit{}, queue: map[string]string{},
		runs: map[string][]*checkRun{}, statuses: map[string][]*commitStatus{}, logs: map[int]string{},
	}
}

// push moves a branch to a new commit.
func (r *repository) push(name, hash, login string, at time.Time, parents ...string) {
	b := r.branches[name]
	if b == nil {
		b = &branch{}
		r.branches[name] = b
	} else {
		parents = append([]string{b.commit}, parents...)
	}
	if _, known := r.commits[hash]; !known { // else the branch is moved back, or begins at a commit of another one
		r.commits[hash] = commit{hash, login, at, parents}
	}
	b.commit = hash
	for _, p := range r.pulls {
		if p.head == name && p.state == "open" {
			p.headCommit, p.updated = hash, at
		}
	}
}

// contains reports whether a commit is another one or after it.
func (r *repository) contains(tip, other string) bool {
	if tip == other {
		return true
	}
	return slices.ContainsFunc(r.commits[tip].parents, func(p string) bool { return r.contains(p, other) })
}

// between returns the commits of a head that a base lacks, oldest first.
func (r *repository) between(base, head string) []commit {
	var out []commit
	seen := map[string]bool{}
	var walk func(string)
	walk = func(h string) {
		c, ok := r.commits[h]
		if !ok || seen[h] || r.contains(base, h) {
			return
		}
		seen[h] = true
		for _, p := range c.parents {
			walk(p)
		}
		out = append(out, c)
	}
	walk(head)
	return out
}

// next returns a new id.
func (r *repository) next() int {
	r.id++
	return r.id
}

// repository answers a call for the repository.
func (s *Server) repository(w http.ResponseWriter, r *http.Request, rest string) {
	if r.Method != http.MethodGet {
		switch {
		case s.repo.archived:
			fail(w, http.StatusForbidden, "Repository was archived so is read-only.")
			return
		case s.repo.permissions[s.Login] != "write" && s.repo.permissions[s.Login] != "admin":
			fail(w, http.StatusForbidden, "Resource not accessible by personal access token")
			return
		}
	}
	parts := strings.Split(strings.Trim(rest, "/"), "/")
	at := func(n int) string {
		if n < len(parts) {
			return parts[n]
		}
		return ""
	}
	switch at(0) {
	case "":
		reply(w, http.StatusOK, s.shown())
	case "contents":
		s.contents(w, strings.Join(parts[1:], "/"))
	case "branches":
		s.branch(w, strings.Join(parts[1:], "/"))
	case "rules":
		s.rules(w, strings.Join(parts[2:], "/"))
	case "collaborators":
		level := s.repo.permissions[at(1)]
		if level == "" {
			level = "none"
		}
		reply(w, http.StatusOK, map[string]any{"permission": level, "user": s.user(at(1))})
	case "git":
		s.deleteRef(w, strings.Join(parts[3:], "/"))
	case "pulls":
		s.pulls(w, r, parts[1:])
	case "issues":
		if !s.agentIssues(w, r, parts[1:]) {
			s.issues(w, r, parts[1:])
		}
	case "commits":
		s.checks(w, r, at(1), at(2))
	case "actions":
		if at(1) == "runs" {
			s.workflowRuns(w, r)
		} else {
			s.jobLog(w, at(2))
		}
	default:
		fail(w, http.StatusNotFound, "Not Found")
	}
}

// shown returns the repository.
func (s *Server) shown() map[string]any {
	level := s.repo.permissions[s.Login]
	owner, name, _ := strings.Cut(s.repo.name, "/")
	return map[string]any{
		"id": 1, "name": name, "full_name": s.repo.name, "owner": s.user(owner), "default_branch": "main", "archived": s.repo.archived,
		"permissions":        map[string]bool{"pull": true, "push": level == "write" || level == "admin", "admin": level == "admin"},
		"allow_merge_commit": slices.Contains(s.repo.methods, "merge"), "allow_squash_merge": slices.Contains(s.repo.methods, "squash"),
		"allow_rebase_merge": slices.Contains(s.repo.methods, "rebase"), "delete_branch_on_merge": s.repo.deletes,
	}
}

// user returns an account.
func (s *Server) user(login string) any {
	if login == "" {
		return nil
	}
	kind := "User"
	if strings.HasSuffix(login, "[bot]") || login == agentLogin {
		kind = "Bot"
	}
	return map[string]any{"login": login, "type": kind}
}

// contents answers with a file or a folder.
func (s *Server) contents(w http.ResponseWriter, name string) {
	if text, ok := s.repo.files[name]; ok {
		reply(w, http.StatusOK, map[string]any{"type": "file", "name": path.Base(name), "path": name, "encoding": "base64", "content": base64.StdEncoding.EncodeToString([]byte(text))})
		return
	}
	folder := []any{}
	for file := range s.repo.files {
		if dir := path.Dir(file); dir == name || dir == "." && name == "" {
			folder = append(folder, map[string]any{"type": "file", "name": path.Base(file), "path": file})
		}
	}
	if len(folder) == 0 && name != "" {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	reply(w, http.StatusOK, folder)
}

// branch answers with a branch.
func (s *Server) branch(w http.ResponseWriter, name string) {
	b := s.repo.branches[name]
	if b == nil {
		fail(w, http.StatusNotFound, "Branch not found")
		return
	}
	out := map[string]any{"name": name, "commit": map[string]any{"sha": b.commit}, "protected": len(b.required) > 0}
	if len(b.required) > 0 {
		out["protection"] = map[string]any{"enabled": true, "required_status_checks": map[string]any{"enforcement_level": "non_admins", "contexts": b.required, "checks": []any{}}}
	}
	reply(w, http.StatusOK, out)
}

// rules answers with the rules for a branch.
func (s *Server) rules(w http.ResponseWriter, name string) {
	out := []any{}
	if b := s.repo.branches[name]; b != nil && len(b.rules) > 0 {
		var all []any
		for _, c := range b.rules {
			all = append(all, map[string]any{"context": c})
		}
		out = append(out, map[string]any{"type": "required_status_checks", "ruleset_id": 1, "parameters": map[string]any{"required_status_checks": all, "strict_required_status_checks_policy": b.strict}})
	}
	reply(w, http.StatusOK, out)
}

// deleteRef deletes a branch.
func (s *Server) deleteRef(w http.ResponseWriter, name string) {
	if s.repo.branches[name] == nil {
		fail(w, http.StatusUnprocessableEntity, "Reference does not exist")
		return
	}
	s.tick()
	delete(s.repo.branches, name)
	w.WriteHeader(http.StatusNoContent)
}

// graphQL changes whether a pull request is a draft.
func (s *Server) graphQL(w http.ResponseWriter, r *http.Request) {
	body := read[struct {
		Query     string
		Variables struct{ ID string }
	}](r)
	n, _ := strconv.Atoi(strings.TrimPrefix(body.Variables.ID, "PR_"))
	draft := strings.Contains(body.Query, "convertPullRequestToDraft")
	if n < 1 || n > len(s.repo.pulls) || s.repo.noDrafts && draft {
		reply(w, http.StatusOK, map[string]any{"data": nil, "errors": []any{map[string]any{"type": "UNPROCESSABLE", "message": "it cannot be one"}}})
		return
	}
	p := s.repo.pulls[n-1]
	p.draft, p.updated = draft, s.tick()
	reply(w, http.StatusOK, map[string]any{"data": map[string]any{}})
}
