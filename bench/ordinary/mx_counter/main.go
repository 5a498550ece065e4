// Command mx_counter is mx_loop with operations that a completion counter counts, in place of requests that are waited for.
package main

import "gomx/bench/ordinary/internal/exchange"

func main() { exchange.Main(exchange.Counted, nil) }
