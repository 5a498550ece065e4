package exs_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gomx/exs"
)

// hooks are methods that only tests have.
var hooks = []string{"AroundPackets", "AroundAnnounced", "BeforeExport", "BeforeHide", "BeforeUsed", "SetDialTime", "Receiving", "Pending", "BeforeConnect", "Direct", "AskAs"}

// TestEveryMethodOfNothing: no method of a nil or zero handle panics. Those that can return an error do, and it says what makes such a
// handle.
func TestEveryMethodOfNothing(t *testing.T) {
	for _, h := range []struct {
		nothing, empty any
		remedy         string
	}{
		{(*exs.Library)(nil), &exs.Library{}, "Open makes one"},
		{(*exs.Socket)(nil), &exs.Socket{}, "NewSocket"},
		{(*exs.Queue)(nil), &exs.Queue{}, "NewQueue makes one"},
		{(*exs.Memory)(nil), &exs.Memory{}, "Register makes one"},
		{(*exs.Listener)(nil), &exs.Listener{}, "Listen makes one"},
		{(*exs.Conn)(nil), &exs.Conn{}, "Dial and Accept make one"},
		{(*exs.SeqPacketConn)(nil), &exs.SeqPacketConn{}, "Dial and Accept make one"},
	} {
		for what, value := range map[string]any{"nil": h.nothing, "zero": h.empty} {
			v := reflect.ValueOf(value)
			for i := range v.NumMethod() {
				if slices.Contains(hooks, v.Type().Method(i).Name) {
					continue
				}
				if err := methodOfNothing(v.Method(i), h.remedy); err != nil {
					t.Errorf("%s of a %s %T: %v", v.Type().Method(i).Name, what, value, err)
				}
			}
		}
	}
}

// methodOfNothing calls a method with arguments that are right as far as they can be.
func methodOfNothing(method reflect.Value, remedy string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panics: %v", p)
		}
	}()
	args := make([]reflect.Value, method.Type().NumIn())
	for i := range args {
		switch in := method.Type().In(i); {
		case in == reflect.TypeFor[context.Context]():
			args[i] = reflect.ValueOf(context.Background())
		case in.Kind() == reflect.Slice:
			args[i] = reflect.MakeSlice(in, 1, 1)
		default:
			args[i] = reflect.Zero(in)
		}
	}
	results := method.Call(args)
	if len(results) == 0 || results[len(results)-1].Type() != reflect.TypeFor[error]() {
		return nil
	}
	if err, _ := results[len(results)-1].Interface().(error); err == nil || !strings.Contains(err.Error(), remedy) {
		return fmt.Errorf("error %v, want one with %q", err, remedy)
	}
	return nil
}

// TestNothingOfNothing: what the methods of nothing return that return no error, and the numbers of errors.
func TestNothingOfNothing(t *testing.T) {
	var s *exs.Socket
	var c *exs.Conn
	var n *exs.Listener
	if s.FD() != -1 || s.Type() != 0 || c.Socket() != nil || c.LocalAddr() != nil || c.RemoteAddr() != nil || n.Addr() != nil || exs.Unregistered.Bytes() != nil {
		t.Error("number, type, socket, addresses or memory of nothing")
	}
	_, read := s.Read(make([]byte, 1))
	_, dequeued := (&exs.Queue{}).Dequeue(make([]exs.Event, 1), 0)
	for want, err := range map[exs.Errno]error{exs.EBADF: read, exs.EINVAL: dequeued} {
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	entries := []exs.PollEntry{{Socket: &exs.Socket{}}}
	if _, err := exs.Poll(entries, 0); !errors.Is(err, exs.EINVAL) {
		t.Errorf("Poll of a zero socket: %v", err)
	}
}
