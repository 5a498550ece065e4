package exs

// Initialized returns the default library as Dial and Listen get it.
func Initialized() (*Library, error) { return initialized() }
