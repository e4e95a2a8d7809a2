package gitea

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	sdk "code.gitea.io/sdk/gitea"
)

// Account is an account with a token that has all of the account's rights.
type Account struct {
	Login, Token string
	*sdk.Client
}

// Client returns a client of a token.
func (s *Server) Client(token string) (*sdk.Client, error) {
	return sdk.NewClient(s.URL, sdk.SetToken(token), sdk.SetGiteaVersion(""))
}

// Email returns the address of an account, by which its commits are known.
func Email(login string) string { return login + "@example.test" }

// Account creates an account.
func (s *Server) Account(login string) (*Account, error) {
	password, no := secret(), false
	_, _, err := s.Admin.AdminCreateUser(sdk.CreateUserOption{Username: login, Email: Email(login), Password: password, MustChangePassword: &no})
	if err != nil {
		return nil, fmt.Errorf("account %s: %w", login, err)
	}
	own, err := sdk.NewClient(s.URL, sdk.SetBasicAuth(login, password), sdk.SetGiteaVersion(""))
	if err != nil {
		return nil, err
	}
	token, _, err := own.CreateAccessToken(sdk.CreateAccessTokenOption{Name: "e2e", Scopes: []sdk.AccessTokenScope{sdk.AccessTokenScopeAll}})
	if err != nil {
		return nil, fmt.Errorf("token of %s: %w", login, err)
	}
	client, err := s.Client(token.Token)
	return &Account{login, token.Token, client}, err
}

// Revoke deletes a token of an account that Account made.
func (s *Server) Revoke(a *Account) error {
	password := secret()
	if _, err := s.Admin.AdminEditUser(a.Login, sdk.EditUserOption{LoginName: a.Login, Password: password}); err != nil {
		return err
	}
	own, err := sdk.NewClient(s.URL, sdk.SetBasicAuth(a.Login, password), sdk.SetGiteaVersion(""))
	if err != nil {
		return err
	}
	_, err = own.DeleteAccessToken("e2e")
	return err
}

// Repository creates a repository of an account with one commit on main. Writers
// may write to it.
func (s *Server) Repository(owner *Account, name string, writers ...string) error {
	if _, _, err := owner.CreateRepo(sdk.CreateRepoOption{Name: name, AutoInit: true, DefaultBranch: "main"}); err != nil {
		return fmt.Errorf("repository %s: %w", name, err)
	}
	write := sdk.AccessModeWrite
	for _, w := range writers {
		if _, err := owner.AddCollaborator(owner.Login, name, w, sdk.AddCollaboratorOption{Permission: &write}); err != nil {
			return fmt.Errorf("writer %s: %w", w, err)
		}
	}
	return nil
}

// Commit adds a commit with a new file to a branch, which an account pushes and
// another one wrote, and returns it. A new branch begins at main.
func (s *Server) Commit(by *Account, owner, name, branch, file, text, author string) (string, error) {
	o := sdk.CreateFileOptions{
		FileOptions: sdk.FileOptions{
			Message: "change " + file, BranchName: branch,
			Author:    sdk.Identity{Name: author, Email: Email(author)},
			Committer: sdk.Identity{Name: by.Login, Email: Email(by.Login)},
		},
		Content: base64.StdEncoding.EncodeToString([]byte(text)),
	}
	if _, resp, err := by.GetRepoBranch(owner, name, branch); err != nil {
		if resp == nil || resp.StatusCode != http.StatusNotFound {
			return "", err
		}
		o.BranchName, o.NewBranchName = "main", branch
	}
	made, _, err := by.CreateFile(owner, name, file, o)
	if err != nil {
		return "", fmt.Errorf("commit to %s: %w", branch, err)
	}
	return made.Commit.SHA, nil
}

// Tip returns the commit of a branch, "" = no such branch.
func (s *Server) Tip(owner, name, branch string) string {
	b, _, err := s.Admin.GetRepoBranch(owner, name, branch)
	if err != nil || b.Commit == nil {
		return ""
	}
	return b.Commit.ID
}

// Status sets a status of a commit.
func (s *Server) Status(by *Account, owner, name, commit, context string, state sdk.StatusState) error {
	_, _, err := by.CreateStatus(owner, name, commit, sdk.CreateStatusOption{State: state, Context: context, Description: "it is " + string(state)})
	return err
}

// Key lets the holder of an SSH key act as an account.
func (s *Server) Key(a *Account, public string) error {
	_, _, err := a.CreatePublicKey(sdk.CreateKeyOption{Title: "e2e", Key: public})
	return err
}

// HTTP returns the address of a repository for git, with an account's token.
func (s *Server) HTTP(a *Account, owner, name string) string {
	return strings.Replace(s.URL, "http://", "http://"+url.UserPassword(a.Login, a.Token).String()+"@", 1) + "/" + owner + "/" + name + ".git"
}

// SSH returns the address of a repository for git over SSH.
func (s *Server) SSH(owner, name string) string {
	return fmt.Sprintf("ssh://git@127.0.0.1:%d/%s/%s.git", s.SSHPort, owner, name)
}
