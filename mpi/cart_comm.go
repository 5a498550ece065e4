package mpi

import "context"

// The methods of a grid's communicator, for grids. Go could inherit them, but an inherited one panics on a nil grid before it is entered.

// Abort is Comm.Abort.
func (g *Cart) Abort(code int, reason string) { g.communicator().Abort(code, reason) }

// Algorithm is Comm.Algorithm.
func (g *Cart) Algorithm(kind string, bytes int) string {
	return g.communicator().Algorithm(kind, bytes)
}

// Barrier is Comm.Barrier.
func (g *Cart) Barrier() error { return g.communicator().Barrier() }

// Cart is Comm.Cart.
func (g *Cart) Cart(dims []int, periods []bool, reorder bool) (*Cart, error) {
	return g.communicator().Cart(dims, periods, reorder)
}

// Compare is Comm.Compare.
func (g *Cart) Compare(d *Comm) Comparison { return g.communicator().Compare(d) }

// Create is Comm.Create.
func (g *Cart) Create(members *Group) (*Comm, error) { return g.communicator().Create(members) }

// Dup is Comm.Dup.
func (g *Cart) Dup() (*Comm, error) { return g.communicator().Dup() }

// Finalize is Comm.Finalize.
func (g *Cart) Finalize() error { return g.communicator().Finalize() }

// Free is Comm.Free.
func (g *Cart) Free() error { return g.communicator().Free() }

// Group is Comm.Group.
func (g *Cart) Group() *Group { return g.communicator().Group() }

// HangReport is Comm.HangReport.
func (g *Cart) HangReport(ctx context.Context) (*HangReport, error) {
	return g.communicator().HangReport(ctx)
}

// Ibarrier is Comm.Ibarrier.
func (g *Cart) Ibarrier() (Request, error) { return g.communicator().Ibarrier() }

// Improbe is Comm.Improbe.
func (g *Cart) Improbe(source, tag int) (*Message, Status, bool, error) {
	return g.communicator().Improbe(source, tag)
}

// Iprobe is Comm.Iprobe.
func (g *Cart) Iprobe(source, tag int) (Status, bool, error) {
	return g.communicator().Iprobe(source, tag)
}

// Mprobe is Comm.Mprobe.
func (g *Cart) Mprobe(source, tag int) (*Message, Status, error) {
	return g.communicator().Mprobe(source, tag)
}

// Name is Comm.Name.
func (g *Cart) Name() string { return g.communicator().Name() }

// Probe is Comm.Probe.
func (g *Cart) Probe(source, tag int) (Status, error) { return g.communicator().Probe(source, tag) }

// Rank is Comm.Rank.
func (g *Cart) Rank() int { return g.communicator().Rank() }

// Self is Comm.Self.
func (g *Cart) Self() *Comm { return g.communicator().Self() }

// SetAlgorithm is Comm.SetAlgorithm.
func (g *Cart) SetAlgorithm(kind, algorithm string) error {
	return g.communicator().SetAlgorithm(kind, algorithm)
}

// SetName is Comm.SetName.
func (g *Cart) SetName(name string) { g.communicator().SetName(name) }

// Size is Comm.Size.
func (g *Cart) Size() int { return g.communicator().Size() }

// Split is Comm.Split.
func (g *Cart) Split(color, key int) (*Comm, error) { return g.communicator().Split(color, key) }

// SplitHost is Comm.SplitHost.
func (g *Cart) SplitHost(key int) (*Comm, error) { return g.communicator().SplitHost(key) }

// WithContext is Comm.WithContext.
func (g *Cart) WithContext(ctx context.Context) *Comm { return g.communicator().WithContext(ctx) }
