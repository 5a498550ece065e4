package main

func Example() {
	if err := run(0, "", 1000); err != nil {
		panic(err)
	}
	// Output: 3 senders, 3000 numbers, sum 1501500
}
