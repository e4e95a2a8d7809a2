package adapter

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// mostCompactions is how often in a row opencode may compact a conversation without a
// tool call. One that was compacted is short, and the model works on before it is long
// again. Where the prompt alone is too long for the model, opencode goes on without end,
// and each compaction costs a request or two.
const mostCompactions = 3

// opencodeCircle counts the compactions since the last tool call. Of a line that is
// cut, the beginning tells a tool call; the line of a compaction is short.
func opencodeCircle() func(line []byte) string {
	compactions := 0
	return func(line []byte) string {
		switch {
		case bytes.HasPrefix(line, []byte(`{"type":"tool_use"`)):
			compactions = 0
		case compacted(line):
			if compactions++; compactions >= mostCompactions {
				return fmt.Sprintf("it compacted its conversation %d times in a row without a tool call", compactions)
			}
		}
		return ""
	}
}

// compacted reports whether a line is the text with which opencode lets the model go on
// after a compaction.
func compacted(line []byte) bool {
	const mark = `"compaction_continue"`
	if !bytes.HasPrefix(line, []byte(`{"type":"text"`)) || !bytes.Contains(line, []byte(mark)) {
		return false // most lines, without a look at their JSON
	}
	var e struct {
		Part struct {
			Made     bool `json:"synthetic"`
			Metadata struct {
				Continues bool `json:"compaction_continue"`
			} `json:"metadata"`
		} `json:"part"`
	}
	return json.Unmarshal(line, &e) == nil && e.Part.Made && e.Part.Metadata.Continues
}
