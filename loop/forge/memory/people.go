package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Fault is a failure of one call.
type Fault struct {
	Method string // "" = of any
	Err    *ledger.ForgeError
	After  bool // the call has its effect, and its answer is lost
}

// call carries out one call of the adapter.
func call[T any](f *Forge, ctx context.Context, c Call, do func() (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, &ledger.ForgeError{Failure: ledger.ForgeAway, Text: context.Cause(ctx).Error()}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, c)
	n := slices.IndexFunc(f.faults, func(x *Fault) bool { return x.Method == "" || x.Method == c.Method })
	if n < 0 {
		return do()
	}
	fault := f.faults[n]
	f.faults = slices.Delete(f.faults, n, n+1)
	if fault.After {
		if _, err := do(); err != nil {
			return none, err
		}
	}
	return none, fault.Err
}

// Fail makes a later call fail. Failures are used up in order.
func (f *Forge) Fail(x Fault) {
	if x.Err == nil {
		x.Err = &ledger.ForgeError{Failure: ledger.ForgeAway, Text: "no answer within 30s"}
	}
	f.do(func() { f.faults = append(f.faults, &x) })
}

// Calls returns all calls so far.
func (f *Forge) Calls() []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// Push moves a branch to a commit, "" = a new one, which it returns. Only a forge
// without Tip has branches of its own.
func (f *Forge) Push(name, commit string) string {
	f.do(func() {
		f.step++
		if commit == "" {
			commit = hash(fmt.Sprint(name, f.step))[:40]
		}
		if f.branches == nil {
			f.branches = map[string]branch{}
		}
		f.branches[name] = branch{commit, f.step, append(slices.Clone(f.branches[name].own), commit)}
	})
	return commit
}

// Commit adds a commit of an account to a branch, "" = the token's, and returns
// it.
func (f *Forge) Commit(name, login string) string {
	commit := f.Push(name, "")
	if login != "" {
		f.Author(commit, login)
	}
	return commit
}

// Author says who wrote a commit. Commits without an author are those of the
// token's account.
func (f *Forge) Author(commit, login string) {
	f.do(func() {
		if f.authors == nil {
			f.authors = map[string]string{}
		}
		f.step++
		f.authors[commit] = login
	})
}

// Deleted returns the branches that Merge deleted.
func (f *Forge) Deleted() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.deleted)
}

// Delete deletes a branch.
func (f *Forge) Delete(name string) { f.do(func() { delete(f.branches, name) }) }

// Writer says whether an account may write to the repository.
func (f *Forge) Writer(login string, may bool) {
	f.do(func() {
		if f.writers == nil {
			f.writers = map[string]bool{}
		}
		f.writers[login] = may
	})
}

// Require names the checks that a merge needs.
func (f *Forge) Require(names ...string) { f.do(func() { f.required = names }) }

// Check sets a check of a request's head.
func (f *Forge) Check(number int, c ledger.ForgeCheck) {
	f.request(number, func(r *request) {
		commit := f.shown(r).HeadCommit
		if r.checks[commit] == nil {
			r.checks[commit] = map[string]ledger.ForgeCheck{}
		}
		if c.Since.IsZero() {
			c.Since = f.now()
		}
		r.checks[commit][c.Name] = c
	})
}

// Comment adds a comment or a review, and returns it.
func (f *Forge) Comment(number int, c ledger.RequestComment) ledger.RequestComment {
	f.request(number, func(r *request) { c = f.add(r, c) })
	return c
}

// add adds a comment.
func (f *Forge) add(r *request, c ledger.RequestComment) ledger.RequestComment {
	f.step++
	if c.Kind == "" {
		c.Kind = ledger.CommentPlain
	}
	if c.ID == "" {
		c.ID = fmt.Sprintf("%s:%d", c.Kind, len(r.comments)+1)
	}
	if c.Time.IsZero() {
		c.Time = f.now()
	}
	r.comments = append(r.comments, c)
	return c
}

// Set changes a request as a person would: it closes it, say, or its Mergeable.
func (f *Forge) Set(number int, change func(*ledger.Request)) {
	f.request(number, func(r *request) { change(&r.Request) })
}

// Draft returns what a request was asked to be, and whether there is one.
func (f *Forge) Draft(number int) (d ledger.RequestDraft, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, err := f.get(number)
	if err != nil {
		return d, false
	}
	return r.draft, true
}

// Requests returns all requests, in the order of their numbers.
func (f *Forge) Requests() []ledger.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []ledger.Request
	for _, r := range f.requests {
		out = append(out, f.shown(r))
	}
	return out
}

// request changes a request that is there.
func (f *Forge) request(number int, change func(*request)) {
	f.do(func() {
		r, err := f.get(number)
		if err != nil {
			panic(errors.Join(errors.New("memory: a test names a request that is not there"), err))
		}
		f.step++
		change(r)
	})
}

// do changes the forge.
func (f *Forge) do(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}
