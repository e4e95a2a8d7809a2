// Package workspace is everything nightporter does with git: its own bare
// repository per project, one work folder per run, the take-over of what a
// session left, the scope check, and the task's one commit (SPEC 9).
//
// Two repositories and one folder are in play, and each is trusted to a
// different degree:
//
//   - Ours, STATE/repos/PROJECT.git. It owns every object that it needs (no
//     alternates), so the user's gc cannot take anything away from under a
//     night's work. All thinking is done here, by plumbing.
//   - The user's. It is read by fetching from it, and gets one kind of write:
//     objects, and a fast-forward of a branch below nightporter/PROJECT/.
//     None of its hooks, filters or fsmonitor is ever run.
//   - The work folder, STATE/runs/RUN/work. A session can have written
//     anything there, so git is never run in it by its own .git: that would
//     execute what the session planted. It is read with our git dir, our
//     index and our configuration, which define no filter and no hook.
//
// The .git that a session finds in its work folder is a small ordinary
// repository of one commit, made anew before each session and after each
// take-over; nothing is ever read back from it.
package workspace
