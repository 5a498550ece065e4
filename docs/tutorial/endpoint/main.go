// Command endpoint is a small key-value store on bare endpoints: a receive with wildcards, and a handler.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"time"

	"gomx/mx"
)

// filter is what both sides must name to connect: programs that don't belong together don't meet.
const filter = 0x5107e

// The upper half of the match information says what a message is, the lower half is the key that it is about.
const (
	kindPut    = uint64(iota+1) << 32 // a value to keep
	kindStored                        // the answer: it is kept
	kindGet                           // a question for a value
	kindValue                         // the answer: the value
	kindBits   = uint64(0xffffffff) << 32
)

const patience = 10 * time.Second

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	if err := mx.Init(); err != nil {
		return err
	}
	defer mx.Finalize()
	ep, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter)
	if err != nil {
		return err
	}
	defer ep.Close()
	s := &store{ep: ep}
	if err := ep.RegisterUnexpHandler(s.answer, nil); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.keep(ctx) }()
	err = client(ep.Addr())
	stop()
	return errors.Join(err, <-served)
}

// store keeps values. The handler may run in any goroutine that makes progress, so the map is one for several.
type store struct {
	ep     *mx.Endpoint
	values sync.Map // of keys (uint64) to values ([]byte)
}

// keep receives values, whatever their keys and whoever sends them, until the context ends.
func (s *store) keep(ctx context.Context) error {
	buf := make([]byte, 1024)
	for {
		r, err := s.ep.Irecv(buf, kindPut, kindBits, nil) // the mask leaves the key out
		if err != nil {
			return err
		}
		st, err := s.ep.WaitContext(ctx, r)
		if ctx.Err() != nil {
			_, err := s.ep.Cancel(r)
			return err
		}
		if err != nil {
			return err
		}
		key := st.MatchInfo &^ kindBits
		s.values.Store(key, append([]byte(nil), buf[:st.XferLength]...))
		s.reply(st.Source, kindStored|key, nil)
	}
}

// answer is the handler. It sees each message that no receive is posted for: it answers questions on the spot, and
// leaves all else for a receive that comes later.
func (s *store) answer(_ any, source mx.EndpointAddr, match uint64, _ uint32, _ []byte) mx.UnexpAction {
	if match&kindBits != kindGet {
		return mx.RecvContinue
	}
	key := match &^ kindBits
	value, _ := s.values.Load(key)
	b, _ := value.([]byte)
	s.reply(source, kindValue|key, b)
	return mx.RecvFinished
}

// reply sends without waiting: the request is forgotten, and freed when it completes.
func (s *store) reply(to mx.EndpointAddr, match uint64, b []byte) {
	r, err := s.ep.Isend(b, to, match, nil)
	if err == nil {
		err = s.ep.Forget(r)
	}
	if err != nil {
		log.Print(err)
	}
}

// client stores two values and asks for three.
func client(server mx.EndpointAddr) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ep, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter)
	if err != nil {
		return err
	}
	defer ep.Close()
	nic, id, err := mx.DecomposeEndpointAddr(server) // in another process: mx.HostnameToNICID("there"), and the id
	if err != nil {
		return err
	}
	to, err := ep.ConnectContext(ctx, nic, id, filter)
	if err != nil {
		return err
	}
	for key, text := range []string{"zero", "one"} {
		if _, err := call(ctx, ep, to, kindPut|uint64(key), []byte(text), kindStored|uint64(key)); err != nil {
			return err
		}
	}
	for key := range uint64(3) {
		value, err := call(ctx, ep, to, kindGet|key, nil, kindValue|key)
		if err != nil {
			return err
		}
		fmt.Printf("key %d: %q\n", key, value)
	}
	return nil
}

// call sends a message and returns the answer to it. The receive is posted first, so that the answer finds it.
func call(ctx context.Context, ep *mx.Endpoint, to mx.EndpointAddr, ask uint64, b []byte, want uint64) ([]byte, error) {
	buf := make([]byte, 1024)
	answer, err := ep.Irecv(buf, want, mx.MatchMaskNone, nil)
	if err != nil {
		return nil, err
	}
	question, err := ep.Isend(b, to, ask, nil)
	if err != nil {
		return nil, err
	}
	if _, err := ep.WaitContext(ctx, question); err != nil {
		return nil, err
	}
	st, err := ep.WaitContext(ctx, answer)
	return buf[:st.XferLength], err
}
