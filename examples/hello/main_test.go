package main

func Example() {
	main()
	// Output: hello: 5 bytes, match 42
}
