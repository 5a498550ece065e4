package main_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"gomx/mx"
)

func TestRDMAIsShown(t *testing.T) {
	var f struct{ RDMA mx.RDMAInfo }
	if err := json.Unmarshal([]byte(good(t, nil, "-json")), &f); err != nil {
		t.Fatal(err)
	}
	if err := mx.Init(); err != nil {
		t.Fatal(err)
	}
	defer mx.Finalize()
	want := mx.RDMA()
	if fmt.Sprint(f.RDMA) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", f.RDMA, want)
	}
	text := good(t, nil)
	if !want.Available {
		names(t, text, "\nRDMA: no: "+want.Reason)
	} else {
		names(t, text, "\nRDMA: yes\n", "KiB of memory (MX_RDMA_SLOTS)")
	}
	for _, p := range want.Ports {
		names(t, text, "\t"+p.Name+": ", p.State, p.GID, p.GIDReason, p.Reason)
	}
}
