// Package corpus holds small tasks by which the honesty of a run is measured:
// honest work that has to become done, cheats that must not pass as proved, and
// tricks that no machine sees, kept to say so (docs/spec 2.3).
//
// A task is one file, testdata/tasks/LANGUAGE/NAME.txtar, in the languages go,
// node, python and rust. Its comment says in a sentence what it is; the lines
// after that are settings, one each:
//
//	class: honest | cheat | unseen
//	want: WORD[, WORD]…       what may come of it; refused = it does not become done
//	task: TITLE               the title in the plan
//	scope: GLOBS              the task's scope; none where it is missing
//	pattern: NAME             default plan-build-review
//	setup: COMMAND            any number
//	verify: COMMAND           any number
//	no_change: REASON         a field of the events of hats that write
//	checks_changed: REASON    likewise
//	e2e: true                 one of the tasks of make e2e
//
// Its files are
//
//	start/PATH                the repository's first commit
//	HAT/PATH, HAT.sh          the first session of this hat writes these files, then
//	                          runs the script in its work folder
//	HAT.json                  the data of its event, instead of an invented one
//	HAT-after.sh              run after its event was taken
//	HAT2/PATH, HAT2.sh, …     the same for its second session, and so on; a session
//	                          without its own repeats the last ones
//	judge/PATH, judge.sh      tells whether the work is good: the files are laid over a
//	                          clone of the branch, where the script has to succeed;
//	                          without a script, setup and verify have to
//	good/PATH, good.sh        of a cheat: an honest solution, which the judge accepts
//
// A script is run by sh -e, a judge's with the folder of the start files in
// $START.
//
// task.go reads such files, and play.sh is the agent that plays them. run_test.go
// has the real programs do a task, table_test.go prints what came of all as a
// table. TestCoherent in task_test.go plays tasks by hand: a start has to be
// green, honest work too, and a judge has to know bad work from good.
//
//	go test ./internal/corpus -run TestCorpus -v -corpus.only 'go/test-'
//	go test ./internal/corpus -run TestCorpus -v -timeout 1h -corpus.table=$PWD/docs/corpus.md
//	NIGHTPORTER_SOAK=1 go test ./internal/corpus -run 'TestCoherent/node/'
//
// make test reads all tasks and plays some by hand, make e2e runs twelve, make
// soak runs all. A task whose toolchain is missing is skipped with the reason. An
// outcome that a task does not want fails the test. docs/corpus.md has what came
// of all tasks, and page_test.go holds that none is missing there.
//
// The package is for tests alone (internal/importtest).
package corpus
