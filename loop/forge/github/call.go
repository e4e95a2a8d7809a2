package github

import (
	"context"

	gh "github.com/google/go-github/v92/github"
)

// Call lends the client for what Forge has no method for, such as the issues of a
// coding agent. A call that turns out to go to a former name of the repository is
// made once more; errors are those of the other methods.
func (f *Forge) Call(ctx context.Context, do func(api *gh.Client, owner, name string) error) error {
	_, err := try(f, ctx, func(owner, name string) (struct{}, error) { return struct{}{}, do(f.api, owner, name) })
	return err
}
