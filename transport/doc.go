// Package transport is the contract between the media and the driver of an
// endpoint. It holds types only.
//
// A Transport opens a Port for an endpoint. The port yields links: by Dial, or
// by peers that dial us, which it reports to Events. Frames come up when the
// driver polls the port, and a frame's payload may be used until the handler
// returns. A sleeper is woken through the endpoint's Doorbell.
//
// What the engine itself sees of a link is wire.Link. The suite in transporttest
// says in code what every medium must do; transport/mem is the shortest one and
// the best to read first.
//
// This package is a part of gomx and no interface of it: it may change in any version. Programs use mx, exs and mpi.
package transport
