package main

func Example() {
	main()
	// Output: received: hello
}
