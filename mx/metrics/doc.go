// Package metrics gives the counters of package mx, and of what is built on it, to monitoring: as a page in the text format
// of Prometheus, and as a variable of package expvar.
//
// It is a package of its own because it imports net/http, which a program that does not want this need not carry. It starts
// nothing and listens nowhere: the program serves the handler where it likes.
//
//	http.Handle("/metrics", metrics.Handler())
//	metrics.Publish("gomx") // then it is at /debug/vars, too
//
// docs/metrics.md lists the metrics.
package metrics
