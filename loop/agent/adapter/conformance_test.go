package adapter

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// streamAgents are the agents whose streams are read, with what the tests need to
// know of each. Each has recorded streams of the real program in testdata/NAME.
var streamAgents = []struct {
	row    *Agent
	works  string // a session that did its work
	tokens int64
	cost   float64
	said   string   // its last message
	fields []string // the fields that its figures come from
	ends   string   // the type of the event that ends it
	// needs are fields without which figures are unknown: "tokens" or, of cost alone, "cost".
	needs  map[string]string
	words  string // an event with words of the model; WORDS is replaced
	output string // an event with a tool's output; WORDS is replaced
	end    string // the event that ends a conversation well
	effort bool   // it has an option for the effort
}{
	{
		row: &claude, works: "works-level3", tokens: 3*1050 + 118, cost: 3*0.00375 + 0.0004428, said: "All done.",
		fields: []string{"inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"},
		ends:   "result",
		needs:  map[string]string{"total_cost_usd": "cost"},
		words:  `{"type":"assistant","message":{"id":"m","role":"assistant","model":"m","content":[{"type":"text","text":"WORDS"}]}}`,
		output: `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"WORDS"}]}}`,
		end:    `{"type":"result","is_error":false,"subtype":"success","result":"Done."}`,
		effort: true,
	},
	{
		row: &codex, works: "session", tokens: 2*1050 + 310, cost: -1, said: "Done.",
		fields: []string{"input_tokens", "output_tokens"},
		ends:   "turn.completed",
		needs:  map[string]string{"usage": "tokens"},
		words:  `{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"WORDS"}}`,
		output: `{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"x","aggregated_output":"WORDS","exit_code":1}}`,
		end:    `{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}`,
		effort: true,
	},
	{
		row: &opencode, works: "session", tokens: 2*1050 + 310, cost: 2*0.00375 + 0.00078, said: "Done.",
		fields: []string{"input", "output", "reasoning", "cache", "total", "read", "write"},
		ends:   "step_finish",
		needs:  map[string]string{"cost": "cost", "tokens": "tokens"},
		words:  `{"type":"text","part":{"messageID":"m","type":"text","text":"WORDS"}}`,
		output: `{"type":"tool_use","part":{"messageID":"m","type":"tool","tool":"bash","state":{"status":"error","input":{"command":"x"},"error":"WORDS"}}}`,
		end:    `{"type":"step_finish","part":{"messageID":"m","reason":"stop","tokens":{"input":1,"output":1,"reasoning":0,"cache":{"read":0,"write":0}},"cost":0.1}}`,
		effort: true,
	},
	{
		row: &copilot, works: "session", tokens: -1, cost: -1, said: "Done.",
		ends:   "result",
		words:  `{"type":"assistant.message","data":{"messageId":"m","content":"WORDS"}}`,
		output: `{"type":"tool.execution_complete","data":{"toolCallId":"t","success":false,"error":{"message":"WORDS"},"result":{"content":"WORDS"}}}`,
		end:    `{"type":"result","exitCode":0,"usage":{"premiumRequests":1}}`,
		effort: true,
	},
	{
		row: &pi, works: "session", tokens: 2*1050 + 310, cost: 2*0.00375 + 0.00078, said: "Done.",
		fields: []string{"input", "output", "cacheRead", "cacheWrite", "totalTokens"},
		ends:   "agent_end",
		needs:  map[string]string{"cost": "cost", "usage": "tokens"},
		words:  `{"type":"message_end","message":{"role":"assistant","stopReason":"stop","content":[{"type":"text","text":"WORDS"}],"usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2}}}`,
		output: `{"type":"message_end","message":{"role":"toolResult","toolCallId":"t","isError":true,"content":[{"type":"text","text":"WORDS"}]}}`,
		end:    `{"type":"agent_end","messages":[]}`,
		effort: true,
	},
	{
		row: &qwen, works: "session", tokens: 2*1050 + 310, cost: -1, said: "Done.",
		fields: []string{"input_tokens", "output_tokens"},
		ends:   "result",
		needs:  map[string]string{"usage": "tokens"},
		words:  `{"type":"assistant","parent_tool_use_id":null,"message":{"role":"assistant","model":"m","content":[{"type":"text","text":"WORDS"}]}}`,
		output: `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"WORDS"}]}}`,
		end:    `{"type":"result","is_error":false,"subtype":"success","result":"Done."}`,
	},
	{
		row: &gemini, works: "session", tokens: 2*1050 + 310, cost: -1, said: "Done.",
		fields: []string{"total_tokens", "input_tokens", "output_tokens", "cached"},
		ends:   "result",
		needs:  map[string]string{"stats": "tokens"},
		words:  `{"type":"message","role":"assistant","content":"WORDS","delta":true}`,
		output: `{"type":"tool_result","tool_id":"t","status":"error","output":"WORDS"}`,
		end:    `{"type":"result","status":"success","stats":{"total_tokens":2,"input_tokens":1,"output_tokens":1,"cached":0}}`,
	},
}

