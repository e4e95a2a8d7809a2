package github

import (
	"context"
	"net/http"
	"strings"

	gh "github.com/google/go-github/v92/github"

	"github.com/nightporter/nightporter/loop/forge/transport"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Info implements forge.Forge.
func (f *Forge) Info(ctx context.Context) (ledger.ForgeInfo, error) {
	info, err := f.info(ctx)
	return info, f.failure(err)
}

func (f *Forge) info(ctx context.Context) (ledger.ForgeInfo, error) {
	none := ledger.ForgeInfo{Kind: ledger.ForgeGitHub}
	repo, err := f.rename(ctx)
	if err != nil {
		return none, err
	}
	login, err := f.self(ctx)
	if err != nil {
		return none, err
	}
	template, err := f.template(ctx)
	if err != nil {
		return none, err
	}
	return ledger.ForgeInfo{
		Kind: ledger.ForgeGitHub, Repository: repo.GetFullName(), DefaultBranch: repo.GetDefaultBranch(),
		Login: login, MayPush: repo.GetPermissions().GetPush(), Archived: repo.GetArchived(),
		Methods: methods(repo), DeletesBranch: repo.GetDeleteBranchOnMerge(), Template: template,
	}, nil
}

// methods returns the methods that a repository permits. GitHub hides them from
// some tokens.
func methods(r *gh.Repository) []ledger.MergeMethod {
	var out []ledger.MergeMethod
	for _, m := range []struct {
		method ledger.MergeMethod
		may    bool
	}{{ledger.MergeCommit, r.GetAllowMergeCommit()}, {ledger.MergeSquash, r.GetAllowSquashMerge()}, {ledger.MergeRebase, r.GetAllowRebaseMerge()}} {
		if m.may {
			out = append(out, m.method)
		}
	}
	return out
}

// self returns the account of the token.
func (f *Forge) self(ctx context.Context) (string, error) {
	f.mu.Lock()
	login := f.login
	f.mu.Unlock()
	if login != "" {
		return login, nil
	}
	user, _, err := f.api.Users.Get(ctx, "")
	if err != nil {
		return "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.login = user.GetLogin(); f.login == "" {
		return "", f.line.Unreadable()
	}
	return f.login, nil
}

// templateFolders are the folders that GitHub looks for a template in.
var templateFolders = []string{".github", "", "docs"}

// template returns the text of the repository's template for pull requests.
func (f *Forge) template(ctx context.Context) (string, error) {
	owner, name := f.repository()
	for _, folder := range templateFolders {
		_, entries, _, err := f.api.Repositories.GetContents(ctx, owner, name, folder, nil)
		if status(err) == http.StatusNotFound {
			continue // no such folder, or an empty repository
		}
		if err != nil {
			return "", err
		}
		for _, e := range transport.Present(entries) {
			if e.GetType() != "file" || !isTemplate(e.GetName()) {
				continue
			}
			file, _, _, err := f.api.Repositories.GetContents(ctx, owner, name, e.GetPath(), nil)
			if err != nil {
				return "", err
			}
			if file == nil {
				return "", f.line.Unreadable()
			}
			return file.GetContent()
		}
	}
	return "", nil
}

// isTemplate reports whether a file is a template, whatever the case of its name.
func isTemplate(name string) bool {
	name = strings.ToLower(name)
	return name == "pull_request_template.md" || name == "pull_request_template.txt" || name == "pull_request_template"
}
