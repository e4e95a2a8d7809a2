// Package hatmcp is nightporter mcp: the verbs of hat (package verb) as tools of the
// Model Context Protocol, for an agent that has no shell to call hat in. The agent's
// program starts it inside the session, and it calls the session's socket as hat does.
//
//	server.go   Serve, and what the server says of itself
//	tools.go    the tools, one a verb
//
// A refusal is a tool's error, in the words in which hat prints it. The package
// belongs to nightporter and not to hat, which the protocol's library would make three
// times as large.
package hatmcp

import (
	"context"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nightporter/nightporter/internal/verb"
)

// name is the server's name. Agents' programs put it before the names of tools.
const name = "nightporter"

// instructions go to the model where its program passes on what servers say.
const instructions = `These tools are the commands of hat, for a session without a shell: where nightporter's prompt or an answer says hat emit TYPE --data '{…}', call emit with type and data; for hat task add, call task_add; and so on.
Call emit, or ask, exactly once, when all else is done. Once it is accepted the session has ended: stop then. A call that fails says what to change: change it and call again.`

// Serve serves one agent until it closes in, or ctx ends.
func Serve(ctx context.Context, c verb.Client, version string, in io.ReadCloser, out io.WriteCloser) error {
	s := mcp.NewServer(&mcp.Implementation{Name: name, Version: version}, &mcp.ServerOptions{Instructions: instructions})
	addTools(s, c)
	return s.Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
}
