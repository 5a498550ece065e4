package stream

// queue is a first-in, first-out list in a ring that doubles when it is full. The
// zero value is empty. Pointers into it are good until the next push.
type queue[T any] struct {
	ring  []T // a power of two, or none
	first int
	n     int
}

func (q *queue[T]) len() int { return q.n }

// at returns element i, counted from the front.
func (q *queue[T]) at(i int) *T { return &q.ring[(q.first+i)&(len(q.ring)-1)] }

func (q *queue[T]) front() *T { return q.at(0) }

func (q *queue[T]) back() *T { return q.at(q.n - 1) }

// push returns a place behind the others, to be filled.
func (q *queue[T]) push() *T {
	if q.n == len(q.ring) {
		q.grow()
	}
	q.n++
	return q.back()
}

// pushFront returns a place before the others.
func (q *queue[T]) pushFront() *T {
	if q.n == len(q.ring) {
		q.grow()
	}
	q.first = (q.first - 1) & (len(q.ring) - 1)
	q.n++
	return q.front()
}

func (q *queue[T]) pop() {
	q.first = (q.first + 1) & (len(q.ring) - 1)
	q.n--
}

func (q *queue[T]) popBack() { q.n-- }

// remove closes the gap that element i leaves.
func (q *queue[T]) remove(i int) {
	for ; i < q.n-1; i++ {
		*q.at(i) = *q.at(i + 1)
	}
	q.n--
}

func (q *queue[T]) clear() { q.first, q.n = 0, 0 }

func (q *queue[T]) grow() {
	ring := make([]T, max(4, 2*len(q.ring)))
	for i := range q.n {
		ring[i] = *q.at(i)
	}
	q.ring, q.first = ring, 0
}
