package gitea

import (
	"cmp"
	"path"
	"slices"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/nightporter/nightporter/loop/forge/transport"
	"github.com/nightporter/nightporter/loop/ledger"
)

// maxChecks limits how many statuses of a commit are read. Gitea keeps all that a
// check ever had.
const maxChecks = 1000

// checks returns the newest status of each name, by name.
func (c *call) checks(commit string) ([]ledger.ForgeCheck, error) {
	newest := map[string]*sdk.Status{}
	for page, seen := 1, 0; page != 0 && seen < maxChecks; {
		list, resp, err := c.ListStatuses(c.owner, c.name, commit, sdk.ListStatusesOption{ListOptions: sdk.ListOptions{Page: page, PageSize: perPage}})
		if err := checked(resp, err); err != nil {
			return nil, err
		}
		for _, s := range transport.Present(list) {
			if was := newest[s.Context]; was == nil || s.ID > was.ID {
				newest[s.Context] = s
			}
		}
		seen, page = seen+len(list), resp.NextPage
	}
	var out []ledger.ForgeCheck
	for name, s := range newest {
		out = append(out, ledger.ForgeCheck{Name: name, State: checkState(s.State), URL: s.TargetURL, Summary: s.Description, Since: s.Created.UTC()})
	}
	slices.SortFunc(out, byName)
	return out, nil
}

// checkState returns the state of a status. A warning is none of the two.
func checkState(s sdk.StatusState) ledger.CheckState {
	switch s {
	case sdk.StatusSuccess:
		return ledger.CheckPassed
	case sdk.StatusPending:
		return ledger.CheckPending
	case sdk.StatusWarning, "skipped":
		return ledger.CheckNeutral
	}
	return ledger.CheckFailed
}

// demand marks the checks that a base demands, by Gitea's patterns. A required
// check that has not begun is pending.
func demand(checks []ledger.ForgeCheck, patterns []string) []ledger.ForgeCheck {
	out := slices.Clone(checks)
	for _, pattern := range patterns {
		found := false
		for n := range out {
			if ok, err := path.Match(pattern, out[n].Name); ok && err == nil || pattern == out[n].Name {
				out[n].Required, found = true, true
			}
		}
		if !found {
			out = append(out, ledger.ForgeCheck{Name: pattern, State: ledger.CheckPending, Required: true})
		}
	}
	slices.SortFunc(out, byName)
	return out
}

// pending reports whether one of the checks is.
func pending(checks []ledger.ForgeCheck) bool {
	return slices.ContainsFunc(checks, func(c ledger.ForgeCheck) bool { return c.State == ledger.CheckPending })
}

func byName(a, b ledger.ForgeCheck) int { return cmp.Compare(a.Name, b.Name) }
