package socket

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/nightporter/nightporter/internal/api"
)

// operatorSocket is the operator's socket within the state folder (SPEC 17).
const operatorSocket = "nightporter.sock"

// OperatorPath is where the operator's socket of a state folder lies.
func OperatorPath(state string) string { return filepath.Join(state, operatorSocket) }

// ErrNoState: no nightporter has ever listened in this state folder.
var ErrNoState = errors.New("no nightporter has run here")

// OperatorClient asks the process that holds a state folder. It is for
// nightporter's own commands; a session cannot read the key that it needs.
type OperatorClient struct{ socket, key string }

// Operator reads the key of a state folder. It does not connect yet: nobody
// listening shows as an api.ErrLater of the calls.
func Operator(state string) (*OperatorClient, error) {
	key, err := readKey(state)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrNoState, err)
	}
	if err != nil {
		return nil, err
	}
	return &OperatorClient{socket: OperatorPath(state), key: key}, nil
}

// Command sends a line as a person typed it. A command without a key gets one
// of its own, so that repeating it after a cut connection does it once.
func (c *OperatorClient) Command(ctx context.Context, command api.Command) (api.Reply, error) {
	if command.Key == "" {
		command.Key = "cli:" + rand.Text()
	}
	return c.call(ctx, api.PathCommand, command)
}

// View asks for a read model.
func (c *OperatorClient) View(ctx context.Context, view api.View) (api.Reply, error) {
	return c.call(ctx, api.PathView, view)
}

// TryView is View for who wants to know at once that nobody is there.
func (c *OperatorClient) TryView(ctx context.Context, view api.View) (api.Reply, error) {
	var reply api.Reply
	if err := api.Try(ctx, c.socket, c.key, api.PathView, view, &reply); err != nil {
		return api.Reply{}, fmt.Errorf("ask nightporter: %w", err)
	}
	return reply, nil
}

func (c *OperatorClient) call(ctx context.Context, path string, body any) (api.Reply, error) {
	var reply api.Reply
	if err := api.Call(ctx, c.socket, c.key, path, body, &reply); err != nil {
		return api.Reply{}, fmt.Errorf("ask nightporter: %w", err)
	}
	return reply, nil
}
