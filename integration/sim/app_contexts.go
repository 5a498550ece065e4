package sim

import (
	"fmt"

	"gomx/transport/wire"
)

// In two of three lives an endpoint is the first of several contexts, whose names say which endpoint and which life it is. Peers must
// know that of the life that they are connected with, or of one that has ended since, and never of an earlier one again. None of this draws random numbers.

// contextsOf is what an endpoint says of its contexts in one of its lives.
func contextsOf(index, life int) wire.Contexts {
	number := (index + life) % 3
	if number == 0 {
		return wire.Contexts{}
	}
	return wire.MakeContexts([]string{fmt.Sprint("endpoint ", index), fmt.Sprint("life ", life), ""}[:number+1], 0)
}

// knowsContexts returns what is wrong with what is known of the contexts of a peer that a connect has just succeeded with.
func (n *node) knowsContexts(to int) error {
	at := &n.peers[to]
	got, ok := n.engine.ContextsOf(at.addr)
	if !ok {
		return fmt.Errorf("the contexts of %d are not known", to)
	}
	for life := at.life; life <= n.w.nodes[to].life; life++ {
		if got == contextsOf(to, life) {
			if got != (wire.Contexts{}) {
				at.life = life
			}
			return nil
		}
	}
	return fmt.Errorf("the contexts of %d, in life %d, are known as %+v; its life %d was seen before", to, n.w.nodes[to].life, got, at.life)
}
