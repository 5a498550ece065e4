package coll

// Kind is a collective operation.
type Kind uint8

// The operations that there is a choice for. The forms with counts share the kind of the ones
// without.
const (
	KindBarrier Kind = iota
	KindBcast
	KindReduce
	KindAllreduce
	KindReduceScatter
	KindScan
	KindExscan
	KindGather
	KindScatter
	KindAllgather
	KindAlltoall
	kinds

	// AllKinds is how many operations there are.
	AllKinds = int(kinds)
)

var kindNames = [kinds]string{"barrier", "bcast", "reduce", "allreduce", "reducescatter", "scan", "exscan",
	"gather", "scatter", "allgather", "alltoall"}

// String is the kind's word in overrides and tables.
func (k Kind) String() string { return kindNames[k] }

// Algorithm is a way to do a collective operation.
type Algorithm uint8

// The algorithms. Automatic leaves it to Choose.
const (
	Automatic         Algorithm = iota
	Flat                        // the root talks to every rank
	Tree                        // a binomial tree of messages without data, up and down
	Dissemination               // every rank tells another one, twice as far each round
	Binomial                    // a binomial tree
	Pipeline                    // from rank to rank, a segment at a time
	RecursiveDoubling           // pairs exchange all they have, twice as far each round
	ReduceBcast                 // to rank 0 and back
	FlatReduceBcast             // likewise, with rank 0 talking to every rank
	Rabenseifner                // halves are exchanged and combined, then collected
	Ring                        // parts go round
	Bruck                       // whatever the number of ranks, log2 of it rounds
	Pairwise                    // each with each, a partner at a time; for an allreduce everybody combines a part
	Scattered                   // each with each, all at once; for a reduction all combine all
	ReduceScattered             // to rank 0, and the parts from there
	GatherBcast                 // to rank 0, and all of it from there
	Linear                      // rank after rank
	SmallBinomial               // a binomial tree, in segments that leave at once
	GatherScatter               // to rank 0, and to each its part from there
	algorithms
)

var algorithmNames = [algorithms]string{"automatic", "flat", "tree", "dissemination", "binomial", "pipeline",
	"recursive-doubling", "reduce-bcast", "flat-reduce-bcast", "rabenseifner", "ring", "bruck",
	"pairwise", "scattered", "reduce-scatter", "gather-bcast", "linear",
	"small-binomial", "gather-scatter"}

// String is the algorithm's word in overrides and tables.
func (a Algorithm) String() string { return algorithmNames[a] }

// offered are the algorithms of each kind, the one that always works first.
var offered = [kinds][]Algorithm{
	KindBarrier:       {Dissemination, Tree, Flat, Scattered},
	KindBcast:         {Binomial, Flat, Pipeline, SmallBinomial},
	KindReduce:        {Binomial, Flat, Rabenseifner},
	KindAllreduce:     {RecursiveDoubling, ReduceBcast, FlatReduceBcast, Rabenseifner, Scattered, Pairwise},
	KindReduceScatter: {ReduceScattered, Pairwise},
	KindScan:          {RecursiveDoubling, Linear},
	KindExscan:        {RecursiveDoubling, Linear},
	KindGather:        {Flat, Binomial},
	KindScatter:       {Flat, Binomial},
	KindAllgather:     {Ring, RecursiveDoubling, Bruck, GatherBcast, Scattered},
	KindAlltoall:      {Pairwise, Scattered, Bruck, GatherScatter},
}

// Offered returns the algorithms of a kind.
func Offered(k Kind) []Algorithm { return offered[k] }

// Kinds returns all kinds.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for k := range all {
		all[k] = Kind(k)
	}
	return all
}
