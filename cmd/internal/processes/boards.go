package processes

import (
	"fmt"

	"gomx/mx"
)

// OneOf returns an error unless boards have the number of one that was asked for. -1 stands for all of them.
func OneOf(boards []mx.Board, asked int64) error {
	if asked >= int64(len(boards)) {
		return fmt.Errorf("there is no board %d: this host has boards 0 to %d", asked, len(boards)-1)
	}
	return nil
}

// OnBoard returns an error if a board was asked for that this host has not. Where an endpoint was read that is on such a board there is one: another
// process may have been told of more networks. -1 stands for all boards.
func OnBoard(asked int64, readings []*mx.LiveReading) error {
	if asked < 0 {
		return nil
	}
	for _, r := range readings {
		for i := range r.Endpoints {
			if int64(r.Endpoints[i].Board) == asked {
				return nil
			}
		}
	}
	if mx.Init() == nil {
		defer func() { _ = mx.Finalize() }()
	}
	boards, err := mx.Boards()
	if err != nil {
		return err
	}
	return OneOf(boards, asked)
}
