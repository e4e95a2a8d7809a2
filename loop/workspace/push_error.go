package workspace

import (
	"net/url"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/internal/text"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/workspace/secret"
)

// notForward is the error of a push to a branch that has commits which the pushed
// one lacks.
type notForward struct{ said string }

func (e *notForward) Error() string { return e.said }

// away returns the error for a remote whose branch is another one each time it is
// looked at.
func (e *notForward) away(r Remote) error {
	return &ledger.ForgeError{Failure: ledger.ForgeAway, Text: "the branch on " + ShowURL(r.URL) + " changes: " + remark(e.said)}
}

// saysMoved matches git's result for a branch that has commits which ours lacks.
var saysMoved = regexp.MustCompile(`(?m)^!\t.*\t\[rejected\] \((?:fetch first|non-fast-forward|stale info|needs force)\)`)

// remoteRefusals are the reasons for which git fails to reach a remote, or a remote
// refuses what it is asked, by what git and the servers print. The first one that
// matches counts. The words in quotes after "remote:" are a server's own.
var remoteRefusals = []struct {
	says    *regexp.Regexp
	is      ledger.ForgeFailure
	text    string // "" = the server's or git's own words
	remedy  string
	perhaps bool // words of a server follow text
}{
	// What a server says of the repository comes before the status of its answer,
	// which is the same for all of it.
	{regexp.MustCompile(`(?im)^remote: .*(?:archived|read-only|read only)`), ledger.ForgeArchived, "the repository is archived", "Unarchive it, or set push = \"never\".", true},
	{regexp.MustCompile(`(?im)\(protected branch hook declined\)|\(push declined due to repository rule violations\)|^remote: .*(?:protected branch|branch protection|GH006|GH013|not allowed to push)`), ledger.ForgeProtected, "a rule for this branch refuses the push", "Let the token's account push branches nightporter/**.", true},
	{regexp.MustCompile(`(?m)\((?:pre-receive|update|proc-receive|reference-transaction) hook declined\)|\(hook declined\)|\(denied`), ledger.ForgeRefused, "a hook of the remote refuses the push", "Do what it says. The push is tried again after your next command.", true},
	{regexp.MustCompile(`\(shallow update not allowed\)|shallow update not allowed`), ledger.ForgeRefused, "the repository is a shallow clone, which the remote does not take commits of", "git fetch --unshallow, in your repository; then start a run.", false},
	{regexp.MustCompile(`(?m)returned error: (?:429)|^remote: .*rate limit`), ledger.ForgeLimited, "the remote limits how often it is asked", "", false},
	{regexp.MustCompile(`(?m)^remote: .*(?:Repository not found|does not exist)|^ERROR: Repository not found|repository '.*' not found|does not appear to be a git repository|returned error: 404`), ledger.ForgeMissing, "there is no such repository, or the account may not see it", "Check the address and what the account or token may see.", false},
	{regexp.MustCompile(`(?m)^remote: .*(?:Invalid username or|Bad credentials|Invalid credentials|authentication failed|Unauthorized)|Authentication failed for|could not read (?:Username|Password)|returned error: 401`), ledger.ForgeLogin, "the remote does not accept the login", "Put a valid token into the token file; see docs/operating.md.", false},
	{regexp.MustCompile(`Permission denied \(|Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED|No such identity`), ledger.ForgeLogin, "ssh cannot log in without asking somebody", "Make this work as the daemon's user: ssh -o BatchMode=yes HOST", true},
	{regexp.MustCompile(`(?m)^(?:remote: |ERROR: ).*(?:Permission to .* denied|denied to|insufficient|not authorized|Write access to repository not granted|The requested repository|User permission denied)|returned error: 403`), ledger.ForgeRights, "the account may not push to this repository", "Give it write access; a token of GitHub needs \"Contents: write\".", false},
	{regexp.MustCompile(`(?i)SSL certificate problem|server certificate verification failed|certificate has expired|SSL peer certificate|does not match target host name|no alternative certificate subject name`), ledger.ForgeRefused, "the server's certificate is not trusted", "Trust its authority (git config --global http.sslCAInfo FILE), or correct the address.", true},
	{regexp.MustCompile(`Permission denied|insufficient permission for adding an object|unable to create temporary object`), ledger.ForgeRights, "the daemon's user may not write to the remote", "Give it write access.", true},
	{regexp.MustCompile(`'refs/heads/[^']*' exists; cannot create`), ledger.ForgeRefused, "", "Rename or delete that branch on the remote: git takes its name for a folder.", true},
	{regexp.MustCompile(`\(failed to update ref\)|cannot lock ref|\(failed to lock\)`), ledger.ForgeAway, "", "", true},
	{regexp.MustCompile(`Could not resolve host|Couldn't resolve|Temporary failure in name resolution|Name or service not known|Failed to connect|Couldn't connect|Connection (?:refused|timed out|reset|closed)|Network is unreachable|No route to host|Operation too slow|Operation timed out|timed out after|early EOF|hung up unexpectedly|RPC failed|returned error: 5\d\d|returned error: 408|Empty reply from server|gnutls_handshake|SSL_ERROR_SYSCALL|unexpected eof|Recv failure|Send failure|transfer closed|Received HTTP code \d+ from proxy`), ledger.ForgeAway, "", "", true},
}

