package exs

// noFiles says what happens to clients when no more files can be opened.
const noFiles = "clients wait until a file descriptor is free"

// outOfFiles reports whether the process, or the system, can open no more files.
func outOfFiles(n Errno) bool { return n == EMFILE || n == ENFILE }

// shortage is EMFILE or ENFILE with a remedy in its text. As in package net it is temporary: servers log it, and call Accept again.
type shortage struct{ Errno }

func (s shortage) Error() string { return clearer[s.Errno] + ": " + noFiles }

// Unwrap returns the number.
func (s shortage) Unwrap() error { return s.Errno }
