package workspace

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/workspace/secret"
)

// Limits of the search for secrets in one capture. A session can leave any
// amount of text, and a capture must end.
const (
	maxSearched    = 2 << 20  // bytes of a file
	maxSearchedAll = 16 << 20 // bytes of all files
	maxFound       = 50       // findings that are recorded
)

// findSecrets searches the lines that the changes of a capture add for secrets
// (docs/spec 9.6). What a person committed as exceptions holds: the files of
// HEAD as of the run's start, which no session could write. Findings that were
// cleared are left out. Binary files are judged by their names alone; other
// files that are not searched are returned with the reason.
func (l *sessionDiff) findSecrets(ctx context.Context, t ledger.CaptureRequest, changes []change) (found []ledger.SecretFound, skipped []ledger.Diagnostic, err error) {
	changes = slices.DeleteFunc(slices.Clone(changes), func(c change) bool {
		return c.new.hash == "" || c.new.mode == modeSymlink || c.new.hash == l.input[c.path].hash
	})
	if len(changes) == 0 {
		return nil, nil, nil
	}
	except, wrong, err := l.w.exceptions(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	skipped = append(skipped, wrong...)
	key, err := l.w.fingerprintKey()
	if err != nil {
		return nil, nil, err
	}
	texts, err := l.w.openTexts(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer texts.close()
	left := maxSearchedAll
	for _, c := range changes {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		text, size, err := texts.read(c.new.hash, min(maxSearched, left))
		if err != nil {
			return nil, nil, err
		}
		switch {
		case isBinary(text):
			text = nil
		case size > maxSearched:
			skipped = append(skipped, ledger.Diagnostic{File: c.path, Text: fmt.Sprintf("not searched for secrets: it has more than %d MB", maxSearched>>20)})
			continue
		case size > left:
			skipped = append(skipped, ledger.Diagnostic{File: c.path, Text: fmt.Sprintf("not searched for secrets: the files before it have %d MB", maxSearchedAll>>20)})
			continue
		}
		left -= len(text)
		old := map[string]bool{}
		if e, was := l.input[c.path]; was && e.mode != modeSymlink {
			before, size, err := texts.read(e.hash, 2*maxSearched)
			if err != nil {
				return nil, nil, err
			}
			if size <= len(before) { // of a larger one every line counts as new
				for line := range strings.Lines(string(before)) {
					old[strings.TrimRight(line, "\r\n")] = true
				}
			}
		}
		lines := strings.Split(string(text), "\n")
		added := func(n int) bool { return !old[strings.TrimRight(lines[n-1], "\r")] }
		for _, f := range secret.Scan(c.path, string(text), except, added) {
			s := ledger.SecretFound{Path: c.path, Line: f.Line, Rule: f.Rule}
			s.Print = fingerprint(key, c.path, f.Rule, strings.Join(lines[max(f.Line-1, 0):f.Last], "\n"))
			if !slices.Contains(t.Cleared, s.Print) {
				found = append(found, s)
			}
		}
	}
	return found[:min(len(found), maxFound)], skipped, nil
}

// isBinary reports whether a file is no text, by git's measure.
func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 }

// runExceptions are the exceptions of a run. They never change.
type runExceptions struct {
	run    string
	except secret.Exceptions
	wrong  []ledger.Diagnostic
}

// exceptions returns what a person allows. A file of theirs that cannot be read
// allows nothing, and is named.
func (w *Workspace) exceptions(ctx context.Context, t ledger.CaptureRequest) (secret.Exceptions, []ledger.Diagnostic, error) {
	if w.allowed.run != t.Run {
		x, wrong, err := w.readExceptions(ctx, t)
		if err != nil {
			return x, nil, err
		}
		w.allowed = runExceptions{t.Run, x, wrong}
	}
	return w.allowed.except, w.allowed.wrong, nil
}

func (w *Workspace) readExceptions(ctx context.Context, t ledger.CaptureRequest) (secret.Exceptions, []ledger.Diagnostic, error) {
	from := w.hiddenRef(t.Run, "head")
	if _, err := w.gitOurs(ctx, "rev-parse", "--verify", "--quiet", from+"^{commit}"); err != nil {
		from = t.Start
	}
	config, err := w.Read(ctx, from, ".gitleaks.toml")
	if err != nil {
		return secret.Exceptions{}, nil, err
	}
	ignore, err := w.Read(ctx, from, ".gitleaksignore")
	if err != nil {
		return secret.Exceptions{}, nil, err
	}
	x, err := secret.ParseExceptions(config, ignore)
	if err != nil {
		return x, []ledger.Diagnostic{{File: ".gitleaks.toml", Text: "its exceptions do not count: " + strings.TrimPrefix(err.Error(), ".gitleaks.toml: "), Remedy: "mend it, and commit it"}}, nil
	}
	return x, nil, nil
}

// fingerprint returns a name for a finding that says nothing of the value to
// anybody without the key: a short value could be found by trying all.
func fingerprint(key []byte, path, rule, line string) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s\x00%s\x00%s", path, rule, strings.TrimSpace(line))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// fingerprintKey returns the key of our repository's fingerprints, and makes it
// at the first use.
func (w *Workspace) fingerprintKey() ([]byte, error) {
	file := filepath.Join(w.gitDir, "fingerprint-key")
	key, err := os.ReadFile(file)
	if err == nil && len(key) == sha256.Size {
		return key, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	key = make([]byte, sha256.Size)
	rand.Read(key)
	return key, writeDurably(file, key)
}

// texts reads blobs of our repository from one git process.
type texts struct {
	hashes *os.File
	out    *io.PipeReader
	lines  *bufio.Reader
	ended  chan error
	cancel context.CancelFunc
}

// openTexts starts the process; close ends it. The process reads from a pipe of the
// kernel: for one of ours, os/exec would wait after the end of a killed process,
// and nobody would write into it.
func (w *Workspace) openTexts(ctx context.Context) (*texts, error) {
	in, hashes, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	out, answers := io.Pipe()
	t := &texts{hashes: hashes, out: out, lines: bufio.NewReader(out), ended: make(chan error, 1), cancel: cancel}
	go func() {
		_, err := w.run(ctx, call{gitDir: w.gitDir, in: in, out: answers, args: []string{"cat-file", "--batch"}})
		answers.CloseWithError(cmp.Or(err, io.EOF))
		in.Close()
		t.ended <- err
	}()
	return t, nil
}

// read returns the first bytes of a blob, at most limit, and the blob's size.
func (t *texts) read(hash string, limit int) (text []byte, size int, err error) {
	if _, err := io.WriteString(t.hashes, hash+"\n"); err != nil {
		return nil, 0, fmt.Errorf("git cat-file: %w", err)
	}
	head, err := t.lines.ReadString('\n')
	if err != nil {
		return nil, 0, fmt.Errorf("git cat-file: %w", err)
	}
	f := strings.Fields(head)
	if len(f) != 3 || f[1] != "blob" {
		return nil, 0, fmt.Errorf("git cat-file answered %q", head)
	}
	if size, err = strconv.Atoi(f[2]); err != nil {
		return nil, 0, fmt.Errorf("git cat-file answered %q", head)
	}
	text = make([]byte, min(size, max(limit, 0)))
	if _, err = io.ReadFull(t.lines, text); err == nil {
		_, err = io.CopyN(io.Discard, t.lines, int64(size-len(text)+1)) // the rest, and a line end
	}
	if err != nil {
		return nil, 0, fmt.Errorf("git cat-file: %w", err)
	}
	return text, size, nil
}

func (t *texts) close() {
	t.hashes.Close()
	t.out.Close()
	t.cancel()
	_ = <-t.ended
}
