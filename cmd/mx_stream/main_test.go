package main

import (
	"os"
	"testing"

	"gomx/cmd/internal/tooltest"
)

func TestMain(m *testing.M) { os.Exit(tooltest.Main(m, "mx_stream", main)) }
