// Package meet opens endpoints and connects them, for the programs of bench/ordinary that use package mx.
package meet

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"time"

	"gomx/mx"
)

// patience is how long a server may take to be there.
const patience = 20 * time.Second

// filter is that of all endpoints of a program.
const filter = 0x0d1a

// begin initializes the library for the first endpoint of a program.
var begin = sync.OnceValue(mx.Init)

// Begin initializes the library, which the first call of others does otherwise.
func Begin() error { return begin() }

// Serve opens an endpoint for others to connect to.
func Serve(id int, params ...mx.Param) (*mx.Endpoint, error) {
	if err := begin(); err != nil {
		return nil, err
	}
	return mx.OpenEndpoint(mx.AnyNIC, uint32(id), filter, params...)
}

// ServeAny is Serve with a number that is free.
func ServeAny() (*mx.Endpoint, error) {
	if err := begin(); err != nil {
		return nil, err
	}
	return mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter)
}

// Call opens an endpoint, and connects it to that of Serve in another process of this host, which need not be there yet.
func Call(id int, params ...mx.Param) (*mx.Endpoint, mx.EndpointAddr, error) {
	return CallAs(mx.AnyEndpoint, id, params...)
}

// CallAs is Call with an endpoint of that number.
func CallAs(own uint32, id int, params ...mx.Param) (*mx.Endpoint, mx.EndpointAddr, error) {
	var to mx.EndpointAddr
	if err := begin(); err != nil {
		return nil, to, err
	}
	nic, err := mx.HostnameToNICID("localhost")
	if err != nil {
		return nil, to, err
	}
	ep, err := mx.OpenEndpoint(mx.AnyNIC, own, filter, params...)
	if err != nil {
		return nil, to, err
	}
	for since := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		to, err = ep.Connect(nic, uint32(id), filter, patience)
		if err == nil || !errors.Is(err, mx.ErrConnectionFailed) || time.Since(since) > patience {
			return ep, to, err
		}
	}
}

// Connect connects an endpoint to another one of this process.
func Connect(ep, other *mx.Endpoint) (mx.EndpointAddr, error) {
	nic, err := mx.HostnameToNICID("localhost")
	if err != nil {
		return mx.EndpointAddr{}, err
	}
	return ep.Connect(nic, other.ID(), filter, patience)
}

// Recv receives one message, and says who sent it.
func Recv(ep *mx.Endpoint, buf []byte, match uint64) (mx.EndpointAddr, error) {
	r, err := ep.Irecv(buf, match, mx.MatchMaskNone, nil)
	if err != nil {
		return mx.EndpointAddr{}, err
	}
	st, _, err := ep.Wait(r, mx.Infinite)
	if err == nil {
		err = st.Err()
	}
	return st.Source, err
}

// Send sends one message.
func Send(ep *mx.Endpoint, buf []byte, to mx.EndpointAddr, match uint64) error {
	r, err := ep.Isend(buf, to, match, nil)
	if err != nil {
		return err
	}
	st, _, err := ep.Wait(r, mx.Infinite)
	if err == nil {
		err = st.Err()
	}
	return err
}

// Again returns a command that runs the program once more, with other arguments. What that says of errors is seen.
func Again(args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Stderr = os.Stderr
	return c
}
