package loop

import (
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// A branch on the remote that names a report is a claim on it, too, by whoever pushed it:
// "fix/B37", "issue-12", "12-total-is-wrong", or that of another nightporter.

// ClaimingBranches returns the branches, of those on a remote, that claim reports which
// could be taken up, by the reports' ids. Branches that this nightporter made claim
// nothing.
func (s State) ClaimingBranches(branches []string) map[string][]string {
	own := map[string]bool{}
	for _, b := range s.Project.Requests.Branches {
		own[b.Name] = true
	}
	var others [][]string // words of a branch
	var names []string
	for _, b := range slices.Sorted(slices.Values(branches)) {
		run := s.Project.Run != nil && (b == s.Project.Run.Base.Branch || strings.HasPrefix(b, s.Project.Run.Base.Branch+"-"))
		if !own[b] && !run {
			others, names = append(others, wordsOfBranch(b)), append(names, b)
		}
	}
	claims := map[string][]string{}
	for _, t := range s.Project.Tasks.All() {
		open := (t.Status == ledger.Ready || t.Status == ledger.Pending) && t.Attempt == nil || t.Aside != ""
		if t.Task.Report == nil || !open || isPart(t.Task) || s.Project.asked(t) {
			continue
		}
		for n, words := range others {
			if names[n] != "" && namesReport(words, t.Task.ID) {
				claims[t.Task.ID] = append(claims[t.Task.ID], names[n])
			}
		}
	}
	return claims
}

// wordsOfBranch returns the words of a branch's name in lower case. Its last part begins
// with "/".
func wordsOfBranch(name string) []string {
	dir, last := "", name
	if at := strings.LastIndexByte(name, '/'); at >= 0 {
		dir, last = name[:at], name[at+1:]
	}
	split := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune("/-_.#", r) })
	}
	return slices.Concat(split(dir), []string{"/"}, split(last))
}

var (
	numberWord = regexp.MustCompile(`^[0-9]+$`)
	runWord    = regexp.MustCompile(`^r[0-9]+$`)
	digitIn    = regexp.MustCompile(`[0-9]`)
	// beforeNumber are the words that make a number in a branch's name that of an issue.
	beforeNumber = []string{"/", "issue", "issues", "gh", "bug", "bugs", "fix", "fixes", "fixing", "hotfix"}
)

// namesReport reports whether the words of a branch name a report. A number alone does
// where an issue's stands, an id without a digit only behind that of a run: other words
// are words.
func namesReport(words []string, id string) bool {
	want := wordsOfBranch(ledger.ShortID(id))[1:]
	for at := 1; at+len(want) <= len(words); at++ {
		if len(want) == 0 || !slices.Equal(words[at:at+len(want)], want) {
			continue
		}
		before := words[at-1]
		switch {
		case runWord.MatchString(before):
			return true
		case !digitIn.MatchString(strings.Join(want, "")):
		case len(want) > 1 || !numberWord.MatchString(want[0]):
			return true
		case slices.Contains(beforeNumber, before) && (before != "/" || at+1 < len(words)):
			return true
		}
	}
	return false
}
