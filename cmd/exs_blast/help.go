package main

const helpText = `exs_blast measures what the papers about UNH EXS measure: throughput and processor
time over the payload size, or how long a message takes one way.

  exs_blast                        two processes on this host, 64 B to 4 MiB
  exs_blast -latency               half of the time of a message and its answer
  exs_blast -tcp                   the same with plain TCP sockets
  exs_blast -s                     the server: takes part in all measurements
  exs_blast -d HOST                the client: measures with the server on HOST
  exs_blast -plot result.svg       a picture as well

Without -s and -d it starts its second process by itself, and takes 20 s or so.

What to measure
  -latency        one way latency, with one message under way, not throughput
  -mode list      how to send (default normal,small):
                    normal:     from registered memory into registered memory;
                    small:      small packets, up to 64 KiB, from memory that is not
                                registered, of type packet;
                    conn:       net.Conn of package exs, with calls that block, one at a time;
                    tcp:        the same with net.Conn of package net: plain TCP sockets;
                    inplace:    small packets, received in place;
                    persistent: into a persistent receive, which the receiver
                                looks at; it never sleeps. Of type packet
  -tcp            the same as -mode tcp; with -mode it is added
  -type list      packet (SEQPACKET), stream (STREAM) (default both)
  -inflight list  operations under way at a time, 1 to 256 (default 1,2,4,8)
  -S n            first payload, bytes (default 64; with -latency 8)
  -E n            payloads stay below this (default 4194305; with -latency 1048577)
  -M x            each is x times the one before (default 4)
  -t time         how long to measure each point (default 100ms)
  -N n            how many messages for each point, whatever time that takes

Where
  -s              be the server, until interrupted
  -d host         host of the server
  -p port         TCP port of the server (default 7471)
  -transport t    what the endpoints may use, such as shm or rdma,tcp (default any)

How to run and wait
  -pin a,b        cores for client and server, or none to leave it to the system
                  (default: two different ones, where there are two)
  -w              sleep while waiting, never spin
  -spin t         how long to spin before sleeping, such as 50us (default: with
                  -latency on cores of our own as long as it takes, else MX_SPIN)

What to print
  -json           one JSON object a line
  -plot FILE      draw it over the payload, as .svg or .png

About the program
  -h              this text
  -version        the version, and what built this program
  -completion shell
                  the completion for bash, zsh or fish

Throughput is of the payload, in 10^6 bytes a second. CPU is the processor time of
a side as a part of one core, and of both sides for each byte; waiting that spins
is in it. Messages are checked before those that are timed. A corrupt one ends the
program with status 2, anything else that is wrong with 1.
`
