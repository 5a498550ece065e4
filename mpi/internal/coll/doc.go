// Package coll holds the algorithms of collective operations: which rank sends what to which other rank, when, and how
// contributions are combined. A Net carries the messages.
//
// Each algorithm of an operation is a function of its own; Algorithm lists their names. Choose selects one by the
// operation, the number of bytes, the number of ranks, and whether the ranks have cores of their own. Overrides replace
// its choice.
//
// Reductions combine in the order of the ranks: contributions of lower ranks are the left operands. An operation
// therefore need only be associative. The order of evaluation depends on the algorithm and the number of ranks only, and
// not on timing, so that the same program yields the same bits every time. The ring is an exception: it needs an
// operation that is also commutative, and is used only on request.
//
// All ranks must call the function of an operation, with the same algorithm. The functions allocate nothing, unless the
// Net does.
//
// An algorithm that is given a Plan executes nothing: the Plan records its steps, and a nonblocking collective then
// executes them one by one as messages arrive. An algorithm therefore touches data through move, combine and Do only, and
// none of its decisions depends on data.
//
// Read net.go next, then barrier.go, which is the shortest.
package coll
