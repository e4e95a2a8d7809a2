package project

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"sync"
)

// self is the name by which the nightporter of this machine claims bug reports: another
// one on each machine, without the name of the machine, which may be nobody's business
// where the reports lie. Two on one machine cannot work on one repository.
var self = sync.OnceValue(func() string {
	id, err := os.ReadFile("/etc/machine-id")
	if err != nil || len(bytes.TrimSpace(id)) == 0 {
		name, _ := os.Hostname() // without one, all such machines are one
		id = []byte(name)
	}
	sum := sha256.Sum256(append([]byte("nightporter "), bytes.TrimSpace(id)...))
	return "nightporter-" + hex.EncodeToString(sum[:3])
})
