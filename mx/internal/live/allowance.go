package live

import (
	"io"
	"sync"
	"sync/atomic"
)

// What is read of all processes together of a user who is not the one that asks. Root reads those of everybody, and nobody may make its tools
// take all memory: a few bytes of text become large values.
const (
	mostForeignBytes  = 16 << 20 // of text
	mostForeignWeight = 1 << 18  // of the values in it
	mostForeignList   = 1 << 12  // members of one list of a process, such as its endpoints
)

// The weights of lists and objects. Those that are no deeper than endpoints are large, and tools have a line for each.
const (
	deepOfEndpoint   = 3
	weightOfEndpoint = 16
	weightOfOther    = 1
)

// Allowances are what may still be read of each user. Those of one reading of many processes are the same. Safe from any goroutine.
type Allowances struct {
	mu    sync.Mutex
	users map[int]*allowance
}

// allowance is that of one user.
type allowance struct{ bytes, weight atomic.Int64 }

func (a *Allowances) of(uid int) *allowance {
	a.mu.Lock()
	defer a.mu.Unlock()
	u := a.users[uid]
	if u == nil {
		u = &allowance{}
		u.bytes.Store(mostForeignBytes)
		u.weight.Store(mostForeignWeight)
		if a.users == nil {
			a.users = map[int]*allowance{}
		}
		a.users[uid] = u
	}
	return u
}

// charge takes the values of a text from the allowance of its user, and says ErrTooLarge if that is exhausted.
func (a *Allowances) charge(p Peer, text []byte) error {
	if !p.Foreign() {
		return nil
	}
	weight, longest := weightOf(text)
	if longest > mostForeignList || a.of(p.UID).weight.Add(int64(-weight)) < 0 {
		return ErrTooLarge
	}
	return nil
}

// reader takes what is read from the allowance.
func (u *allowance) reader(r io.Reader) io.Reader { return &allowed{r, u} }

type allowed struct {
	r io.Reader
	u *allowance
}

func (r *allowed) Read(to []byte) (n int, err error) {
	n, err = r.r.Read(to)
	if r.u.bytes.Add(int64(-n)) < 0 {
		return n, ErrTooLarge
	}
	return n, err
}

// weightOf returns the weight of the lists and objects in a text in JSON, and how many members the longest has. It makes
// no values of them: of what is no JSON it returns something.
func weightOf(text []byte) (weight, longest int) {
	var members []int // of the lists and objects around, as far as they have been read
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			members = append(members, 1)
			longest = max(longest, 1)
			if weight += weightOfOther; len(members) <= deepOfEndpoint {
				weight += weightOfEndpoint - weightOfOther
			}
		case len(members) == 0:
		case c == ',':
			members[len(members)-1]++
			longest = max(longest, members[len(members)-1])
		case c == '}' || c == ']':
			members = members[:len(members)-1]
		}
	}
	return weight, longest
}
