package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// signLimit is how long a program may take for one signature. Nobody is there to
// touch a key or to type a passphrase.
const signLimit = 30 * time.Second

// signKeys are the keys of the user's configuration that say how they sign.
const signKeys = `gpg\.(format|program|openpgp\.program|x509\.program|ssh\.program|ssh\.defaultkeycommand)|user\.signingkey`

// signer makes signatures as the user's own git would: by the same programs, key
// and home folder, but without a terminal or screen on which one could ask.
type signer struct {
	set       map[string]string // signKeys that are set
	committer string            // "Name <email>"
	env       []string
	home      string
	as        *syscall.Credential // the repository's owner, if we are another user
	limit     time.Duration
}

// signError is the error for a signature that could not be made. It is neither a
// fault of the machine nor of what is signed.
type signError struct{ text string }

func (e signError) Error() string { return e.text }

// signerOf returns how the owner of the user's repository signs there. Like git, it
// takes the committer's name for the key if none is set.
func (w *Workspace) signerOf(ctx context.Context, t userRepo) (*signer, error) {
	set, err := w.userConfig(ctx, t, `^(`+signKeys+`|(committer|user)\.(name|email))$`)
	if err != nil {
		return nil, err
	}
	name, email := cmp.Or(plainIdentity(set["committer.name"]), plainIdentity(set["user.name"])), cmp.Or(plainIdentity(set["committer.email"]), plainIdentity(set["user.email"]))
	if name == "" || email == "" {
		return nil, signError{"git knows no name and e-mail for the committer"}
	}
	s := &signer{set: set, committer: name + " <" + email + ">", home: userHome(t), as: t.owner, limit: signLimit}
	s.env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "LC_ALL=C", "TZ=UTC", "SSH_ASKPASS_REQUIRE=never"}, s.agents()...)
	return s, nil
}

// agents returns the variables by which programs find the agents that hold a
// user's keys. Those of the daemon lead to its own user's.
func (s *signer) agents() (env []string) {
	if s.as != nil {
		return nil
	}
	for _, key := range []string{"SSH_AUTH_SOCK", "GNUPGHOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"} {
		if v := os.Getenv(key); v != "" {
			env = append(env, key+"="+v)
		}
	}
	return env
}

// sign returns the signature of a text.
func (s *signer) sign(ctx context.Context, text []byte) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.limit, signError{fmt.Sprintf("no signature within %d s: something may wait for a person", int(s.limit.Seconds()))})
	defer cancel()
	var signature string
	var err error
	switch format := cmp.Or(s.set["gpg.format"], "openpgp"); format {
	case "openpgp":
		signature, err = s.signGPG(ctx, cmp.Or(s.set["gpg.openpgp.program"], s.set["gpg.program"], "gpg"), text)
	case "x509":
		signature, err = s.signGPG(ctx, cmp.Or(s.set["gpg.x509.program"], "gpgsm"), text)
	case "ssh":
		signature, err = s.signSSH(ctx, cmp.Or(s.set["gpg.ssh.program"], "ssh-keygen"), text)
	default:
		err = signError{fmt.Sprintf("gpg.format is %q, and openpgp, ssh and x509 are known", format)}
	}
	if err == nil && strings.TrimSpace(signature) == "" {
		err = signError{"the program ended well and made no signature"}
	}
	return strings.ReplaceAll(signature, "\r", ""), err
}

// quietGPG lists the programs that understand --pinentry-mode. Others are scripts
// around them or programs that sign elsewhere; signLimit holds for those.
var quietGPG = []string{"gpg", "gpg2", "gpgsm"}

// Errors of libgpg-error, the lower half of the codes that gpg reports.
const (
	gpgNoAgent    = 77 // the agent did not come up in time
	gpgNoPinentry = 85 // it would have to ask for a passphrase
)

var gpgFailure = regexp.MustCompile(`(?m)^\[GNUPG:\] FAILURE sign (\d+)$`)

