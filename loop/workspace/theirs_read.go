package workspace

import "context"

// UserRepo reads commits of the user's repository that ours has not fetched. It
// cannot write.
type Theirs struct{ w *Workspace }

// UserRepo opens the user's repository for reading and fetches nothing.
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
