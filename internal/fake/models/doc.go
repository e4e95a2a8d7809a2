// Package models is the far end of a coding agent: a server on loopback that
// speaks the Anthropic Messages API, streaming and not, and answers from a
// script. It is support for tests of real agent programs, which reach it as
// ANTHROPIC_BASE_URL with a dummy key. Nothing in the product imports it.
//
// A script says what the model does next, given the conversation so far:
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
// Play gives each session a list of turns, which is shorter, and Hat reads
// nightporter's prompt, so that one script plays a whole night:
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
// What goes wrong is a turn's Fault: a limit with or without its reset, an
// overloaded or broken provider, a refused key, a server that hangs, a stream
// that is cut. Turn.Before is called before the answer, and may wait: a test
// holds a session there while it does something else.
//
// Agents ask on the side too: for titles, for what is left of a quota. Such
// requests offer no tools; they are recorded as Side and answered without the
// script.
package models
