package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
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
builds a database from such a file, or from the copies in a checkout's
.ralph/events, entry by entry and hash by hash. What is not in the ledger is not
in it: trees, outputs, messages that wait; and in a checkout's copies only its own
project is.`,
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
					return printReply(cmd, r, err, false)
				})
			}
			return f.ask(ctx, func(a asker) error {
				r, err := a.View(ctx, api.View{Name: "replay", Project: f.project, Args: map[string]string{"to": to}})
				return printReply(cmd, r, err, asJSON)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&to, "to", "", "number of an entry, or a time: 02:30, 2026-11-20 02:30")
	cmd.Flags().StringVar(&export, "export", "", "write the whole ledger to this new file")
	cmd.Flags().StringVar(&from, "from", "", "build a new state folder from this file, or from a folder .ralph/events")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// exportLine is one line of an exported ledger, as bot.RecordJSON writes it.
type exportLine struct {
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

// Limits of an imported ledger.
const (
	maxExportLine = 64 << 20 // bytes; a body is bounded by an event or an output's tail
	exportBatch   = 200      // entries a transaction
)

// rebuild creates a state folder from an exported ledger. It builds the folder
// under a temporary name and renames it, so an interrupted rebuild leaves
// nothing.
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
	in, err := openExport(file)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".replay-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	n, err := importEntries(ctx, tmp, in)
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

// exported are files with the lines of an export, read one after the other.
type exported struct {
	io.Reader
	files []*os.File
}

func (x exported) Close() {
	for _, f := range x.files {
		_ = f.Close()
	}
}

// mirrorFile is the name of a file of the copy of a ledger in a checkout: of what all
// projects share, or of a project and the number of a run.
var mirrorFile = regexp.MustCompile(`^(?:house|(.+)-r(\d+))\.jsonl$`)

// openExport opens an export, or all files of .ralph/events in the order in which they
// were written.
func openExport(path string) (exported, error) {
	info, err := os.Stat(path)
	if err != nil {
		return exported{}, err
	}
	names := []string{path}
	if info.IsDir() {
		if names, err = mirrorFiles(path); err != nil {
			return exported{}, err
		}
	}
	var x exported
	var readers []io.Reader
	for _, n := range names {
		f, err := os.Open(n)
		if err != nil {
			x.Close()
			return exported{}, err
		}
		x.files = append(x.files, f)
		readers = append(readers, f)
	}
	x.Reader = io.MultiReader(readers...)
	return x, nil
}

// mirrorFiles returns the files of a folder that are copies of a ledger.
func mirrorFiles(dir string) ([]string, error) {
	all, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	type file struct {
		project, name string
		run           int
	}
	var files []file
	for _, f := range all {
		if parts := mirrorFile.FindStringSubmatch(f.Name()); parts != nil {
			run, _ := strconv.Atoi(parts[2]) // house.jsonl has none
			files = append(files, file{parts[1], f.Name(), run})
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no copy of a ledger: house.jsonl, PROJECT-r1.jsonl, …", dir)
	}
	slices.SortFunc(files, func(a, b file) int {
		return cmp.Or(strings.Compare(a.project, b.project), cmp.Compare(a.run, b.run))
	})
	names := make([]string, len(files))
	for n, f := range files {
		names[n] = filepath.Join(dir, f.name)
	}
	return names, nil
}

// importEntries appends each line of an export to the ledger in dir and
// compares the entry's hash with the line's. It returns the number of entries.
func importEntries(ctx context.Context, dir string, in io.Reader) (n int, err error) {
	s, err := store.Open(dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var batch ledger.Batch
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
		var x exportLine
		if err := json.Unmarshal(line, &x); err != nil || x.Stream == "" || x.Type == "" || x.Hash == "" {
			return n, fmt.Errorf("line %d is no entry of an exported ledger: write one with nightporter replay --export FILE", at)
		}
		batch.Time = x.Time
		batch.Records = append(batch.Records, ledger.Record{
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

// readExport reads one line without its newline; io.EOF at the end of the file.
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
