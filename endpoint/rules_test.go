package endpoint_test

import (
	"strings"
	"testing"

	"gomx/endpoint/endpointtest"
)

// rule is something that an endpoint promises, shown by a script of package
// endpointtest. Sections are those of the MX manual.
type rule struct {
	name   string
	script string
	want   string // lines that the output has, in this order
}

func TestRules(t *testing.T) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			out := endpointtest.NewTrace().Run(strings.TrimSpace(r.script) + "\n----")
			_, rest, _ := strings.Cut(out, "\n----\n")
			for _, line := range strings.Split(strings.TrimSpace(r.want), "\n") {
				line = strings.TrimSpace(line)
				at := strings.Index(rest, line)
				if at < 0 {
					t.Fatalf("%q is missing in\n%s", line, out)
				}
				rest = rest[at+len(line):]
			}
		})
	}
}

var rules = []rule{
	{"II.3 a wrong filter leaves the good session", `
world a b
connect a b
send s1 a b match=1 len=8 sync
connect a b filter=9
recv r1 b match=1 len=8
run
collect`, `
a to b: connection refused: wrong filter
r1: success
s1: success`},

	{"IV.3 a connect to oneself checks the filter", `
world a
connect a a filter=9`, `
a to a: connection refused: wrong filter`},

	{"IV.3 all connects to a peer that is not there fail", `
world a
iconnect c1 a x
iconnect c2 a x
iconnect c3 a x
run
collect`, `
c1: remote endpoint is closed or has disconnected
c2: remote endpoint is closed or has disconnected
c3: remote endpoint is closed or has disconnected`},

	{"IX.1.1 a connect that was cancelled does not come back", `
world a b
iconnect c1 a b
cancel c1
run
test c1
iconnect c2 a b
run
test c2
check`, `
c1: cancelled
c1: bad request
c2: success
clean`},

	{"V.1.2 a synchronous send completes with the match", `
world a b
connect a b
send s1 a b match=1 len=8 sync
send s2 a b match=2 len=9000 sync
run
test s1 s2
recv r1 b match=1 len=8
recv r2 b match=2 len=9000
run
test s1 s2`, `
s1: pending
s2: pending
s1: success
s2: success`},

	{"V.1.2 a synchronous send whose time is over completes", `
world a b
connect a b
send s1 a b match=1 len=8 sync
timeout s1 ticks=10
tick n=10
test s1`, `
s1: timed out`},

	{"V.2 messages without segments", `
world a b
connect a b
send s1 a b match=1 len=0
send s2 a b match=2 len=0 sync
run
recv r1 b match=1 len=0
recv r2 b match=2 len=8
run
collect`, `
r1: success, match 0x1, 0 of 0 bytes
r2: success, match 0x2, 0 of 0 bytes
s2: success`},

	{"V.2 a message that is too long stops at the end of the buffer", `
world a b
connect a b
recv r1 b match=1 cut=3,4
recv r2 b match=2 cut=3,4000
send s1 a b match=1 len=2000
send s2 a b match=2 len=9000
quiet on
run
collect`, `
r1: truncated: the receive was shorter than the message, match 0x1, 7 of 2000 bytes from a, message 1
r2: truncated: the receive was shorter than the message, match 0x2, 4003 of 9000 bytes from a, message 2`},

	{"V.2 matching is in order although frames arrive out of order", `
world a b lossy
connect a b
sends s a b count=3 match=1 len=8
move a b i=0 to=2
quiet on
run
recv r1 b mask=0 len=8
recv r2 b mask=0 len=8
recv r3 b mask=0 len=8
collect`, `
r1: success, match 0x1
r2: success, match 0x2
r3: success, match 0x3`},

	{"a short last fragment", `
world a b lossy
connect a b
recv r1 b match=1 len=32769
send s1 a b match=1 len=32769
quiet on
run
tick n=20
run
collect`, `
r1: success, match 0x1, 32769 of 32769 bytes from a, message 1`},

	{"a lost notify at the end of a large message", `
world a b lossy pull
connect a b
recv r1 b match=1 len=9000
send s1 a b match=1 len=9000
deliver a b
drop b a
test s1
tick n=20
run
test s1`, `
s1: pending
s1: success`},

	{"a doubled notify does not complete the next large send", `
world a b lossy pull
connect a b
recv r1 b match=1 len=9000
send s1 a b match=1 len=9000
deliver a b
dup b a
deliver b a
test s1
send s2 a b match=2 len=9000
deliver b a
test s2`, `
s1: success
s2: pending`},

	{"sequence numbers wrap", `
world a b session=0xfffffffe
connect a b
sends s a b count=4 match=1 len=8
recv r b count=4 match=1 len=8
run
test r4`, `
seq=0xffffffff
seq=0x0
r4: success, match 0x4`},

	{"a burst with one lost frame is not retransmitted as a whole", `
world a b lossy
connect a b
sends s a b count=20 match=1 len=8
drop a b
quiet on
run
counters a
recv r b count=20 match=1 len=8
test r20`, `
Retransmitted 1
r20: success`},

	{"VI.1.1 the bytes of a small synchronous send are buffered at once", `
world a b
connect a b
send s1 a b match=1 len=8 sync
buffered s1
test s1`, `
s1: true
s1: pending`},

	{"VI.5.1 test any looks at every context id", `
world a b contextbits=4 contextshift=60
connect a b
recv r1 b match=0x3000000000000001 len=8
send s1 a b match=0x3000000000000001 len=8
run
probe b
testany b`, `
success, match 0x3000000000000001`},

	{"VII.1.4 the handler has the data of small synchronous messages", `
world a b
connect a b
handler b continue
send s1 a b match=1 cut=500,523 sync
run`, `
bytes 1023 from a, with data`},

	{"VII.1.4 a discarded rendezvous tells its sender", `
world a b
connect a b
handler b finished
send s1 a b match=1 len=9000
send s2 a b match=2 len=9000 sync
run
collect`, `
s1: truncated: the receive was shorter than the message, match 0x1, 0 of 9000 bytes
s2: truncated: the receive was shorter than the message, match 0x2, 0 of 9000 bytes`},

	{"VII.1.4 the handler of a small message to oneself has its data in one piece", `
world a
handler a continue
send s1 a a match=1 cut=3,4,5
run`, `
handler of a: match 0x1 bytes 12 from a, with data`},

	{"VIII.1 no handler runs for oneself while progression is off", `
world a
handler a continue
pause a on
send s1 a a match=1 len=8
probe a
pause a off
run
probe a`, `
nothing
handler of a
match 0x1 bytes 8`},

	{"IX.1.2 forgotten requests leave nothing", `
world a b
connect a b
recv r1 b match=1 len=90000
forget r1
send s1 a b match=1 len=90000
forget s1
quiet on
run
recv r2 b match=2 len=8
send s2 a b match=2 len=8
forget s2
run
forget r2
check`, `
clean`},

	{"XII.1.1 disconnect completes what is tied to the peer", `
world a b
connect a b
send s1 a b match=1 len=9000
send s2 a b match=2 len=8 sync
send s3 b a match=3 len=8
recv r1 a match=4 len=9000
send s4 b a match=4 len=9000
quiet on
deliver a b n=2
deliver b a n=2
disconnect a b
probe a
test s1 s2 r1
run
test s4
send s5 a b match=5 len=8
test s5`, `
nothing
s1: remote endpoint is unreachable
s2: remote endpoint is unreachable
r1: remote endpoint is unreachable
s4: remote endpoint is closed or has disconnected
s5: remote endpoint is unreachable`},

	{"XII.1.1 an address stays harmless after its session", `
world a b
connect a b
disconnect a b
run
disconnect a b
send s1 a b match=1 len=8
test s1
connect a b
send s2 a b match=2 len=8 session=0x200
test s2
disconnect a b`, `
s1: remote endpoint is unreachable
a to b: success
s2: bad session`},

	{"XII.1.1 disconnecting oneself does nothing", `
world a
disconnect a a
recv r1 a match=1 len=8
send s1 a a match=1 len=8
test r1`, `
r1: success`},

	{"XII.1.2 a timeout of nothing is due at once, not for ever", `
world a b
connect a b
send s1 a b match=1 len=9000
timeout s1 ticks=0
due a
tick n=0
test s1`, `
in 0 ticks
s1: timed out`},

	{"XII.1.2 a timeout for ever does not overflow", `
world a b
connect a b
tick n=1000
send s1 a b match=1 len=9000
timeout s1 ticks=0xffffffffffffffff
due a
timeout s1 ticks=0xfffffffffffffffe
due a
tick n=100000000
test s1`, `
never
never
s1: pending`},

	{"a large send to a peer that does not answer ends", `
world a b lossy timeout=200
connect a b
lose a b on
send s1 a b match=1 len=9000
tick n=100
tick n=150
tick n=400
test s1`, `
s1: timed out`},
}
