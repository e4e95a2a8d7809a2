// Package loop is the pure core of nightporter. It decides what happens next
// in a run, from what happened so far and from nothing else.
//
//	Decide(State, Input) → Entries + Effects + Answer
//	Apply(State, Entry)  → State
//
// An Input is anything that reaches the core: a person's command, an agent's
// event, the end of a session, a verification result, a timer. Decide says
// what the input means. Its entries are committed to the ledger together with
// its effects; the State is the fold of all entries, and an Effect asks the
// outside to act. The result of an effect is another input.
//
// Package engine is the shell around the core. It calls Decide once for each
// input, commits, and carries out the effects. Package ledger has the types of
// entries and effects, which adapters import instead of this package. Package
// people is the part of the core without a project: Shared embeds its state, and
// Decide hands its inputs over. Package prompt renders a state as what the next
// session is told; Preview makes the state of a session that is not planned yet.
//
// # What the core must not do
//
// The core does no I/O, reads no clock, starts no goroutine and draws no random
// number: time comes with the input. So a night can be replayed from its
// ledger, and a crash at any point is simulated by folding the entries that
// were committed before it. internal/importtest fails for code that breaks
// this rule.
//
// # States of a run
//
//	planned ──► running ──┬──► waiting               limit, agent, question, disk
//	   │           ▲      ├──► pausing ──► paused    /pause; at max_tasks paused at once
//	   │           │      ├──► stopping ──► ended    /stop, a signal
//	   │           │      ├───────────────► ended    a stop reason (docs/spec 2.4)
//	   │           └──────┘                          the wait is over, /resume
//	   └──────────────────────────────────► ended    could not start, --check
//
// A waiting run can be paused and stopped too, and a paused one stopped. Before
// a run with commits ends, its branch tip is verified and pushed (Run.Finishing). A signal
// that cuts a session off leaves the run in stopping; the same command resumes
// it.
//
// # States of a task
//
//	pending ──► ready ──► active ──┬──► done             converged and committed
//	               ▲               ├──► waiting          a question; its answer makes it ready
//	               │               ├──► manual_verify    a person has to look: done, or ready
//	               │               ├──► blocked          two attempts failed, with replan_after a third one, or an event says so
//	               │               ├──► pending          its plan became parts: done when they are
//	               └───────────────┘                     parked, failed once, starts anew
//
// A ready task goes back to pending when a task it depends on is no longer
// done, and to blocked or manual_verify where its source marks it so and its
// turn comes. A person can put a task away that is not at work (skipped), tick
// it in the source (done), or remove its line before it is done (withdrawn, and
// as before once the line is back). /revert makes a done task skipped, and /keep
// one that was taken out done again. /retry makes a blocked, skipped or done
// task ready, an edit of its text a blocked one. Nothing but a person takes a
// task out of done.
//
// # Stages of an attempt
//
//	ready ──► session ──► takeover ──► checks ──┬──► ready     next hat, or the same one again
//	             │            │                 └──► commit    converged
//	             │            └───────► ready, commit          nothing to run
//	             └────────────────────► ready, commit          no event, or a hat that only reads
//	queued ──┬──► commit                                       with queue = "batch": others passed together with it
//	         ├──► ready                                        its change fails on top of theirs
//	         └──► merge                                        others were committed without it
//	commit ──┬──► the task is done
//	         └──► merge ──┬──► checks                          the tip moved: verified on the new one
//	                      └──► the task starts anew            a conflict
//	held                                                       an answer or the next run is waited for
//
// Classify says what a session's end counts as (docs/spec 2.2). The pattern's
// routes choose the next hat (docs/spec 2.7).
//
// # Invariants
//
// Tests hold these after every decision of random nights with crashes, repeated
// deliveries, edits and nonsensical commands (TestSchedules), and over all
// entry types:
//
//   - Decide is a function: the same state and input give the same decision.
//   - Decide and Apply never change the state that they are given, and a state
//     that was decided on keeps its value whatever is decided later.
//   - The state after a decision is the fold of its entries, also after they
//     were encoded and decoded; a snapshot decodes to the same state.
//   - Apply is total: every entry gives a state, and an unknown type leaves the
//     state as it is.
//   - A result that is delivered twice changes nothing the second time.
//   - An agent session in flight has exactly one lease, a project has at most
//     one session in flight, and no session is planned twice.
//   - Numbers of runs, questions and guidance are issued in order, each once.
//   - A verification result says what the command's exit said.
//   - A red result counts, unless each of its failures is exempt for the task. A
//     commit says what fails in its tree, and no run ends with 0 while its tip is
//     red or after something exempt failed in a task's tree.
//   - A task is committed on the branch's tip, with the tree that was verified
//     green, where there is anything to verify with.
//   - With queue = "batch" a task is committed with its tree of the chain, as part
//     of a prefix that passed as one; one that goes back fails on top of a prefix
//     that passed, or of the tip. No attempt leaves the queue but for a reason that
//     the ledger has.
//   - A task is done with its commit on the branch, unless a review agreed that
//     nothing has to change, a person said so, its parts are done, or no hat of its
//     pattern writes. Only a person undoes that, or an evaluator, twice at most. No commit has the tree of its parent.
//   - A task that was taken out of the branch is not committed again unless a person
//     asks for it. The tip of a branch that was made again is verified, or said not
//     to be.
//   - No directive is lost, doubled or reordered, bound to two live sessions,
//     or in use by a task that is over.
//   - Only a commit of the run's branch that was verified green is pushed, and a run
//     has one request. No run waits for a remote that fails.
//   - A run that keeps a request green works on no task of the source, and gives the
//     last run back at its end. A request has three answers to red checks, and its
//     base is merged at most once in ten minutes, unless a person starts a run.
//   - A part is open only while its task's plan is in force.
//   - A task is planned anew once until a person takes it up again, and has no other
//     attempt after MaxAttempts failed ones.
//   - What the source lacks ends nothing: no session, attempt or guidance, and no
//     run as done. A line that is back brings back what its task had.
//   - What names a task names its source: nothing that was said about a task of
//     one source reaches a task of another.
//   - People are asked about a change of a threshold once, and nothing changes it
//     but their answer or command. Critical issues always count.
//   - A session whose prompt quotes what a session wrote that had read outside
//     text counts as one that reads outside text (package prompt holds it).
//   - A session accepts one event. The same event gets the same answer.
//   - The run never hangs: an effect is under way, something is due at a known
//     time, or a person is waited for.
//   - Once nothing goes wrong any more and people answer, every night comes to
//     its end with nothing in flight.
//   - Every kind of effect has a class, which says what is done where its
//     outcome is unknown. A kind without one cannot be committed.
//
// # Files
//
// Each file names, and so depends on, files of earlier groups only, with few
// exceptions:
//
//   - State: state.go, task_state.go, tasks.go, taskids.go, list.go, spent.go, overshoot.go;
//     questions about it in project.go, state_query.go, scope.go, settings.go,
//     await.go, due.go. window.go has what agents told of their usage
//     windows, network.go what sessions may reach, and taint.go
//     what closes it: things in which a stranger's words may stand.
//   - Fold: folder.go, apply.go, apply_run.go, apply_task.go, apply_remake.go.
//   - Decision: decision.go has what every decision is made with, text.go what
//     its sentences are made of.
//   - Proof: proof.go (what a done task is worth).
//   - An attempt: attempt.go, check_start.go, check.go and evaluation.go (verification),
//     exemption.go (what may fail in it), emit.go and memory.go (what a session
//     sends), criteria.go (which acceptance criteria a verdict leaves out), capture.go and secret.go (what it left), issueset.go, converge.go
//     and mark.go (the commit and the person's file), queue.go and batch.go
//     (tasks that are verified together before it), consensus.go and part.go
//     (plans that are argued about), exit.go, limit.go, early.go and outcome.go (the end of a session),
//     block.go (the end of a task that nobody can do), reflect.go (what a failed
//     attempt leaves for the next one) and replan.go (another plan after failures).
//   - A run: start.go, redtip.go (whose red it begins with), ready.go, hold.go
//     (pause, resume, stop), remake.go (tasks that are taken out of its branch),
//     remake_wish.go (what people ask for there) and remake_branch.go (how that
//     becomes a branch), wave.go and triager.go (bug reports, some at a time, and who
//     decides about unclear ones), sort_reports.go, claim.go and claim_branch.go (reports that
//     others work on), run.go (its end), proof_word.go (what its tasks' "done"
//     is worth), startable.go, score.go (whose turn comes
//     next), retell.go (what it will probably get done, once it is another thing than was said), phase.go, role.go (patterns of tasks, and what an evaluator decides),
//     threshold.go (what sends a task back) with fixround.go (what that was worth), source.go, known.go, told.go, vanished.go (what a reading of the
//     source lacks), reload.go, effect_failure.go, clock.go (jumps of the clock).
//   - After the commit: publish.go (the push of a branch, and its request),
//     watch.go (what looks at open requests show), upkeep.go (runs that keep them
//     green), comments.go (comments that become guidance, and their answers),
//     merge.go (their merge); what of them is known, what they need and what a
//     request says is in package request.
//   - People: question.go asks; answer.go, undo.go and question_table.go, which
//     has a row for each kind of question, act on answers; question_effect.go is
//     the form of a row. guidance.go, task_command.go, offer.go,
//     propose_lanes.go (what several lanes would bring), late.go, reminder.go. Who the people are is decided in package people.
//   - Inputs: input.go, decide.go, and advance.go, the only place where work
//     begins.
//   - preview.go decides what nobody records: the state of a session that is not
//     planned yet.
package loop
