package github

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// checkRun is a check run. One of GitHub's actions has a job of the same id.
type checkRun struct {
	id                       int
	name, status, conclusion string
	action                   bool
	at                       time.Time
	summary, text            string
}

// commitStatus is a commit status.
type commitStatus struct {
	context, state, description string
	at                          time.Time
}

// checks answers calls for the checks of a commit.
func (s *Server) checks(w http.ResponseWriter, r *http.Request, hash, kind string) {
	if _, ok := s.repo.commits[hash]; !ok {
		fail(w, http.StatusUnprocessableEntity, "No commit found for SHA: "+hash)
		return
	}
	switch kind {
	case "check-runs":
		all := s.repo.runs[hash]
		page(s, w, r, all, func(c *checkRun) any {
			app := "other-ci"
			if c.action {
				app = "github-actions"
			}
			return map[string]any{
				"id": c.id, "name": c.name, "status": c.status, "conclusion": c.conclusion, "started_at": stamp(c.at), "app": map[string]any{"slug": app},
				"html_url": s.URL + "runs/" + strconv.Itoa(c.id), "output": map[string]any{"title": c.summary, "text": c.text},
			}
		}, func(list []any) any { return map[string]any{"total_count": len(all), "check_runs": list} })
	case "status":
		all := s.repo.statuses[hash]
		page(s, w, r, all, func(c *commitStatus) any {
			return map[string]any{"context": c.context, "state": c.state, "description": c.description, "created_at": stamp(c.at), "target_url": "https://ci.example/1"}
		}, func(list []any) any { return map[string]any{"state": "x", "total_count": len(all), "statuses": list} })
	default:
		fail(w, http.StatusNotFound, "Not Found")
	}
}

// green reports whether checks of a pull request passed: those named, else all.
func (s *Server) green(p *pull, names []string) bool {
	state := map[string]bool{}
	for _, c := range s.repo.runs[p.headCommit] {
		state[c.name] = c.conclusion == "success" || c.conclusion == "neutral" || c.conclusion == "skipped"
	}
	for _, c := range s.repo.statuses[p.headCommit] {
		state[c.context] = c.state == "success"
	}
	if names == nil {
		for _, ok := range state {
			if !ok {
				return false
			}
		}
		return true
	}
	return !slices.ContainsFunc(names, func(n string) bool { return !state[n] })
}

// jobLog answers with the address of a job's log.
func (s *Server) jobLog(w http.ResponseWriter, id string) {
	n, _ := strconv.Atoi(id)
	if _, ok := s.repo.logs[n]; !ok {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	w.Header().Set("Location", s.Storage+"/logs/"+id+"?sig=signed")
	w.WriteHeader(http.StatusFound)
}

// serveLog is the server of the logs.
func (s *Server) serveLog(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if a := r.Header.Get("Authorization"); a != "" {
		s.foreign = append(s.foreign, a)
	}
	n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/logs/"))
	text, ok := s.repo.logs[n]
	s.mu.Unlock()
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	http.ServeContent(w, r, "log.txt", time.Time{}, strings.NewReader(text))
}
