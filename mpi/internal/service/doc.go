// Package service carries what the processes of a job have to say to each other apart
// from the messages of the program: questions and notes, by their kind. Each process has
// an endpoint for it, and a goroutine that sleeps until something comes, so that it
// answers whatever the program is doing.
//
// Notes and questions from one process are handled in the order in which they were sent.
// A handler may put off its answer, as one does who has to wait for a lock.
// Who gives up a wait does not undo what was said: a question or note that has left, or waits to leave, comes in its turn, and
// what is said later comes behind it.
// What a process says to itself is handled in the calling goroutine, and needs no endpoint.
//
// Read service.go, then call.go.
package service