func (s *signer) signGPG(ctx context.Context, program string, text []byte) (string, error) {
	args := []string{"--status-fd=2", "-bsau", cmp.Or(s.set["user.signingkey"], s.committer)}
	if slices.Contains(quietGPG, filepath.Base(program)) {
		args = append([]string{"--batch", "--no-tty", "--pinentry-mode=error"}, args...)
	}
	out, said, err := s.run(ctx, text, program, args...)
	if gpgCode(said) == gpgNoAgent { // the first use starts it, and gpg waits for 5 s
		out, said, err = s.run(ctx, text, program, args...)
	}
	if gpgCode(said) == gpgNoPinentry {
		err = signError{"the key is locked: gpg would ask for its passphrase"}
	}
	if err == nil && !strings.Contains("\n"+said, "\n[GNUPG:] SIG_CREATED ") {
		err = signError{program + " made no signature"}
	}
	return out, err
}

// gpgCode returns the error that gpg reports for a signature, 0 for none.
func gpgCode(said string) uint64 {
	m := gpgFailure.FindStringSubmatch(said)
	if m == nil {
		return 0
	}
	code, _ := strconv.ParseUint(m[1], 10, 32)
	return code & 0xffff
}

func (s *signer) signSSH(ctx context.Context, program string, text []byte) (string, error) {
	key, err := s.sshKey(ctx)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "nightporter-sign-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	args := []string{"-Y", "sign", "-n", "git", "-f"}
	put := func(name string, data []byte) error {
		return os.WriteFile(filepath.Join(dir, name), data, 0o600)
	}
	err = put("commit", text)
	if literal, ok := literalKey(key); ok {
		err = errors.Join(err, put("key.pub", []byte(literal+"\n")))
		args = append(args, filepath.Join(dir, "key.pub"), "-U")
	} else {
		args = append(args, s.path(key))
	}
	if s.as != nil {
		for _, name := range []string{"", "commit", "key.pub"} {
			if e := os.Lchown(filepath.Join(dir, name), int(s.as.Uid), int(s.as.Gid)); e != nil && !errors.Is(e, os.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
	}
	if err != nil {
		return "", err
	}
	if _, _, err := s.run(ctx, nil, program, append(args, filepath.Join(dir, "commit"))...); err != nil {
		return "", err
	}
	signature, err := os.ReadFile(filepath.Join(dir, "commit.sig"))
	if errors.Is(err, os.ErrNotExist) {
		return "", signError{program + " made no signature"}
	}
	return string(signature), err
}

// sshKey returns user.signingkey, or the first key that gpg.ssh.defaultKeyCommand
// prints: the path of a key file, or a public key itself.
func (s *signer) sshKey(ctx context.Context) (string, error) {
	if key := s.set["user.signingkey"]; key != "" {
		return key, nil
	}
	command := s.set["gpg.ssh.defaultkeycommand"]
	if command == "" {
		return "", signError{"user.signingkey is not set, and ssh needs it"}
	}
	out, _, err := s.run(ctx, nil, "sh", "-c", command)
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(out, "\n")
	if _, ok := literalKey(first); !ok {
		return "", signError{"gpg.ssh.defaultKeyCommand prints no key"}
	}
	return first, nil
}

// literalKey returns a public key that the configuration holds in place of a path.
func literalKey(key string) (string, bool) {
	if literal, ok := strings.CutPrefix(key, "key::"); ok {
		return literal, true
	}
	return key, strings.HasPrefix(key, "ssh-")
}

// path resolves the forms of a path that git's configuration knows.
func (s *signer) path(p string) string {
	if rest, ok := strings.CutPrefix(p, "~/"); ok {
		return filepath.Join(s.home, rest)
	}
	return p
}

// run runs one program of the user's in a session without a terminal.
func (s *signer) run(ctx context.Context, in []byte, program string, args ...string) (stdout, stderr string, err error) {
	cmd := exec.CommandContext(ctx, s.path(program), args...)
	cmd.Dir, cmd.Env, cmd.Stdin = "/", s.env, bytes.NewReader(in)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: s.as}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{w: &out, left: 1 << 20}, &limited{w: &said, left: 64 << 10}
	err = cmd.Run()
	switch _, exit := errors.AsType[*exec.ExitError](err); {
	case ctx.Err() != nil:
		return "", said.String(), context.Cause(ctx)
	case exit:
		return out.String(), said.String(), signError{reasonOf(said.String(), filepath.Base(program))}
	case err != nil && fault.Of(err) == "":
		return "", "", signError{fmt.Sprintf("%s cannot be started: %v", program, errors.Unwrap(err))}
	}
	return out.String(), said.String(), err
}

// reasonOf returns the last line of a program's errors that is for people.
func reasonOf(said, program string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	for _, line := range slices.Backward(lines) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "[GNUPG:]") {
			if !strings.HasPrefix(line, program+": ") {
				line = program + ": " + line
			}
			return line
		}
	}
	return program + " failed without a word"
}

