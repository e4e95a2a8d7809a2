package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// MaxComments is how many comments a view has, as in the other adapters.
const MaxComments = 500

// Forge is a repository on a forge. Its fields are set before it is used.
type Forge struct {
	Repo ledger.ForgeInfo // what Info returns; Methods empty = merge commits alone

	// Tip returns the commit of a branch, "" where there is no such branch. nil =
	// those of Push.
	Tip func(branch string) string
	// Join merges a head into a base on the remote and returns the new tip. nil =
	// a commit that nothing else knows.
	Join func(base, head string, m ledger.MergeAsked) (string, error)
	// Behind reports whether a base has commits that a head lacks. nil = unless
	// Push brought the head after the base.
	Behind func(base, head string) bool
	Clock  func() time.Time // nil = time.Now

	mu       sync.Mutex
	calls    []Call
	faults   []*Fault
	branches map[string]branch
	requests []*request // number - 1
	issues   []*issue   // number - firstIssue
	writers  map[string]bool
	authors  map[string]string // by commit
	required []string
	deleted  []string // branches, by Merge
	step     int      // of the world, counts every change
}

// branch is a branch of the remote, where Tip is nil.
type branch struct {
	commit string
	step   int
	own    []string // commits that it did not begin with
}

// request is a request with all that it shows.
type request struct {
	ledger.Request
	draft    ledger.RequestDraft
	checks   map[string]map[string]ledger.ForgeCheck // by commit and name
	comments []ledger.RequestComment
	keys     map[string]int // index in comments, by key of Reply
}

// Call is a call of a method.
type Call struct {
	Method string // "Look"
	Number int    // of the request, 0 = none
}

// New returns a forge with the repository "owner/name" and the branch main.
func New() *Forge {
	f := &Forge{Repo: ledger.ForgeInfo{
		Kind: ledger.ForgeGitHub, Repository: "owner/name", DefaultBranch: "main", Login: "porter", MayPush: true,
		Methods: []ledger.MergeMethod{ledger.MergeCommit, ledger.MergeSquash, ledger.MergeRebase},
	}}
	f.Push("main", "")
	return f
}

// Info implements forge.Forge.
func (f *Forge) Info(ctx context.Context) (ledger.ForgeInfo, error) {
	return call(f, ctx, Call{Method: "Info"}, func() (ledger.ForgeInfo, error) { return f.Repo, nil })
}

// Request implements forge.Forge.
func (f *Forge) Request(ctx context.Context, d ledger.RequestDraft) (ledger.Request, error) {
	return call(f, ctx, Call{"Request", d.Number}, func() (ledger.Request, error) {
		if err := f.writable(); err != nil {
			return ledger.Request{}, err
		}
		r, err := f.find(d)
		if err != nil {
			return ledger.Request{}, err
		}
		f.edit(r, d)
		return f.shown(r), nil
	})
}

// find returns the request that a draft names, or a new one.
func (f *Forge) find(d ledger.RequestDraft) (*request, error) {
	if d.Number != 0 {
		return f.get(d.Number)
	}
	for _, r := range f.requests {
		if r.Head == d.Head && r.State == ledger.RequestOpen {
			return r, nil
		}
	}
	for _, name := range []string{d.Head, d.Base} {
		if f.tip(name) == "" {
			return nil, fail(ledger.ForgeMissing, "there is no branch %s", name)
		}
	}
	if f.tip(d.Head) == f.tip(d.Base) {
		return nil, fail(ledger.ForgeRefused, "there are no commits between %s and %s", d.Base, d.Head)
	}
	f.step++
	n := len(f.requests) + 1
	r := &request{
		Request: ledger.Request{
			Number: n, URL: fmt.Sprintf("https://forge.test/%s/pulls/%d", f.Repo.Repository, n),
			State: ledger.RequestOpen, Head: d.Head, Base: d.Base, Draft: d.Draft,
		},
		checks: map[string]map[string]ledger.ForgeCheck{}, keys: map[string]int{},
	}
	f.requests = append(f.requests, r)
	return r, nil
}

// edit makes an open request what a draft says.
func (f *Forge) edit(r *request, d ledger.RequestDraft) {
	if r.State != ledger.RequestOpen {
		return
	}
	was := r.draft
	if was.Head != "" {
		if d.Body = ledger.EditBody(was.Body, d.Body); d.Keep {
			d.Title, d.Draft = was.Title, r.Draft
			if d.Was == "" || d.Was != r.Base {
				d.Base = r.Base
			}
		}
	}
	d.Number, d.Head = r.Number, r.Head
	d.Labels, d.Reviewers = union(was.Labels, d.Labels), union(was.Reviewers, d.Reviewers)
	if r.draft = d; hash(was) != hash(d) {
		f.step++
	}
	r.Base, r.Draft = d.Base, d.Draft
}

