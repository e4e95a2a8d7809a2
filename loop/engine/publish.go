package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Remote is where a project's branches are pushed to (docs/spec 9.4). Errors are
// *ledger.ForgeError, or *ledger.InputError where a setting is wrong, or faults of
// the machine.
type Remote interface {
	// Push moves a branch forward to a commit of ours. A branch with commits of
	// others is left alone, and they are returned.
	Push(ctx context.Context, p ledger.Push) (ledger.Pushed, error)
	// TryPush is Push without changing anything, as far as a server tells before.
	TryPush(ctx context.Context, p ledger.Push) error
	// Fetch brings branches into the repository, for a run, and returns the commits
	// of those that the remote has.
	Fetch(ctx context.Context, run string, names ...string) (map[string]string, error)
	// Branches returns those of the branches that the remote has, with their
	// commits. A name may be a pattern of git's ls-remote.
	Branches(ctx context.Context, names ...string) (map[string]string, error)
}

// Forge is the server of a Remote, on which requests ask for merges. A plain remote
// has no requests. Errors are *ledger.ForgeError.
type Forge interface {
	// Kind returns what the settings or the address of the remote say.
	Kind() ledger.ForgeKind
	Info(ctx context.Context) (ledger.ForgeInfo, error)
	// Request opens a request, or edits the open one of the draft's branch.
	Request(ctx context.Context, d ledger.RequestDraft) (ledger.Request, error)
	// Look returns what a request shows, or only that nothing changed since the look
	// that the tag came from.
	Look(ctx context.Context, number int, tag string) (ledger.RequestView, error)
	// Reply writes a comment, unless there is one with that key.
	Reply(ctx context.Context, r ledger.RequestReply) (ledger.RequestComment, error)
	// Merge merges a request. One that is merged with that head is a success.
	Merge(ctx context.Context, m ledger.MergeAsked) (ledger.Request, error)
}

// Publisher opens where a project's branches go. Its settings may change while the
// daemon runs, and be wrong then: it is asked before each push and request.
type Publisher interface {
	// Open returns a nil Forge for a plain remote.
	Open(ctx context.Context) (Remote, Forge, error)
}

// publisher opens where a project's branches go. A setting that a person has to
// correct is a *ledger.ForgeError, so that the effect waits for them.
func (p Ports) publisher(ctx context.Context) (Remote, Forge, error) {
	if p.Publisher == nil {
		return nil, nil, &ledger.ForgeError{Failure: ledger.ForgeRefused, Text: "the project has no remote to push to", Remedy: "Set remote, or push = \"never\"."}
	}
	remote, forge, err := p.Publisher.Open(ctx)
	if in, wrong := errors.AsType[*ledger.InputError](err); wrong {
		err = &ledger.ForgeError{Failure: ledger.ForgeRefused, Text: in.Diagnostics[0].Text, Remedy: in.Diagnostics[0].Remedy}
	}
	return remote, forge, err
}

// push carries out an EffectPush.
func push(ctx context.Context, ports Ports, b ledger.EffectPush) (loop.InputBody, error) {
	remote, forge, err := ports.publisher(ctx)
	if err != nil {
		return nil, err
	}
	pushed, err := remote.Push(ctx, b.Push)
	if err != nil {
		return nil, err
	}
	if pushed.Theirs != "" && b.Once {
		return nil, fmt.Errorf("somebody else pushed commits to %s (%.10s)", b.Push.Branch, pushed.Theirs)
	}
	if pushed.Theirs != "" {
		return nil, &ledger.ForgeError{
			Failure: ledger.ForgeMoved, Text: fmt.Sprintf("somebody else pushed commits to %s (%.10s), and nothing of theirs is overwritten", b.Push.Branch, pushed.Theirs),
			Remedy: "Merge them into the branch in your repository and push it, or delete the remote's branch.",
		}
	}
	kind := ledger.ForgePlain
	if forge != nil {
		kind = forge.Kind()
	}
	return loop.PushFinished{Run: b.Run, Push: b.Push, Forge: kind}, nil
}

