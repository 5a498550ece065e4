package main

import (
	"os"
	"testing"

	"gomx/examples/internal/jobs"
)

func TestMain(m *testing.M) { os.Exit(jobs.Main(m, main)) }
