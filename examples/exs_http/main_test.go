package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"gomx/exs"
)

func TestServesFiles(t *testing.T) {
	dir := t.TempDir()
	want := bytes.Repeat([]byte("0123456789abcde\n"), 200_000)
	if err := os.WriteFile(filepath.Join(dir, "large.txt"), want, 0o600); err != nil {
		t.Fatal(err)
	}
	ln, err := exs.Listen("exs", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- serve(ctx, ln, dir) }()
	url := "http://" + ln.Addr().String()

	var got bytes.Buffer
	if err := get(&got, url+"/large.txt"); err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%d bytes, %v", got.Len(), err)
	}
	if err := get(io.Discard, url+"/none"); err == nil {
		t.Error("a file that is not there was served")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := exs.Finalize(); err != nil {
		t.Error(err)
	}
}
