//go:build linux && cgo

package rdma

import (
	"math/rand/v2"
	"os"
	"testing"

	"gomx/transport/wire"
)

// A read that has left only its last packet out, as Soft-RoCE does, has not arrived, whatever its
// length, and wherever its memory is cut.
func TestReadWithoutItsLastPacket(t *testing.T) {
	for _, mtu := range []int{256, 1024, 4096} {
		for _, n := range []int{1, 2, 7, 8, 9, 255, 256, 257, 1023, 1024, 1025, 5000, 32767, 70000} {
			memory := make([]byte, 2*n)
			g := &pull{landing: wire.Vec{First: memory[:n/3], Rest: [][]byte{memory[n/3 : n], memory[n:]}}}
			g.placeSentinel(n)
			g.placeSentinel(n)
			fill := func(from, to int) {
				for i := from; i < to; i++ {
					memory[i] = byte(rand.Uint32())
				}
			}
			last := func(end int) int { return end - ((n-1)%mtu + 1) }
			fill(0, n)
			fill(n, last(2*n))
			if g.arrived() {
				t.Errorf("%d bytes in packets of %d: arrived, though the second read has not ended", n, mtu)
			}
			for tries := 0; !g.arrived(); tries++ { // of a byte one in 256 is what was there
				if fill(0, 2*n); tries > 10 {
					t.Fatalf("%d bytes: all are there, and have not arrived", n)
				}
			}
		}
	}
}

// Only the driver of Soft-RoCE names the interface that its device runs on.
func TestSoftRoCEIsKnown(t *testing.T) {
	files := rocePort("rxe0")
	files["rxe0/parent"] = "eth0"
	for name, content := range rocePort("mlx5_0") {
		files[name] = content
	}
	s := tree(t, files)
	if !s.soft(&Port{Device: "rxe0", Number: 1}) || s.soft(&Port{Device: "mlx5_0", Number: 1}) {
		t.Errorf("Soft-RoCE: rxe0 %v, mlx5_0 %v", s.soft(&Port{Device: "rxe0", Number: 1}), s.soft(&Port{Device: "mlx5_0", Number: 1}))
	}
}

func TestSoftRoCEOfTheMachine(t *testing.T) {
	p := &Port{Device: "rxe0", Number: 1}
	if _, err := os.Stat(systemSysfs.path(p.Device)); err != nil {
		t.Skip("needs Soft-RoCE, as the machine of integration/rdmavm has: ", err)
	}
	if !systemSysfs.soft(p) {
		t.Error("rxe0 is not known for Soft-RoCE")
	}
}
