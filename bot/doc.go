// Package bot is the conversation between people and nightporter, independent of
// any platform: it parses the lines that people type into inputs of the core, and
// renders the core's state and ledger as messages for a chat or a terminal.
//
// Handle is the way in: it parses one line, carries out its command and returns
// the reply. Commands that only read are functions of a loop.State or of ledger
// records: Status, Tasks, Task, PlanOf, Hats, Queue, Log, Evidence, Help. A command
// that changes something sends an input through a Service, which the daemon
// implements; a DaemonService also knows the paired people and starts runs.
//
// The neighbours: package inbound takes what platforms deliver and calls Handle,
// package notify composes messages that nobody asked for from the renderers
// here, package delivery sends them, and each platform has a package of its own.
//
// # Files
//
//   - message.go is the form of a message: lines, buttons, signs; text.go cleans
//     and fits text, file.go renders a message as a file, terminal.go colours signs.
//   - parse.go, command.go and parse_error.go read a line; command_form.go is the
//     form of a command's row and finds rows, command_table.go has the rows;
//     handle.go calls the row's handler; dispatch.go is what handlers get; role.go
//     says which role a command takes; service.go declares Service and Request.
//   - guidance.go, target.go, answer.go and start.go are the handlers of commands
//     that change something: guidance, tasks and runs as arguments, answers, /run.
//   - question.go and question_buttons.go ask; wording.go is the form of a question
//     kind's row, question_wording.go has the rows; answered.go, conflict.go and
//     reminder.go follow an answer up; approval.go, scope.go and proof.go add the facts
//     of a plan, of paths or of changed checks that a person approves.
//   - status.go, status_off.go, tasks.go, plan.go, hats.go, queue.go, log.go, diff.go,
//     evidence.go, cost.go, runs.go, projects.go, people.go, digest.go and help.go
//     render the replies to the commands of these names. sections.go adds the sections of
//     a divided task, criteria.go what was tried of it.
//   - notices.go, hold.go, finding.go, receipt.go, runend.go and thread.go render
//     messages about events: hold.go about waiting for an agent, finding.go about
//     what keeps a run from starting.
//   - id.go, derive.go, outcome.go, proof.go and sessiontext.go turn ids, times,
//     amounts, tasks, attempts, proofs and sessions into words.
//
// The two tables stand above the files that their rows name: a form and what looks
// rows up are below, and an init function fills the rows in. So no file needs
// another one that needs it.
//   - chat.go and buttondata.go are the contract with the adapters of platforms.
//
// # Limits
//
// The package never decides: what an input leads to is decided by the core. It
// does no I/O, reads no clock and starts no goroutine; times come with the
// Request or as arguments. It knows no platform and imports no adapter.
//
// # Invariants
//
//   - The first line sums up the message in at most FirstWidth columns
//     (docs/spec 21.1), and the last line of a message that nobody asked for says
//     what happens next (docs/spec 21.2). Package messagelint checks both.
//   - Text of people, agents and programs passes Clean before it reaches a message,
//     so that no text can break a frame or drive a terminal (docs/spec 12.3).
//     TestFormHostile holds this.
//   - Each command has a complete row in the table, and /help lists it only for
//     the roles that may use it (docs/spec 6.6). TestCommandTable and TestNeeds
//     hold this.
//   - Each question kind of the core has its wording here, and each verb.
//     TestQuestionWordings holds this.
//   - IsCommand recognizes commands and answers, also late ones, so that none of
//     them reaches a session as guidance. TestIsCommand holds this.
package bot
