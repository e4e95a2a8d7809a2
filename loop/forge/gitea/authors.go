package gitea

import (
	"net/http"
	"strings"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/nightporter/nightporter/loop/forge/transport"
	"github.com/nightporter/nightporter/loop/ledger"
)

// believed is how long a permission is believed without asking again. Somebody
// whose right is taken away has it for so long.
const believed = 5 * time.Minute

// maxAsked limits how many accounts one look asks about. Those of the newest
// comments come first; the others count as strangers.
const maxAsked = 100

// writers are the accounts that are known to have the right to write, or not to
// have it, in lower case, and until when that is believed.
type writers struct {
	until time.Time
	known map[string]bool
	all   bool // known has all who have the right: the others have not
}

// judge sets who of the authors may write to the repository.
func (c *call) judge(all []ledger.RequestComment) error {
	self, err := c.self()
	if err != nil {
		return err
	}
	asked := 0
	for n := len(all) - 1; n >= 0; n-- {
		all[n].Ours = strings.EqualFold(all[n].Author, self)
		if all[n].Writer, err = c.mayWrite(all[n].Author, &asked); err != nil {
			return err
		}
	}
	return nil
}

// mayWrite reports whether an account may write to the repository. Unknown is no.
func (c *call) mayWrite(login string, asked *int) (bool, error) {
	if login == "" {
		return false, nil
	}
	login = strings.ToLower(login)
	f := c.f
	f.mu.Lock()
	if !f.line.Now().Before(f.writers.until) {
		f.writers = writers{until: f.line.Now().Add(believed), known: map[string]bool{}}
	}
	may, known := f.writers.known[login]
	all := f.writers.all
	f.mu.Unlock()
	if known || all {
		return may, nil
	}
	if *asked++; *asked > maxAsked {
		return false, nil
	}
	may, err := c.ask(login)
	if err != nil {
		return false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writers.known[login] = may
	return may, nil
}

// ask asks Gitea for the right of an account. It tells that of others only to
// tokens of administrators of the repository. For the rest there is the list of
// those whom an issue can be assigned to, which are those who may write, except in
// an organisation, where it has members who may only read.
func (c *call) ask(login string) (bool, error) {
	got, resp, err := c.CollaboratorPermission(c.owner, c.name, login)
	err = checked(resp, err)
	switch {
	case err == nil && got != nil:
		return got.Permission == sdk.AccessModeWrite || got.Permission == sdk.AccessModeAdmin || got.Permission == sdk.AccessModeOwner, nil
	case err == nil || status(err) == http.StatusNotFound:
		return false, nil
	case status(err) != http.StatusForbidden:
		return false, err
	}
	_, resp, err = c.GetOrg(c.owner)
	if err := checked(resp, err); err == nil {
		self, err := c.self()
		return strings.EqualFold(login, self), err
	} else if code := status(err); code != http.StatusNotFound && code != http.StatusForbidden {
		return false, err
	}
	list, resp, err := c.GetAssignees(c.owner, c.name)
	if err := checked(resp, err); err != nil {
		return false, err
	}
	f := c.f
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, u := range transport.Present(list) {
		f.writers.known[strings.ToLower(u.UserName)] = true
	}
	f.writers.all = true
	return f.writers.known[login], nil
}

// strangers returns those commits of a pull request whose author is not known to
// have the right to write.
func (c *call) strangers(number int) (commits []string, err error) {
	asked := 0
	for page := 1; page != 0; {
		list, resp, err := c.ListPullRequestCommits(c.owner, c.name, int64(number), sdk.ListPullRequestCommitsOptions{ListOptions: sdk.ListOptions{Page: page, PageSize: perPage}})
		if err := checked(resp, err); err != nil {
			return nil, err
		}
		for _, one := range transport.Present(list) {
			login := ""
			if one.Author != nil {
				login = one.Author.UserName
			}
			may, err := c.mayWrite(login, &asked)
			if err != nil {
				return nil, err
			}
			if !may && one.CommitMeta != nil {
				commits = append(commits, one.SHA)
			}
		}
		page = resp.NextPage
	}
	return commits, nil
}
