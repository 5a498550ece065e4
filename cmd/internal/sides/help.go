package sides

// Help is what a program's help says of the flags, but for -transport, which comes before them under "Where": what may be chosen
// differs.
const Help = `  -b n            board of this side (default any)
  -n id           board of this side, by its NIC id in hexadecimal
  -e n            endpoint id of this side (default any; of a receiver 1)
  -d host         host of the receiver: host, host:board, an address, or a NIC id
                  such as 0x02007f000001
  -r n            endpoint id of the other side (default 1; without -d any)
  -f n            filter, the same on both sides (default 74565, which is 0x12345)
  -s              be the receiver, until interrupted

How to run and wait
  -pin a,b        cores for sender and receiver, or none to leave it to the system
                  (default: two different ones, where there are two)
  -w              sleep while waiting, never spin
  -single         one goroutine for each endpoint, as MPI_Init's MPI_THREAD_SINGLE
                  has it: no locks, and nothing progresses between calls
  -spin t         how long to spin before sleeping, such as 50us
                  (default: on cores of our own as long as it takes, else MX_SPIN)
`
