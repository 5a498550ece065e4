package main

func Example() {
	if err := run(options{of: 1, base: 3300, barriers: 50, bytes: 100_000}); err != nil {
		panic(err)
	}
	if err := run(options{of: 1, base: 3300, barriers: 50, bytes: 10, wait: true}); err != nil {
		panic(err)
	}
	// Output:
	// 8 endpoints have had a broadcast of 100000 bytes, and 50 barriers
	// 8 endpoints have had a broadcast of 10 bytes, and 50 barriers
}
