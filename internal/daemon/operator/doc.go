// Package operator answers what people ask of a daemon at the host: the lines
// of a terminal (Command) and read models (View), through the operator's socket
// or, where no daemon runs, in the asking process itself. Host adds what chats
// need besides.
//
// service.go has what both rest on; view.go the status and the verification,
// watch.go and timeline.go the live screen, digest.go, prompt.go, replay.go,
// export.go, backup.go and pairing.go the views of those names, hats.go the hats
// for chats, host.go the offer of a run.
package operator
