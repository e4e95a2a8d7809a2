package github

import (
	"context"
	"net/http"
	"strings"
	"time"

	gh "github.com/google/go-github/v92/github"

	"github.com/nightporter/nightporter/loop/forge/transport"
)

// permission is whether an account may write, and until when that is believed.
type permission struct {
	write bool
	until time.Time
}

// believed is how long a permission is believed without asking again. Somebody
// whose right is taken away has it for so long.
const believed = 5 * time.Minute

// maxAsked limits how many accounts one look asks about. Those of the newest
// comments come first; the others count as strangers.
const maxAsked = 100

// judge sets who wrote the comments, and who of them may write to the repository.
func (f *Forge) judge(ctx context.Context, owner, name string, all []said) error {
	self, err := f.self(ctx)
	if err != nil {
		return err
	}
	asked := 0
	for n := len(all) - 1; n >= 0; n-- {
		c := &all[n]
		c.Author = c.user.GetLogin()
		c.Ours = c.Author != "" && strings.EqualFold(c.Author, self)
		if c.Writer, err = f.mayWrite(ctx, owner, name, c.user, &asked); err != nil {
			return err
		}
	}
	return nil
}

// mayWrite reports whether an account may write to the repository. Unknown is no.
// A comment's author_association is no answer: members of an organisation may have
// no more than the right to read.
func (f *Forge) mayWrite(ctx context.Context, owner, name string, user *gh.User, asked *int) (bool, error) {
	login := user.GetLogin()
	if login == "" || user.GetType() == "Bot" {
		return false, nil // a deleted account, or an app, which acts for whoever wrote to it
	}
	f.mu.Lock()
	known := f.writers[login]
	f.mu.Unlock()
	now := f.line.Now()
	if now.Before(known.until) {
		return known.write, nil
	}
	if *asked++; *asked > maxAsked {
		return false, nil
	}
	level, _, err := f.api.Repositories.GetPermissionLevel(ctx, owner, name, login)
	if code := status(err); err != nil && (code != http.StatusForbidden && !isAbsent(err) || f.line.Failure(mustAnswer(err)).Passes()) {
		return false, err
	}
	may := err == nil && (level.GetPermission() == "admin" || level.GetPermission() == "write")
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writers[login] = permission{may, now.Add(believed)}
	return may, nil
}

// strangers returns those commits of a pull request whose author is not known to
// have the right to write, and whether there are none. Who committed says nothing:
// GitHub itself does for what is merged on its pages.
func (f *Forge) strangers(ctx context.Context, owner, name string, pull *gh.PullRequest) (commits []string, none bool, err error) {
	asked, seen := 0, 0
	for page := 1; page != 0; {
		list, resp, err := f.api.PullRequests.ListCommits(ctx, owner, name, pull.GetNumber(), &gh.ListOptions{PerPage: perPage, Page: page})
		if err != nil {
			return nil, false, err
		}
		for _, c := range transport.Present(list) {
			may, err := f.mayWrite(ctx, owner, name, c.Author, &asked)
			if err != nil {
				return nil, false, err
			}
			if !may {
				commits = append(commits, c.GetSHA())
			}
		}
		seen, page = seen+len(list), resp.NextPage
	}
	return commits, len(commits) == 0 && seen == pull.GetCommits(), nil
}

// forgetPermissions drops what is no longer believed, so that the memory of a long night does
// not grow.
func (f *Forge) forgetPermissions() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for login, p := range f.writers {
		if !f.line.Now().Before(p.until) {
			delete(f.writers, login)
		}
	}
}
