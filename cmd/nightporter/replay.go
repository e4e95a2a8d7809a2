package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/store"
)

func replayCommand() *cobra.Command {
	var f askFlags
	var to, from, export string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Fold the ledger anew: where a project stood, or a database from JSON Lines",
		Long: `Fold the ledger anew from its first entry, compare that with what the stored
snapshots give, and show where a project stood after the last entry, or at --to.
Exit code 0: the same. 1: a difference.

--export FILE writes the whole ledger as JSON Lines. --from FILE --state NEWDIR
builds a database from such a file, entry by entry and hash by hash. What is
not in the ledger is not in it: trees, outputs, messages that wait.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			switch {
			case from != "" && (export != "" || to != ""):
				return errors.New("--from goes with --state alone")
			case from != "":
				return rebuild(ctx, cmd.OutOrStdout(), from, f.state)
			case export != "":
				path, err := filepath.Abs(export)
				if err != nil {
					return err
				}
				return f.ask(ctx, func(a asker) error {
					r, err := a.View(ctx, api.View{Name: "export", Args: map[string]string{"path": path}})
					return show(cmd, r, err, false)
				})
			}
			return f.ask(ctx, func(a asker) error {
				r, err := a.View(ctx, api.View{Name: "replay", Project: f.project, Args: map[string]string{"to": to}})
				return show(cmd, r, err, asJSON)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&to, "to", "", "number of an entry, or a time: 02:30, 2026-11-20 02:30")
	cmd.Flags().StringVar(&export, "export", "", "write the whole ledger to this new file")
	cmd.Flags().StringVar(&from, "from", "", "build a new state folder from this file")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// replayed is a stream folded anew.
type replayed struct {
	Stream   string `json:"stream"`
	Entries  int64  `json:"entries"`
	Snapshot int64  `json:"snapshot"` // entry that the stored one is of, 0 for none
	Same     bool   `json:"same"`
}

// replay folds the project's stream and the house's.
func (d *operatorService) replay(ctx context.Context, s loop.State, to string) (api.Reply, error) {
	var streams []replayed
	text, same := "", true
	for _, stream := range []string{loop.SharedStream, loop.ProjectStream(s.Project.Name)} {
		r, err := d.compare(ctx, stream)
		if err != nil {
			return api.Reply{}, err
		}
		streams = append(streams, r)
		switch {
		case !r.Same:
			same = false
			text += fmt.Sprintf("✗ %s: %d entries folded anew differ from the snapshot at %d\n", stream, r.Entries, r.Snapshot)
		case r.Snapshot == 0:
			text += fmt.Sprintf("✓ %s: %d entries folded; no snapshot to compare with\n", stream, r.Entries)
		default:
			text += fmt.Sprintf("✓ %s: %d entries folded anew, as from the snapshot at %d\n", stream, r.Entries, r.Snapshot)
		}
	}
	until, err := d.upTo(to)
	if err != nil {
		return api.Reply{Text: "✗ " + err.Error()}, nil //nolint:nilerr // the asker is told
	}
	state, last, err := d.stateAt(ctx, s.Project.Name, until)
	if err != nil {
		return api.Reply{}, err
	}
	if last.Seq == 0 {
		return api.Reply{Text: text + "✗ there was no entry of " + s.Project.Name + " yet"}, nil
	}
	at := last.Time.In(d.zone())
	text += fmt.Sprintf("After entry %d, %s, %s:\n%s", last.Seq, last.Type, at.Format("2006-01-02 15:04:05"), bot.Status(state, at).Text(80))
	r, err := reply(text, struct {
		Streams []replayed `json:"streams"`
		Seq     int64      `json:"seq"`
		Time    time.Time  `json:"time"`
		Status  statusJSON `json:"status"`
	}{streams, last.Seq, last.Time, d.statusOf(state)})
	r.OK = same
	return r, err
}

func (d *operatorService) zone() *time.Location {
	zone, err := d.porter.config().Zone()
	if err != nil {
		return time.Local
	}
	return zone
}

// compare folds a stream from its beginning, and from its snapshot.
func (d *operatorService) compare(ctx context.Context, stream string) (replayed, error) {
	out := replayed{Stream: stream, Same: true}
	row, err := d.porter.store.Snapshot(ctx, stream, loop.StateVersion)
	if err != nil {
		return out, err
	}
	var anew, onwards loop.State
	if row.Seq > 0 && json.Unmarshal(row.Body, &onwards) == nil {
		out.Snapshot = row.Seq
	}
	err = d.porter.store.Records(ctx, stream, 0, func(r loop.Record) error {
		e, err := r.Entry()
		if err != nil {
			return err
		}
		anew = loop.Apply(anew, e)
		if out.Snapshot > 0 && r.Seq > out.Snapshot {
			onwards = loop.Apply(onwards, e)
		}
		out.Entries = r.Seq
		return nil
	})
	if err != nil || out.Snapshot == 0 {
		return out, err
	}
	a, err := canonical(anew)
	if err != nil {
		return out, err
	}
	b, err := canonical(onwards)
	out.Same = bytes.Equal(a, b)
	return out, err
}

// canonical is a state as a snapshot would give it back. The project's name is
// the stream's: a stream can begin before its first run.
func canonical(s loop.State) ([]byte, error) {
	s.Project.Name = ""
	return json.Marshal(s)
}

// upTo reads --to as a test of entries.
func (d *operatorService) upTo(to string) (func(loop.Record) bool, error) {
	if to == "" {
		return func(loop.Record) bool { return true }, nil
	}
	if seq, err := strconv.ParseInt(to, 10, 64); err == nil {
		return func(r loop.Record) bool { return r.Seq <= seq }, nil
	}
	zone := d.zone()
	now := time.Now().In(zone)
	for _, form := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "15:04"} {
		t, err := time.ParseInLocation(form, to, zone)
		if err != nil {
			continue
		}
		if form == "15:04" { // the last time that the clock showed it
			t = time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), 0, 0, zone)
			if t.After(now) {
				t = t.AddDate(0, 0, -1)
			}
		}
		return func(r loop.Record) bool { return !r.Time.After(t) }, nil
	}
	return nil, fmt.Errorf("%q is neither the number of an entry nor a time like 02:30 or 2026-11-20 02:30", to)
}

// errFar ends a fold early.
var errFar = errors.New("far enough")

// stateAt is where a project and the house stood after the last of the
// project's entries that until lets in, and that entry.
func (d *operatorService) stateAt(ctx context.Context, project string, until func(loop.Record) bool) (s loop.State, last loop.Record, err error) {
	fold := func(stream string, until func(loop.Record) bool) error {
		err := d.porter.store.Records(ctx, stream, 0, func(r loop.Record) error {
			if !until(r) {
				return errFar
			}
			e, err := r.Entry()
			if err != nil {
				return err
			}
			s = loop.Apply(s, e)
			if stream != loop.SharedStream {
				last = r
			}
			return nil
		})
		if errors.Is(err, errFar) {
			return nil
		}
		return err
	}
	if err = fold(loop.ProjectStream(project), until); err == nil {
		err = fold(loop.SharedStream, func(r loop.Record) bool { return !r.Time.After(last.Time) })
	}
	s.Project.Name = project
	return s, last, err
}

// export writes the whole ledger to a new file: Args path.
func (d *operatorService) export(ctx context.Context, v api.View) (api.Reply, error) {
	path := v.Args["path"]
	if !filepath.IsAbs(path) {
		return api.Reply{Text: "✗ the file needs an absolute path"}, nil
	}
	n, err := d.writeLedger(ctx, path)
	if errors.Is(err, fs.ErrExist) {
		return api.Reply{Text: "✗ " + path + " is there already; name a new file"}, nil
	}
	if err != nil {
		return api.Reply{Text: "✗ not exported: " + err.Error()}, nil //nolint:nilerr // the asker is told
	}
	return reply(fmt.Sprintf("✓ %d entries in %s", n, path), map[string]any{"entries": n, "path": path})
}

func (d *operatorService) writeLedger(ctx context.Context, path string) (n int, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(path) // nothing half is left
		}
	}()
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	streams, err := d.porter.store.Streams(ctx)
	if err != nil {
		return 0, err
	}
	for _, stream := range streams {
		err := d.porter.store.Records(ctx, stream, 0, func(r loop.Record) error {
			line, err := bot.RecordJSON(r)
			if err != nil {
				return err
			}
			n++
			_, err = w.Write(append(line, '\n'))
			return err
		})
		if err != nil {
			return n, err
		}
	}
	return n, errors.Join(w.Flush(), f.Sync())
}

// exported is one line of an exported ledger, as bot.RecordJSON writes it.
type exported struct {
	Stream  string          `json:"stream"`
	Seq     int64           `json:"seq"`
	Time    time.Time       `json:"time"`
	Type    string          `json:"type"`
	V       int             `json:"v"`
	Run     string          `json:"run"`
	Task    string          `json:"task"`
	Attempt string          `json:"attempt"`
	Session string          `json:"session"`
	Actor   string          `json:"actor"`
	Cause   string          `json:"cause"`
	Body    json.RawMessage `json:"body"`
	Hash    string          `json:"hash"`
}

// Limits of what is read back.
const (
	maxExportLine = 64 << 20 // bytes; a body is bounded by an event or an output's tail
	exportBatch   = 200      // entries a transaction
)

// rebuild makes a state folder from an exported ledger. It is built beside its
// place and moved there whole: what is interrupted leaves nothing half.
func rebuild(ctx context.Context, out io.Writer, file, state string) error {
	if state == "" {
		return errors.New("--from needs the new state folder: --state NEWDIR")
	}
	dir, err := config.StateDir(state)
	if err != nil {
		return err
	}
	if left, err := os.ReadDir(dir); err == nil && len(left) > 0 {
		return fmt.Errorf("%s is not empty; name a new folder", dir)
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".replay-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	n, err := refill(ctx, tmp, f)
	if err != nil {
		return fmt.Errorf("%s: %w. Nothing was made", file, err)
	}
	if err := os.Rename(tmp, dir); err != nil {
		return err
	}
	fmt.Fprintf(out, "✓ %d entries in %s, every hash as in the file\n", n, dir)
	fmt.Fprintln(out, "  Look: nightporter status --state "+quote(dir))
	return nil
}

// refill appends every line of an export to the ledger in dir and holds each
// entry's hash against the line's.
func refill(ctx context.Context, dir string, in io.Reader) (n int, err error) {
	s, err := store.Open(dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var batch loop.Batch
	var hashes []string
	first := 1 // line of the batch's first record
	commit := func() error {
		if len(batch.Records) == 0 {
			return nil
		}
		receipt, err := s.Commit(ctx, batch)
		if err != nil {
			return err
		}
		for i, r := range receipt.Records {
			if hex.EncodeToString(r.Hash) != hashes[i] {
				return fmt.Errorf("line %d: entry %d of %s was altered, or one before it is missing: its hash does not fit", first+i, r.Seq, r.Stream)
			}
		}
		n += len(batch.Records)
		first += len(batch.Records)
		batch.Records, hashes = nil, nil
		return nil
	}
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		line, err := readExport(lines)
		if errors.Is(err, io.EOF) {
			break
		}
		at := first + len(batch.Records)
		if err != nil {
			return n, fmt.Errorf("line %d: %w", at, err)
		}
		var x exported
		if err := json.Unmarshal(line, &x); err != nil || x.Stream == "" || x.Type == "" || x.Hash == "" {
			return n, fmt.Errorf("line %d is no entry of an exported ledger: write one with nightporter replay --export FILE", at)
		}
		batch.Time = x.Time
		batch.Records = append(batch.Records, loop.Record{
			Stream: x.Stream, Time: x.Time, Type: x.Type, V: x.V, Run: x.Run, Task: x.Task, Attempt: x.Attempt,
			Session: x.Session, Actor: x.Actor, Cause: x.Cause, Body: x.Body,
		})
		hashes = append(hashes, x.Hash)
		if len(batch.Records) == exportBatch {
			if err := commit(); err != nil {
				return n, err
			}
		}
	}
	if err := commit(); err != nil {
		return n, err
	}
	if n == 0 {
		return n, errors.New("it holds no entries")
	}
	breaks, err := s.Verify(ctx)
	if err == nil && len(breaks) > 0 {
		err = fmt.Errorf("the ledger made from it is not whole: %s", breaks[0])
	}
	return n, err
}

// readExport reads one line without its end; io.EOF at the end of the file.
func readExport(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxExportLine:
			return nil, fmt.Errorf("it is over %d MB", maxExportLine>>20)
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, errors.New("the file ends in the middle of it")
		default:
			return nil, err
		}
	}
}
