package queue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// world is one lock and the ranks that ask for it, with the roads between them. What a rank says arrives in its order; answers,
// and the failure notices, overtake each other.
type world struct {
	rng   *rand.Rand
	lock  Lock[ticket]
	ranks []actor
	trace []string

	word    Word
	decides bool // the lock does, and the word says so

	answers []answer // on their way
	news    []int    // failed ranks that the lock does not know of
	closed  bool
}

// actor is a rank that asks.
type actor struct {
	claim     Claim
	exclusive bool
	said      []said // on its way to the lock
	swaps     []swap // on their way to the word
	dead      bool
	answered  map[ticket]int
	awaits    ticket // the answer that it waits for
	upTo      ticket
}

// ticket numbers a question of a rank.
type ticket struct {
	rank, question int
}

type verb uint8

const (
	take verb = iota
	give
	undo
)

// swap compares the word and swaps it.
type swap struct {
	from, to Word
	ticket   ticket
}

type said struct {
	verb      verb
	attempt   uint64
	exclusive bool
	ticket    ticket
}

type answer struct {
	ticket  ticket
	granted bool
	swapped bool // it is the word's: old is what it has said, if granted
	old     Word
}

func newWorld(seed uint64, ranks int) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 7)), ranks: make([]actor, ranks)}
	for i := range w.ranks {
		w.ranks[i].answered = map[ticket]int{}
		w.ranks[i].upTo = ticket{i, 0}
	}
	return w
}

func (w *world) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf(format, args...))
}

// ask sends a question of a rank, which awaits the answer.
func (w *world) ask(rank int, v verb, attempt uint64) {
	a := &w.ranks[rank]
	a.question()
	a.said = append(a.said, said{v, attempt, a.exclusive, a.awaits})
}

// question has the rank await another answer.
func (a *actor) question() {
	a.upTo.question++
	a.awaits = a.upTo
}

// swap has a rank swap the word, and await what it has said.
func (w *world) swap(rank int, from, to Word) {
	a := &w.ranks[rank]
	a.question()
	a.swaps = append(a.swaps, swap{from, to, a.awaits})
}

// returns has a rank give the lock back.
func (w *world) returns(rank int) {
	a := &w.ranks[rank]
	attempt, _ := a.claim.Return()
	w.note("%d returns it", rank)
	if own, ok := a.claim.Word(); ok {
		w.swap(rank, own, Free)
		return
	}
	w.ask(rank, give, attempt)
}

// act has a rank do one of the things that it may.
func (w *world) act(rank int) {
	a := &w.ranks[rank]
	switch {
	case a.dead:
	case a.claim.Idle():
		attempt, _ := a.claim.Ask()
		a.exclusive = w.rng.IntN(2) == 0
		w.note("%d asks, attempt %d, exclusive %v", rank, attempt, a.exclusive)
		if w.rng.IntN(3) == 0 {
			w.ask(rank, take, attempt)
			return
		}
		own, _ := a.claim.Try(rank, a.exclusive)
		w.swap(rank, Free, own)
	case a.claim.Holds() && w.rng.IntN(4) > 0:
		w.returns(rank)
	case a.claim.stage != returning: // it asks and its context ends, or it has the lock and goes back
		w.undo(rank)
	}
}

func (w *world) undo(rank int) {
	a := &w.ranks[rank]
	w.note("%d gives up", rank)
	a.said = append(a.said, said{verb: undo, attempt: a.claim.Over()})
	a.awaits = ticket{}
}

// hear has the lock hear the next word of a rank.
func (w *world) hear(rank int) {
	a := &w.ranks[rank]
	if len(a.said) == 0 {
		return
	}
	s := a.said[0]
	a.said = a.said[1:]
	w.note("the lock hears verb %d of %d, attempt %d", s.verb, rank, s.attempt)
	w.takeOver()
	defer w.letGo()
	switch s.verb {
	case take:
		switch w.lock.Take(rank, s.attempt, s.exclusive, s.ticket) {
		case Granted:
			w.answer(s.ticket, true)
		case Known, Refused:
			w.answer(s.ticket, false)
		}
	case give:
		next, held := w.lock.Give(rank, s.attempt)
		w.answer(s.ticket, held)
		w.grant(next)
	case undo:
		w.grant(w.lock.Undo(rank, s.attempt))
	}
}

