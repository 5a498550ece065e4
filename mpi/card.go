package mpi

import (
	"context"

	"gomx/mx"
)

// card says where a rank can be reached. Every rank has those of all.
type card struct {
	nic      uint64
	endpoint uint32
	filter   uint32 // a random number: who answers to it is the one that is meant
}

// cardOf returns the card of a rank with this endpoint.
func cardOf(ep *mx.Endpoint, filter uint32) (card, error) {
	nic, id, err := mx.DecomposeEndpointAddr(ep.Addr())
	return card{nic: nic, endpoint: id, filter: filter}, err
}

// connect connects an endpoint with the one that the card is of.
func (k *card) connect(ctx context.Context, ep *mx.Endpoint) (mx.EndpointAddr, error) {
	if ctx == nil {
		return ep.Connect(k.nic, k.endpoint, k.filter, connectBound)
	}
	ctx, cancel := context.WithTimeout(ctx, connectBound)
	defer cancel()
	return ep.ConnectContext(ctx, k.nic, k.endpoint, k.filter)
}