// request carries out an EffectRequest.
func (e *Engine) request(ctx context.Context, ports Ports, b ledger.EffectRequest) (loop.InputBody, error) {
	remote, forge, err := ports.publisher(ctx)
	if err != nil {
		return nil, err
	}
	if forge == nil {
		return nil, &ledger.ForgeError{Failure: ledger.ForgeRefused, Text: "the remote has no requests any more", Remedy: "Set forge as it was."}
	}
	draft := b.Draft
	if draft.Number == 0 {
		info, err := forge.Info(ctx)
		if err != nil {
			return nil, err
		}
		if draft.Base, err = requestBase(ctx, remote, info, draft.Base, b.Head); err != nil {
			return nil, err
		}
		draft.Body = ledger.EditBody(info.Template, draft.Body)
	}
	if ports.Redact != nil {
		draft.Title, draft.Body = ports.Redact(draft.Title), ports.Redact(draft.Body)
	}
	r, err := forge.Request(ctx, draft)
	if err != nil {
		return nil, err
	}
	if len(r.Missed) > 0 {
		e.o.Log.Warn("the forge did not take all of a request", "run", b.Run, "missed", r.Missed)
	}
	return loop.RequestFinished{Run: b.Run, Print: b.Print, Request: r}, nil
}

// requestBase returns the branch that a request asks to be merged into: the one that
// the settings name, else the one that the person is on, if the remote has it, else
// the forge's own.
func requestBase(ctx context.Context, remote Remote, info ledger.ForgeInfo, set, head string) (string, error) {
	if set != "" || head == "" || head == info.DefaultBranch {
		return first(set, head, info.DefaultBranch), nil
	}
	has, err := remote.Branches(ctx, head)
	if err != nil {
		return "", err
	}
	if _, there := has[head]; there {
		return head, nil
	}
	return first(info.DefaultBranch, head), nil
}

func first(names ...string) string {
	if n := slices.IndexFunc(names, func(s string) bool { return s != "" }); n >= 0 {
		return names[n]
	}
	return ""
}

// preflightRemote looks whether a run's branch can be pushed, and a request opened
// (docs/spec 2.0). What is over by itself is a warning.
func preflightRemote(ctx context.Context, ports Ports, s ledger.Settings, base ledger.Base, out *loop.Preflighted) error {
	if !s.Pushes() || base.Branch == "" {
		return nil
	}
	// judge sorts an error into the report, and returns one that the machine made.
	judge := func(err error) error {
		if in, wrong := errors.AsType[*ledger.InputError](err); wrong {
			out.Problems = append(out.Problems, in.Diagnostics...)
			return nil
		}
		forge, ok := errors.AsType[*ledger.ForgeError](err)
		switch {
		case err == nil:
		case !ok:
			return err
		case forge.Passes():
			out.Warnings = append(out.Warnings, ledger.Diagnostic{Text: "the remote cannot be looked at now: " + forge.Text, Remedy: "Nothing has to be done: the push is tried until it works."})
		default:
			out.Problems = append(out.Problems, ledger.Diagnostic{Text: "push = \"" + s.Push + "\" cannot work: " + forge.Text, Remedy: forge.Remedy})
		}
		return nil
	}
	remote, forge, err := ports.publisher(ctx)
	if err != nil {
		return judge(err)
	}
	names := []string{base.Branch}
	if s.Base != "" {
		names = append(names, s.Base)
	}
	if s.Requests.PerTask {
		names = append(names, base.Branch+"-*") // its tasks' branches; git takes patterns
	}
	has, err := remote.Branches(ctx, names...)
	if err != nil {
		return judge(err)
	}
	for _, name := range slices.Sorted(maps.Keys(has)) {
		if name == base.Branch || strings.HasPrefix(name, base.Branch+"-") {
			out.Problems = append(out.Problems, ledger.Diagnostic{
				Text:   fmt.Sprintf("the remote has a branch %s already (%.10s), from another state folder", name, has[name]),
				Remedy: "If no other nightporter works there, rename or delete it on the remote.",
			})
			return nil
		}
	}
	if _, there := has[s.Base]; s.Base != "" && !there {
		out.Problems = append(out.Problems, ledger.Diagnostic{Text: fmt.Sprintf("base = %q: the remote has no such branch", s.Base), Remedy: "Name one that it has."})
	}
	if base.Commit != "" {
		if err := remote.TryPush(ctx, ledger.Push{Branch: base.Branch, Commit: base.Commit}); err != nil {
			return judge(err)
		}
	}
	if forge == nil {
		return nil
	}
	info, err := forge.Info(ctx)
	if err != nil {
		return judge(err)
	}
	switch {
	case info.Archived:
		return judge(&ledger.ForgeError{Failure: ledger.ForgeArchived, Text: info.Repository + " is archived", Remedy: "Unarchive it, or set push = \"never\"."})
	case !info.MayPush:
		return judge(&ledger.ForgeError{Failure: ledger.ForgeRights, Text: fmt.Sprintf("%s may not write to %s", first(info.Login, "the token's account"), info.Repository), Remedy: "Give it write access, or set push = \"never\"."})
	}
	return nil
}
