package main

import "gomx/cmd/internal/sides"

const helpText = `mx_pingpong measures how long messages take between two endpoints: half of the
time that a message and its answer need, and the bandwidth that follows from it.

  mx_pingpong                      two processes on this host, 0 B to 4 MiB
  mx_pingpong -s                   the receiver: answers one sender after the other
  mx_pingpong -d HOST              the sender: measures with the receiver on HOST
  mx_pingpong -window 64           how many messages a second, 64 at a time
  mx_pingpong -plot result.svg     a picture as well

Without -s and -d it starts its second process by itself, and takes 10 s or so.

Which messages
  -S n            first length, bytes (default 0)
  -E n            lengths stay below this; at most 1073741824, which is 1 GiB
                  (default 4194305; with -d 128, as in MX)
  -I n            each length is longer by n bytes (default with -d: 1)
  -M x            each length is x times the one before (default without -d: 2)
  -L FILE         take the lengths from a file, one a line; "-" is standard input
  -N n            round trips for each length, or windows with -window
                  (default: as many as 0.25 s allows; at least 20)
  -W n            round trips before those, which don't count
                  (default: until it runs steadily)
  -R              synchronous sends: complete when they are received
  -V              fill and check all messages; the times then include that.
                  A corrupt message ends the program with status 2
  -window n       stream n messages, then wait for an answer: measures the rate
  -posted n       first post n receives that match nothing, on both sides
  -unexpected n   first send n messages that the receiver leaves lying; afterwards
                  it takes them newest first, and that is timed as well
  -alloc          use memory from mx.Alloc for the buffers
  -mode m         message, or what is measured in place of messages: put, get or
                  atomic, on a window of the receiver, each from its begin to its
                  completion. An atomic is a fetch-and-add of integers of 8 bytes,
                  1008 bytes of them at most. What they leave is checked (default
                  message)

Where
  -transport t    auto, or one that mx_info lists: self (an endpoint to itself),
                  mem (two in one process), shm (shared memory) ... (default auto);
                  or several such as rdma,tcp: the first that reaches the receiver
` + sides.Help + `
What to print (times are medians over batches of round trips)
  -json           one JSON object a line, with min, mean, p99, max and deviation
  -csv            the same as comma-separated values, with a line of names
  -histogram      time each round trip for itself, and print percentiles of half of
                  it, p50 to p99.999; with -mode those of the operations. One that
                  has less than one time beyond it is not known, and printed as -.
                  The times include reading the clock. A length takes 1 s. With
                  -json also how many took how long, in the buckets of an HDR
                  histogram
  -plot FILE      draw latency and bandwidth over length, as .svg or .png

About the program
  -h              this text
  -version        the version, and what built this program
  -completion shell
                  the completion for bash, zsh or fish

A receiver takes its orders from the sender: there, only the flags under Where and
How to run and wait count.

Exit status: 0 all was measured, 1 something is wrong, 2 a message was corrupt.
`
