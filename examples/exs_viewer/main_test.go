package main

import (
	"bytes"
	"context"
	"image/png"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gomx/exs"
)

// patience bounds each test.
const patience = 20 * time.Second

func TestDraws(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	var out bytes.Buffer
	v := viewer{frames: 5, plain: true, out: &out}
	if err := run(ctx, "", "", &v); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	if v.drawn != 5 || len(lines) != 5*(height+1) {
		t.Fatalf("%d frames in %d lines", v.drawn, len(lines))
	}
	if picture := strings.Join(lines[4*(height+1):], ""); !strings.Contains(picture, "@") || !strings.Contains(picture, "step ") {
		t.Errorf("nothing hot is seen:\n%s", out.String())
	}
}

func TestPictures(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	v := viewer{frames: 2, pictures: t.TempDir()}
	if err := run(ctx, "", "", &v); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(v.pictures, "frame00002.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if m, err := png.Decode(f); err != nil || m.Bounds().Dx() != width || m.Bounds().Dy() != height {
		t.Error(err)
	}
}

// A simulation outlives its viewers, has several at once, and does not wait for a slow one.
func TestViewersComeAndGo(t *testing.T) {
	if err := exs.Init(exs.Version1); err != nil {
		t.Fatal(err)
	}
	defer exs.Finalize()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	s, err := newSimulation(netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	running, end := context.WithCancel(ctx)
	go func() { ended <- s.run(running) }()
	slow := make(chan error, 1)
	go func() {
		v := viewer{plain: true, out: new(bytes.Buffer), pace: patience}
		slow <- v.watch(running, s.addr)
	}()
	for range 3 {
		v := viewer{frames: 10, plain: true, out: new(bytes.Buffer)}
		if err := v.watch(ctx, s.addr); err != nil || v.drawn != 10 {
			t.Errorf("%d frames, %v", v.drawn, err)
		}
	}
	end()
	for _, c := range []chan error{slow, ended} {
		if err := <-c; err != nil && ctx.Err() != nil {
			t.Error(err)
		}
	}
}
