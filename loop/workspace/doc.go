// Package workspace is everything that nightporter does with git: a bare
// repository for each project, a work folder for each run, rooms in which trees
// are verified, the capture of what
// a session left there, the check of its scope, and one commit for each task.
//
// It deals with two repositories and one folder, each trusted to another
// degree:
//
//   - Ours, STATE/repos/PROJECT.git. It owns all its objects and has no alternates,
//     so the user's gc cannot delete anything that a run needs. All work is done
//     here, by plumbing.
//   - The user's. It is read by fetching from it, and written in one way only:
//     objects, and a fast-forward of a branch below nightporter/PROJECT/. A remote
//     gets the same, from our repository, and nothing of the user's takes part.
//   - The work folder, STATE/runs/RUN/work. A session may have written anything
//     there, so git never runs in it with its own .git: that would execute what
//     the session planted. It is read with our git dir, index and configuration,
//     which define no filter and no hook.
//
// A session finds a small ordinary repository of one commit as .git of its work
// folder. It is made anew before each session and after each capture; nothing
// is ever read back from it.
//
// Files by subject:
//
//	repository.go begin.go look.go userrepo.go dirty.go   ours, a run's start, the user's repository
//	fetch.go                                              from the user's repository to ours
//	obstacles.go                                          what keeps every run from its start
//	content.go submodule.go lfs.go                        what a tree names without holding it
//	maintain.go                                           ours, kept small and fast
//	folder.go index.go dotgit.go walk.go                  the work folder
//	room.go layer.go room_upper.go room_git.go            rooms, in which trees are verified
//	tree_fs.go                                            the files of a tree as a file system
//	room_files.go                                         what rooms get of the user's checkout
//	hazard.go                                             what a session left to stop or mislead git
//	disk.go                                               a full disk, as git tells it
//	capture.go classify.go names.go casefold.go           capture: what becomes of each changed path
//	newfiles.go                                           capture: new files, judged before git reads one
//	conflict.go                                           capture: conflicts that a session left unresolved
//	hooks.go                                              the user's commit hooks, in rooms
//	runsitself.go                                         files that run where a branch is checked out
//	leak.go                                               secrets in what a capture adds; package secret has the rules
//	proof.go                                              what a tree changed of what proves it
//	scope.go inventory.go glob.go companion.go undoes.go  scopes as sets of paths
//	ignore.go ignored.go                                  ignore rules, and what they keep out of a capture
//	commit.go merge.go publish.go                         commits, and their way into the user's repository
//	sign.go                                               signatures of commits, by the user's configuration
//	remote.go push.go push_error.go                       to a remote, and how it refuses
//	message.go footer.go                                  the text of a commit, and what it names of the ledger
//	loose.go                                              a .git and its commit, without a process
//	files.go review.go git.go                             trees, diffs, changed files for a reviewer; the git program
//	notebook.go notebook_files.go notebook_item.go        the folder .ralph of the checkout
//
// The tests hold these invariants:
//
//   - No hook, filter, fsmonitor or other program that a repository or a session
//     configures is ever run.
//   - Nothing of the user's repository changes but our branches and objects.
//   - After a capture the work folder holds the captured tree and ignored files,
//     nothing else.
//   - A room holds what a clone of its tree would hold after setup, and nothing
//     that a session left elsewhere.
//   - Begin, Capture, Merge and Commit yield the same result when they are
//     repeated after a crash.
//   - No pipe that a session left makes git wait, and no symbolic link or hard link
//     makes us write, read or give away a file outside the work folder.
package workspace