func recorded(t testing.TB, agent, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", agent, name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func judge(a *Agent, stream []byte, x ledger.Exit) Verdict {
	return a.Judge(bytes.NewReader(stream), x)
}

// TestConformance: what holds for each agent whose stream is read, in streams of the
// real programs.
func TestConformance(t *testing.T) {
	ended := time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)
	fine := ledger.Exit{Reason: ledger.ExitSelf, Ended: ended}
	failed := ledger.Exit{Reason: ledger.ExitSelf, Code: 1, Ended: ended}
	near := func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }
	for _, c := range streamAgents {
		works := recorded(t, c.row.Name, c.works)
		t.Run(c.row.Name+"/figures", func(t *testing.T) {
			v := judge(c.row, works, fine)
			if v.Tokens != c.tokens || !near(v.CostUSD, c.cost) || v.Turns < 3 || v.Failure != "" || v.Text != "" || v.Uncounted {
				t.Errorf("%+v, want %d tokens, $%f", v, c.tokens, c.cost)
			}
			// The exit code decides nothing.
			if again := judge(c.row, works, failed); !cmp.Equal(again, v) {
				t.Errorf("with exit code 1: %+v", again)
			}
			if said := c.row.LastMessage(bytes.NewReader(works)); said != c.said {
				t.Errorf("said %q, want %q", said, c.said)
			}
			if tail := c.row.Tail(lines(works), "/work", 2); len(tail) != 2 || tail[1] != c.said || !strings.Contains(tail[0], "hat emit") {
				t.Errorf("tail: %q", tail)
			}
		})
		t.Run(c.row.Name+"/cut off", func(t *testing.T) {
			step := 1 + len(works)/3000 // each cut reads what is before it
			for n := 0; n < len(works); n += step {
				v := judge(c.row, works[:n], ledger.Exit{Reason: ledger.ExitAsked, Code: -1, Ended: ended})
				if v.Failure != "" || v.Uncounted || v.Tokens != -1 && v.Tokens != c.tokens || v.CostUSD != -1 && !near(v.CostUSD, c.cost) {
					t.Fatalf("cut off after %d bytes: %+v", n, v)
				}
			}
		})
		t.Run(c.row.Name+"/changed fields", func(t *testing.T) {
			for field, unknown := range c.needs {
				v := judge(c.row, bytes.ReplaceAll(works, []byte(`"`+field+`":`), []byte(`"new_`+field+`":`)), fine)
				if !v.Uncounted || (v.Tokens == -1) != (unknown == "tokens" || c.tokens == -1) || v.CostUSD != -1 || v.Failure != "" || v.Text != "" {
					t.Errorf("%s is missing: %+v", field, v)
				}
			}
			for _, field := range c.fields {
				for name, to := range map[string]string{"renamed": `"new_` + field + `":`, "in words": `"` + field + `":"many","x":`, "negative": `"` + field + `":-1,"x":`} {
					v := judge(c.row, bytes.ReplaceAll(works, []byte(`"`+field+`":`), []byte(to)), fine)
					if v.Tokens != -1 || !v.Uncounted || v.Failure != "" || v.Text != "" {
						t.Errorf("%s %s: %+v", field, name, v)
					}
				}
			}
		})
		t.Run(c.row.Name+"/changed events", func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join("testdata", c.row.Name, "*.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				stream := recorded(t, c.row.Name, strings.TrimSuffix(filepath.Base(file), ".jsonl"))
				for _, x := range []ledger.Exit{fine, failed, {Reason: ledger.ExitAsked, Code: -1, Ended: ended}} {
					if v := judge(c.row, stream, x); v.Uncounted {
						t.Errorf("%s, as it was recorded: %+v", file, v)
					}
					few := bytes.Count(stream, []byte("\n{")) < fewStrange // one event, and nothing proves anything
					for name, to := range map[string]string{"types": `"type":"new_`, "the field": `"kind":"`} {
						v := judge(c.row, bytes.ReplaceAll(stream, []byte(`"type":"`), []byte(to)), x)
						if v.Uncounted == few || v.Turns != 0 || v.Tokens != -1 || v.CostUSD != -1 {
							t.Errorf("%s, %s renamed: %+v", file, name, v)
						}
					}
				}
			}
			// Renamed in part: what is left says neither that it ended nor that it failed.
			end := []byte(`"type":"` + c.ends + `"`)
			if v := judge(c.row, bytes.ReplaceAll(works, end, []byte(`"type":"the_end"`)), fine); !v.Uncounted || v.Tokens != -1 {
				t.Errorf("%s renamed: %+v", c.ends, v)
			}
		})
		t.Run(c.row.Name+"/strange lines", func(t *testing.T) {
			want := judge(c.row, works, fine)
			first, rest, _ := bytes.Cut(works, []byte("\n"))
			for name, line := range map[string]string{
				"an unknown type":      `{"type":"brand.new","usage":{"input_tokens":7},"x":[1]}`,
				"no type":              `{"usage":{"input_tokens":7}}`,
				"a type in words":      `{"type":["message"],"message":7,"data":[],"part":"","item":[]}`,
				"invalid UTF-8":        "{\"type\":\"brand.\xff\xfe\",\"x\":\"\xc3\x28\"}",
				"50 MB":                `{"type":"brand.new","x":"` + strings.Repeat("a", 50<<20) + `"}`,
				"a NUL and no event":   "\x00\x01 hello",
				"an event in brackets": `[{"type":"result"}]`,
			} {
				stream := slices.Concat(first, []byte("\n"+line+"\n"), rest)
				if v := judge(c.row, stream, fine); v.Failure != "" || v.Tokens != want.Tokens || !near(v.CostUSD, want.CostUSD) || v.Uncounted || v.Turns != want.Turns {
					t.Errorf("%s: %+v, want %+v", name, v, want)
				}
				if n := len(c.row.Tail(lines(stream[:min(len(stream), 1<<20)]), "/work", 3)); n > 3 {
					t.Errorf("%s: %d lines of a tail of 3", name, n)
				}
			}
		})
		t.Run(c.row.Name+"/reported twice", func(t *testing.T) {
			if v := judge(c.row, slices.Concat(works, works), fine); v.Failure != "" || v.Tokens != c.tokens && v.Tokens != -1 || !near(v.CostUSD, c.cost) && v.CostUSD != -1 {
				t.Errorf("%+v, want %d tokens, $%f", v, c.tokens, c.cost)
			}
		})
		t.Run(c.row.Name+"/words of a limit", func(t *testing.T) {
			for _, words := range []string{
				"You've hit your usage limit. Try again at 3:53 PM.", "unexpected status 401 Unauthorized: Incorrect API key provided", "exceeded retry limit, last status: 429 Too Many Requests",
				"Not logged in · Please run /login", "rate_limit_error",
			} {
				for _, event := range []string{c.words, c.output} {
					stream := []byte(strings.Replace(event, "WORDS", words, 1) + "\n")
					if v := judge(c.row, stream, failed); v.Failure != "" {
						t.Errorf("%s: %+v", stream, v)
					}
					stream = append(stream, c.end+"\n"...)
					if v := judge(c.row, stream, fine); v.Failure != "" {
						t.Errorf("%s: %+v", stream, v)
					}
				}
			}
		})
		t.Run(c.row.Name+"/standard error", func(t *testing.T) {
			v := judge(c.row, []byte("You've hit your usage limit. Try again in 2 hours.\n"), failed)
			if v.Failure != ledger.FailureLimit || !v.Unverified || !v.Until.Equal(ended.Add(2*time.Hour)) || v.Turns != 0 || v.Tokens != -1 || v.CostUSD != -1 {
				t.Errorf("%+v", v)
			}
			if v := judge(c.row, nil, failed); !reflect.DeepEqual(v, Verdict{Tokens: -1, CostUSD: -1}) {
				t.Errorf("without output: %+v", v)
			}
		})
		t.Run(c.row.Name+"/reset times", func(t *testing.T) {
			istanbul, err := time.LoadLocation("Europe/Istanbul")
			if err != nil {
				t.Skipf("SKIPPED: no zone data: %v", err)
			}
			for when, want := range map[string]time.Time{
				"": {},
				" Try again at 11:30 PM (Europe/Istanbul).":                time.Date(2026, 11, 20, 23, 30, 0, 0, istanbul),
				" Try again at 10:30 PM (Europe/Istanbul).":                time.Date(2026, 11, 21, 22, 30, 0, 0, istanbul), // past: tomorrow's
				" Try again at Nov 19th, 2026 10:30 PM (Europe/Istanbul).": time.Date(2026, 11, 19, 22, 30, 0, 0, istanbul), // past, and told so
				" Try again at 11:30 PM (Nowhere/Land).":                   {},
				" Try again at Feb 30th, 2027 11:30 PM (UTC).":             {},
				" Try again in 0 seconds.":                                 {},
				" Try again in 99999999999 days.":                          {},
			} {
				v := judge(c.row, []byte("You've hit your usage limit."+when+"\n"), failed)
				if v.Failure != ledger.FailureLimit || !v.Until.Equal(want) {
					t.Errorf("%q: %+v, want until %v", when, v, want)
				}
			}
		})
		t.Run(c.row.Name+"/command line", func(t *testing.T) {
			call := Call{Agent: c.row.Name, Output: c.row.Name, Hat: "/x/hat", Launch: ledger.Launch{Model: "the-model", Effort: "high", Prompt: "secret words"}}
			args, stdin, err := c.row.CommandLine(call)
			if err != nil || !stdin || !slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "the-model") }) || slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "high") }) != c.effort {
				t.Errorf("%q, stdin %v, %v", args, stdin, err)
			}
			if strings.Contains(strings.Join(args, " "), call.Launch.Prompt) {
				t.Errorf("the prompt is among the arguments: %q", args)
			}
			call.Prompt = PromptFile
			if _, _, err := c.row.CommandLine(call); err == nil {
				t.Error("a prompt in a file was taken")
			}
		})
	}
}

