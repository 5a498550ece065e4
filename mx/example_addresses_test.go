package mx_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"gomx/mx"
)

// One process writes down where the endpoints of a job are, and the others of the host read it.
func ExampleReadAddresses() {
	must(0, mx.Init())
	defer mx.Finalize()
	a, nameOfA := opened()
	defer a.Close()
	b, nameOfB := opened()
	defer b.Close()
	path := filepath.Join(os.TempDir(), fmt.Sprintf("job-%d.addresses", os.Getpid())) // /dev/shm where there is one
	defer os.Remove(path)
	must(0, mx.WriteAddresses(path, []mx.PeerName{nameOfA, nameOfB}))

	table := must(mx.ReadAddresses(path))
	defer table.Close()
	peers := must(a.ConnectAll(context.Background(), table.Peers(1, table.Len())))
	fmt.Println(table.Len(), "endpoints, connected with", len(peers))
	// Output: 2 endpoints, connected with 1
}