// takeOver has the lock decide.
func (w *world) takeOver() {
	if !w.decides {
		w.lock.TakeOver(w.word)
		w.word, w.decides = Queued, true
	}
}

// letGo has the word decide if it can.
func (w *world) letGo() {
	if w.lock.Vacant() {
		w.word, w.decides = Free, false
	}
}

// carryOut does the next swap of a rank.
func (w *world) carryOut(rank int) {
	a := &w.ranks[rank]
	if len(a.swaps) == 0 {
		return
	}
	s := a.swaps[0]
	a.swaps = a.swaps[1:]
	old := w.word
	if old == s.from && !w.closed {
		w.word = s.to
	}
	w.note("%d swaps %x by %x: it was %x", rank, s.from, s.to, old)
	w.answers = append(w.answers, answer{s.ticket, !w.closed, true, old})
}

func (w *world) answer(t ticket, granted bool) {
	w.answers = append(w.answers, answer{ticket: t, granted: granted})
}

func (w *world) grant(tickets []ticket) {
	for _, t := range tickets {
		w.answer(t, true)
	}
}

// deliver brings one of the answers.
func (w *world) deliver() error {
	if len(w.answers) == 0 {
		return nil
	}
	i := w.rng.IntN(len(w.answers))
	s := w.answers[i]
	w.answers = slices.Delete(w.answers, i, i+1)
	a := &w.ranks[s.ticket.rank]
	if a.answered[s.ticket]++; a.answered[s.ticket] > 1 {
		return fmt.Errorf("question %d of rank %d is answered twice", s.ticket.question, s.ticket.rank)
	}
	if a.dead || a.awaits != s.ticket {
		return nil // nobody waits for it any more
	}
	w.note("%d is answered %v", s.ticket.rank, s.granted)
	a.awaits = ticket{}
	switch {
	case !s.granted && !w.closed:
		return fmt.Errorf("rank %d is refused", s.ticket.rank)
	case !s.granted:
		a.claim.Over()
	case s.swapped:
		w.wordSaid(s.ticket.rank, s.old)
	case a.claim.stage == asking:
		a.claim.Granted()
	default:
		a.claim.Over()
	}
	return nil
}

// wordSaid has a rank hear what the word has said before its swap.
func (w *world) wordSaid(rank int, old Word) {
	a := &w.ranks[rank]
	own, _ := a.claim.Word()
	switch asks := a.claim.stage == asking; {
	case asks && old == Free:
		a.claim.Granted()
	case asks:
		a.claim.Missed()
		w.ask(rank, take, a.claim.attempt)
	case old == own:
		a.claim.Over()
	default:
		w.ask(rank, give, a.claim.attempt)
	}
}

// learn tells the lock of a failed rank.
func (w *world) learn() {
	if len(w.news) == 0 {
		return
	}
	i := w.rng.IntN(len(w.news))
	rank := w.news[i]
	w.news = slices.Delete(w.news, i, i+1)
	w.note("the lock learns of the failure of %d", rank)
	w.ranks[rank].swaps = nil // refused from now on
	w.takeOver()
	w.grant(w.lock.Fail(rank))
	w.letGo()
}

func (w *world) die(rank int) {
	if a := &w.ranks[rank]; !a.dead {
		w.note("%d dies", rank)
		a.dead = true
		a.said = a.said[:w.rng.IntN(len(a.said)+1)] // the rest has not left
		a.swaps = a.swaps[:w.rng.IntN(len(a.swaps)+1)]
		w.news = append(w.news, rank)
	}
}

func (w *world) close() {
	if !w.closed {
		w.note("the window is freed")
		w.closed = true
		for _, t := range w.lock.Close() {
			w.answer(t, false)
		}
	}
}

// check wants nobody beside one who is alone, of those who live and believe that they have the lock.
func (w *world) check() error {
	var have []int
	alone := false
	for rank := range w.ranks {
		if a := &w.ranks[rank]; !a.dead && a.claim.Holds() {
			have, alone = append(have, rank), alone || a.exclusive
		}
	}
	if alone && len(have) > 1 {
		return fmt.Errorf("%v have the lock, and one of them should be alone", have)
	}
	if len(w.lock.holders) == 0 && len(w.lock.waiting) > 0 {
		return fmt.Errorf("the lock is free, and %v wait", w.lock.waiting)
	}
	if w.decides != (w.word == Queued) || !w.decides && !w.lock.Vacant() {
		return fmt.Errorf("the word says %x, and the lock decides: %v; %v hold it, and %v wait", w.word, w.decides, w.lock.holders, w.lock.waiting)
	}
	return nil
}

