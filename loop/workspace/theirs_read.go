package workspace

import "context"

// Theirs is the user's repository as it is, for looking at a commit that ours
// has not fetched. It cannot write.
type Theirs struct{ w *Workspace }

// Theirs looks at the user's repository and fetches nothing.
func (w *Workspace) Theirs(ctx context.Context) (Theirs, error) {
	t, err := w.inspect(ctx)
	if err != nil {
		return Theirs{}, err
	}
	return Theirs{&Workspace{o: w.o, program: w.program, gitDir: t.gitDir}}, nil
}

// Read returns a file of a commit, as Workspace.Read does.
func (t Theirs) Read(ctx context.Context, commit, file string) ([]byte, error) {
	return t.w.Read(ctx, commit, file)
}
