// Package prompt writes what an agent session is told: its prompt, and the
// files of its CONTEXT folder (docs/spec 4.7).
//
//	Needs(State, session)           → Lookup
//	Build(State, session, Material) → Prompt
//
// A prompt follows from the state of the run and from material that no state
// has: files of the start commit, notebooks, the diff. Needs says where the
// material is, the engine reads it, Build writes the prompt. For the prompt of a
// session that is not planned yet, loop.Preview makes the state.
//
// # Files
//
//   - prompt.go: Build with the order of the parts, Needs, the limits.
//   - assemble.go: joins parts, cuts them to the hat's budget, fences text.
//   - task.go: Task, Acceptance, Scope and Answers.
//   - artefact.go: what a task takes from others and leaves for them.
//   - plan.go: Plan, Objections, Earlier rounds and Planned anew.
//   - past.go: Earlier attempts, What happened so far, Last progress, Note well,
//     Issues and Verification.
//   - changes.go: Changes so far.
//   - picture.go: pictures of Task, Guidance and Answers, as files of CONTEXT.
//   - memory.go: Memory and Conventions.
//   - end.go: Guidance and How to end.
//
// # What the package must not do
//
// It decides nothing. The core has chosen session, hat and guidance before a
// prompt is built, and package loop does not import this one: no decision
// depends on what a prompt says. Like the core, it does no I/O, reads no clock
// and draws no random number; internal/importtest fails for code that breaks
// this rule.
//
// # Invariants
//
// Tests hold these for goldens of each hat, for random states and budgets, and
// for whatever event a session ends with:
//
//   - Same state and material, same prompt. A state that was folded from the
//     ledger or decoded from a snapshot gives the same one, so a session that is
//     started again after a crash is told the same.
//   - Build does not change its arguments.
//   - A prompt is at most max_tokens long unless all that may be cut is cut.
//     Prompt.Over reports that it is longer.
//   - Parts are cut in one order: Conventions, Memory, Last progress, Plan, What
//     happened so far, Earlier rounds and Earlier attempts, Changes so far. Hats that argue about a
//     plan keep it as long as the changes. The line on why the last attempt
//     failed stays.
//   - Nothing else is ever cut: Role, Task, Acceptance, Scope, Objections, Planned
//     anew, Note well, Issues, Verification, Guidance, Answers, How to end.
//   - A part that was cut says so, and names the file of CONTEXT with the whole
//     of it. Issues beyond their limit are in a file, too.
//   - Memory and the diff have limits of their own, whatever the budget.
//   - Every changed file is in the prompt's list, or counted there and in a file
//     of CONTEXT. What existed before the attempt stands in front of what is new,
//     in the list and in the diff, and no file keeps another one out.
//   - No part leaves a code fence open. Text by people who are not paired is
//     fenced and called data, and so is what sessions made of it.
package prompt
