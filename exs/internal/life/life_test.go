package life

import (
	"testing"

	"gomx/exs/internal/errno"
)

// reach makes a machine in each state.
func reach(s State) *Machine {
	m := new(Machine)
	switch s {
	case Bound, Listening:
		m.Bind()
		if s == Listening {
			m.Listen()
		}
	case Connecting, Connected, Lost, Reset:
		m.Connect()
		if s != Connecting {
			m.Connected(true)
		}
		if s == Lost || s == Reset {
			m.Lose()
		}
		if s == Reset {
			m.Break()
		}
	case Closed:
		m.Close()
	}
	return m
}

func TestEveryCallInEveryState(t *testing.T) {
	const (
		ok   = errno.Errno(0)
		bad  = errno.EBADF
		inv  = errno.EINVAL
		not  = errno.ENOTCONN
		rst  = errno.ECONNRESET
		is   = errno.EISCONN
		addr = errno.EDESTADDRREQ
	)
	for call, want := range map[Call][states]errno.Errno{
		//         fresh, bound, listening, connecting, connected, lost, reset, closed
		Bind:     {ok, inv, inv, inv, inv, inv, inv, bad},
		Listen:   {addr, ok, ok, inv, inv, inv, inv, bad},
		Accept:   {inv, inv, ok, inv, inv, inv, inv, bad},
		Connect:  {ok, ok, errno.EOPNOTSUPP, errno.EALREADY, is, is, is, bad},
		Send:     {not, not, not, not, ok, rst, rst, bad},
		Recv:     {not, not, not, not, ok, ok, rst, bad},
		Shutdown: {not, not, not, not, ok, rst, rst, bad},
		SockName: {ok, ok, ok, ok, ok, ok, ok, bad},
		PeerName: {not, not, not, not, ok, ok, ok, bad},
		Tune:     {ok, ok, ok, is, is, is, is, bad},
		Look:     {ok, ok, ok, ok, ok, ok, ok, bad},
		Close:    {ok, ok, ok, ok, ok, ok, ok, bad},
	} {
		for s := range states {
			if m := reach(s); m.State() != s {
				t.Fatalf("state %d is not reached: %d", s, m.State())
			} else if got := m.May(call); got != want[s] {
				t.Errorf("call %d in state %d: %v, want %v", call, s, got, want[s])
			}
		}
	}
}

func TestDirections(t *testing.T) {
	m := reach(Connected)
	if open, err := m.Shutdown(Writing); open != Writing || err != 0 {
		t.Fatal(open, err)
	}
	if err := m.CanSend(); err != errno.EPIPE {
		t.Errorf("send while a shutdown is under way: %v", err)
	}
	for _, how := range []How{Writing, Reading | Writing} {
		if _, err := m.Shutdown(how); err != errno.EBUSY {
			t.Errorf("second shutdown of %d: %v", how, err)
		}
	}
	if m.AtEnd() {
		t.Error("reading ended with writing")
	}
	m.Shut(Writing)
	if open, err := m.Shutdown(Writing); open != 0 || err != 0 {
		t.Errorf("shutdown of what is shut: %d, %v", open, err)
	}
	if open, err := m.Shutdown(Reading | Writing); open != Reading || err != 0 || !m.AtEnd() {
		t.Errorf("shutdown of the other direction: %d, %v", open, err)
	}
	for _, how := range []How{0, 4} {
		if _, err := m.Shutdown(how); err != errno.EINVAL {
			t.Errorf("shutdown %d: %v", how, err)
		}
	}
}

func TestConnectFails(t *testing.T) {
	for _, s := range []State{Fresh, Bound} {
		m := reach(s)
		m.Connect()
		m.Shut(Writing) // the other side has ended before we knew that it was there
		m.Connected(false)
		if m.State() != s {
			t.Errorf("after a failed connect: %d, want %d", m.State(), s)
		}
		m.Connect()
		m.Connected(true)
		if n := m.CanSend(); n != 0 {
			t.Errorf("after another connect: %v", n)
		}
	}
	m := reach(Connecting)
	m.Close()
	m.Connected(true)
	if m.State() != Closed {
		t.Error("a closed socket came back to life")
	}
}
