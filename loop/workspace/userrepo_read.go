package workspace

import "context"

// UserRepo reads commits of the user's repository that ours has not fetched. It
// cannot write.
type UserRepo struct{ w *Workspace }

// UserRepo opens the user's repository for reading and fetches nothing.
func (w *Workspace) UserRepo(ctx context.Context) (UserRepo, error) {
	t, err := w.inspect(ctx)
	if err != nil {
		return UserRepo{}, err
	}
	return UserRepo{&Workspace{o: w.o, program: w.program, gitDir: t.gitDir}}, nil
}

// Read returns a file of a commit, as Workspace.Read does.
func (t UserRepo) Read(ctx context.Context, commit, file string) ([]byte, error) {
	return t.w.Read(ctx, commit, file)
}
