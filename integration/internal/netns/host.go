package netns

import (
	"net/netip"
	"os"
	"path/filepath"
)

// The names of interfaces inside of hosts.
const (
	wire  = "net0"
	decoy = "aux0"
)

// Host is one host of a network. Its methods are called by the test's goroutine
// only, but for Pull and Plug.
type Host struct {
	Name   string     // its host name, which all hosts know
	V4, V6 netip.Addr // on the interface that joins the hosts; V4 may be missing

	net             *Net
	namespace, port string
	decoy           string
}

// Under returns the command that runs another one on the host, as root, under
// the host's name and with its file of hosts.
func (h *Host) Under() []string {
	return []string{"ip", "netns", "exec", h.namespace, "unshare", "-u", "sh", "-c", `hostname ` + h.Name + ` && exec "$0" "$@"`}
}

// Interface returns the name of the interface that joins the hosts.
func (h *Host) Interface() string { return wire }

// Pull takes the host's cable out: nothing arrives any more, and nothing says so.
// Safe from any goroutine.
func (h *Host) Pull() error { return ip("-n", h.net.name, "link", "set", h.port, "nomaster") }

// Plug puts the cable back in. Safe from any goroutine.
func (h *Host) Plug() error {
	return ip("-n", h.net.name, "link", "set", h.port, "master", "bridge")
}

// Down takes the link down: the hosts at both ends notice. Safe from any
// goroutine.
func (h *Host) Down() error { return ip("-n", h.net.name, "link", "set", h.port, "down") }

// Up takes the link up again. Safe from any goroutine.
func (h *Host) Up() error { return ip("-n", h.net.name, "link", "set", h.port, "up") }

// Vanish deletes the host's link. The host never comes back.
func (h *Host) Vanish() {
	h.net.t.Helper()
	h.net.ip("-n", h.net.name, "link", "delete", h.port)
}

// Lose makes the host drop whatever it has for an address, silently or, if told,
// with an error for the sender.
func (h *Host) Lose(to netip.Addr, silently bool) {
	h.net.t.Helper()
	if !silently {
		h.ip("route", "add", "unreachable", to.String())
		return
	}
	// A neighbour with a hardware address that nobody has: packets leave, and
	// nobody takes them.
	h.ip("neighbour", "replace", to.String(), "lladdr", "02:00:00:00:00:fe", "dev", wire)
}

// WriteHosts replaces the host's file of hosts, for programs that start later.
func (h *Host) WriteHosts(lines string) {
	h.net.t.Helper()
	dir := filepath.Join(configuration, h.namespace)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		h.net.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "hosts"), []byte(lines), 0o644); err != nil {
		h.net.t.Fatal(err)
	}
}

// addDecoy gives the host an interface that leads to a namespace with nothing
// behind it.
func (h *Host) addDecoy(addr string) {
	h.net.t.Helper()
	h.decoy = addr
	far := "decoy-" + h.port
	h.net.ip("-n", h.net.name, "link", "add", far, "type", "veth", "peer", "name", decoy, "netns", h.namespace)
	h.net.ip("-n", h.net.name, "link", "set", far, "up")
	h.ip("addr", "add", addr+"/16", "dev", decoy)
	h.ip("link", "set", decoy, "up")
}

func (h *Host) ip(args ...string) {
	h.net.t.Helper()
	h.net.ip(append([]string{"-n", h.namespace}, args...)...)
}
