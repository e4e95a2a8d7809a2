package gitea

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/nightporter/nightporter/loop/forge/transport"
)

// labelColor is the colour of labels that are created: grey.
const labelColor = "#8a8f98"

// addLabels adds the labels that a pull request lacks. It returns what Gitea did not
// take.
func (c *call) addLabels(pull *sdk.PullRequest, labels []string) (missed []string, err error) {
	return c.addLabelsTo(pull.Index, pull.Labels, labels)
}

// addLabelsTo adds the labels that an issue or pull request lacks, and creates those
// that the repository lacks. It returns what Gitea did not take.
func (c *call) addLabelsTo(index int64, has []*sdk.Label, labels []string) (missed []string, err error) {
	add := slices.Clone(labels)
	for _, l := range transport.Present(has) {
		add = without(add, l.Name)
	}
	ids, missed, err := c.labelIDs(add)
	if err != nil || len(ids) == 0 {
		return missed, err
	}
	_, resp, err := c.AddIssueLabels(c.owner, c.name, index, sdk.IssueLabelsOption{Labels: ids})
	lacking, err := c.missed(checked(resp, err), "labels "+strings.Join(add, ", "))
	return append(missed, lacking...), err
}

// labelIDs returns the ids of labels, and creates those that the repository lacks. It
// returns what Gitea did not take.
func (c *call) labelIDs(names []string) (ids []int64, missed []string, err error) {
	if len(names) == 0 {
		return nil, nil, nil
	}
	known, err := c.labels()
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		id, ok := known[strings.ToLower(name)]
		if !ok {
			created, resp, err := c.CreateLabel(c.owner, c.name, sdk.CreateLabelOption{Name: name, Color: labelColor})
			lacking, err := c.missed(checked(resp, err), "label "+name)
			if err != nil {
				return nil, nil, err
			}
			if missed = append(missed, lacking...); len(lacking) > 0 {
				continue
			}
			if created == nil {
				return nil, nil, c.f.line.Unreadable()
			}
			id = created.ID
		}
		ids = append(ids, id)
	}
	return ids, missed, nil
}

// labels returns the ids of the repository's labels, by name in lower case.
func (c *call) labels() (map[string]int64, error) {
	out := map[string]int64{}
	for page := 1; page != 0; {
		list, resp, err := c.ListRepoLabels(c.owner, c.name, sdk.ListLabelsOptions{ListOptions: sdk.ListOptions{Page: page, PageSize: perPage}})
		if err := checked(resp, err); err != nil {
			return nil, err
		}
		for _, l := range transport.Present(list) {
			out[strings.ToLower(l.Name)] = l.ID
		}
		page = resp.NextPage
	}
	return out, nil
}

// askReviewers asks those for a review who were not asked and gave none: asking
// again would notify them with every edit. "org/team" is a team.
func (c *call) askReviewers(pull *sdk.PullRequest, reviewers []string) (missed []string, err error) {
	add := slices.Clone(reviewers)
	for _, u := range pull.RequestedReviewers {
		add = without(add, u.UserName)
	}
	for _, t := range pull.RequestedReviewersTeams {
		add = slices.DeleteFunc(add, func(s string) bool { return strings.EqualFold(team(s), t.Name) })
	}
	if pull.Poster != nil {
		add = without(add, pull.Poster.UserName) // Gitea asks no author
	}
	if len(add) == 0 {
		return nil, nil
	}
	reviews, err := c.reviews(int(pull.Index))
	if err != nil {
		return nil, err
	}
	for _, r := range reviews {
		if r.Reviewer != nil {
			add = without(add, r.Reviewer.UserName)
		}
	}
	// One at a time: Gitea refuses all for the sake of one.
	for _, who := range add {
		ask := sdk.PullReviewRequestOptions{Reviewers: []string{who}}
		if t := team(who); t != "" {
			ask = sdk.PullReviewRequestOptions{TeamReviewers: []string{t}}
		}
		resp, err := c.CreateReviewRequests(c.owner, c.name, pull.Index, ask)
		lacking, err := c.missed(checked(resp, err), "reviewer "+who)
		if err != nil {
			return nil, err
		}
		missed = append(missed, lacking...)
	}
	return missed, nil
}

// missed turns a refusal of labels or reviewers into the words of Request.Missed.
// Other errors stay errors.
func (c *call) missed(err error, what string) ([]string, error) {
	var answer *refusal
	if !errors.As(err, &answer) {
		return nil, err
	}
	failed := c.f.line.Failure(answer.Answer)
	switch answer.Status {
	case http.StatusUnprocessableEntity, http.StatusNotFound, http.StatusForbidden, http.StatusBadRequest:
		if !failed.Passes() {
			return []string{what + ": " + failed.Text}, nil
		}
	}
	return nil, failed
}

// team returns the team of "org/team", "" for a person.
func team(reviewer string) string {
	_, t, _ := strings.Cut(reviewer, "/")
	return t
}

// without returns names without one of them. Gitea does not distinguish case.
func without(names []string, name string) []string {
	return slices.DeleteFunc(names, func(s string) bool { return strings.EqualFold(s, name) })
}
