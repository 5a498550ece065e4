package mpi

import "gomx/mx"

// Option changes what Init, Run or Main makes.
type Option func(*settings)

type settings struct {
	params    []mx.Param
	inProcess bool // the ranks are goroutines of this process
}

// WithTransports chooses the transports by name, in order of preference, as
// mx.WithTransports does. Run takes "mem" otherwise, which serves one process.
func WithTransports(names ...string) Option { return WithEndpoint(mx.WithTransports(names...)) }

// WithEndpoint opens the endpoints of the ranks with these parameters.
func WithEndpoint(params ...mx.Param) Option {
	return func(s *settings) { s.params = append(s.params, params...) }
}

func settingsOf(opts []Option) settings {
	var s settings
	for _, o := range opts {
		o(&s)
	}
	return s
}
