// Package request knows what of a project was pushed to its remote, which requests
// ask for a merge of that, and what such a request says. It is a part of the pure
// core: package loop embeds State in its Project and folds it with Apply; it asks
// what is due after each commit and at a run's end, and adds the entries.
//
//   - state.go: State, a Branch for each run that pushed, and what is due for it
//   - apply.go: entries folded into a State
//   - stack.go: the branches of a run that has one for each of its tasks
//   - watch.go: what looks at a request show, and how often to look
//   - upkeep.go: what an open request needs to be green, and what bounds that
//   - task.go: the tasks that its needs become
//   - merge.go: what keeps a request from being merged, and its merge
//   - comments.go: which comments become guidance, and which of their authors are to
//     be told something
//   - reply.go: Answer, what such an author is told
//   - text.go: Facts, and the draft of a request that is written from them
//   - markdown.go: foreign text as Markdown that a forge takes for text alone
//
// # What it must not do
//
// Like package loop it does no I/O, reads no clock and never changes a State that
// it is given.
//
// # Invariants
//
//   - A branch has at most one push or one change of its request under way, and so
//     has the stack of a run.
//   - A run has one open request, or one for each of its tasks. One that a person closed is not opened again, and
//     nothing is written into a request that is not open.
//   - A request is merged with the head that a person confirmed, or not at all.
//   - A comment becomes guidance once, and only one of a person who may write to the
//     repository. Its author gets one last answer, and at most one before it.
//   - What people write around our section of a request's text is theirs
//     (ledger.EditBody).
//   - Whatever tasks, guidance and reasons say, a request's text mentions nobody,
//     closes no issue and loads no picture.
package request
