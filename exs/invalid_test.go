package exs_test

import (
	"errors"
	"strings"
	"testing"

	"gomx/exs"
	"gomx/mx"
)

// TestErrorsOfConnectedSocket makes mistakes on a connected socket. Each error has the peer of the connection, and says in words what is wrong or
// what helps.
func TestErrorsOfConnectedSocket(t *testing.T) {
	p := newWorld(t, "mem").connect(exs.SeqPacket)
	q := p.qa
	readOnly, err := p.here.Register(make([]byte, 10), exs.RecvDisable)
	p.ok(err)
	x := []byte("x")
	many := make([][]byte, mx.MaxSegments+1)
	text := func(_ any, err error) error { return err }
	for _, c := range []struct {
		what string
		err  error
		n    exs.Errno
		says string
	}{
		{"send without a queue", text(p.a.Send(x, 0, nil, nil, nil)), exs.EINVAL, "there is no queue"},
		{"persistent without a queue", text(p.a.Send(x, exs.Persistent, nil, nil, nil)), exs.EINVAL, "name one, or use Unsignaled"},
		{"in place without a queue", text(p.a.Recv(x, exs.InPlace, nil, nil, nil)), exs.EINVAL, "there is no queue for the event: name one"},
		{"an unknown flag", text(p.a.Send(x, 1<<30, q, nil, nil)), exs.EINVAL, "flags"},
		{"send outside of its memory", text(p.a.Send(x, 0, q, nil, readOnly)), exs.EFAULT, "not within the registered memory"},
		{"receive into read-only memory", text(p.a.Recv(readOnly.Bytes(), 0, q, nil, readOnly)), exs.EACCES, "RecvDisable"},
		{"send of many pieces", text(p.a.SendMsg(many, 0, q, nil, nil)), exs.EMSGSIZE, "at most 256 pieces"},
		{"receive into many pieces", text(p.a.RecvMsg(many, 0, q, nil, nil)), exs.EMSGSIZE, "at most 256 pieces"},
		{"send below the start", text(p.a.SendOffset(x, -1, 0, q, nil, nil)), exs.EFAULT, "offset"},
		{"receive below the start", text(p.a.RecvOffset(x, -1, 0, q, nil, nil)), exs.EFAULT, "offset"},
		{"persistent send of nothing", text(p.a.Send(nil, exs.Persistent, q, nil, nil)), exs.EINVAL, "at least one byte"},
		{"Notify alone", text(p.a.Send(x, exs.Notify, q, nil, nil)), exs.EINVAL, "goes with Persistent"},
		{"InPlace with Block", text(p.a.Recv(x, exs.InPlace|exs.Block, q, nil, nil)), exs.EINVAL, "InPlace"},
		{"nothing persistent", text(p.a.PollPersistent()), exs.EINVAL, "no persistent operation"},
		{"no place", p.a.RecycleRcvBuffer(x), exs.EINVAL, "no place"},
		{"no direction", p.a.Shutdown(0, exs.Block, nil, nil), exs.EINVAL, "directions"},
		{"shutdown with a flag", p.a.Shutdown(exs.ShutWR, exs.Peek, nil, nil), exs.EINVAL, "only flag"},
		{"close with a flag", p.a.Close(exs.Peek, q, nil), exs.EINVAL, "only flags"},
		{"close without a queue", p.a.Close(0, nil, nil), exs.EINVAL, "there is no queue"},
		{"cancel with a handle that can't be compared", text(p.a.Cancel([]int{1}, 0)), exs.EINVAL, "[]int can't be compared"},
		{"cancel with a flag", text(p.a.Cancel(nil, exs.Block)), exs.EINVAL, "only flag"},
		{"no command", text(p.a.Fcntl(99, 0)), exs.EINVAL, "no command 99"},
		{"a CPU that there is not", text(p.a.Fcntl(exs.SetCompThreadCPU, -2)), exs.EINVAL, "SetCompThreadCPU takes 0 and more, not -2"},
		{"a fixed option", text(p.a.Fcntl(exs.SetFlowControlCredits, 5)), exs.EISCONN, "connected already"},
		{"listen", p.a.Listen(1), exs.EINVAL, "connection"},
		{"accept", text(p.a.Accept(make([]exs.AcceptAddr, 1), exs.Block, nil)), exs.EINVAL, "does not listen"},
		{"accept nothing", text(p.a.Accept(nil, exs.Block, nil)), exs.EINVAL, "at least"},
		{"send an empty piece", text(p.a.SendFile([]exs.FileVec{{}}, exs.Block, nil, nil)), exs.EINVAL, "element 0"},
		{"too many receives", withoutCredit(p, q), exs.EBUSY, "no credit"},
	} {
		var e *exs.Error
		if !errors.As(c.err, &e) || e.Errno != c.n || !strings.Contains(c.err.Error(), c.says) || !e.Peer.IsValid() {
			t.Errorf("%s: %v, want number %d, a peer and %q", c.what, c.err, int(c.n), c.says)
		}
	}
	p.ok(p.a.Close(exs.DontLinger|exs.Block, nil, nil))
	p.ok(p.b.Close(exs.DontLinger|exs.Block, nil, nil))
}

// TestBusySaysWhy: a persistent send that is under way keeps out ordinary sends, and the lack of a credit those with an offset.
func TestBusySaysWhy(t *testing.T) {
	p := newWorld(t, "mem").connect(exs.SeqPacket)
	x := []byte("x")
	_, err := p.a.Send(x, exs.Persistent, p.qa, nil, nil)
	p.ok(err)
	_, err = p.a.Send(x, 0, p.qa, nil, nil)
	refused(t, err, exs.EBUSY)
	says(t, err, "a persistent operation", "peer")
	for range exs.DefaultCredits - 1 { // they wait for a persistent receive of the peer
		_, err = p.a.SendOffset(x, 0, 0, p.qa, nil, nil)
		p.ok(err)
	}
	_, err = p.a.SendOffset(x, 0, 0, p.qa, nil, nil)
	refused(t, err, exs.EBUSY)
	says(t, err, "no credit", "peer")
	p.ok(p.a.Close(exs.DontLinger|exs.Block, nil, nil))
	p.ok(p.b.Close(exs.DontLinger|exs.Block, nil, nil))
}

// withoutCredit receives until there is no credit, and returns the error.
func withoutCredit(p *pair, q *exs.Queue) error {
	for range exs.DefaultCredits + 1 {
		if _, err := p.a.Recv(make([]byte, 1), 0, q, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// TestOpenWithContextID: the bits of the match information are the library's, and packets failed where some of them were a context id.
func TestOpenWithContextID(t *testing.T) {
	_, err := exs.Open(exs.Version1, mx.WithTransports("mem"), mx.WithContextID(8, 0))
	if !errors.Is(err, exs.EINVAL) || !strings.Contains(err.Error(), "WithContextID") {
		t.Error(err)
	}
}
