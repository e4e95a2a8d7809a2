// Command sim plays nights of nightporter in a simulated world. One seed and one
// commit decide everything that happens in a night, so a night that shows a fault
// can be played again, with its story.
//
//	go run ./internal/sim -seed 7             the story of one night
//	go run ./internal/sim -nights 500         many nights, and what they had
//	go run ./internal/sim -for 2m -seed 1000
//	go run ./internal/sim -long -seed 3       thirty nights on one ledger
//
// Real are the core, the engine, the store on SQLite, what people are told and how
// it is delivered, the reading of what they type, guidance, and the parser and
// writer of plans. Simulated are agents, git, processes, chat platforms, people,
// disks and clocks: they fail in every way of the table of faults.
//
// In one night of four (-disks) the ledger lies on a simulated disk, in half of all
// (-memory) in memory, else in a file.
//
// In one night of four (-remakes) people take tasks out of the run's branch, bring
// them back, and have them done again.
//
// In one night of four (-adds) people, the console and sessions add tasks, take them
// out again, replace them, and have plans made of ideas.
//
// In one night of four (-pushes) runs push their branches to a remote that fails,
// before it heard of a push or after.
//
// In one night of four (-repeats) some tasks of the plan come back after they are done,
// with cooldowns from none to three days.
//
// In one night of four (-hosts) sessions have a closed network and ask people about
// hosts, who answer, or do not.
//
// In one night of eight (-projects) two or three projects share the ledger, the
// agents, the limit of sessions and the chats. Where people do not name the project
// that they mean, they are asked. Whether a night has several comes from a random
// stream of its own: a seed without them plays the same night as with -projects 0.
//
// -long plays thirty nights, three days apart, on one ledger. Each has a plan of its
// own, ends in a calm, and is followed by what the daemon deletes by retention. Its
// ledger lies on no simulated disk, since a loss would end everything.
//
// # One thread of control
//
// The product waits through sched.Scheduler. The night's scheduler runs one
// coroutine at a time and draws which is next; when none can go on, it moves the
// clock. All random numbers of a night come from one stream. What the product may
// not do between two waits is to let the order of a map, the time of day of the
// machine or another goroutine decide something: a test that plays a seed twice and
// compares every line finds it.
//
// # Files
//
//   - main.go: flags; many.go: many nights, and the table at the end
//   - ledger.go: where the ledger lies
//   - site.go: the projects of a night; long.go: night after night
//   - world.go: the night and its random numbers; night.go: what happens in it
//   - scheduler.go: coroutines and the clock
//   - daemon.go: the program under test, its start and its end
//   - machine.go, agent.go: processes, and agents of every temper
//   - disk.go: the ledger's disk in some nights, which fails, lies and loses power
//   - git.go, tree.go: the repository; plan.go: the user's plan; adds.go, ideas.go:
//     tasks that people and sessions add to it; pushes.go: the remote; repeats.go:
//     tasks that come back; hosts.go: hosts that sessions ask for
//   - gitnight.go: nights in a real git repository, which tests alone play; gitports.go:
//     that repository, and where the daemon dies; gitplan.go: the plan and the user's
//     files; gitfiles.go: reading and writing files; editor.go: sessions that edit lines;
//     linebook.go: who wrote and removed each line; linecheck.go: what commits have of them
//   - chat.go: platforms and people
//   - fault.go: the table of faults; audit.go, budget.go, liveness.go: the invariants;
//     replay.go: that replay equals state; story.go: the story
//
// # Invariants
//
// After every step or commit: no task is done whose tree fails, or of whose criteria its
// verifier left one out, no tree is committed that no command passed on, every confirmed message has its effect once, a
// directive has one end, a question one answer, a session one start, one end and one
// event, nobody is told what did not happen, no session is alive after its run has
// ended or paused, the state is the fold of the ledger, work, sessions, entries and
// the outbox are bounded, where something can go on and nothing holds it, something
// goes on, and while the ledger takes commits nothing stays due, and no effect without
// a try, for longer than the longest pause. An entry that was confirmed is there after every power cut; a
// disk that lost one is refused, or found by verify, or holds an older state that
// is whole. Once nothing goes wrong any more, the night comes to its end in every
// project.
//
// A task that somebody was told will be added is in the plan's file once, unless a
// person took it out or saved a text without it; one that was refused is not there, and
// one that was written before the last run's end is known to that run. Nothing of an
// idea's plan is written before a person starts it; then all of it is, and a run begins.
//
// What is pushed is a commit of the run's branch in which nothing fails that did not
// fail when the run began; a daemon that learned of a push does not repeat it; and the
// tip with which the last run ended well is on the remote in the end.
//
// A recurring task comes back when its cooldown is over or a person opened it in the plan,
// and not before; no session is for one that is done; a run that ends as all done leaves
// none behind that is due, done before it; and in the end each is known as recurring.
//
// A run asks people about three hosts at most, and about each of a session once,
// whatever restarts lie in between; a session reaches a host that nobody named after a
// person allowed it, and not after a no for its run.
//
// Of nights in a git repository: each line that an accepted session wrote is in the tip, or
// was removed by a later one that had it before it; none comes back, none is of nobody, and
// they keep their order; a prompt after a conflict has every line of both sides; commands
// passed on the very files of each commit, or of the batch that it is part of; and a daemon
// that is killed comes to the same commits.
//
// Of nights that follow each other: a state holds the tasks of the last sixty days and
// no more, a start reads at most the entries since the last snapshots, and in the
// morning no message waits.
package main
