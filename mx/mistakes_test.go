package mx_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gomx/mx"
)

// TestMistakesAreNamed makes mistakes with values that a program may build by itself. Each is an error that names the operation, and none a panic.
func TestMistakesAreNamed(t *testing.T) {
	w := newWorld(t, "tcp")
	open := func(p mx.Param) error {
		ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, testFilter, mx.WithTransports("tcp"), p)
		if err == nil {
			err = errors.Join(errors.New("it is open"), ep.Close())
		}
		return err
	}
	closed := w.open()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	ep, other := w.open(), w.open()
	nic, _, err := mx.DecomposeEndpointAddr(ep.Addr())
	if err != nil {
		t.Fatal(err)
	}
	peer := mx.PeerName{NIC: nic, Endpoint: 9}
	pending := w.irecv(ep, make([]byte, 8), 1, exact)
	q, err := mx.NewQueue(ep)
	if err != nil {
		t.Fatal(err)
	}
	q.Close()
	foreign := &mx.ConnectionRequest{NIC: 1, Endpoint: 7}
	for what, c := range map[string]struct {
		err  error
		op   string
		want mx.ReturnCode
	}{
		"TLS without a certificate":      {open(mx.WithTLS(&tls.Config{})), "open endpoint", mx.ErrBadParamVal},
		"a trace nowhere":                {open(mx.WithTrace("/proc/none/such")), "open endpoint", mx.ErrBadParamVal},
		"a handle cut":                   {new(mx.WindowHandle).UnmarshalBinary(nil), "unmarshal window handle", mx.ErrBadParamVal},
		"nothing of a closed endpoint":   {second(closed.WaitSome(noContext, nil, nil, 0)), "wait some", mx.ErrBadEndpoint},
		"a request that nobody asks for": {foreign.Reject(nil), "reject", mx.ErrBadRequest},
		"the same, accepted":             {second(foreign.Accept(nil)), "accept", mx.ErrBadRequest},
	} {
		var e *mx.Error
		if !errors.As(c.err, &e) || e.Op != c.op || !errors.Is(c.err, c.want) || strings.Count(c.err.Error(), "out of range") > 1 {
			t.Errorf("%s: %v, want %v of %q", what, c.err, c.want, c.op)
		}
	}
	if err := open(mx.Param{}); !strings.Contains(err.Error(), "an empty Param") || strings.Contains(err.Error(), "WithErrorHandler") {
		t.Errorf("an empty Param: %v", err)
	}
	_, _, tooMuch := ep.ConnectWith(noContext, peer, make([]byte, mx.MaxConnectData+1))
	for what, c := range map[string]struct {
		err  error
		says []string
	}{
		"a table without a name":    {mx.WriteAddresses("", nil), []string{"no file is named"}},
		"too much data":             {tooMuch, []string{"connect to ", "/9", "513 bytes"}},
		"a request that stays":      {ep.Finish(pending, 0), []string{"finish", "timed out"}},
		"another's address":         {second(ep.Isend(nil, other.Addr(), 1, nil)), []string{other.String(), "connect this one"}},
		"no address":                {second(ep.Isend(nil, mx.EndpointAddr{}, 1, nil)), []string{"comes from a connect"}},
		"nothing to a closed queue": {q.Add(), []string{"add to queue", "closed"}},
	} {
		for _, word := range c.says {
			if c.err == nil || !strings.Contains(c.err.Error(), word) {
				t.Errorf("%s: %v, without %q", what, c.err, word)
			}
		}
	}
	if s := foreign.String(); s == "" {
		t.Error("a connection request without a name")
	}
	for _, unknown := range []fmt.Stringer{mx.Fate(9), mx.SendLevel(9), mx.StatusCode(99), mx.ParamKey(999), mx.AtomicOp(99), mx.AtomicType(99), mx.LatencyClass(9), mx.Reach(9)} {
		if unknown.String() == "" {
			t.Errorf("%T has no text for a number it does not know", unknown)
		}
	}
	for _, none := range []mx.ConnectAllError{nil, {}, {nil}} {
		if text := none.Error(); text != "no connect has failed" {
			t.Errorf("no errors: %q", text)
		}
	}
}
