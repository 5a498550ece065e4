package main

import "gomx/examples/exs_steps/internal/echo"

func Example() {
	if err := echo.Together(echo.ListenEXS, client); err != nil {
		panic(err)
	}
	// Output: 100 messages, 3228858 bytes: all came back as they were sent
}
