package mx_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"gomx/mx"
)

// lines is what a logger has written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) has(part string) bool { return strings.Contains(l.String(), part) }

// TestLogger wants connects, refusals, and the ends of sessions in the log, with the names of both sides.
func TestLogger(t *testing.T) {
	over(t, func(w *world) {
		var log lines
		param := mx.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))
		a, b, _, _ := w.pair(param)
		for _, ep := range []*mx.Endpoint{a, b} {
			other := b
			if ep == b {
				other = a
			}
			part := "msg=connected endpoint=" + ep.String() + " peer=" + other.String() + " transport=" + w.medium
			w.until(part, func() bool { return log.has(part) })
		}
		stranger := w.open()
		nic, id := place(w, b)
		if _, err := stranger.Connect(nic, id, testFilter+1, bound); err == nil {
			w.Error("the filter is wrong")
		}
		w.until("refusal", func() bool { return log.has("connect refused: wrong filter") }, b)
		name := a.String()
		if err := a.Close(); err != nil {
			w.Fatal(err)
		}
		part := `msg="session ended" endpoint=` + b.String() + " peer=" + name
		w.until(part, func() bool { return log.has(part) }, b)
	})
}

// TestHandlerOfLogger may call the endpoint, and be slow: nothing waits for it.
func TestHandlerOfLogger(t *testing.T) {
	over(t, func(w *world) {
		var a *mx.Endpoint
		called := make(chan struct{}, 100)
		release := make(chan struct{})
		a, _, _, _ = w.pair(mx.WithLogger(slog.New(slog.NewTextHandler(writer(func() {
			called <- struct{}{}
			<-release
		}), nil))))
		<-called
		_ = a.Counters()
		close(release)
	})
}

type writer func()

func (w writer) Write(b []byte) (int, error) {
	w()
	return len(b), nil
}

func TestWriteStats(t *testing.T) {
	over(t, func(w *world) {
		a, _, _, _ := w.pair()
		w.succeed(a, w.isend(a, pattern(8, 0), a.Addr(), 1))
		var text strings.Builder
		if err := a.WriteStats(&text); err != nil {
			w.Fatal(err)
		}
		if s := text.String(); !strings.HasPrefix(s, "mx: "+a.String()+", pid ") || !strings.Contains(s, "\n    messages sent: 1\n") || strings.Contains(s, ": 0\n") {
			w.Error(s)
		}
	})
}
