package operator

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// verified is the answer to the command verify, for scripts.
type verified struct {
	OK        bool             `json:"ok"`
	Anchors   int              `json:"anchors"`             // commits that name a head
	Breaks    []string         `json:"breaks"`              // what is wrong, for people
	Damaged   bool             `json:"damaged,omitempty"`   // entries or their file: a backup has them, and nothing here makes them anew
	Streams   []verifiedStream `json:"streams"`             // each folded from its first entry
	Heads     []verifiedHead   `json:"heads,omitempty"`     // given with --head
	Commits   []namedCommit    `json:"commits,omitempty"`   // named by the ledger and missing from a repository
	Foreign   []string         `json:"foreign,omitempty"`   // commits by others that name heads of no entry here
	Files     []verifiedFile   `json:"files,omitempty"`     // that people sent, and that are not there as they were
	Unchecked []string         `json:"unchecked,omitempty"` // what could not be looked at
}

// verifiedStream compares what the entries of a stream give with what is stored
// and shown.
type verifiedStream struct {
	Stream   string `json:"stream"`
	Entries  int64  `json:"entries"`
	Folded   bool   `json:"folded"`             // false: an entry could not be read
	Snapshot int64  `json:"snapshot,omitempty"` // last entry in the stored snapshot
	// SnapshotOK and StateOK are absent for what there is not: no snapshot, or
	// no state of the stream in this process.
	SnapshotOK *bool `json:"snapshot_ok,omitempty"`
	StateOK    *bool `json:"state_ok,omitempty"`
}

// verifiedFile is a file that a person sent and that is not there as it was.
type verifiedFile struct {
	To     string `json:"to"` // what it came with: g17
	Hash   string `json:"hash"`
	Stream string `json:"stream"`
	Seq    int64  `json:"seq"`
	State  string `json:"state"` // erased, missing, altered
}

// verifiedHead is the result for a head that a person gave.
type verifiedHead struct {
	Head   string `json:"head"` // as given
	Stream string `json:"stream,omitempty"`
	OK     bool   `json:"ok"`
	Hash   string `json:"hash,omitempty"` // of the entry in the ledger; "" for no such entry
}

// namedCommit is a commit that the ledger names.
type namedCommit struct {
	Commit string `json:"commit"`
	Task   string `json:"task"`
	Stream string `json:"stream"`
	Seq    int64  `json:"seq"`
	Ours   *bool  `json:"ours,omitempty"`  // in nightporter's repository; absent: unknown
	Yours  *bool  `json:"yours,omitempty"` // in the user's; absent: unknown
}

func (v *verified) broken(text string) { v.Breaks = append(v.Breaks, text) }

// verify recomputes the hash chain of every stream, folds each anew, and compares
// the result with everything that knows the ledger from outside: the heads in
// commits, the heads that a person gives (one a line), the commits that it
// names, the stored snapshots, the states in this process.
func (svc *Service) verify(ctx context.Context, project, given string) (api.Reply, error) {
	var heads []store.Head
	for line := range strings.Lines(given) {
		h, err := store.ParseHead(line)
		if err != nil {
			return api.Reply{Text: err.Error()}, nil //nolint:nilerr // the reply says so
		}
		heads = append(heads, h)
	}
	out := verified{Breaks: []string{}, Streams: []verifiedStream{}}
	var known []store.Anchor
	commits := map[string]bool{}
	var missing []namedCommit
	for _, name := range svc.Projects() {
		found, err := svc.anchors(ctx, name)
		if err != nil {
			return api.Reply{}, err
		}
		for _, h := range found.heads {
			if !commits[h.commit] { // two projects can have one repository
				commits[h.commit] = true
				known = append(known, h.Anchor)
			}
		}
		for _, h := range found.foreign {
			out.Foreign = append(out.Foreign, h.commit)
		}
		out.Unchecked = append(out.Unchecked, found.unread...)
		some, err := svc.missingCommits(ctx, name, found)
		if err != nil {
			return api.Reply{}, err
		}
		missing = append(missing, some...)
	}
	out.Anchors, out.Commits = len(known), missing
	out.Foreign = slices.Compact(slices.Sorted(slices.Values(out.Foreign)))
	breaks, err := svc.o.Store.VerifyAgainst(ctx, known)
	if err != nil {
		return api.Reply{}, err
	}
	broken := map[string]bool{} // streams with a break; "" is the file
	for _, b := range breaks {
		out.broken(b.String())
		out.Damaged, broken[b.Stream] = true, true
	}
	for _, c := range missing {
		if c.Ours != nil && c.Yours != nil && !*c.Ours && !*c.Yours {
			out.broken(fmt.Sprintf("%s entry %d: its commit %.12s (%s) is in neither repository", c.Stream, c.Seq, c.Commit, ledger.ShortID(c.Task)))
		}
	}
	if err := svc.verifyStates(ctx, broken, &out); err != nil && !errors.Is(err, store.ErrBroken) { // the chain reports that
		return api.Reply{}, err
	}
	if err := svc.verifyFiles(ctx, &out); err != nil {
		return api.Reply{}, err
	}
	if err := svc.verifyHeads(ctx, project, heads, &out); err != nil {
		return api.Reply{}, err
	}
	out.OK = len(out.Breaks) == 0
	r, err := reply(out.text(), out)
	r.OK = out.OK
	return r, err
}