// signed returns the signed form of a commit of ours. A signature differs each time
// that it is made, so the first one is kept on a hidden ref by the hash of the
// unsigned commit, before anything else can refer to it: whatever crashes, a commit
// has one signed form.
func (w *Workspace) signed(ctx context.Context, run, unsigned string, s *signer) (string, error) {
	text, err := w.run(ctx, call{gitDir: w.gitDir, args: []string{"cat-file", "commit", unsigned}})
	if err != nil {
		return "", err
	}
	ref := w.hiddenRef(run, "signed/"+unsigned)
	have, err := w.gitOurs(ctx, "rev-parse", "--verify", "--quiet", ref)
	if err == nil {
		return have, nil
	}
	if exitCode(err) != 1 {
		return "", err
	}
	signature, err := s.sign(ctx, text)
	if err != nil {
		return "", err
	}
	head, body, _ := strings.Cut(string(text), "\n\n")
	key := "gpgsig"
	if formatOf(unsigned) == "sha256" {
		key = "gpgsig-sha256"
	}
	whole := head + "\n" + key + " " + strings.ReplaceAll(strings.TrimRight(signature, "\n"), "\n", "\n ") + "\n\n" + body
	out, err := w.run(ctx, call{gitDir: w.gitDir, in: strings.NewReader(whole), args: []string{"hash-object", "-t", "commit", "-w", "--stdin"}})
	if err != nil {
		return "", err
	}
	commit := strings.TrimSpace(string(out))
	return commit, w.setRef(ctx, ref, commit)
}

// commitForUser writes a commit that goes into the user's repository, signed if it
// has a committer. A signature that cannot be made is a *ledger.RepositoryError.
func (w *Workspace) commitForUser(ctx context.Context, run string, c commit) (string, error) {
	hash, err := w.commitTree(ctx, c)
	if err != nil || c.committer == "" {
		return hash, err
	}
	t, err := w.openUser(ctx)
	if err != nil {
		return "", w.unusable(ctx, w.branchOf(run), err)
	}
	s, err := w.signerOf(ctx, t)
	if err == nil {
		hash, err = w.signed(ctx, run, hash, s)
	}
	return hash, w.notSigned(err)
}

// trySigning makes a signature, and returns the committer of signed commits. One
// that cannot be made is a *ledger.InputError.
func (w *Workspace) trySigning(ctx context.Context, t userRepo) (committer string, err error) {
	s, err := w.signerOf(ctx, t)
	if err == nil {
		_, err = s.sign(ctx, []byte("a trial before the run begins\n"))
	}
	if failed, ok := errors.AsType[signError](err); ok {
		return "", inputError(ledger.Diagnostic{Text: "sign = true, and commits cannot be signed: " + failed.text, Remedy: w.signRemedy()})
	}
	if err != nil {
		return "", fmt.Errorf("try to sign: %w", err)
	}
	return s.committer, nil
}

// notSigned turns a signature that could not be made into a fault that the user
// ends: the commit is tried again until it has one.
func (w *Workspace) notSigned(err error) error {
	failed, ok := errors.AsType[signError](err)
	if !ok {
		return err
	}
	return &ledger.RepositoryError{Text: "the commit cannot be signed: " + failed.text, Remedy: w.signRemedy(), Err: err}
}

// signRemedy returns the command that signs as we do, except that it may ask.
func (w *Workspace) signRemedy() string {
	return "make this work without a question: git -C " + w.o.Repo + " commit-tree -S -m trial HEAD^{tree}"
}
