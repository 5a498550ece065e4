package mx

import (
	"sync"
	"sync/atomic"
	"time"

	"gomx/endpoint/driver"
)

// Admission decides whether a peer is admitted that connects: true accepts it. answer goes to its program, in either case; of more than
// MaxConnectData bytes it is cut.
type Admission func(r *ConnectionRequest) (admit bool, answer []byte)

// admission is an endpoint's admission function, which answers what its listener takes.
type admission struct {
	mu sync.Mutex
	l  *Listener // nil: there is none
	q  *Queue
	f  atomic.Pointer[Admission]
}

// Admit has f decide who may begin a session with the endpoint, of those who have the filter: it is called once for each connect that would begin
// one, in the way of a Queue's handler: by whichever goroutine makes progress, one call at a time and not beside other
// handlers of the endpoint. It may block, but nothing progresses meanwhile, and it may call the endpoint, save Close, which is
// ErrCloseInHandler; f must not answer the request itself, nor end its goroutine (runtime.Goexit). If it panics, the peer is rejected. A program that wants to
// decide later, or elsewhere, has a Listener. What comes while f decides waits, as many connects as there may be strangers (WithStrangers), or
// WithBacklog if that is more. A further one takes the place of a stranger or, if all of these wait for f, of the connect that has
// waited longest, which then tries again; beyond WithBacklog it is refused with StatusBacklogFull. Another f takes the place of the one before; nil admits whoever has the filter, as
// at first. An endpoint that is opened with the parameter Passive lets nobody in before. Admit disables single-threaded mode.
// MX does not have it. Errors: ErrBusy if the endpoint has a Listener, ErrBadParamVal if it has contexts, ErrBadEndpoint.
// Safe from any goroutine.
func (ep *Endpoint) Admit(f Admission) error {
	a := &ep.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case f == nil && a.l != nil:
		a.l.l.Close(false)
		a.q.Close()
		a.l, a.q = nil, nil
		return nil
	case f == nil:
		return ep.fail("admit", "", listenCode(ep.d.AdmitAll()))
	}
	a.f.Store(&f)
	if a.l != nil {
		return nil
	}
	l, err := ep.listen()
	if err == nil {
		if err = a.serve(ep, l); err != nil {
			l.Close()
		}
	}
	return ep.fail("admit", "", err)
}

// serve has what a listener takes decided from now on.
func (a *admission) serve(ep *Endpoint, l *Listener) error {
	dq, err := driver.NewQueue(ep.d)
	if err != nil {
		return err
	}
	q := &Queue{dq, []*Endpoint{ep}}
	err = dq.Reserve()
	if err == nil {
		err = l.l.ExpectCrowd()
	}
	if err == nil {
		err = q.handle(func([]Completion) { a.decide(l, q) })
	}
	if err == nil {
		err = a.await(l, q)
	}
	if err == nil {
		a.l, a.q = l, q
	}
	return err
}

// await has decide called when a request waits.
func (a *admission) await(l *Listener, q *Queue) error {
	_, err := l.l.Ready(0, nil, q.q)
	return err
}

// decideFor is how long decisions may take, save the last, before the endpoint makes progress again.
const decideFor = time.Millisecond

// decide answers requests that wait, and comes back for the next. The listener may have been closed meanwhile, which is no error here.
func (a *admission) decide(l *Listener, q *Queue) {
	defer func() { _ = a.await(l, q) }()
	for began := time.Now(); time.Since(began) < decideFor; {
		v, ok := l.l.Take()
		if !ok {
			return
		}
		a.answer(l, &v)
	}
}

func (a *admission) answer(l *Listener, v *driver.Visitor) {
	r, admit, answer := l.request(v), false, []byte(nil)
	defer func() { // also if f panics
		answer = answer[:min(len(answer), MaxConnectData)]
		if admit {
			_, _, _ = l.l.Accept(r.h, answer)
		} else {
			_ = l.l.Refuse(r.h, answer)
		}
	}()
	admit, answer = (*a.f.Load())(r)
}
