package agent

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/loop/ledger"
)

// closeNetwork gives a plan a network of its own. Sockets of the file system lead
// out of it, so those that a session could connect to are hidden, and so are the
// folders in which other programs make new ones.
func (r *Runner) closeNetwork(l ledger.Launch, folder string, p *plan) error {
	if ok, why := r.ClosedNetwork(); !ok {
		return fmt.Errorf("network = %q is not possible here: %s", l.Network.Mode, why)
	}
	if _, err := policyOf(l.Network); err != nil {
		return err
	}
	p.Closed, p.Resolver = true, filepath.Join(folder, fileResolver)
	p.Hide = append(p.Hide, sharedTmp...)
	for _, socket := range r.Reachable() {
		if !strings.HasPrefix(socket, "@") { // those belong to a network
			p.Hide = append(p.Hide, socket)
		}
	}
	return nil
}

// writeResolver writes the resolv.conf of a closed network. The session's user
// reads it.
func writeResolver(path string) error {
	return fsutil.Replace(path, []byte("nameserver "+nameServer+"\n"), 0o644)
}

// canaryVar is the variable that holds the canary. Its name is one that whoever
// gathers secrets takes along, and that no program is known to read.
const canaryVar = "SESSION_ACCESS_KEY"

// plantCanary adds a value to the environment of a session that nothing has a
// reason to send, and returns it. Whoever sends all of the environment sends it,
// too, and shows by it what they do.
func plantCanary(p *plan) (string, error) {
	random := make([]byte, 20)
	if _, err := rand.Read(random); err != nil {
		return "", errors.Join(errors.New("make the canary"), err)
	}
	canary := fmt.Sprintf("sak_%x", random)
	p.Env = append(p.Env, canaryVar+"="+canary)
	return canary, nil
}