// text renders the result for people.
func (v *verified) text() string {
	text := fmt.Sprintf("✓ ledger whole, checked against %d commits", v.Anchors)
	if len(v.Breaks) > 0 {
		noun := "places"
		if len(v.Breaks) == 1 {
			noun = "place"
		}
		text = fmt.Sprintf("✗ ledger altered: %d %s", len(v.Breaks), noun)
	}
	for _, b := range v.Breaks {
		text += "\n  " + b
	}
	for _, h := range v.Heads {
		if h.OK {
			text += fmt.Sprintf("\n✓ %s: it is the entry of %s", h.Head, h.Stream)
		}
	}
	for _, s := range v.Streams {
		if s.Folded {
			text += fmt.Sprintf("\n  %s: %d entries folded anew", s.Stream, s.Entries)
		}
	}
	for _, c := range v.Commits {
		name := fmt.Sprintf("commit %.12s (%s)", c.Commit, ledger.ShortID(c.Task))
		switch {
		case c.Yours != nil && !*c.Yours && c.Ours != nil && *c.Ours:
			text += "\n  " + name + ": deleted from your branches; nightporter's repository still has it"
		case c.Ours != nil && !*c.Ours && c.Yours != nil && *c.Yours:
			text += "\n  " + name + ": missing from nightporter's repository; yours has it"
		case c.Ours == nil || c.Yours == nil:
			text += "\n! " + name + ": not found, and one repository could not be read"
		}
	}
	for _, f := range v.Files {
		if f.State == fileErased {
			text += fmt.Sprintf("\n  %s: file %.12s erased", f.To, f.Hash)
		}
	}
	for _, f := range v.Foreign {
		text += fmt.Sprintf("\n! commit %.12s, not made by nightporter, names a head that this ledger does not have", f)
	}
	for _, u := range v.Unchecked {
		text += "\n! not checked: " + u
	}
	return text
}

// missingCommits returns the commits that a project's entries name and that at
// least one repository does not have.
func (svc *Service) missingCommits(ctx context.Context, project string, found anchored) ([]namedCommit, error) {
	var named []namedCommit
	var hashes []string
	stream := ledger.ProjectStream(project)
	err := svc.o.Store.RecordsAfter(ctx, stream, 0, []string{ledger.TaskCommitted{}.EntryType(), ledger.BranchRemade{}.EntryType()}, func(r ledger.Record) error {
		e, err := r.Entry()
		if err != nil {
			return nil //nolint:nilerr // the chain reports the entry
		}
		add := func(commit, task string) {
			if commit != "" && !slices.Contains(hashes, commit) {
				named = append(named, namedCommit{Commit: commit, Task: task, Stream: stream, Seq: r.Seq})
				hashes = append(hashes, commit)
			}
		}
		switch b := e.Body.(type) {
		case ledger.TaskCommitted:
			add(b.Commit, r.Task)
		case ledger.BranchRemade: // commits that were made again
			for _, c := range b.Commits {
				add(c.Commit, c.Task)
			}
		}
		return nil
	})
	if errors.Is(err, store.ErrBroken) {
		err = nil // the chain reports it
	}
	if err != nil || found.workspace == nil || len(named) == 0 {
		return nil, err
	}
	ours, oursErr := found.workspace.OwnCommits(ctx, hashes)
	yours, yoursErr := found.workspace.UserCommits(ctx, hashes)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	missing := named[:0]
	for _, c := range named {
		if oursErr == nil {
			c.Ours = new(bool)
			*c.Ours = ours[c.Commit]
		}
		if yoursErr == nil {
			c.Yours = new(bool)
			*c.Yours = yours[c.Commit]
		}
		// With one repository unread, a commit in the other one is not missing.
		inOurs, inYours := c.Ours != nil && *c.Ours, c.Yours != nil && *c.Yours
		if !inOurs && !inYours || oursErr == nil && !inOurs || yoursErr == nil && !inYours {
			missing = append(missing, c)
		}
	}
	return missing, nil
}

// verifyStates folds every stream from its first entry and compares the result
// with the stored snapshot and with the state in this process, which every
// command shows. A snapshot that differs is deleted; a state that differs is
// not saved as one.
// Of a stream with a break nothing is compared: its snapshot may be the last that
// shows what the entry was.
func (svc *Service) verifyStates(ctx context.Context, broken map[string]bool, out *verified) error {
	streams, err := svc.o.Store.Streams(ctx)
	if err != nil {
		return err
	}
	for _, stream := range streams {
		s, err := svc.verifyState(ctx, stream, !broken[stream] && !broken[""], out)
		if err != nil {
			return err
		}
		out.Streams = append(out.Streams, s)
	}
	return nil
}

