package project

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/logging"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/forge/gitea"
	"github.com/nightporter/nightporter/loop/forge/github"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/workspace"
)

// publisher opens a project's remote and forge by the configuration in force, so
// that a token or an address that a person corrects is used by the next try.
type publisher struct {
	catalog  *Catalog
	settings ledger.Settings // of the run, for a project that the configuration lacks
	w        *workspace.Workspace
	opened   *openedForge
}

// Open implements engine.Publisher.
func (p publisher) Open(ctx context.Context) (engine.Remote, engine.Forge, error) {
	pr, configured := p.catalog.Find(p.settings.Project)
	if !configured {
		pr.Remote = p.settings.Remote
	}
	return openRemote(ctx, p.catalog.Config(), pr, p.w, p.opened)
}

// Reach asks a project's remote and forge, for the command doctor, whether they are
// there and take the login. It needs no state folder, and returns the address and the
// tip of the project's base there; "" where none is set or the remote lacks it.
func Reach(ctx context.Context, cfg *config.Config, pr config.Project) (addr, base string, err error) {
	w, err := workspace.Outside(pr.Repo)
	if err != nil {
		return "", "", err
	}
	if addr, err = w.RemoteURL(ctx, pr.Remote); err != nil {
		return "", "", err
	}
	remote, f, err := openRemote(ctx, cfg, pr, w, &openedForge{})
	addr = workspace.ShowURL(addr)
	if err != nil {
		return addr, "", err
	}
	names := []string{"nightporter/" + pr.Name + "/r1"}
	if pr.Base != "" {
		names = append(names, pr.Base)
	}
	has, err := remote.Branches(ctx, names...)
	if err == nil && f != nil {
		_, err = f.Info(ctx)
	}
	return addr, has[pr.Base], err
}

// openRemote opens a project's remote and forge. The forge of a plain remote is nil.
func openRemote(ctx context.Context, cfg *config.Config, pr config.Project, w *workspace.Workspace, opened *openedForge) (engine.Remote, engine.Forge, error) {
	addr, err := w.RemoteURL(ctx, pr.Remote)
	if err != nil {
		return nil, nil, err
	}
	at, err := forge.Parse(addr)
	if err != nil {
		return nil, nil, err
	}
	kind := pr.ForgeKind(at)
	section := cfg.ForgeAt(kind)
	r := remote{w, workspace.Remote{URL: addr, TokenFile: section.TokenFile}}
	if _, err := os.Stat(section.TokenFile); errors.Is(err, fs.ErrNotExist) {
		// Somebody whose git logs in by itself may want no more than the push.
		r.at.TokenFile = ""
		if pr.Forge == "" || pr.Forge == config.ForgeAuto {
			kind = ledger.ForgePlain
		}
	}
	if kind == ledger.ForgePlain {
		return r, nil, nil
	}
	token, err := tokenOf(kind, at, section)
	if err != nil {
		return nil, nil, err
	}
	f, err := opened.get(forgeSettings{kind, at, section, token}, func() (forge.Forge, error) { return openForge(kind, at, section, token) })
	if err != nil {
		return nil, nil, err
	}
	return r, f, nil
}

// tokenOf reads the token for a repository's forge.
func tokenOf(kind ledger.ForgeKind, at forge.Address, section config.Forge) (forge.Token, error) {
	if at.Owner == "" {
		return "", &ledger.ForgeError{
			Failure: ledger.ForgeRefused, Text: "the remote's address names no repository of a " + forge.KindOf(kind).Title + " (OWNER/NAME)",
			Remedy: `Correct the address, or set forge = "plain" for a remote without requests.`,
		}
	}
	token, err := forge.ReadToken(section.TokenFile, config.IsCredential(section.TokenFile))
	if err == nil {
		logging.Hide(string(token))
	}
	return token, err
}

// openForge returns the adapter of a repository's forge. It does not use the
// network.
func openForge(kind ledger.ForgeKind, at forge.Address, section config.Forge, token forge.Token) (forge.Forge, error) {
	api := section.API
	if api == "" {
		api = forge.KindOf(kind).API(at)
	}
	if kind == ledger.ForgeGitea {
		return gitea.New(gitea.Options{API: api, Owner: at.Owner, Name: at.Name, Token: token})
	}
	return github.New(github.Options{API: api, Owner: at.Owner, Name: at.Name, Token: token})
}

// remote is a project's workspace with the place that it pushes to.
type remote struct {
	w  *workspace.Workspace
	at workspace.Remote
}

// Push implements engine.Remote.
func (r remote) Push(ctx context.Context, p ledger.Push) (ledger.Pushed, error) {
	return r.w.Push(ctx, r.at, p)
}

// TryPush implements engine.Remote.
func (r remote) TryPush(ctx context.Context, p ledger.Push) error { return r.w.TryPush(ctx, r.at, p) }

// Fetch implements engine.Remote.
func (r remote) Fetch(ctx context.Context, run string, names ...string) (map[string]string, error) {
	return r.w.FetchBranches(ctx, r.at, run, names...)
}

// Branches implements engine.Remote.
func (r remote) Branches(ctx context.Context, names ...string) (map[string]string, error) {
	return r.w.RemoteBranches(ctx, r.at, names...)
}

// forgeOf is an adapter with its kind.
type forgeOf struct {
	forge.Forge
	kind ledger.ForgeKind
}

// Kind implements engine.Forge.
func (f forgeOf) Kind() ledger.ForgeKind { return f.kind }