// remoteError returns what a git means that failed at a remote: a *ledger.ForgeError,
// or *notForward.
func remoteError(r Remote, stdout, stderr string) error {
	if saysMoved.MatchString(stdout) {
		return &notForward{said: stdout}
	}
	said, all := wordsOf(r, stdout, stderr), stderr+"\n"+stdout
	for _, f := range remoteRefusals {
		if !f.says.MatchString(all) {
			continue
		}
		e := &ledger.ForgeError{Failure: f.is, Text: f.text, Remedy: f.remedy}
		switch {
		case f.text == "":
			e.Text = said
		case f.perhaps && said != "":
			e.Text += ": " + said
		}
		return e
	}
	if said == "" {
		said = "git push failed and gave no reason"
	}
	return &ledger.ForgeError{Failure: ledger.ForgeRefused, Text: said, Remedy: "Try it by hand as the daemon's user: git push"}
}

// wordsOf returns what a failed git and a server say, in one line: the server's own
// words where it has any, else git's last reason. It holds no password and nothing
// that looks like a secret.
func wordsOf(r Remote, stdout, stderr string) string {
	var server, reasons []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		switch words, is := strings.CutPrefix(line, "remote:"); {
		case is && strings.Trim(words, " -=*") != "":
			server = append(server, strings.TrimSpace(words))
		case strings.HasPrefix(line, "fatal:"), strings.HasPrefix(line, "error:"), strings.HasPrefix(line, "ERROR:"), strings.HasPrefix(line, "ssh:"), strings.Contains(line, "Permission denied"), strings.Contains(line, "verification failed"):
			reasons = append(reasons, line)
		}
	}
	words := strings.Join(server, " ")
	if words == "" && len(reasons) > 0 {
		words = reasons[0]
		if strings.HasPrefix(words, "error: failed to push some refs") || strings.Contains(words, "Could not read from remote repository") {
			words = reasons[len(reasons)-1]
		}
	}
	if words == "" {
		for line := range strings.Lines(stdout) {
			if strings.HasPrefix(line, "!") {
				words = line[strings.LastIndexByte(line, '\t')+1:]
			}
		}
	}
	return remark(hidePassword(words))
}

// address matches addresses with a user in them.
var address = regexp.MustCompile(`[a-z]+://[^\s'"]*@[^\s'"]+`)

// hidePassword takes passwords out of addresses.
func hidePassword(s string) string {
	return address.ReplaceAllStringFunc(s, func(a string) string {
		if _, err := url.Parse(a); err != nil {
			return "(an address)"
		}
		return ShowURL(a)
	})
}

// remark returns foreign words as one line without secrets.
func remark(s string) string { return text.First(secret.Redact(text.OneLine(s)), 400) }