func (svc *Service) verifyState(ctx context.Context, stream string, compare bool, out *verified) (verifiedStream, error) {
	s := verifiedStream{Stream: stream}
	var stored []byte // the snapshot's state, encoded anew
	row, err := svc.o.Store.Snapshot(ctx, stream, loop.StateVersion)
	altered := errors.Is(err, ledger.ErrSnapshotAltered)
	if err != nil && !altered {
		return s, err
	}
	if s.Snapshot = row.Seq; row.Seq > 0 {
		var state loop.State
		if json.Unmarshal(row.Body, &state) != nil {
			altered = true
		} else if stored, err = canonical(state); err != nil {
			return s, err
		}
	}
	held, at := svc.o.Engine.Folded(stream)
	live, err := canonical(held)
	if err != nil {
		return s, err
	}
	anew := loop.NewFolder(loop.State{})
	var sameSnapshot, sameState *bool
	err = svc.o.Store.Records(ctx, stream, 0, func(r ledger.Record) error {
		e, err := r.Entry()
		if err != nil {
			return fmt.Errorf("entry %d cannot be read: %w: %w", r.Seq, err, store.ErrBroken)
		}
		anew.Add(e)
		s.Entries = r.Seq
		if r.Seq != row.Seq && r.Seq != at {
			return nil
		}
		state, err := canonical(anew.State())
		if err != nil {
			return err
		}
		if r.Seq == row.Seq && stored != nil {
			sameSnapshot = new(bool)
			*sameSnapshot = bytes.Equal(state, stored)
		}
		if r.Seq == at {
			sameState = new(bool)
			*sameState = bytes.Equal(state, live)
		}
		return nil
	})
	switch {
	case errors.Is(err, store.ErrBroken) && !compare:
		return s, nil // the chain reports it
	case errors.Is(err, store.ErrBroken):
		out.broken(fmt.Sprintf("%s: it cannot be folded: %v", stream, err))
		return s, nil
	case err != nil:
		return s, err
	}
	s.Folded = true
	if !compare {
		return s, nil
	}
	s.SnapshotOK, s.StateOK = sameSnapshot, sameState
	if altered || sameSnapshot != nil && !*sameSnapshot {
		s.SnapshotOK = new(bool)
		out.broken(stream + ": its stored snapshot is not what its entries give: it was altered, and is deleted now")
		if err := svc.o.Store.DropSnapshots(ctx, stream); err != nil {
			return s, err
		}
	}
	if sameState != nil && !*sameState {
		svc.o.Engine.Distrust(stream)
		out.broken(stream + ": what status and tasks show is not what its entries give: it came from an altered snapshot. Stop nightporter and start it again")
	}
	return s, nil
}

// verifyHeads compares heads that a person gave with the ledger. One that names
// no stream is looked for in the given project or, for "", in all projects.
func (svc *Service) verifyHeads(ctx context.Context, project string, given []store.Head, out *verified) error {
	for _, h := range given {
		streams := []string{h.Stream}
		if h.Stream == "" {
			streams = nil
			for _, name := range svc.Projects() {
				if project == "" || name == project {
					streams = append(streams, ledger.ProjectStream(name))
				}
			}
		}
		result := verifiedHead{Head: h.String()}
		text := ""
		for _, stream := range streams {
			hash, err := svc.o.Store.Hash(ctx, stream, h.Seq)
			if err != nil {
				return err
			}
			if h.Fits(hash) {
				result.Stream, result.OK, result.Hash = stream, true, hex.EncodeToString(hash)
				break
			}
			if len(streams) > 1 {
				text = fmt.Sprintf("%s: no project has an entry %d with this hash: a ledger was rewritten or cut before it", h, h.Seq)
				continue
			}
			result.Stream, result.Hash = stream, hex.EncodeToString(hash)
			end, _, err := svc.o.Store.Head(ctx, stream)
			switch {
			case err != nil:
				return err
			case end == 0:
				text = fmt.Sprintf("%s: this ledger has no entries of %s", h, stream)
			case hash == nil:
				text = fmt.Sprintf("%s: %s ends with entry %d: the ledger was cut, or the head is another ledger's", h, stream, end)
			default:
				text = fmt.Sprintf("%s entry %d has hash %s, you gave %s: the ledger was rewritten or cut before entry %d", stream, h.Seq, result.Hash[:len(h.Digits)], h.Digits, h.Seq)
			}
		}
		if len(streams) == 0 {
			text = strings.TrimSpace(fmt.Sprintf("%s: this ledger has no project %s", h, project))
		}
		if !result.OK {
			out.broken(text)
		}
		out.Heads = append(out.Heads, result)
	}
	return nil
}
