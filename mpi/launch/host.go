package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
)

// hostID names what ranks share that may use shared memory and abstract sockets with each other. The
// name of the host would lie in containers.
func hostID(s *settings, rank, size int) string {
	where, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		name, _ := os.Hostname()
		where = []byte(name)
	}
	network, _ := os.Readlink("/proc/self/ns/net")
	id := strings.TrimSpace(string(where)) + " " + network
	switch {
	case s.noLocal:
		id = fmt.Sprintf("%s rank %d", id, rank)
	case s.cliques > 0:
		id = fmt.Sprintf("%s clique %d", id, rank*s.cliques/size)
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}
