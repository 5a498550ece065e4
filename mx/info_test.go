package mx

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gomx/transport"
	"gomx/transport/nic"
)

// Shared memory does not reach another host, which need not be said. What RDMA says
// is worth it.
func TestWhatIsWorthSayingOfATransportThatWasNotTaken(t *testing.T) {
	dir, err := nic.NewDirectory(nic.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	ep := &Endpoint{dir: dir, names: []string{"shm", "rdma", "tcp"}}
	here, away := dir.Boards()[0].ID, nic.ID(0x0200_0a63_6261)
	said := func(name string, err error) error { return fmt.Errorf("%s: %w", name, err) }
	for name, c := range map[string]struct {
		id   nic.ID
		says []error
		want string
	}{
		"all is well":                  {away, nil, ""},
		"another host":                 {away, []error{said("shm", transport.ErrNoPeer)}, ""},
		"another host, another reason": {away, []error{said("shm", transport.ErrRefused)}, "shm"},
		"another host without RDMA":    {away, []error{said("shm", transport.ErrNoPeer), said("rdma", transport.ErrUnsupported)}, "rdma"},
		"another host, no way by RDMA": {away, []error{said("shm", transport.ErrNoRoute), said("rdma", transport.ErrNoRoute)}, "rdma"},
		"this host":                    {here, []error{said("shm", transport.ErrNoPeer), said("rdma", transport.ErrNoPeer)}, "shm rdma"},
	} {
		got := words(ep.worthSaying(errors.Join(c.says...), c.id))
		for _, medium := range []string{"shm", "rdma"} {
			if strings.Contains(got, medium) != strings.Contains(c.want, medium) {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
}
