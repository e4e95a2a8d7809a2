package bot

import (
	"context"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

func init() {
	view, steer, admin := ledger.RoleView, ledger.RoleSteer, ledger.RoleAdmin
	commandForms = []commandForm{
		{verb: VerbStatus, takes: takesProject, use: "/status", help: "Where the run stands.", role: view,
			shared: statusOfAll, project: func(_ context.Context, d dispatch) (Message, error) {
				return statusWithStart(d.service, d.s, d.r.Time), nil
			},
			section: "Look", listed: "/status", menu: 1, twin: Twin{Name: "status"}},
		{verb: VerbGuidance, takes: takesWords, use: "/guidance TEXT", help: "Your words for the next session that may write; @builder, #12 or !sticky in front address them.", role: steer,
			project: guideSession,
			section: "Steer", listed: "/guidance TEXT", menu: 2, twin: Twin{"guidance", "TEXT", "Queue words for the next session that writes"}},
		{verb: VerbPause, takes: takesNow, use: "/pause, /pause now", help: "Holds after the session in hand; now: cuts it off and runs it again on /resume.", role: steer,
			project: func(ctx context.Context, d dispatch) (Message, error) { return d.do(ctx, loop.Pause{Now: d.c.Now}) },
			section: "Hold", listed: "/pause", menu: 3, twin: Twin{"pause", "[now]", "Hold after the session in hand"}},
		{verb: VerbResume, takes: takesAgent, use: "/resume, /resume codex", help: "Goes on; while the run waits for an agent: tries now, or goes on with another one.", role: steer,
			project: resume,
			section: "Hold", listed: "/resume", menu: 4, twin: Twin{"resume", "", "Go on"}},
		{verb: VerbStop, takes: takesNow, use: "/stop, /stop now", help: "Ends the run after the session in hand; now: at once.", role: steer,
			project: func(ctx context.Context, d dispatch) (Message, error) { return d.do(ctx, loop.Stop{Now: d.c.Now}) },
			section: "Hold", listed: "/stop", menu: 8, twin: Twin{"stop", "[now]", "End the run after the session in hand, with --now at once; nightporter stays"}},
		{verb: VerbNow, takes: takesWords, use: "/now TEXT", help: "Stops the session in hand and runs it again with your words. Asks first.", role: steer,
			project: rerunSession,
			section: "Steer", listed: "/now TEXT", menu: 7, twin: Twin{}},
		{verb: VerbQueue, takes: takesProject, use: "/queue", help: "Guidance in use and waiting.", role: view,
			project: func(_ context.Context, d dispatch) (Message, error) { return Queue(d.s, d.r.Time), nil },
			section: "Steer", listed: "/queue", menu: 6, twin: Twin{"queue", "", "Guidance that waits or is in use"}},
		{verb: VerbDrop, takes: takesTarget, use: "/drop g9, /drop all", help: "Takes guidance back; all: what waits and is not sticky, after a question.", role: steer,
			project: dropGuidance,
			section: "Steer", listed: "/drop g9", twin: Twin{"drop", "ID… | all", "Take guidance back"}},
		{verb: VerbErase, takes: takesTarget, use: "/erase g9", help: "Erases the pictures that came with guidance (g9), an answer (q5) or a task (5), and those that were taken of a task, for good.", role: steer,
			project: eraseFiles,
			section: "Steer", listed: "/erase g9", twin: Twin{"erase", "ID", "Erase the pictures that came with guidance, an answer or a task, and those taken of a task"}},
		{verb: VerbAnswer, takes: takesID, use: "/answer q7 TEXT", help: "Answers a question; q7 TEXT is the same.", role: steer, roleFor: answerRole,
			project: answerQuestion,
			section: "Decide", listed: "/answer q5 retry", twin: Twin{"answer", "ID ANSWER", "Answer a question"}},
		{verb: VerbApprove, takes: takesID, use: "/approve q7", help: "Pass, or yes.", role: steer,
			project: answerQuestion,
			section: "Decide", listed: "/approve", twin: Twin{"approve", "ID", "Pass what waits for you"}},
		{verb: VerbReject, takes: takesID, use: "/reject q7 WHY", help: "Fail, or no.", role: steer,
			project: answerQuestion,
			section: "Decide", listed: "/reject", twin: Twin{"reject", "ID WHY", "Fail what waits for you"}},
		{verb: VerbMerge, takes: takesTarget, use: "/merge, /merge 48", help: "Merges a green request, after a confirmation; without one, how to do it by hand.", role: admin,
			project: mergeRequest,
			section: "Decide", listed: "/merge 48", twin: Twin{"merge", "[PR]", "Merge a green request, after a confirmation"}},
		{verb: VerbTasks, takes: takesProject, use: "/tasks", help: "All tasks.", role: view,
			project: func(_ context.Context, d dispatch) (Message, error) { return tasksNow(d.service, d.s, d.r.Time), nil },
			section: "Look", listed: "/tasks", menu: 5, twin: Twin{Name: "tasks"}},
		{verb: VerbTask, takes: takesTarget, use: "/task 7", help: "One task.", role: view,
			project: aboutTarget,
			section: "Look", listed: "/task 7", twin: Twin{"task", "ID", "One task"}},
		{verb: VerbSkip, takes: takesTarget, use: "/skip 8", help: "Puts a task away.", role: steer,
			project: aboutTarget,
			section: "Decide", listed: "/skip 8", twin: Twin{"skip", "ID", "Put a task away"}},
		{verb: VerbRetry, takes: takesTarget, use: "/retry 8", help: "Two new attempts for a blocked, skipped or done task.", role: steer,
			project: aboutTarget,
			section: "Decide", listed: "/retry 8", twin: Twin{"retry", "ID", "Two new attempts for a task"}},
		{verb: VerbNext, takes: takesTarget, use: "/next 9", help: "This task next.", role: steer,
			project: aboutTarget,
			section: "Decide", listed: "/next 9", twin: Twin{"next", "ID", "Take a task next"}},
		{verb: VerbRevert, takes: takesTarget, use: "/revert 5", help: "Makes a branch without these tasks, after a confirmation; the old one stays.", role: steer,
			project: revertTasks,
			section: "Decide", listed: "/revert 5", twin: Twin{"revert", "ID…", "Make a branch without tasks; it asks back, as in a chat"}},
		{verb: VerbKeep, takes: takesTarget, use: "/keep 1-4 6, /keep all", help: "Makes a branch of just these tasks; all brings back what was taken out.", role: steer,
			project: keepTasks,
			section: "Decide", listed: "/keep 1-4 6", twin: Twin{"keep", "ID… | all", "Make a branch of just these tasks"}},
		{verb: VerbRedo, takes: takesID, use: "/redo 5 WORDS", help: "Has a task done again, with your words, on a branch without it.", role: steer,
			project: redoTask,
			section: "Decide", listed: "/redo 5 WORDS", twin: Twin{"redo", "ID [WORDS]", "Have a task done again, with your words"}},
		{verb: VerbEach, takes: takesTarget, use: "/each, /each 5", help: "The committed tasks, with a card each: keep, redo, revert or look.", role: view,
			project: showCard,
			section: "Look", listed: "/each", twin: Twin{"each", "[ID]", "What one committed task is worth"}},
		{verb: VerbWhy, takes: takesTarget, use: "/why, /why 7", help: "Why a task failed: reason and output.", role: view,
			project: aboutTarget,
			section: "Look", listed: "/why 7", twin: Twin{"why", "[ID]", "Why a task failed: the reason and the output"}},
		{verb: VerbLog, takes: takesTarget, use: "/log, /log 7, /log 7 tail", help: "Sessions of the run, or of a task; tail: what was printed last, file: all of it.", role: view,
			project: aboutTarget,
			section: "Look", listed: "/log 7", twin: Twin{"log", "[ID] [tail | file]", "What was done"}},
		{verb: VerbDiff, takes: takesTarget, use: "/diff 7, /diff 7 FILE, /diff r14", help: "What a task, or the run, changed; 7.1 is its first attempt; file: the patch itself, html: one page.", role: view,
			project: showDiff,
			section: "Look", listed: "/diff 7", twin: Twin{"diff", "[ID] [FILE]", "What was changed"}},
		{verb: VerbEvidence, takes: takesTarget, use: "/evidence 7, /evidence wave 2", help: "The proof of what an attempt did, 7.1 is its first one; or of what a wave did.", role: view,
			project: aboutTarget,
			section: "Look", listed: "/evidence 7", twin: Twin{Name: "evidence"}},
		{verb: VerbPlan, takes: takesPlan, use: "/plan, /plan 6, /plan night, /plan redo 6 WORDS", help: "A task's plan; night: what will probably be done; redo: plans it anew.", role: view, roleFor: planRole,
			project: showPlan,
			section: "Look", listed: "/plan 6", twin: Twin{"plan", "[ID | night | redo ID [WORDS]]", "A task's plan, or what the night will probably get done; redo has a plan made anew"}},
		{verb: VerbForecast, takes: takesProject, use: "/forecast", help: "What the night will probably get done, by when and for how much; also /plan night.", role: view,
			project: func(ctx context.Context, d dispatch) (Message, error) { return d.night(ctx), nil },
			section: "Night", listed: "/forecast", twin: Twin{Name: "forecast"}},
		{verb: VerbHats, takes: takesTarget, use: "/hats, /hats builder, /hats routes", help: "The hats of a task, one of them, or which follows which.", role: view,
			project: showHats,
			section: "Look", listed: "/hats", twin: Twin{Name: "hats"}},
		{verb: VerbThreshold, takes: takesTarget, use: "/threshold, /threshold reset PATTERN", help: "Which issues send a task back, by pattern; reset: takes back what was learned.", role: view, roleFor: thresholdRole,
			project: showThresholds,
			section: "Look", listed: "/threshold", twin: Twin{"threshold", "[reset PATTERN]", "Which issues send a task back; reset takes back what was learned"}},
		{verb: VerbNet, takes: takesTarget, use: "/net, /net remove HOST, /net open, /net clear", help: "Which hosts sessions reach; allow HOST, remove HOST; open: keeps the network of strangers' tasks open until morning, close; clear: takes the marks off what sessions made of such tasks.", role: view, roleFor: netRole,
			project: showNet,
			section: "Look", listed: "/net", twin: Twin{Name: "net"}},
		{verb: VerbTriage, takes: takesProject, use: "/triage", help: "What triage said of the bug reports: what is fixed next, what was set aside and why.", role: view,
			project: func(_ context.Context, d dispatch) (Message, error) { return Triage(d.s, d.r.Time), nil },
			section: "Look", listed: "/triage", twin: Twin{"triage", "", "What triage said of the bug reports"}},
		{verb: VerbFix, takes: takesTarget, use: "/fix B37", help: "This bug report next, whatever triage says of it and whoever claims it; without a run, one for it alone, after a confirmation.", role: steer,
			project: fixReport,
			section: "Decide", listed: "/fix B37", twin: Twin{"fix", "ID", "Work on one bug report next, or start a run for it"}},
		{verb: VerbWaves, takes: takesProject, use: "/waves", help: "The waves of a run on bug reports.", role: view,
			project: func(_ context.Context, d dispatch) (Message, error) { return Waves(d.s, d.r.Time), nil },
			section: "Look", listed: "/waves", twin: Twin{"waves", "", "The waves of a run on bug reports"}},
		// The counterpart is `nightporter start`, which asks the daemon: `nightporter
		// run` starts a run of its own in the foreground.
		{verb: VerbRun, takes: takesRun, use: "/run, /run from 5, /run review", help: "Starts a run, after a confirmation; also /run only 5, /run overnight.", role: steer,
			project: offerRun,
			section: "Start", listed: "/run", twin: Twin{"start", "[PROJECT] [review|overnight] [from TASK] [only TASK]", "Ask nightporter up to start a run; it asks back, as in a chat"}},
		{verb: VerbAdd, takes: takesWords, use: "/add TEXT", help: "Adds a task: its first line is the title, the rest its notes; lines that begin with - are a task each. Alone in a reply, it takes that message.", role: steer,
			project: addTasks,
			section: "Start", listed: "/add TEXT", twin: Twin{"add", "TEXT", "Add a task to the project's source"}},
		{verb: VerbBug, takes: takesWords, use: "/bug TEXT, /bug high: TEXT", help: "Adds a bug report: what was done, seen and expected; critical, high, medium or low may stand in front. A photo or a voice note may come with it.", role: steer,
			project: addReport,
			section: "Start", listed: "/bug TEXT", twin: Twin{"bug", "TEXT", "Add a bug report to the project's inbox"}},
		{verb: VerbIdea, takes: takesWords, use: "/idea TEXT", help: "Drafts a plan of tasks from a sentence; nothing is written before you agree to it.", role: steer,
			project: planIdea,
			section: "Start", listed: "/idea TEXT", twin: Twin{"idea", "TEXT | --file PATH", "Draft a plan of tasks from an idea; it asks before anything is written"}},
		{verb: VerbRuns, takes: takesTarget, use: "/runs, /runs shop, /runs r14", help: "The last runs, of all projects or one, or how one of them went.", role: view,
			shared:  runsOfAll,
			section: "Start", listed: "/runs", twin: Twin{"runs", "[PROJECT | RUN]", "The last runs, or how one of them went"}},
		{verb: VerbProjects, takes: takesProject, use: "/projects", help: "All projects.", role: view,
			shared: func(_ context.Context, h sharedRequest) (Message, bool, error) {
				return Projects(h.service, h.r), true, nil
			},
			section: "Start", listed: "/projects"},
		{verb: VerbCost, takes: takesProject, use: "/cost", help: "What the run has spent, by hat and agent.", role: view,
			project: func(_ context.Context, d dispatch) (Message, error) { return Spent(d.s, d.r.Time), nil },
			section: "Night", listed: "/cost", menu: 9},
		{verb: VerbDigest, takes: takesSpan, use: "/digest, /digest 7d, /digest all", help: "The last digest of each project, up to now; also today, 7d, or all that the caption leaves out.", role: view,
			shared: digestOfAll, project: makeDigest,
			section: "Night", listed: "/digest", menu: 10, twin: Twin{Name: "digest"}},
		{verb: VerbStats, takes: takesStats, use: "/stats, /stats hat 7d, /stats run", help: "How well the work goes: done, first pass, fix rounds, contradictions, cost; by hat, agent, model or size; of the last run, days such as 7d, or all. Without a word of 30 days.", role: view,
			project: showStats,
			section: "Night", listed: "/stats", twin: Twin{Name: "stats"}},
		{verb: VerbWhoami, takes: takesProject, use: "/whoami", help: "Who you are here, and who else is paired.", role: view,
			shared: func(_ context.Context, h sharedRequest) (Message, bool, error) {
				return Whoami(h.host, h.stays, h.r), true, nil
			},
			section: "People", listed: "/whoami"},
		{verb: VerbPeople, takes: takesProject, use: "/people", help: "Who is paired, with their ids.", role: admin,
			shared:  listPeople,
			section: "People", listed: "/people"},
		{verb: VerbUnpair, takes: takesTarget, use: "/unpair ID", help: "Takes somebody out; /people has the ids.", role: admin,
			shared:  unpairPerson,
			section: "People", listed: "/unpair ID"},
		{verb: VerbQuiet, takes: takesTarget, use: "/quiet, /quiet until 9, /quiet 22:00-07:00, /quiet off", help: "When this chat is left in peace; until: once; default: as the host has it.", role: view,
			shared:  quietHours,
			section: "People", listed: "/quiet", menu: 11},
		{verb: VerbPair, takes: takesTarget, use: "/pair CODE", help: "Lets you in with the code that nightporter pair shows on the host.", role: view,
			shared:  pairElsewhere,
			section: "People", listed: "/pair CODE"},
		{verb: VerbHelp, takes: takesTarget, use: "/help, /help now", help: "This, or one command.", role: view,
			shared: func(_ context.Context, h sharedRequest) (Message, bool, error) {
				return Help(h.c.Target, h.role()), true, nil
			},
			menu: 12},
		{verb: VerbStart, takes: takesTarget, use: "/start", help: "What a chat begins with; the same as /help.", role: view,
			shared: func(_ context.Context, h sharedRequest) (Message, bool, error) { return Help("", h.role()), true, nil }},

		// Commands that are typed without a slash.
		{verb: VerbWords, role: steer, roleFor: wordsRole, shared: plainShared, project: plainWords},
		{verb: VerbTakeBack, role: steer, project: takeBack},
	}
}

// answerRole returns the role that an answer requires. "q5" alone only shows
// the question. A target that is no question's id can be the start of a
// free-text answer: "/answer #letters_only".
func answerRole(c Command) ledger.Role {
	if c.Words == "" && (c.Target == "" || questionID.MatchString(c.Target)) {
		return ledger.RoleView
	}
	return ledger.RoleSteer
}

func planRole(c Command) ledger.Role {
	if c.Redo {
		return ledger.RoleSteer
	}
	return ledger.RoleView
}
