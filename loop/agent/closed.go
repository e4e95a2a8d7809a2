package agent

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

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
	p.Sockets = []string{resolvePath(filepath.Dir(r.SocketPath(l.Session)))}
	if p.Level < 3 {
		return nil
	}
	p.Hide = append(p.Hide, sharedTmp...)
	for _, socket := range r.Reachable() {
		if !strings.HasPrefix(socket, "@") { // those belong to a network
			p.Hide = append(p.Hide, socket)
		}
	}
	return nil
}

// tryDial is the trial of a closed network, inside a session: it connects to the
// proxy of the environment, and not to an address of documentation (RFC 5737).
func tryDial() error {
	proxy, err := url.Parse(os.Getenv("HTTP_PROXY"))
	if err != nil {
		return err
	}
	c, err := net.DialTimeout("tcp", proxy.Host, 10*time.Second)
	if err != nil {
		return fmt.Errorf("the proxy cannot be reached: %w", err)
	}
	_ = c.Close()
	switch _, err := net.DialTimeout("tcp", "192.0.2.1:443", 10*time.Second); {
	case err == nil:
		return errors.New("an address outside was reached")
	case !errors.Is(err, syscall.ENETUNREACH):
		return fmt.Errorf("an address outside is not refused: %w", err)
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
	random, err := randomHex()
	if err != nil {
		return "", err
	}
	canary := "sak_" + random
	p.Env = append(p.Env, canaryVar+"="+canary)
	return canary, nil
}

// randomHex returns 20 random bytes in hex.
func randomHex() (string, error) {
	random := make([]byte, 20)
	if _, err := rand.Read(random); err != nil {
		return "", fmt.Errorf("random bytes: %w", err)
	}
	return hex.EncodeToString(random), nil
}
