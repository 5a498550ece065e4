// Package echo is what the five programs of exs_steps share: the messages, the server
// that sends them back, and the command line. What is peculiar to a step is in
// the step, as its client.
package echo
