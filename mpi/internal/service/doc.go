// Package service carries the control messages of a job, which are not messages of the program: questions, which have an
// answer, and notes, which have none. Each has a kind. Each process has an endpoint for them, and a goroutine that sleeps
// until a message arrives, so that the process answers whatever the program is doing.
//
// The questions and notes of a process are handled in the order in which they were sent. A handler may answer later, for
// example when a lock is free. A caller that gives up its wait does not undo its question or note: it is delivered in its
// turn, and later ones after it. A question or note of a process to itself is handled in the calling goroutine, and needs
// no endpoint.
//
// Read service.go, then call.go.
package service
