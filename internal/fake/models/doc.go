// Package models is a fake model provider for tests: a server on loopback that
// speaks the Anthropic Messages API, OpenAI's Responses API and chat completions,
// and Google's Gemini API, and answers from a script. Tests of real agent programs set it
// as ANTHROPIC_BASE_URL or as the base_url of a provider, with a dummy key.
// Nothing in the product imports it.
//
// A script returns the next turn for the conversation so far:
//
//	srv := models.Start(t, func(r models.Request) models.Turn {
//		switch r.Step {
//		case 0:
//			return models.Use(models.Write("cart.go", "package cart\n"))
//		case 1:
//			return models.Use(models.Bash("go test ./..."))
//		}
//		return models.Say("Done.")
//	})
//	cmd.Env = append(cmd.Env, srv.Env()...)
//
// Play takes a list of turns for each session, and Hat parses nightporter's
// prompt, so that one script serves a whole night:
//
//	srv := models.Start(t, models.Play(func(r models.Request) []models.Turn {
//		hat := r.Hat()
//		switch hat.Name {
//		case "builder":
//			return []models.Turn{
//				models.Use(models.Write("task.txt", hat.Task)),
//				models.Use(hat.Emit(map[string]any{"summary": "did " + hat.Task, "files_modified": []string{"task.txt"}})),
//			}
//		case "reviewer":
//			return []models.Turn{models.Use(hat.Emit(map[string]any{"summary": "fine", "issues": []any{}}))}
//		}
//		return []models.Turn{models.Say("nothing for " + hat.Name)}
//	}))
//
// A turn's Fault is a failure: a usage limit with or without the time of its
// reset, an overloaded or broken provider, a rejected key, a server that hangs,
// a stream that breaks off. Turn.Before is called before the answer and may
// block: a test holds a session there while it does something else.
//
// Agents also send auxiliary requests, for titles or for the rest of a quota.
// They offer no tools; the server marks them as Auxiliary and answers without
// the script.
//
//   - server.go, request.go, stream.go: Server, requests and their answers
//   - responses.go, chat.go, gemini.go: the same for the other APIs
//   - turn.go, fault.go: what a script returns
//   - hat.go: a prompt of nightporter
package models
