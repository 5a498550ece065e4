package mx

import (
	"errors"
	"fmt"
	"net/netip"

	"gomx/mx/internal/addressfile"
	"gomx/transport"
	"gomx/transport/nic"
)

// AddressTable has the names of many endpoints, for ConnectAll or Connect, in a file that processes share (a shared address vector of OFI): it is mapped
// read-only, so that the processes of a host have it in memory once. Its methods may be called from any number of
// goroutines, Close when no other is.
type AddressTable struct{ t *addressfile.Table }

// WriteAddresses writes an address table, in which each endpoint has the number that it has in peers, up to 1 << 24 of them. It makes a new file
// in the same directory and puts it in the place of path, which is a file or nothing, so that who has the old one mapped keeps it. Nobody but the user can read the file, which has
// the filters in it; in /dev/shm it never leaves the memory. With a NIC id that is not made of an IPv4 address goes the address that it has
// here. MX does not have it. Errors: ErrNotInitialized, ErrNICNotFound for such an id that is not known here, ErrBadEndpointID,
// ErrBadParamVal for too many, or if path is a device or the like, ErrNoPerm, ErrFailure if the file can't be written; the text says why. Safe from any goroutine.
func WriteAddresses(path string, peers []PeerName) error {
	dir, err := directory("write addresses")
	if dir == nil {
		return err
	}
	if path == "" {
		return fail("write addresses", ErrBadParamVal, "", errors.New("no file is named"))
	}
	records := make([]addressfile.Record, len(peers))
	for i, p := range peers {
		if p.Endpoint >= MaxEndpoints {
			return fail("write addresses", ErrBadEndpointID, "", fmt.Errorf("endpoint %d of %d has id %d", i, len(peers), p.Endpoint))
		}
		at, known := addressOf(dir, nic.ID(p.NIC))
		if !known {
			return fail("write addresses", ErrNICNotFound, nic.ID(p.NIC).String(), fmt.Errorf("endpoint %d of %d: its address is not known here", i, len(peers)))
		}
		records[i] = addressfile.Record{NIC: p.NIC, Endpoint: p.Endpoint, Filter: p.Filter, Addr: at}
	}
	return addressesError("write addresses", path, addressfile.Write(path, records))
}

// addressOf returns the address that belongs to a NIC id in a table: none if the id says it, or if this host alone has the board.
func addressOf(dir *nic.Directory, id nic.ID) (at netip.Addr, known bool) {
	if _, itself := id.Addr(); itself {
		return at, true
	}
	if addrs := dir.Addrs(id); len(addrs) > 0 {
		return addrs[0].WithZone(""), true
	}
	return at, dir.IsLocal(id)
}

// ReadAddresses maps an address table. It is checked as a whole before it is used. MX does not have it. Errors: ErrNotInitialized; ErrNoPerm if the file is
// another user's, others may write to it, or this user may not read it; ErrBadParamVal if it is no address table, damaged, or of another version;
// ErrNoResources if this process has no file descriptor left; ErrFailure if there is none, or it can't be mapped. The text says why. Safe from any goroutine.
func ReadAddresses(path string) (*AddressTable, error) {
	if dir, err := directory("read addresses"); dir == nil {
		return nil, err
	}
	t, err := addressfile.Open(path)
	if err != nil {
		return nil, addressesError("read addresses", path, err)
	}
	return &AddressTable{t}, nil
}

func addressesError(op, path string, err error) error {
	err = transport.Shortage(err)
	code := codeOf(err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, addressfile.ErrFormat):
		code = ErrBadParamVal
	case errors.Is(err, addressfile.ErrOwner):
		code = ErrNoPerm
	}
	return fail(op, code, path, &instead{err.Error(), err})
}

// Len returns how many endpoints there are; of a table that is closed, none.
func (t *AddressTable) Len() int { return t.t.Len() }

// Peer returns the name of an endpoint by its number, which is below Len: it panics otherwise, as an index of a slice does. A NIC id
// that says no address itself is known from then on.
func (t *AddressTable) Peer(i int) PeerName {
	r := t.t.At(i)
	if r.Addr.IsValid() {
		if dir := knownDirectory(); dir != nil && !dir.IsLocal(nic.ID(r.NIC)) && len(dir.Addrs(nic.ID(r.NIC))) == 0 {
			dir.Learn(nic.ID(r.NIC), r.Addr, "")
		}
	}
	return PeerName{NIC: r.NIC, Endpoint: r.Endpoint, Filter: r.Filter}
}

// Peers returns the names of the endpoints from one number to before another, as a slice of a slice is taken: it panics if there are none
// of these numbers.
func (t *AddressTable) Peers(from, to int) []PeerName {
	if from < 0 || to < from || to > t.Len() {
		panic(fmt.Sprintf("address table: endpoints %d to %d of %d", from, to, t.Len()))
	}
	list := make([]PeerName, 0, to-from)
	for i := from; i < to; i++ {
		list = append(list, t.Peer(i))
	}
	return list
}

// Close unmaps the table. A second Close does nothing.
func (t *AddressTable) Close() error {
	if err := t.t.Close(); err != nil {
		return fail("close addresses", ErrFailure, "", err)
	}
	return nil
}