// TestConformanceFaults judges each recorded failure of the programs that
// agents_e2e_test.go recorded (-agents.record).
func TestConformanceFaults(t *testing.T) {
	ended := time.Date(2026, 11, 27, 6, 0, 0, 0, time.Local)
	classes := map[string]ledger.FailureClass{
		"429": ledger.FailureNetwork, "500": ledger.FailureNetwork, "401": ledger.FailureAuth, "reset": ledger.FailureNetwork,
		"cut-once": "", "too-long": "", "limit": ledger.FailureLimit, "used-up": ledger.FailureLimit, "quota": ledger.FailureLimit,
		"cut": ledger.FailureNetwork, "pace": ledger.FailureNetwork, "key": ledger.FailureAuth, "model": ledger.FailureAuth,
	}
	for _, c := range streamAgents[1:] {
		files, err := filepath.Glob(filepath.Join("testdata", c.row.Name, "*-at-turn-*.jsonl"))
		if err != nil || len(files) < 4 {
			t.Fatalf("%s: %q, %v", c.row.Name, files, err)
		}
		for _, path := range files {
			file := strings.TrimSuffix(filepath.Base(path), ".jsonl")
			name, turn, _ := strings.Cut(file, "-at-turn-")
			want, known := classes[name]
			if !known {
				t.Errorf("%s: what should it be?", path)
			}
			t.Run(c.row.Name+"/"+file, func(t *testing.T) {
				data := recorded(t, c.row.Name, file)
				v := judge(c.row, data, ledger.Exit{Reason: ledger.ExitSelf, Code: 1, Ended: ended})
				if v.Failure != want || v.Unverified || (v.Text == "") != (name == "cut-once") || v.Until.IsZero() != (name != "limit" && name != "pace") {
					t.Errorf("%+v", v)
				}
				if name != "cut-once" && (v.Tokens != -1 || v.CostUSD != -1) {
					t.Errorf("figures of a conversation that broke off: %+v", v)
				}
				if v.Turns == 0 && turn == "2" || v.Turns > 0 && turn == "1" && want != "" && name != "cut" {
					t.Errorf("%d turns", v.Turns)
				}
				if v := judge(c.row, data, ledger.Exit{Reason: ledger.ExitAsked, Code: -1, Ended: ended}); v.Failure != want {
					t.Errorf("ended by nightporter: %+v", v)
				}
			})
		}
	}
}

// FuzzStreams: no output makes a reader fail, and no figure is less than unknown.
func FuzzStreams(f *testing.F) {
	for _, c := range streamAgents {
		f.Add(recorded(f, c.row.Name, c.works))
		f.Add([]byte(c.words + "\n" + c.end))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, c := range streamAgents {
			for _, why := range []ledger.ExitReason{ledger.ExitSelf, ledger.ExitStall} {
				v := judge(c.row, data, ledger.Exit{Reason: why, Code: 1, Ended: time.Unix(1795190000, 0)})
				if v.Turns < 0 || v.Tokens < -1 || v.CostUSD < 0 && v.CostUSD != -1 || (v.Failure != ledger.FailureLimit && v.Failure != ledger.FailureNetwork && !v.Until.IsZero()) {
					t.Errorf("%s: %+v", c.row.Name, v)
				}
			}
			c.row.LastMessage(bytes.NewReader(data))
			c.row.Tail(lines(data), "/work", 5)
		}
	})
}
