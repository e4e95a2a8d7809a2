package github

import (
	"context"
	"net/http"
	"slices"
	"strings"

	gh "github.com/google/go-github/v92/github"

	"github.com/nightporter/nightporter/loop/forge/transport"
	"github.com/nightporter/nightporter/loop/ledger"
)

// addLabels adds the labels that a pull request lacks. GitHub creates those that
// the repository lacks. It returns what GitHub did not take.
func (f *Forge) addLabels(ctx context.Context, owner, name string, pull *gh.PullRequest, labels []string) (missed []string, err error) {
	add := slices.Clone(labels)
	for _, l := range pull.Labels {
		add = without(add, l.GetName())
	}
	if len(add) == 0 {
		return nil, nil
	}
	_, _, err = f.api.Issues.AddLabelsToIssue(ctx, owner, name, pull.GetNumber(), add)
	return f.missed(err, "label", add)
}

// askReviewers asks those for a review who were not asked and gave none: asking
// again would notify them with every edit. "org/team" is a team.
func (f *Forge) askReviewers(ctx context.Context, owner, name string, pull *gh.PullRequest, reviewers []string) (missed []string, err error) {
	add := slices.Clone(reviewers)
	for _, u := range pull.RequestedReviewers {
		add = without(add, u.GetLogin())
	}
	for _, t := range pull.RequestedTeams {
		add = slices.DeleteFunc(add, func(s string) bool { return strings.EqualFold(team(s), t.GetSlug()) })
	}
	add = without(add, pull.GetUser().GetLogin()) // GitHub asks no author
	if len(add) == 0 {
		return nil, nil
	}
	reviews, _, err := f.api.PullRequests.ListReviews(ctx, owner, name, pull.GetNumber(), &gh.ListOptions{PerPage: perPage})
	if err != nil {
		return nil, err
	}
	for _, r := range transport.Present(reviews) {
		add = without(add, r.GetUser().GetLogin())
	}
	// One at a time: GitHub refuses all for the sake of one.
	for _, who := range add {
		ask := gh.ReviewersRequest{Reviewers: []string{who}}
		if t := team(who); t != "" {
			ask = gh.ReviewersRequest{TeamReviewers: []string{t}}
		}
		_, _, err := f.api.PullRequests.RequestReviewers(ctx, owner, name, pull.GetNumber(), ask)
		lacking, err := f.missed(err, "reviewer", []string{who})
		if err != nil {
			return nil, err
		}
		missed = append(missed, lacking...)
	}
	return missed, nil
}

// missed turns a refusal of labels or reviewers into the words of Request.Missed.
// Other errors stay errors.
func (f *Forge) missed(err error, what string, names []string) ([]string, error) {
	switch code := status(err); {
	case err == nil:
		return nil, nil
	case code == http.StatusUnprocessableEntity || code == http.StatusNotFound || code == http.StatusForbidden:
		failed := f.line.Failure(mustAnswer(err))
		if failed.Passes() {
			return nil, failed
		}
		return []string{what + " " + strings.Join(names, ", ") + ": " + failed.Text}, nil
	}
	return nil, err
}

// mustAnswer returns the answer in an error that has one.
func mustAnswer(err error) (a transport.Answer) {
	a, _ = answer(err)
	return a
}

// team returns the team of "org/team", "" for a person.
func team(reviewer string) string {
	_, t, _ := strings.Cut(reviewer, "/")
	return t
}

// without returns names without one of them. GitHub does not distinguish case.
func without(names []string, name string) []string {
	return slices.DeleteFunc(names, func(s string) bool { return strings.EqualFold(s, name) })
}

// setDraft makes a pull request a draft or ready for review, which GitHub's REST
// interface cannot.
func (f *Forge) setDraft(ctx context.Context, pull *gh.PullRequest, draft bool) error {
	mutation := "markPullRequestReadyForReview"
	if draft {
		mutation = "convertPullRequestToDraft"
	}
	body := map[string]any{
		"query":     "mutation($id: ID!) { " + mutation + "(input: {pullRequestId: $id}) { pullRequest { isDraft } } }",
		"variables": map[string]any{"id": pull.GetNodeID()},
	}
	// GitHub Enterprise has it beside the folder of the REST interface.
	at := *f.line.Base
	at.Path = strings.TrimSuffix(at.Path, "v3/") + "graphql"
	req, err := f.api.NewRequest(ctx, http.MethodPost, at.String(), body)
	if err != nil {
		return err
	}
	var out struct {
		Errors []struct{ Type, Message string }
	}
	if _, err := f.api.Do(req, &out); err != nil {
		return err
	}
	if len(out.Errors) == 0 {
		pull.Draft = &draft
		return nil
	}
	if draft {
		return nil // the plan of the repository may have no drafts: its Draft says what it is
	}
	failed := f.line.Failure(transport.Answer{Status: http.StatusForbidden, Message: out.Errors[0].Message})
	failed.Failure, failed.Remedy = ledger.ForgeRights, "Mark the pull request as ready for review on its page"
	return failed
}
