package loop

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// set changes settings of the next run: "set NAME=VALUE…".
func (d *director) set(rest string) {
	s := &d.settings
	for _, f := range strings.Fields(rest) {
		k, v, _ := strings.Cut(f, "=")
		num, _ := strconv.Atoi(v)
		switch k {
		case "verify":
			s.Verify = nil
			for _, run := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' }) {
				run, parallel := strings.CutSuffix(run, "&")
				run, when, _ := strings.Cut(run, "@")
				s.Verify = append(s.Verify, ledger.Command{Run: run, When: when, Parallel: parallel})
			}
		case "parallel":
			s.Parallel = num
		case "max_load":
			s.MaxLoad = float64(num)
		case "account": // an agent whose login allows one session at a time
			d.accounts = []string{v}
		case "agent_sessions": // AGENT:NUMBER
			agent, most, _ := strings.Cut(v, ":")
			n, _ := strconv.Atoi(most)
			s.AgentSessions = with(s.AgentSessions, agent, n)
		case "setup":
			s.Setup = []ledger.Command{{Run: v}}
		case "network":
			s.Network.Mode = ledger.NetworkMode(v)
		case "setup_network":
			s.Network.Setup = ledger.NetworkMode(v)
		case "verify_network":
			s.Network.Verify = ledger.NetworkMode(v)
		case "agent_network":
			s.Network.Agents = map[string]ledger.AgentNetwork{"claude": {Mode: ledger.NetworkMode(v)}}
		case "hat_network": // HAT:MODE
			name, mode, _ := strings.Cut(v, ":")
			hat := s.Hats[name]
			hat.Network = ledger.NetworkMode(mode)
			s.Hats[name] = hat
		case "hat_load": // HAT:KIND of notebook, or HAT:plan
			name, kind, _ := strings.Cut(v, ":")
			hat := s.Hats[name]
			if hat.Load = append(slices.Clip(hat.Load), ledger.MemoryKind(kind).File()); kind == "plan" {
				hat.Load[len(hat.Load)-1] = ledger.PlanFile
			}
			s.Hats[name] = hat
		case "may_add": // HAT
			hat := s.Hats[v]
			hat.MayAdd = true
			s.Hats[v] = hat
		case "foreign":
			s.Source.Foreign = v == "yes"
		case "screenshot": // a command, or the address that "serve" serves
			if s.Screenshot = (&ledger.Screenshot{Command: v}); strings.HasPrefix(v, "http:") {
				s.Screenshot = &ledger.Screenshot{Run: "serve", URL: v}
			}
		case "no_browser":
			d.noBrowser = v == "yes"
		case "no_closed": // why the machine has no closed networks
			d.noClosed = v
		case "needs": // the task that does not apply without what a branch leaves out
			d.needs = v
		case "agent":
			s.Agent = v
		case "scripted":
			s.ScriptedMarks = ledger.ScriptedMarks(v)
		case "profile":
			s.Profile = v
		case "consensus":
			s.Consensus = v == "yes"
		case "replan":
			s.ReplanAfter = num
		case "approval":
			s.PlanApproval = v == "yes"
		case "min_rounds":
			s.Pattern.MinRounds = num
		case "pattern":
			s.Pattern = patterns[v]
		case "then":
			s.QuestionThen = v
		case "timeout": // of questions
			t, err := time.ParseDuration(v)
			if err != nil {
				d.t.Fatalf("%v", err)
			}
			s.QuestionTimeout = ledger.Duration(t)
		case "stays":
			s.Stays = v == "yes"
		case "on_blocked":
			s.OnBlocked = v
		case "expect": // of a hat: HAT:EXPECT
			name, expect, _ := strings.Cut(v, ":")
			hat := s.Hats[name]
			hat.Expect = ledger.Expect(expect)
			s.Hats[name] = hat
		case "others":
			s.Others = strings.Split(v, ",")
		case "barred":
			for _, name := range strings.Split(v, ",") {
				s.Barred = append(s.Barred, ledger.Bar{Agent: name, Text: "a budget in money cannot hold for agent " + name, Remedy: "Say what a session costs."})
			}
		case "fallback": // of an entry of an earlier release
			s.Fallback = v
		case "fallbacks": // AGENT:OTHER,OTHER
			agent, list, _ := strings.Cut(v, ":")
			s.Fallbacks = with(s.Fallbacks, agent, strings.Split(list, ","))
		case "hat_fallbacks": // HAT:OTHER,OTHER
			name, list, _ := strings.Cut(v, ":")
			hat := s.Hats[name]
			hat.Fallbacks = strings.Split(list, ",")
			s.Hats[name] = hat
		case "models": // AGENT:STRONG,FAST,LIGHT
			agent, list, _ := strings.Cut(v, ":")
			names := strings.Split(list, ",")
			s.Models = with(s.Models, agent, ledger.Tiers{Strong: names[0], Fast: names[1], Light: names[2]})
		case "tier": // HAT:TIER, as the configuration resolves it
			name, tier, _ := strings.Cut(v, ":")
			hat := s.Hats[name]
			hat.Tier, hat.Model, hat.Pinned = ledger.ModelTier(tier), s.Models[s.Agent].Model(ledger.ModelTier(tier)), false
			s.Hats[name] = hat
		case "pin": // HAT:MODEL
			name, model, _ := strings.Cut(v, ":")
			hat := s.Hats[name]
			hat.Tier, hat.Model, hat.Pinned = "", model, true
			s.Hats[name] = hat
		case "escalate": // HAT
			hat := s.Hats[v]
			hat.Escalate = true
			s.Hats[v] = hat
		case "reserve": // AGENT:PART
			agent, part, _ := strings.Cut(v, ":")
			n, err := strconv.ParseFloat(part, 64)
			if err != nil {
				d.t.Fatalf("%v", err)
			}
			s.Reserve = with(s.Reserve, agent, n)
		case "roles":
			s.Roles = map[string]ledger.Pattern{}
			for _, name := range strings.Split(v, ",") {
				s.Roles[name] = patterns[name]
			}
		case "order":
			s.Order = ledger.Order(v)
		case "commitstatus":
			s.CommitStatus = num > 0
		case "working":
			s.MarksWorking = num > 0
		case "counts":
			s.CountsTries = num > 0
		case "queue":
			s.Queue = ledger.QueueMode(v)
		case "waves": // the source holds bug reports: the most waves, 0 = no limit
			d.settings.Source = ledger.SourceRef{Kind: ledger.SourceBugs, Path: "bugs.json"}
			d.settings.MaxWaves, _ = strconv.Atoi(v)
		case "batch":
			s.Batch = num
		case "proof":
			s.Proof = ledger.ProofMode(v)
		case "watch":
			s.Requests.Watch = ledger.WatchMode(v)
		case "requests":
			s.Requests.PerTask, s.Requests.Apart = v == "task" || v == "apart", v == "apart"
		case "main": // tip of the base on the remote
			d.main = v
		case "lift": // what the next lift is told: ID of a branch, or !WHY
			if why, not := strings.CutPrefix(v, "!"); not {
				d.lifted = ledger.Lifted{Why: strings.ReplaceAll(why, "_", " ")}
				break
			}
			d.lifted = ledger.Lifted{On: v, Files: []string{"cart/total.go"}}
		case "push":
			s.Push = v
		case "max_tasks":
			s.MaxTasks = num
		case "max_iterations":
			s.MaxIterations = num
		case "from":
			s.From = "Task " + v
		case "only":
			s.Only = "Task " + v
		case "until":
			t, err := time.ParseDuration(v)
			if err != nil {
				d.t.Fatalf("%v", err)
			}
			s.Until = d.now.Add(t)
		default:
			d.t.Fatalf("set what? %s", k)
		}
	}
}