// union returns a with those of b that it lacks.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Look implements forge.Forge.
func (f *Forge) Look(ctx context.Context, number int, tag string) (ledger.RequestView, error) {
	return call(f, ctx, Call{"Look", number}, func() (ledger.RequestView, error) {
		r, err := f.get(number)
		if err != nil {
			return ledger.RequestView{}, err
		}
		v := f.view(r)
		if v.Tag == tag {
			return ledger.RequestView{Tag: tag, Unchanged: true}, nil
		}
		return v, nil
	})
}

// Changed implements forge.Watcher.
func (f *Forge) Changed(ctx context.Context, looks map[int]string) ([]int, error) {
	return call(f, ctx, Call{Method: "Changed"}, func() ([]int, error) {
		var out []int
		for _, n := range slices.Sorted(maps.Keys(looks)) {
			if r, err := f.get(n); err != nil || f.view(r).Tag != looks[n] {
				out = append(out, n)
			}
		}
		return out, nil
	})
}

// view returns all that a request shows.
func (f *Forge) view(r *request) ledger.RequestView {
	v := ledger.RequestView{Request: f.shown(r), Writers: true}
	all := maps.Clone(r.checks[v.Request.HeadCommit])
	if all == nil {
		all = map[string]ledger.ForgeCheck{}
	}
	for _, name := range f.required {
		c, ok := all[name]
		if !ok {
			c.Name, c.State = name, ledger.CheckPending
		}
		c.Required = true
		all[name] = c
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v.Checks = append(v.Checks, all[name])
	}
	for _, c := range r.comments {
		c.Writer, c.Ours = f.mayWrite(c.Author), c.Author == f.Repo.Login
		v.Comments = append(v.Comments, c)
	}
	if n := len(v.Comments) - MaxComments; n > 0 {
		v.Comments, v.More = v.Comments[n:], n
	}
	for _, commit := range f.commits(r) {
		if login, ok := f.authors[commit]; ok && !f.mayWrite(login) {
			v.Writers, v.Strangers = false, append(v.Strangers, commit)
		}
	}
	v.Tag = hash(v)
	return v
}

// commits returns the commits of a request, as far as they are known: with Tip, all
// that have an author.
func (f *Forge) commits(r *request) []string {
	if f.Tip != nil {
		return slices.Sorted(maps.Keys(f.authors))
	}
	return f.branches[r.Head].own
}

// Reply implements forge.Forge.
func (f *Forge) Reply(ctx context.Context, m ledger.RequestReply) (ledger.RequestComment, error) {
	return call(f, ctx, Call{"Reply", m.Number}, func() (ledger.RequestComment, error) {
		r, err := f.get(m.Number)
		if err != nil {
			return ledger.RequestComment{}, err
		}
		if n, ok := r.keys[m.Key]; ok {
			return r.comments[n], nil
		}
		if err := f.writable(); err != nil {
			return ledger.RequestComment{}, err
		}
		c := ledger.RequestComment{Kind: ledger.CommentPlain, Author: f.Repo.Login, Writer: true, Ours: true, Body: m.Body}
		if n := slices.IndexFunc(r.comments, func(c ledger.RequestComment) bool { return c.ID == m.ReplyTo }); n >= 0 && r.comments[n].Kind == ledger.CommentLine {
			to := r.comments[n]
			c.Kind, c.Path, c.Line, c.ReplyTo = to.Kind, to.Path, to.Line, cmp.Or(to.ReplyTo, to.ID)
		}
		r.keys[m.Key] = len(r.comments)
		return f.add(r, c), nil
	})
}

// Merge implements forge.Forge.
func (f *Forge) Merge(ctx context.Context, m ledger.MergeAsked) (ledger.Request, error) {
	return call(f, ctx, Call{"Merge", m.Number}, func() (ledger.Request, error) {
		r, err := f.get(m.Number)
		if err != nil {
			return ledger.Request{}, err
		}
		now := f.shown(r)
		if err := f.mergeable(now, m); err != nil {
			return now, err
		}
		if now.State == ledger.RequestMerged {
			f.deleteBranch(r, m)
			return now, nil
		}
		commit := hash(struct{ A, B, C any }{now.BaseCommit, now.HeadCommit, m.Method})[:40]
		if f.Join != nil {
			if commit, err = f.Join(r.Base, r.Head, m); err != nil {
				return now, fail(ledger.ForgeRefused, "%v", err)
			}
		}
		f.step++
		r.State, r.MergeCommit, r.HeadCommit = ledger.RequestMerged, commit, now.HeadCommit
		if f.Tip == nil {
			f.branches[r.Base] = branch{commit: commit, step: f.step}
		}
		f.deleteBranch(r, m)
		return f.shown(r), nil
	})
}

