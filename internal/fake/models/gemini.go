package models

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// geminiAPI is Google's Gemini API. Its path has the model and the method:
// /v1beta/models/gemini-2.5-flash:streamGenerateContent.
var geminiAPI = dialect{
	serves: func(path string) bool {
		_, method, ok := strings.Cut(path, "/models/")
		return ok && (strings.HasSuffix(method, ":generateContent") || strings.HasSuffix(method, ":streamGenerateContent") || strings.HasSuffix(method, ":countTokens"))
	},
	parse: parseGemini, stream: Turn.streamGemini, message: Turn.gemini, fail: failGemini,
}

type geminiPart struct {
	Text string `json:"text"`
	Call *struct {
		Name string `json:"name"`
	} `json:"functionCall"`
	Result *struct {
		Name     string         `json:"name"`
		Response map[string]any `json:"response"`
	} `json:"functionResponse"`
}

// parseGemini decodes the body of a request to the Gemini API, which has neither an
// id of the conversation nor one of a call.
func parseGemini(body []byte, hr *http.Request) (Request, error) {
	var in struct {
		System struct {
			Parts []geminiPart `json:"parts"`
		} `json:"systemInstruction"`
		Tools []struct {
			Functions []struct {
				Name string `json:"name"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		Contents []struct {
			Role  string       `json:"role"`
			Parts []geminiPart `json:"parts"`
		} `json:"contents"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, fmt.Errorf("the request is no JSON: %w", err)
	}
	_, call, _ := strings.Cut(hr.URL.Path, "/models/")
	model, method, _ := strings.Cut(call, ":")
	r := Request{Model: model, Stream: method == "streamGenerateContent", Header: hr.Header, Bytes: len(body)}
	for _, p := range in.System.Parts {
		r.System += p.Text + "\n"
	}
	for _, t := range in.Tools {
		for _, f := range t.Functions {
			r.Tools = append(r.Tools, f.Name)
		}
	}
	for _, c := range in.Contents {
		role := c.Role
		if role == "model" {
			role = "assistant"
		}
		for _, p := range c.Parts {
			switch {
			case p.Call != nil:
				r.add(role, Part{Type: "tool_use", Name: p.Call.Name})
			case p.Result != nil:
				result := Part{Type: "tool_result", Name: p.Result.Name}
				for _, v := range p.Result.Response {
					result.Text += fmt.Sprint(v)
				}
				r.add(role, result)
			default:
				r.add(role, Part{Type: "text", Text: p.Text})
			}
		}
	}
	r.Auxiliary = len(r.Tools) == 0
	return r, nil
}

func (t Turn) geminiParts(id string) []any {
	var out []any
	for _, b := range t.blocks(id) {
		if b.Type == "tool_use" {
			out = append(out, map[string]any{"functionCall": map[string]any{"name": b.Name, "args": b.Input}})
		} else {
			out = append(out, map[string]any{"text": b.Text})
		}
	}
	return out
}

// gemini returns the answer to a request, which is also the only chunk of a stream.
func (t Turn) gemini(r Request, id string) map[string]any {
	u := t.usage()
	in := u.Input + u.CacheWrite + u.CacheRead
	return map[string]any{
		"candidates":    []any{map[string]any{"index": 0, "finishReason": "STOP", "content": map[string]any{"role": "model", "parts": t.geminiParts(id)}}},
		"usageMetadata": map[string]any{"promptTokenCount": in, "cachedContentTokenCount": u.CacheRead, "candidatesTokenCount": u.Output, "totalTokenCount": in + u.Output},
		"modelVersion":  r.Model, "responseId": id,
	}
}

// streamGemini writes the answer as server-sent events. With half it stops before
// the end of the text.
func (t Turn) streamGemini(w http.ResponseWriter, r Request, id string, half bool) error {
	s := &sse{w: w, flush: http.NewResponseController(w)}
	if half {
		s.data(map[string]any{"candidates": []any{map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": []any{map[string]any{"text": "Do"}}}}}, "modelVersion": r.Model, "responseId": id})
		return s.err
	}
	s.data(t.gemini(r, id))
	return s.err
}

// geminiStatus is the status of an error by its HTTP status.
var geminiStatus = map[int]string{
	400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
	429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE",
}

// failGemini answers with an error. A fault's own status, as "details", is in Extra.
func failGemini(w http.ResponseWriter, f Fault) {
	for k, v := range f.Header {
		w.Header().Set(k, v)
	}
	e := map[string]any{"code": f.Status, "message": f.Message, "status": geminiStatus[f.Status]}
	maps.Copy(e, f.Extra)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": e})
}