// step does one thing.
func (w *world) step(trouble bool) error {
	rank := w.rng.IntN(len(w.ranks))
	switch n := w.rng.IntN(100); {
	case n < 30:
		w.act(rank)
	case n < 50:
		w.hear(rank)
	case n < 65:
		w.carryOut(rank)
	case n < 90:
		return w.deliver()
	case n < 95:
		w.learn()
	case trouble && n == 95:
		w.die(rank)
	case trouble && n == 96 && w.rng.IntN(10) == 0:
		w.close()
	case trouble && !w.ranks[rank].dead && w.ranks[rank].claim.stage == asking:
		w.undo(rank)
	}
	return nil
}

// settle brings all that is on its way, and nobody begins anything.
func (w *world) settle() error {
	for range 100_000 {
		quiet := len(w.answers) == 0 && len(w.news) == 0
		for rank := range w.ranks {
			quiet = quiet && len(w.ranks[rank].said)+len(w.ranks[rank].swaps) == 0
			w.hear(rank)
			w.carryOut(rank)
		}
		if quiet {
			return nil
		}
		w.learn()
		if err := w.deliver(); err != nil {
			return err
		}
		if err := w.check(); err != nil {
			return err
		}
	}
	return fmt.Errorf("it does not settle")
}

// served wants, when all is quiet, nobody to wait but for those who hold the lock and live.
func (w *world) served() error {
	for _, h := range w.lock.holders {
		if a := &w.ranks[h.rank]; !w.closed && (a.dead || !a.claim.Holds() || a.claim.attempt != h.attempt) {
			return fmt.Errorf("the lock is kept for rank %d, which does not have it: attempt %d", h.rank, h.attempt)
		}
	}
	if h, _, ok := w.word.holder(); ok && !w.closed && h.attempt > w.lock.undone[h.rank] {
		if a := &w.ranks[h.rank]; a.dead || !a.claim.Holds() || a.claim.word != w.word {
			return fmt.Errorf("the word says that rank %d has the lock by attempt %d, which it does not", h.rank, h.attempt)
		}
	}
	if w.closed != w.lock.Closed() || w.closed && len(w.lock.waiting) > 0 {
		return fmt.Errorf("the window is freed: %v, and %v wait", w.closed, w.lock.waiting)
	}
	for rank := range w.ranks {
		a := &w.ranks[rank]
		waits := slices.ContainsFunc(w.lock.waiting, func(x waiter[ticket]) bool { return x.ticket == a.awaits })
		if !a.dead && a.awaits != (ticket{}) && !waits {
			return fmt.Errorf("rank %d waits for an answer that nobody will send", rank)
		}
	}
	return nil
}

// finish has everybody give back what they have, one after the other, until nobody waits.
func (w *world) finish() error {
	for range 10 * len(w.ranks) {
		if err := w.settle(); err != nil {
			return err
		}
		if err := w.served(); err != nil {
			return err
		}
		for rank := range w.ranks {
			if a := &w.ranks[rank]; !a.dead && a.claim.Holds() {
				w.returns(rank)
			}
		}
	}
	for rank := range w.ranks {
		if a := &w.ranks[rank]; !a.dead && !a.claim.Idle() {
			return fmt.Errorf("rank %d is not served", rank)
		}
	}
	if h, _, ok := w.word.holder(); !w.closed && (!w.lock.Vacant() || ok && h.attempt > w.lock.undone[h.rank]) {
		return fmt.Errorf("in the end %v hold the lock, and %v wait; the word says %x", w.lock.holders, w.lock.waiting, w.word)
	}
	return nil
}

// TestWorlds runs the lock and those who ask for it, with waits given up, failed ranks and a window that is freed, at any moment.
func TestWorlds(t *testing.T) {
	seeds := uint64(20_000)
	if testing.Short() {
		seeds = 3000
	}
	for seed := range seeds {
		w := newWorld(seed, 2+int(seed%5))
		trouble := seed%3 > 0
		var err error
		for i := 0; i < 200 && err == nil; i++ {
			if err = w.step(trouble); err == nil {
				err = w.check()
			}
		}
		if err == nil {
			err = w.finish()
		}
		if err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, w.trace)
		}
	}
}
