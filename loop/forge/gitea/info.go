package gitea

import (
	"context"
	"net/http"
	"slices"
	"strings"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/nightporter/nightporter/loop/forge/transport"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Info implements forge.Forge.
func (f *Forge) Info(ctx context.Context) (ledger.ForgeInfo, error) {
	return try(f, ctx, func(c *call) (ledger.ForgeInfo, error) {
		none := ledger.ForgeInfo{Kind: ledger.ForgeGitea}
		repo, err := c.repository()
		if err != nil {
			return none, err
		}
		login, err := c.self()
		if err != nil {
			return none, err
		}
		template, err := c.template(repo)
		if err != nil {
			return none, err
		}
		return ledger.ForgeInfo{
			Kind: ledger.ForgeGitea, Repository: repo.FullName, DefaultBranch: repo.DefaultBranch,
			Login: login, MayPush: repo.Permissions != nil && repo.Permissions.Push, Archived: repo.Archived,
			Methods: methods(repo), DeletesBranch: repo.DefaultDeleteBranchAfterMerge, Template: template,
		}, nil
	})
}

// repository reads the repository and takes its name over: a Gitea redirects from
// those that it had.
func (c *call) repository() (*sdk.Repository, error) {
	repo, resp, err := c.GetRepo(c.owner, c.name)
	if err := checked(resp, err); err != nil {
		return nil, err
	}
	if repo == nil {
		return nil, c.f.line.Unreadable()
	}
	owner, name, ok := strings.Cut(repo.FullName, "/")
	if !ok {
		return nil, c.f.line.Unreadable()
	}
	c.owner, c.name = owner, name
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	c.f.owner, c.f.name = owner, name
	return repo, nil
}

// styles are Gitea's names of methods.
var styles = map[ledger.MergeMethod]sdk.MergeStyle{
	ledger.MergeCommit: sdk.MergeStyleMerge, ledger.MergeSquash: sdk.MergeStyleSquash, ledger.MergeRebase: sdk.MergeStyleRebase,
}

// methods returns the methods that a repository permits, its default first.
func methods(r *sdk.Repository) []ledger.MergeMethod {
	var out []ledger.MergeMethod
	for _, m := range []struct {
		method ledger.MergeMethod
		may    bool
	}{{ledger.MergeCommit, r.AllowMerge}, {ledger.MergeSquash, r.AllowSquash}, {ledger.MergeRebase, r.AllowRebase}} {
		switch {
		case !m.may:
		case styles[m.method] == r.DefaultMergeStyle:
			out = slices.Insert(out, 0, m.method)
		default:
			out = append(out, m.method)
		}
	}
	return out
}

// self returns the account of the token.
func (c *call) self() (string, error) {
	c.f.mu.Lock()
	login := c.f.login
	c.f.mu.Unlock()
	if login != "" {
		return login, nil
	}
	user, resp, err := c.GetMyUserInfo()
	if err := checked(resp, err); err != nil {
		return "", err
	}
	if user == nil || user.UserName == "" {
		return "", c.f.line.Unreadable()
	}
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	c.f.login = user.UserName
	return user.UserName, nil
}

// templateFolders are the folders that Gitea looks for a template in.
var templateFolders = []string{"", ".gitea", ".github", "docs"}

// template returns the text of the repository's template for pull requests.
func (c *call) template(repo *sdk.Repository) (string, error) {
	if repo.Empty {
		return "", nil
	}
	for _, folder := range templateFolders {
		entries, resp, err := c.ListContents(c.owner, c.name, "", folder)
		if err := checked(resp, err); status(err) == http.StatusNotFound {
			continue
		} else if err != nil {
			return "", err
		}
		for _, e := range transport.Present(entries) {
			if e.Type != "file" || !isTemplate(e.Name) {
				continue
			}
			text, resp, err := c.GetFile(c.owner, c.name, "", e.Path)
			return string(text), checked(resp, err)
		}
	}
	return "", nil
}

// isTemplate reports whether a file is a template, whatever the case of its name.
func isTemplate(name string) bool { return strings.EqualFold(name, "pull_request_template.md") }
