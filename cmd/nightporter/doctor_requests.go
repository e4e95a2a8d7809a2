package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nightporter/nightporter/internal/api"
)

// openRequest is an open request of a project, as `nightporter status --json` has it.
type openRequest struct {
	project string
	URL     string `json:"url"`
	NotKept string `json:"not_kept"`
}

// openRequests asks the process that holds the ledger for the open requests of all
// projects. known is false if no process answers.
func openRequests(ctx context.Context, p *doctorContext) (list []openRequest, known bool) {
	if _, err := os.Stat(filepath.Join(p.state, "nightporter.db")); errors.Is(err, fs.ErrNotExist) {
		return nil, true
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var all []struct {
		Project  string        `json:"project"`
		Requests []openRequest `json:"requests"`
	}
	err := withAsker(ctx, p.state, p.cfg, func(a asker) error {
		r, err := a.View(ctx, api.View{Name: "status"})
		if err != nil {
			return err
		}
		if !r.OK {
			return errors.New(r.Text)
		}
		return json.Unmarshal(r.Data, &all)
	})
	for _, s := range all {
		for _, r := range s.Requests {
			r.project = s.Project
			list = append(list, r)
		}
	}
	return list, err == nil
}

// checkRequests names the open requests that are not kept green because of who wrote
// their commits.
func checkRequests(ctx context.Context, p *doctorContext) []finding {
	list, known := p.requests(ctx, p)
	if !known {
		return []finding{findUnchecked("which requests are open was not asked")}
	}
	var out []finding
	for _, r := range list {
		switch r.NotKept {
		case "":
		case "address":
			out = append(out, ofProject(r.project, []finding{findLook("git config user.email shows the address: add it to your account there, or set another for later requests",
				"%s is not kept green: its forge knows the author of nightporter's commits from no account that may write", r.URL)})...)
		default:
			out = append(out, ofProject(r.project, []finding{findLook("look at them; merge or close it yourself", "%s is not kept green: commits of people who may not write", r.URL)})...)
		}
	}
	if len(out) == 0 && len(list) > 0 {
		return []finding{findOK("%s", countNoun(len(list), "open request"))}
	}
	return out
}
