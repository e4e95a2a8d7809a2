package bot

import (
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Forms of ids as people type them. The ids of tasks are their source's, and have no
// form of their own.
var (
	questionID = regexp.MustCompile(`^[qQ][0-9]{1,9}$`)
	itemID     = regexp.MustCompile(`^[gG][0-9]{1,9}$`)
	runForm    = regexp.MustCompile(`^[rR][0-9]{1,9}$`)
	issued     = regexp.MustCompile(`^[gqrGQR][0-9]{1,9}$`) // guidance, question or run
	digits     = regexp.MustCompile(`^[0-9]{1,9}$`)
)

// shortID writes a task's id for people: cleaned, at most 14 columns wide.
func shortID(id string) string { return Cut(Clean(ledger.ShortID(id)), 14) }

// idArg writes a task's id as the argument of a command: "8" for "#8".
func idArg(id string) string { return strings.TrimPrefix(Clean(ledger.ShortID(id)), "#") }

// Ranges writes task ids and joins three or more consecutive numbers: "#1–#7 #9
// #11".
func Ranges(ids []string) string {
	var out []string
	for i := 0; i < len(ids); {
		n, ok := idNumber(ids[i])
		j := i
		for ok && j+1 < len(ids) {
			m, is := idNumber(ids[j+1])
			if !is || m != n+(j+1-i) {
				break
			}
			j++
		}
		switch {
		case j-i >= 2:
			out = append(out, shortID(ids[i])+"–"+shortID(ids[j]))
		default:
			for _, id := range ids[i : j+1] {
				out = append(out, shortID(id))
			}
		}
		i = j + 1
	}
	return strings.Join(out, " ")
}

func idNumber(id string) (int, bool) {
	rest, ok := strings.CutPrefix(ledger.ShortID(id), "#")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(rest)
	return n, err == nil
}

func runNumber(id string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(id, "r"))
	return n
}

// commitID shortens a commit hash to seven characters for display.
func commitID(hash string) string {
	hash = Clean(hash)
	return hash[:min(len(hash), 7)]
}
