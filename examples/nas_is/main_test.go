package main

import (
	"testing"

	"gomx/examples/internal/npb/npbtest"
)

func TestVerification(t *testing.T) { npbtest.Verify(t, run, 1, 2, 4) }