// deleteBranch deletes the branch of a merged request, unless somebody added
// commits to it. With Tip it is only recorded: see Deleted.
func (f *Forge) deleteBranch(r *request, m ledger.MergeAsked) {
	if m.DeleteBranch && f.tip(r.Head) == m.HeadCommit {
		delete(f.branches, r.Head)
		f.deleted = append(f.deleted, r.Head)
	}
}

// mergeable returns why a request is not merged.
func (f *Forge) mergeable(r ledger.Request, m ledger.MergeAsked) error {
	switch {
	case r.HeadCommit != m.HeadCommit:
		return fail(ledger.ForgeMoved, "the head of request %d is %s now", r.Number, r.HeadCommit)
	case r.State == ledger.RequestMerged:
		return nil
	case r.State == ledger.RequestClosed:
		return fail(ledger.ForgeRefused, "request %d is closed", r.Number)
	case r.Mergeable != ledger.MergeableClean && r.Mergeable != ledger.MergeableBehind:
		return fail(ledger.ForgeProtected, "request %d cannot be merged: %s", r.Number, r.Mergeable)
	case len(f.Repo.Methods) > 0 && !slices.Contains(f.Repo.Methods, m.Method):
		return fail(ledger.ForgeRefused, "the repository does not permit the method %s", m.Method)
	}
	return f.writable()
}

// get returns a request.
func (f *Forge) get(number int) (*request, error) {
	if number < 1 || number > len(f.requests) {
		return nil, fail(ledger.ForgeMissing, "there is no request %d", number)
	}
	return f.requests[number-1], nil
}

// shown returns a request as it is now.
func (f *Forge) shown(r *request) ledger.Request {
	out := r.Request
	if out.State == ledger.RequestMerged {
		out.BaseCommit = f.tip(r.Base)
		return out
	}
	out.HeadCommit, out.BaseCommit = cmp.Or(f.tip(r.Head), r.HeadCommit), f.tip(r.Base)
	r.HeadCommit = out.HeadCommit // of a branch that is deleted later
	switch {
	case out.Mergeable != ledger.MergeableUnknown:
	case out.State != ledger.RequestOpen || out.BaseCommit == "":
	case out.Draft || !f.green(r, out.HeadCommit):
		out.Mergeable = ledger.MergeableBlocked
	case f.behind(r):
		out.Mergeable = ledger.MergeableBehind
	default:
		out.Mergeable = ledger.MergeableClean
	}
	return out
}

// green reports whether all checks that are required passed.
func (f *Forge) green(r *request, commit string) bool {
	for _, name := range f.required {
		if c := r.checks[commit][name]; c.State != ledger.CheckPassed && c.State != ledger.CheckNeutral {
			return false
		}
	}
	return true
}

// behind reports whether the base has commits that the head lacks.
func (f *Forge) behind(r *request) bool {
	if f.Behind != nil {
		return f.Behind(r.Base, r.Head)
	}
	return f.Tip == nil && f.branches[r.Base].step > f.branches[r.Head].step
}

// tip returns the commit of a branch, "" = no such branch.
func (f *Forge) tip(name string) string {
	if f.Tip != nil {
		return f.Tip(name)
	}
	return f.branches[name].commit
}

// writable returns why nothing can be written.
func (f *Forge) writable() error {
	switch {
	case f.Repo.Archived:
		return fail(ledger.ForgeArchived, "the repository is archived")
	case !f.Repo.MayPush:
		return fail(ledger.ForgeRights, "the token may not write to the repository")
	}
	return nil
}

// mayWrite reports whether an account may write to the repository.
func (f *Forge) mayWrite(login string) bool { return login == f.Repo.Login || f.writers[login] }

// now returns the time.
func (f *Forge) now() time.Time {
	if f.Clock != nil {
		return f.Clock()
	}
	return time.Now()
}

// fail returns an error.
func fail(kind ledger.ForgeFailure, format string, a ...any) error {
	return &ledger.ForgeError{Failure: kind, Text: fmt.Sprintf(format, a...)}
}

// hash returns a hexadecimal hash of a value's JSON.
func hash(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // values of this package have a JSON form
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
