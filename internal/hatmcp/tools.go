package hatmcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/verb"
)

// Arguments of the tools.
type (
	emitArgs struct {
		Type string          `json:"type" jsonschema:"one of the events that the prompt names under How to end"`
		Data json.RawMessage `json:"data,omitempty" jsonschema:"its fields as one JSON object"`
	}
	askArgs struct {
		Text    string   `json:"text" jsonschema:"the question"`
		Options []string `json:"options,omitempty" jsonschema:"answers to choose from"`
		Choice  string   `json:"choice,omitempty" jsonschema:"what you would do without an answer"`
	}
	showArgs struct {
		ID string `json:"id,omitempty" jsonschema:"the task's id; yours without one"`
	}
	noteArgs struct {
		Text string `json:"text" jsonschema:"something unfinished that the next session has to know"`
	}
	memoryArgs struct {
		Text string `json:"text"`
		Kind string `json:"kind,omitempty" jsonschema:"memory (a fact about this repository that cost you time) or decision (a choice that later tasks have to keep to, with its reason); memory without one"`
	}
	noArgs struct{}
)

// addTools adds a tool for each verb.
func addTools(s *mcp.Server, c verb.Client) {
	add(s, c, "emit", "hat emit: ends this session with its one event.", writes, func(ctx context.Context, a emitArgs) (string, error) {
		if a.Data == nil {
			return c.Emit(ctx, a.Type, nil)
		}
		data, err := verb.Object(a.Data, "data")
		if err != nil {
			return "", err
		}
		return c.Emit(ctx, a.Type, data)
	})
	add(s, c, "ask", "hat ask: ends this session with a question to a person.", writes, func(ctx context.Context, a askArgs) (string, error) {
		return c.Ask(ctx, verb.Question{Text: a.Text, Options: a.Options, Choice: a.Choice})
	})
	add(s, c, "task_list", "hat task list: the tasks of this run.", reads, func(ctx context.Context, _ noArgs) (string, error) {
		tasks, err := c.Tasks(ctx)
		return verb.TaskList(tasks), err
	})
	add(s, c, "task_show", "hat task show: one task.", reads, func(ctx context.Context, a showArgs) (string, error) {
		task, err := c.FindTask(ctx, a.ID)
		return verb.TaskText(task), err
	})
	add(s, c, "task_add", "hat task add: adds one task, or several in tasks, if your hat may. A title has at most 80 characters; what else there is to say goes into body. An id is only for a task that others have to name in depends_on; else it gets the next free one. priority is P0 to P3, complexity 1 to 10. A title or an id that is there already, a dependency that is not, and tasks that wait for each other are refused.", writes, func(ctx context.Context, a api.NewTasks) (string, error) {
		data, err := json.Marshal(a)
		if err != nil {
			return "", fmt.Errorf("task add: %w", err)
		}
		_, text, err := c.AddTasks(ctx, data)
		return text, err
	})
	add(s, c, "guidance", "hat guidance: what people want to be heeded.", reads, func(ctx context.Context, _ noArgs) (string, error) {
		list, err := c.Guidance(ctx)
		return verb.GuidanceText(list), err
	})
	add(s, c, "note", "hat note: keeps a note for the next session.", writes, func(ctx context.Context, a noteArgs) (string, error) {
		return c.Note(ctx, a.Text)
	})
	add(s, c, "memory_add", "hat memory add: keeps something for good.", writes, func(ctx context.Context, a memoryArgs) (string, error) {
		return c.Remember(ctx, a.Kind, a.Text)
	})
	add(s, c, "memory_list", "hat memory list: what is kept.", reads, func(ctx context.Context, _ noArgs) (string, error) {
		return c.Memory(ctx)
	})
}

// What a tool does to the session. Programs that ask a person before a call ask for
// what destroys or leaves the machine, which nothing here does.
var (
	reads  = mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: new(false), OpenWorldHint: new(false)}
	writes = mcp.ToolAnnotations{IdempotentHint: true, DestructiveHint: new(false), OpenWorldHint: new(false)}
)

// add adds a tool whose arguments are an In. Arguments that are none are the tool's
// error, as is every error of call.
func add[In any](s *mcp.Server, c verb.Client, name, description string, does mcp.ToolAnnotations, call func(context.Context, In) (string, error)) {
	schema, err := jsonschema.For[In](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {Type: "object"},
	}})
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", name, err)) // In is fixed in this file
	}
	plainLists(schema)
	t := &mcp.Tool{Name: name, Description: description, InputSchema: schema, Annotations: &does}
	mcp.AddTool(s, t, func(ctx context.Context, req *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		// The library's own reading rounds numbers and sorts fields.
		if len(req.Params.Arguments) > 0 {
			var exact In
			if err := json.Unmarshal(req.Params.Arguments, &exact); err != nil {
				return nil, nil, err
			}
			in = exact
		}
		text, err := call(ctx, in)
		if err != nil {
			return nil, nil, errors.New(c.Explain(err))
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	})
}

// plainLists lets a list be a list only, and not null as well: some models' servers know
// no values of two types.
func plainLists(s *jsonschema.Schema) {
	if slices.Contains(s.Types, "array") {
		s.Type, s.Types = "array", nil
	}
	if s.Items != nil {
		plainLists(s.Items)
	}
	for _, p := range s.Properties {
		plainLists(p)
	}
}
